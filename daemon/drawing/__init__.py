"""Drawings of small graphs: what stands where (`layout`), the lines between in a terminal (`canvas`, `text`), and the
same as a picture (`svg`) and as a page (`page`). No widgets, and nothing is asked of anybody."""
