"""Where the vertices of a small graph stand on a screen of characters.

Layered, from left to right: a column for each distance from the roots, a row for each vertex, ordered by the mean row
of its neighbours in the column before (the barycentre heuristic of Sugiyama). What a vertex is reached by stands before
its label, so every label has a row of its own in its column and none can overlap another. With `centred` half of the
branches of the first root grow to the left.
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
MAX_RELATION = 18  # cells of what stands before a label
WORTHWHILE = 5  # cells of a relation, with fewer it says nothing


@dataclass(frozen=True, slots=True)
class Node:
    """A vertex: `id` is what it is known by, `weight` decides what is left out where room is short and what is bright,
    `mark` stands before the label."""

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
    """What is drawn. `roots` stand in the first column (without any, the first node of each part that hangs together);
    `paths` are the ones that won, each the ids along it."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    roots: tuple[Hashable, ...] = ()
    paths: tuple[tuple[Hashable, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """A label on the screen: `relation` is shown on the side that the line comes from. `node` is None for a line that
    counts what there was no room for."""

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
        """As it is read from left to right."""
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

    def box_of(self, id: Hashable) -> Box | None:
        """The box of a node, if it is drawn."""
        return next((box for box in self.boxes if box.node is not None and box.node.id == id), None)


@dataclass(slots=True)
class _Placed:
    """A node on its way to its place. `parent` and `relation`: what it was reached from first, and by what."""

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
    """The rows in which all of it has room."""
    return max(map(len, _columns(_reach(graph), width, centred)[0]), default=0)


def lay_out(graph: Graph, width: int, height: int, centred: bool = False) -> Layout:
    """Places as much of `graph` as there is room for; the same graph and size give the same layout."""
    if width < 1 or height < 1 or not graph.nodes:
        return Layout()
    columns, root = _columns(_reach(graph), width, centred)
    near = _neighbours(graph)
    left_out = [_limit(column, height) for column in columns]
    rows: dict[Hashable, int] = {}
    for n in (*range(root, len(columns)), *range(root - 1, -1, -1)):
        _arrange(columns[n], near, rows, height - bool(left_out[n]))
        rows |= {one.node.id: one.row for one in columns[n]}
    boxes, spans = _boxes(columns, left_out, root, width, height)
    return Layout(tuple(boxes), tuple(_lines(graph, boxes, spans)), len(columns))


def _neighbours(graph: Graph) -> _Neighbours:
    """What each node is joined to, by what, and whether that leads from it or to it."""
    found: _Neighbours = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        if edge.source in found and edge.target in found and edge.source != edge.target:
            found[edge.source].append((edge.target, edge.label, True))
            found[edge.target].append((edge.source, edge.label, False))
    return found


def _reach(graph: Graph) -> list[_Placed]:
    """Breadth first from the roots, along the paths that won before others. In the order of the nodes."""
    near, steps = _neighbours(graph), path_steps(graph)
    on_path = {id for path in graph.paths for id in path}
    nodes = {node.id: node for node in graph.nodes}
    order = {id: n for n, id in enumerate(nodes)}
    found: dict[Hashable, _Placed] = {}
    waiting: deque[_Placed] = deque()

    def place(id: Hashable, depth: int, parent: Hashable = None, relation: str = "", forward: bool = True) -> None:
        if id in nodes and id not in found:
            found[id] = _Placed(nodes[id], order[id], depth, parent, relation, forward, id in on_path)
            waiting.append(found[id])

    def go_on() -> None:
        while waiting:
            here = waiting.popleft()
            id = here.node.id
            for other, relation, forward in sorted(near[id], key=lambda one: frozenset((id, one[0])) not in steps):
                place(other, here.depth + 1, id, relation, forward)

    for root in graph.roots:
        place(root, 0)
    go_on()
    for id in nodes:
        place(id, 0)
        go_on()
    return sorted(found.values(), key=lambda one: one.order)


def _columns(placed: list[_Placed], width: int, centred: bool) -> tuple[list[list[_Placed]], int]:
    """The columns from left to right, and which of them holds the roots."""
    most = max(1, (width + MIN_GAP) // (MIN_COLUMN + MIN_GAP))
    left = _left_branches(placed) if centred and most >= 3 else frozenset()
    deepest = (most - 1) // 2 if left else most - 1
    sides: dict[int, list[_Placed]] = {}
    for one in placed:
        depth = min(one.depth, deepest)
        sides.setdefault(-depth if one.node.id in left else depth, []).append(one)
    return [sides[side] for side in sorted(sides)], sum(side < 0 for side in sides)


def _left_branches(placed: list[_Placed]) -> frozenset[Hashable]:
    """What grows to the left: whole branches, so that each side has about half of the nodes."""
    by_depth = sorted(placed, key=lambda one: one.depth)
    branch: dict[Hashable, Hashable] = {}
    for one in by_depth:
        branch[one.node.id] = one.node.id if one.depth < 2 else branch[one.parent]
    sizes = {one.node.id: 0 for one in by_depth if one.depth == 1}
    for one in by_depth:
        if one.depth:
            sizes[branch[one.node.id]] += 1
    sides: tuple[set[Hashable], set[Hashable]] = (set(), set())
    weights = [0, 0]
    for root, size in sizes.items():
        side = int(weights[0] > weights[1])
        sides[side].add(root)
        weights[side] += size
    return frozenset(one.node.id for one in by_depth if one.depth and branch[one.node.id] in sides[1])


def _limit(column: list[_Placed], height: int) -> int:
    """Leaves out what there are no rows for: never what won before what did not, never a heavy node before a light one.
    -> how many; the last row is then for their number."""
    if len(column) <= height:
        return 0
    best = sorted(column, key=lambda one: (not one.on_path, one.parent is not None, -one.node.weight, one.order))
    kept = {id(one) for one in best[: height - 1]}
    left_out = len(column) - len(kept)
    column[:] = [one for one in column if id(one) in kept]
    return left_out


def _arrange(column: list[_Placed], near: _Neighbours, rows: dict[Hashable, int], height: int) -> None:
    """Gives each of a column its row: as near as may be to the middle of its neighbours, in their order."""
    if not column:
        return
    space = 2 if 2 * len(column) - 1 <= height else 1
    wanted: dict[Hashable, float] = {}
    for n, one in enumerate(column):
        known = [rows[id] for id, *_ in near[one.node.id] if id in rows]
        wanted[one.node.id] = fmean(known) if known else (n + 0.5) * height / len(column) - 0.5
    column.sort(key=lambda one: (wanted[one.node.id], one.order))
    pools: list[tuple[float, int]] = []  # isotonic regression: each pool stands as one block, at the mean of its wishes
    for n, one in enumerate(column):
        mean, size = wanted[one.node.id] - space * n, 1
        while pools and pools[-1][0] > mean:
            before, number = pools.pop()
            mean, size = (before * number + mean * size) / (number + size), number + size
        pools.append((mean, size))
    firsts = [mean for mean, size in pools for _ in range(size)]
    last = height - 1 - space * (len(column) - 1)
    for n, (one, first) in enumerate(zip(column, firsts, strict=True)):
        one.row = space * n + min(max(round(first), 0), last)


def _boxes(
    columns: list[list[_Placed]], left_out: list[int], root: int, width: int, height: int
) -> tuple[list[Box], list[tuple[int, int]]]:
    """The labels, cut to the widths of their columns; and where each column begins and ends."""
    widths = _widths(columns, left_out, width)
    gaps = len(columns) - 1
    gap = min(MAX_GAP, (width - sum(widths)) // gaps) if gaps else 0
    x = max(0, (width - sum(widths) - gap * gaps) // 2) if root else 0
    boxes: list[Box] = []
    spans: list[tuple[int, int]] = []
    for n, (column, wide) in enumerate(zip(columns, widths, strict=True)):
        for one in column:
            label, relation = _cut(one, wide, n < root)
            own = cell_len(label) + (cell_len(relation) + 1 if relation else 0)
            at = x + wide - own if n < root else x
            boxes.append(Box(at, one.row, own, label, relation, one.node, n, n < root, one.on_path))
        if left_out[n]:
            more = _shorten(f"+{left_out[n]} more", wide)
            boxes.append(Box(x, height - 1, cell_len(more), more, column=n))
        spans.append((x, x + wide))
        x += wide + gap
    return boxes, spans


def _widths(columns: list[list[_Placed]], left_out: list[int], width: int) -> list[int]:
    """As wide as the longest label of each, the widest made narrower until all have room."""
    widths = [
        min(MAX_COLUMN, width, max([len("+99 more") if more else 1, *map(_natural, column)]))
        for column, more in zip(columns, left_out, strict=True)
    ]
    room = width - MIN_GAP * (len(columns) - 1)
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    return widths


def _label(one: _Placed) -> str:
    return f"{one.node.mark} {one.node.label}"


def _natural(one: _Placed) -> int:
    return cell_len(_label(one)) + (min(MAX_RELATION, cell_len(one.relation) + 2) + 1 if one.relation else 0)


def _cut(one: _Placed, width: int, mirrored: bool) -> tuple[str, str]:
    """A label and what stands before it with its direction, in so many cells. The label is the more important one."""
    label = _label(one)
    room = min(MAX_RELATION, max(width - cell_len(label) - 1, width * 2 // 5 - 1))
    if not one.relation or room < WORTHWHILE:
        return _shorten(label, width), ""
    relation = _shorten(one.relation, room - 2)
    relation = f"{relation} →" if one.forward != mirrored else f"← {relation}"
    return _shorten(label, width - cell_len(relation) - 1), relation


def _shorten(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…" if width > 1 else "…"[:width]


def _lines(graph: Graph, boxes: list[Box], spans: list[tuple[int, int]]) -> list[Line]:
    """One for each pair of nodes that are joined and drawn; those that won are last, so that they lie on top."""
    drawn = {box.node.id: box for box in boxes if box.node is not None}
    steps = path_steps(graph)
    lines: dict[frozenset[Hashable], Line] = {}
    for edge in graph.edges:
        pair = frozenset((edge.source, edge.target))
        one, other = drawn.get(edge.source), drawn.get(edge.target)
        if one is None or other is None or one is other or pair in lines:
            continue
        left, right = sorted((one, other), key=lambda box: (box.column, box.y))
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
