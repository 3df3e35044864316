"""The web page: access control and its files. It uses the same API as all clients."""
