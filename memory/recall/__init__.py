"""From a question to the episodes that answer it. Importing the package registers the built-in traversers."""

from memory.recall import beam, circles, entities, paths, sketches, spread

__all__ = ["beam", "circles", "entities", "paths", "sketches", "spread"]
