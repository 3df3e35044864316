"""The client of the daemon: a request, a connection, its start, and the same on another computer."""
