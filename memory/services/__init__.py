"""The services behind the calls of `Memory`, over one shared state."""
