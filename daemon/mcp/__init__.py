"""The memory for agents: a server of the Model Context Protocol over stdin and stdout (`pal mcp`).

A thin client of the daemon, in a process of its own that the agent starts and ends.
"""
