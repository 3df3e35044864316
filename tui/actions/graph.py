"""Actions in the drawing of a graph."""

from __future__ import annotations

from tui.actions.action import Action

GRAPH: tuple[Action, ...] = (
    Action("Open", "Open the selected node.", "open_node", "graph", "enter", footer="open"),
    Action("Right", "Go along a line to the right.", "go_along(1)", "graph", "right,l", footer="along"),
    Action("Left", "Go along a line to the left.", "go_along(-1)", "graph", "left,h"),
    Action("Down", "Select the node below.", "go_down(1)", "graph", "down,j"),
    Action("Up", "Select the node above.", "go_down(-1)", "graph", "up,k"),
)
