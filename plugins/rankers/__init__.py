"""The trained ranker of edges: `pal train`."""
