"""Drawings of small graphs as text."""

from __future__ import annotations

from rich.cells import cell_len

from daemon.drawing.layout import Edge, Graph, Node
from daemon.drawing.text import draw_lines

HARBOUR = Graph(
    (Node(1, "Harbour office", mark="●"), Node(2, "Old Ice House"), Node(3, "Nuria"), Node(4, "tide table", 0.4)),
    (Edge(1, 2, "lies in"), Edge(3, 1, "runs"), Edge(1, 4)),
    (1,),
)


def test_a_drawing_is_lines_of_text() -> None:
    lines = ["".join(piece.text for piece in line) for line in draw_lines(HARBOUR, 70)]
    assert all(cell_len(line) <= 70 for line in lines)
    drawn = "\n".join(lines)
    assert "● Harbour office" in drawn and "lies in → ○ Old Ice House" in drawn
    assert "○ Nuria → runs" in drawn or "runs → " in drawn or "← runs" in drawn or "○ Nuria runs →" in drawn
    roles = {piece.text: piece.role for line in draw_lines(HARBOUR, 70) for piece in line}
    assert roles["● Harbour office"] == "root" and roles["○ tide table"] == "faint"
