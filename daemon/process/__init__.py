"""The daemon's process: its start and end, lock, log and socket."""
