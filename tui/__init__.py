"""The chat in the terminal. It uses `daemon.client` and never the memory itself."""
