"""A drawing as lines of text: labels, what joins them, and the lines between in braille."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from daemon.drawing.canvas import Canvas
from daemon.drawing.layout import Box, Graph, lay_out, needed_rows

Role = Literal["line", "root", "label", "faint", "relation"]
BRIGHT = 0.5  # the weight from which a label is as bright as other text


class Piece(NamedTuple):
    """Characters of a line, and their kind."""

    text: str
    role: Role


def draw_lines(graph: Graph, width: int) -> Iterator[list[Piece]]:
    """The whole graph with its first root in the middle, in as many lines as needed, none wider than `width` cells."""
    height = needed_rows(graph, width, centred=True)
    layout = lay_out(graph, width, height, centred=True)
    canvas = Canvas.from_layout(layout, width, height)
    rows: dict[int, list[Box]] = {}
    for box in sorted(layout.boxes, key=lambda box: box.x):
        rows.setdefault(box.y, []).append(box)
    for y in range(height):
        yield list(_draw_line(canvas, y, rows.get(y, []), graph))


def _draw_line(canvas: Canvas, y: int, boxes: list[Box], graph: Graph) -> Iterator[Piece]:
    x = 0
    for box in boxes:
        yield Piece("".join(canvas.cell(column, y) for column in range(x, box.x)), "line")
        label, relation = Piece(box.label, _find_role(box, graph)), Piece(box.relation, "relation")
        if not box.relation:
            yield label
        else:
            yield from (label, Piece(" ", "line"), relation) if box.mirrored else (relation, Piece(" ", "line"), label)
        x = box.x + box.width
    yield Piece("".join(canvas.cell(column, y) for column in range(x, canvas.width)).rstrip(), "line")


def _find_role(box: Box, graph: Graph) -> Role:
    if box.node is not None and box.node.id in graph.roots:
        return "root"
    return "label" if box.node is not None and box.node.weight >= BRIGHT else "faint"
