"""What can be done in a drawing of a graph."""

from __future__ import annotations

from tui.actions.action import Action

GRAPH: tuple[Action, ...] = (
    Action("Open", "Open what is chosen in the drawing.", "open_node", "graph", "enter", footer="open"),
    Action("Right", "Go along a line to the right.", "go_along(1)", "graph", "right,l", footer="along"),
    Action("Left", "Go along a line to the left.", "go_along(-1)", "graph", "left,h"),
    Action("Down", "Choose the one below.", "go_down(1)", "graph", "down,j"),
    Action("Up", "Choose the one above.", "go_down(-1)", "graph", "up,k"),
)
