"""The memory for agents: a server of the Model Context Protocol (`pal mcp`).

A thin client of the daemon, in a process of its own that the agent's program starts and ends. They speak over stdin and
stdout.
"""
