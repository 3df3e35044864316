"""Drawings of small graphs in a terminal: positions (`layout`), lines (`canvas`) and text. No widgets and no I/O."""
