"""The memory for agents: a server of the Model Context Protocol (`pal mcp`).

A thin client of the daemon. Over stdin and stdout it is a process of its own that the agent's program starts and ends;
over HTTP one process serves all that have a token.
"""
