"""The client of the daemon: requests, connection, start, and the daemon on another computer."""
