"""The figure of a page as SVG, with the layout of the terminal, so that labels do not overlap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from rich.cells import cell_len

from daemon.drawing.layout import Box, Graph, Layout, Line, lay_out, needed_rows

CELL_WIDTH, CELL_HEIGHT = 8.4, 24.0  # px
MARGIN = 24.0
COLUMNS = 150  # cells: so wide a drawing may become
DOT = 4.5  # radius of the mark of a node
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def draw_figure(graph: Graph, title: str) -> str:
    """The element `svg`. Each node is a `g` with its id in `data-id`."""
    layout = lay_out(graph, COLUMNS, needed_rows(graph, COLUMNS, centred=True), centred=True)
    left = min((box.x for box in layout.boxes), default=0)
    right = max((box.x + box.width for box in layout.boxes), default=1)
    rows = 1 + max((box.y for box in layout.boxes), default=0)
    width, height = (right - left) * CELL_WIDTH + 2 * MARGIN, rows * CELL_HEIGHT + 2 * MARGIN
    x = left * CELL_WIDTH - MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{x:.1f} {-MARGIN:.1f} {width:.1f} {height:.1f}"'
        f' width="{width:.0f}" height="{height:.0f}" role="img" aria-label={_quote(title)}>'
    )
    nodes = (_draw_node(box, graph) for box in layout.boxes)
    return "\n".join([head, f"<title>{_escape(title)}</title>", *_draw_lines(layout), *nodes, "</svg>"])


def _draw_lines(layout: Layout) -> Iterator[str]:
    for line in layout.lines:
        ends = " ".join(str(box.node.id) for box in (line.left, line.right) if box.node)
        yield f'<path class="line" data-ends={_quote(ends)} d="{_draw_curve(line)}"/>'


def _draw_curve(line: Line) -> str:
    begin, end = (place * CELL_WIDTH for place in line.span)
    top, bottom = (_find_middle(box) for box in (line.left, line.right))
    if line.left.column != line.right.column:
        start, stop = (line.left.x + line.left.width) * CELL_WIDTH + 4, line.right.x * CELL_WIDTH - 4
        middle = (begin + end) / 2
        return (
            f"M{start:.1f} {top:.1f}H{max(start, begin):.1f}"
            f"C{middle:.1f} {top:.1f} {middle:.1f} {bottom:.1f} {min(stop, end):.1f} {bottom:.1f}H{stop:.1f}"
        )
    is_right = line.span[0] >= line.left.x + line.left.width
    edges = [
        (box.x + box.width) * CELL_WIDTH + 4 if is_right else box.x * CELL_WIDTH - 4 for box in (line.left, line.right)
    ]
    turn = begin + 24 if is_right else end - 24
    return f"M{edges[0]:.1f} {top:.1f}C{turn:.1f} {top:.1f} {turn:.1f} {bottom:.1f} {edges[1]:.1f} {bottom:.1f}"


def _draw_node(box: Box, graph: Graph) -> str:
    """A label with its dot, and the relation on the side of its line."""
    y, node = _find_middle(box), box.node
    if node is None:
        return f'<text class="more" x="{box.x * CELL_WIDTH:.1f}" y="{y:.1f}">{_escape(box.label)}</text>'
    name = box.label.removeprefix(f"{node.mark} ")
    begin, end = box.x * CELL_WIDTH, (box.x + box.width) * CELL_WIDTH
    cells = cell_len(box.label) * CELL_WIDTH
    if box.mirrored:  # label, then relation; to the right edge
        dot, anchor, x = end - DOT, "end", end - 14
        if box.relation:
            dot, x = end - (box.width * CELL_WIDTH - cells) - DOT, end - (box.width * CELL_WIDTH - cells) - 14
        relation_x, relation_anchor = end, "end"
    else:
        dot, anchor, x = begin + DOT, "start", begin + 14
        if box.relation:
            dot, x = end - cells + DOT, end - cells + 14
        relation_x, relation_anchor = begin, "start"
    kind = "root" if node.id in graph.roots else "node" if node.weight >= 0.5 else "node faint"
    relation = (
        f'<text class="relation" x="{relation_x:.1f}" y="{y:.1f}" text-anchor="{relation_anchor}">'
        f"{_escape(box.relation)}</text>"
        if box.relation
        else ""
    )
    return (
        f'<g class="{kind}" data-id={_quote(str(node.id))}><title>{_escape(node.label)}</title>{relation}'
        f'<circle cx="{dot:.1f}" cy="{y:.1f}" r="{DOT}"/>'
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_escape(name)}</text></g>'
    )


def _find_middle(box: Box) -> float:
    return (box.y + 0.5) * CELL_HEIGHT


def _escape(text: str) -> str:
    return escape(_NO_XML.sub(" ", text), quote=False)


def _quote(text: str) -> str:
    return f'"{escape(_NO_XML.sub(" ", text))}"'
