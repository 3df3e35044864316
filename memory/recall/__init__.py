"""From a question to the episodes that answer it. Importing the package registers the built-in traversers."""

from memory.recall import spread

__all__ = ["spread"]
