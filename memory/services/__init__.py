"""The services that implement the calls of `Memory`, over one shared state."""
