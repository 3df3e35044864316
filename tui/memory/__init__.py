"""The page of the memory: one search over everything, and the page of the selected thing."""
