"""Drawings of small graphs: positions (`layout`), lines in a terminal (`canvas`, `text`), and a page (`page`) with its
figure (`figure`). No widgets and no I/O."""
