"""Drawings of small graphs: what stands where (`layout`), the lines between in a terminal (`canvas`, `text`), and the
same as a page (`page`) with its figure (`figure`). No widgets, and nothing is asked of anybody."""
