"""The page in the browser: who may use it, what it may ask, and its files. It asks the API that all clients ask."""
