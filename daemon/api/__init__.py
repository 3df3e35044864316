"""The HTTP API: routes over `daemon.wire`, and the calls of the library that they make."""
