"""Positions of a small graph's vertices on a screen of characters.

Layered, from left to right: a column for each distance from the roots, a row for each vertex, ordered by the mean row
of its neighbours in the previous column (the barycentre heuristic of Sugiyama). The relation to its parent is before a
label, so every label has its own row in its column and labels cannot overlap. With `centred` half of the branches of
the first root grow to the left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TypeAlias

from rich.cells import cell_len, set_cell_size

MIN_GAP, MAX_GAP = 4, 14  # cells between two columns, for the lines
MIN_COLUMN = 9  # cells; where columns would be narrower, the last ones share one
MAX_COLUMN = 44
MAX_RELATION = 18  # cells of the relation before a label
WORTHWHILE = 5  # cells of a relation, with fewer it says nothing


@dataclass(frozen=True, slots=True)
class Node:
    """A vertex: `id` is its key, `weight` decides whether it is drawn without space and is bright, `mark` comes before
    the label."""

    id: Hashable
    label: str
    weight: float = 1.0
    mark: str = "○"


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` is related by `label` to `target`; both are ids of nodes."""

    source: Hashable
    target: Hashable
    label: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph to draw. `roots` are in the first column (by default the first node of each component); `paths` are the
    winning ones, each the ids along it."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    roots: tuple[Hashable, ...] = ()
    paths: tuple[tuple[Hashable, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """A label on the screen: `relation` is shown on the side of the line. `node` is None for a line that counts dropped
    nodes."""

    x: int
    y: int
    width: int
    label: str
    relation: str = ""
    node: Node | None = None
    column: int = 0  # from the left
    mirrored: bool = False  # it grew to the left: its line comes from the right
    on_path: bool = False

    @property
    def text(self) -> str:
        parts = (self.label, self.relation) if self.mirrored else (self.relation, self.label)
        return " ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Line:
    """An edge between two boxes, from the left one to the right one; `span` are the cells between their columns."""

    left: Box
    right: Box
    span: tuple[int, int]
    on_path: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything that is drawn, in cells."""

    boxes: tuple[Box, ...] = ()
    lines: tuple[Line, ...] = ()
    columns: int = 0


@dataclass(slots=True)
class _Placed:
    """A node during layout. `parent` and `relation`: the node that reached it first, and the relation."""

    node: Node
    order: int
    depth: int
    parent: Hashable | None = None
    relation: str = ""
    forward: bool = True  # whether the relation leads to it, and not from it
    on_path: bool = False
    row: int = 0


_Neighbours: TypeAlias = dict[Hashable, list[tuple[Hashable, str, bool]]]


def needed_rows(graph: Graph, width: int, centred: bool = False) -> int:
    """The rows for the whole graph."""
    return max(map(len, _make_columns(_reach(graph), width, centred)[0]), default=0)


def lay_out(graph: Graph, width: int, height: int, centred: bool = False) -> Layout:
    """Places as much of `graph` as fits; deterministic for the same graph and size."""
    if width < 1 or height < 1 or not graph.nodes:
        return Layout()
    columns, root = _make_columns(_reach(graph), width, centred)
    near = _list_neighbours(graph)
    left_out = [_limit(column, height) for column in columns]
    rows: dict[Hashable, int] = {}
    for n in (*range(root, len(columns)), *range(root - 1, -1, -1)):
        _arrange(columns[n], near, rows, height - bool(left_out[n]))
        rows |= {placed_node.node.id: placed_node.row for placed_node in columns[n]}
    boxes, spans = _make_boxes(columns, left_out, root, width, height)
    return Layout(tuple(boxes), tuple(_make_lines(graph, boxes, spans)), len(columns))


def _list_neighbours(graph: Graph) -> _Neighbours:
    """For each node its neighbours, their relations, and whether the edge leads from it or to it."""
    neighbours: _Neighbours = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        if edge.source in neighbours and edge.target in neighbours and edge.source != edge.target:
            neighbours[edge.source].append((edge.target, edge.label, True))
            neighbours[edge.target].append((edge.source, edge.label, False))
    return neighbours


def _reach(graph: Graph) -> list[_Placed]:
    """Breadth first from the roots, along the paths that won before others. In the order of the nodes."""
    near, steps = _list_neighbours(graph), path_steps(graph)
    on_path = {id for path in graph.paths for id in path}
    nodes = {node.id: node for node in graph.nodes}
    order = {id: n for n, id in enumerate(nodes)}
    placed: dict[Hashable, _Placed] = {}
    waiting: deque[_Placed] = deque()

    def place(id: Hashable, depth: int, parent: Hashable = None, relation: str = "", forward: bool = True) -> None:
        if id in nodes and id not in placed:
            placed[id] = _Placed(nodes[id], order[id], depth, parent, relation, forward, id in on_path)
            waiting.append(placed[id])

    def go_on() -> None:
        while waiting:
            current = waiting.popleft()
            id = current.node.id
            for neighbour, relation, forward in sorted(
                near[id], key=lambda item: frozenset((id, item[0])) not in steps
            ):
                place(neighbour, current.depth + 1, id, relation, forward)

    for root in graph.roots:
        place(root, 0)
    go_on()
    for id in nodes:
        place(id, 0)
        go_on()
    return sorted(placed.values(), key=lambda item: item.order)


def _make_columns(placed: list[_Placed], width: int, centred: bool) -> tuple[list[list[_Placed]], int]:
    """The columns from left to right, and the index of the one with the roots."""
    most = max(1, (width + MIN_GAP) // (MIN_COLUMN + MIN_GAP))
    left = _choose_left_branches(placed) if centred and most >= 3 else frozenset()
    deepest = (most - 1) // 2 if left else most - 1
    sides: dict[int, list[_Placed]] = {}
    for node in placed:
        depth = min(node.depth, deepest)
        sides.setdefault(-depth if node.node.id in left else depth, []).append(node)
    return [sides[side] for side in sorted(sides)], sum(side < 0 for side in sides)


def _choose_left_branches(placed: list[_Placed]) -> frozenset[Hashable]:
    """The nodes that grow to the left: whole branches, so that each side has about half of the nodes."""
    by_depth = sorted(placed, key=lambda entry: entry.depth)
    branch: dict[Hashable, Hashable] = {}
    for entry in by_depth:
        branch[entry.node.id] = entry.node.id if entry.depth < 2 else branch[entry.parent]
    sizes = {entry.node.id: 0 for entry in by_depth if entry.depth == 1}
    for entry in by_depth:
        if entry.depth:
            sizes[branch[entry.node.id]] += 1
    sides: tuple[set[Hashable], set[Hashable]] = (set(), set())
    weights = [0, 0]
    for root, size in sizes.items():
        side = int(weights[0] > weights[1])
        sides[side].add(root)
        weights[side] += size
    return frozenset(entry.node.id for entry in by_depth if entry.depth and branch[entry.node.id] in sides[1])


def _limit(column: list[_Placed], height: int) -> int:
    """Drops nodes without rows: never a winning one before another, never a heavy node before a light one. Returns how
    many; the last row is then for their number."""
    if len(column) <= height:
        return 0
    best = sorted(column, key=lambda item: (not item.on_path, item.parent is not None, -item.node.weight, item.order))
    kept_ids = {id(item) for item in best[: height - 1]}
    left_out = len(column) - len(kept_ids)
    column[:] = [item for item in column if id(item) in kept_ids]
    return left_out


def _arrange(column: list[_Placed], near: _Neighbours, rows: dict[Hashable, int], height: int) -> None:
    """Gives each node of a column its row: as near as possible to the middle of its neighbours, in their order."""
    if not column:
        return
    space = 2 if 2 * len(column) - 1 <= height else 1
    ideal: dict[Hashable, float] = {}
    for n, item in enumerate(column):
        neighbour_rows = [rows[id] for id, *_ in near[item.node.id] if id in rows]
        ideal[item.node.id] = fmean(neighbour_rows) if neighbour_rows else (n + 0.5) * height / len(column) - 0.5
    column.sort(key=lambda item: (ideal[item.node.id], item.order))
    pools: list[tuple[float, int]] = []  # isotonic regression: each pool is one block, at the mean of its ideals
    for n, item in enumerate(column):
        mean, size = ideal[item.node.id] - space * n, 1
        while pools and pools[-1][0] > mean:
            before, number = pools.pop()
            mean, size = (before * number + mean * size) / (number + size), number + size
        pools.append((mean, size))
    firsts = [mean for mean, size in pools for _ in range(size)]
    last = height - 1 - space * (len(column) - 1)
    for n, (item, first) in enumerate(zip(column, firsts, strict=True)):
        item.row = space * n + min(max(round(first), 0), last)


def _make_boxes(
    columns: list[list[_Placed]], left_out: list[int], root: int, width: int, height: int
) -> tuple[list[Box], list[tuple[int, int]]]:
    """The labels, cut to the widths of their columns; and where each column begins and ends."""
    widths = _share_widths(columns, left_out, width)
    gaps = len(columns) - 1
    gap = min(MAX_GAP, (width - sum(widths)) // gaps) if gaps else 0
    x = max(0, (width - sum(widths) - gap * gaps) // 2) if root else 0
    boxes: list[Box] = []
    spans: list[tuple[int, int]] = []
    for n, (column, wide) in enumerate(zip(columns, widths, strict=True)):
        for item in column:
            label, relation = _cut(item, wide, n < root)
            own = cell_len(label) + (cell_len(relation) + 1 if relation else 0)
            at = x + wide - own if n < root else x
            boxes.append(Box(at, item.row, own, label, relation, item.node, n, n < root, item.on_path))
        if left_out[n]:
            more = _shorten(f"+{left_out[n]} more", wide)
            boxes.append(Box(x, height - 1, cell_len(more), more, column=n))
        spans.append((x, x + wide))
        x += wide + gap
    return boxes, spans


def _share_widths(columns: list[list[_Placed]], left_out: list[int], width: int) -> list[int]:
    """As wide as the longest label of each, the widest made narrower until all have room."""
    widths = [
        min(MAX_COLUMN, width, max([len("+99 more") if more else 1, *map(_measure_label, column)]))
        for column, more in zip(columns, left_out, strict=True)
    ]
    room = width - MIN_GAP * (len(columns) - 1)
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    return widths


def _make_label(entry: _Placed) -> str:
    return f"{entry.node.mark} {entry.node.label}"


def _measure_label(entry: _Placed) -> int:
    return cell_len(_make_label(entry)) + (min(MAX_RELATION, cell_len(entry.relation) + 2) + 1 if entry.relation else 0)


def _cut(entry: _Placed, width: int, mirrored: bool) -> tuple[str, str]:
    """A label and its relation with the direction, cut to `width` cells. The label has priority."""
    label = _make_label(entry)
    room = min(MAX_RELATION, max(width - cell_len(label) - 1, width * 2 // 5 - 1))
    if not entry.relation or room < WORTHWHILE:
        return _shorten(label, width), ""
    relation = _shorten(entry.relation, room - 2)
    relation = f"{relation} →" if entry.forward != mirrored else f"← {relation}"
    return _shorten(label, width - cell_len(relation) - 1), relation


def _shorten(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…" if width > 1 else "…"[:width]


def _make_lines(graph: Graph, boxes: list[Box], spans: list[tuple[int, int]]) -> list[Line]:
    """A line for each pair of joined and drawn nodes; the winning ones last, so that they are on top."""
    drawn = {box.node.id: box for box in boxes if box.node is not None}
    steps = path_steps(graph)
    lines: dict[frozenset[Hashable], Line] = {}
    for edge in graph.edges:
        pair = frozenset((edge.source, edge.target))
        first, second = drawn.get(edge.source), drawn.get(edge.target)
        if first is None or second is None or first is second or pair in lines:
            continue
        left, right = sorted((first, second), key=lambda box: (box.column, box.y))
        n = left.column
        if n < right.column:
            lines[pair] = Line(left, right, (spans[n][1], spans[right.column][0]), pair in steps)
        elif n + 1 < len(spans) and not left.mirrored:
            lines[pair] = Line(left, right, (spans[n][1], spans[n + 1][0]), pair in steps)
        elif n > 0:
            lines[pair] = Line(left, right, (spans[n - 1][1], spans[n][0]), pair in steps)
    return sorted(lines.values(), key=lambda line: line.on_path)


def path_steps(graph: Graph) -> set[frozenset[Hashable]]:
    """The pairs of nodes that follow each other on the paths that won."""
    return {frozenset(step) for path in graph.paths for step in pairwise(path)}
