"""Drawings of small graphs: what stands where (`layout`), and the lines between (`canvas`). No widgets."""
