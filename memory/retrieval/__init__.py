"""From a question to the episodes that answer it. Importing the package registers the built-in traversers."""

from memory.retrieval import beam, circles, entities, pagerank, paths, sketches

__all__ = ["beam", "circles", "entities", "pagerank", "paths", "sketches"]
