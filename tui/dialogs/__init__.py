"""Windows over a page."""
