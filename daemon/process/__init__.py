"""The process: its start, its lock and log, its socket, its end."""
