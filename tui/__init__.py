"""The chat in the terminal. It knows the daemon through `daemon.client` and nothing of the memory itself."""
