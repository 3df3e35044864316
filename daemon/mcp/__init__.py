"""The memory for agents: a server of the Model Context Protocol (`pal mcp`).

A thin client of the daemon, in a process that the agent's program starts and ends. They communicate over stdin and
stdout.
"""
