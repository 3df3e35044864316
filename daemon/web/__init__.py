"""The page in the browser: access control and its files. It uses the same API as all clients."""
