"""A small graph as a drawing: labels, and the lines between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from daemon.drawing.canvas import Canvas
from daemon.drawing.layout import Box, Graph, lay_out, needed_rows
from daemon.terminal import flatten

BRIGHT = 0.5  # the weight from which a label is as bright as other text

AIRY = 6  # rows up to which there is a blank one between two labels, where the height is free


class GraphView(Widget):
    """Draws a `Graph` as far as it fits, with the number of omitted nodes in their place."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "graph--line", "graph--path", "graph--relation", "graph--label", "graph--faint",
    }  # fmt: skip

    def __init__(self, graph: Graph | None = None) -> None:
        super().__init__()
        self._graph = _escape_labels(graph or Graph())
        self._strips: list[Strip] = []
        self._drawn: object = None  # what `_strips` were drawn from

    @property
    def graph(self) -> Graph:
        """The drawn graph, with labels made safe for a terminal."""
        return self._graph

    def show(self, graph: Graph) -> None:
        """Draws another graph."""
        resized = (
            self.is_mounted
            and self.styles.is_auto_height
            and self._rows(graph, self.content_size.width) != self.content_size.height
        )
        self._graph = _escape_labels(graph)
        self.refresh(layout=resized)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._rows(self._graph, width)

    def render_line(self, y: int) -> Strip:
        self._draw()
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width, self.rich_style)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._drawn = None

    def _rows(self, graph: Graph, width: int) -> int:
        rows = max(1, needed_rows(graph, width))
        return 2 * rows - 1 if rows <= AIRY else rows

    # Drawing ------------------------------------------------------------------------------------

    def _draw(self) -> None:
        width, height = self.content_size
        inputs = (self._graph, width, height, self.rich_style)
        if self._drawn == inputs:
            return
        self._drawn = inputs
        layout = lay_out(self._graph, width, height)
        canvas = Canvas.from_layout(layout, width, height)
        styles = {name: self.get_component_rich_style(name) for name in self.COMPONENT_CLASSES}
        rows: dict[int, list[Box]] = {}
        for box in sorted(layout.boxes, key=lambda box: box.x):
            rows.setdefault(box.y, []).append(box)
        self._strips = [Strip(self._row(canvas, y, rows.get(y, []), styles), width) for y in range(height)]

    def _row(self, canvas: Canvas, y: int, boxes: list[Box], styles: dict[str, Style]) -> Iterator[Segment]:
        x = 0
        for box in boxes:
            yield from _dots(canvas, x, box.x, y, styles)
            yield from self._label(box, styles)
            x = box.x + box.width
        yield from _dots(canvas, x, canvas.width, y, styles)

    def _label(self, box: Box, styles: dict[str, Style]) -> Iterator[Segment]:
        node = box.node
        if box.on_path:
            name = "graph--path"
        else:
            name = "graph--label" if node is not None and node.weight >= BRIGHT else "graph--faint"
        label, relation = Segment(box.label, styles[name]), Segment(box.relation, styles["graph--relation"])
        space = Segment(" ", styles["graph--line"])
        yield from (
            [label] if not box.relation else [label, space, relation] if box.mirrored else [relation, space, label]
        )


def _dots(canvas: Canvas, begin: int, end: int, y: int, styles: dict[str, Style]) -> Iterator[Segment]:
    """The lines in a part of a row, each run of one style as one segment."""
    start = begin
    for x in range(begin, end):
        if x + 1 == end or canvas.is_strong(x, y) != canvas.is_strong(x + 1, y):
            text = "".join(canvas.cell(column, y) for column in range(start, x + 1))
            yield Segment(text, styles["graph--path" if canvas.is_strong(x, y) else "graph--line"])
            start = x + 1


def _escape_labels(graph: Graph) -> Graph:
    """Labels come from notes and models: without control characters, and on one row."""
    return replace(
        graph,
        nodes=tuple(replace(node, label=flatten(node.label)) for node in graph.nodes),
        edges=tuple(replace(edge, label=flatten(edge.label)) for edge in graph.edges),
    )
