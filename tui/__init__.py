"""The chat in the terminal. It uses `daemon.client.client` and never the memory itself."""
