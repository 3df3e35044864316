"""Circles: rings around every start; where those of several starts meet, there the answer lies
(after PersonalAI's WaterCircles, made symmetric).

Which starts reached a vertex does not depend on their order: each draws its own rings, with its own share of the edges
that may be followed, so that a hub among them does not use up what the others need.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from memory.graph.arrays import Bools, Graph
from memory.graph.walk import EPISODE, THESIS, Path, Relevance, Visited, Walk, Walkable, vertex_scores
from memory.retrieval.traversers import Seeds, relevance_of
from plugins.traversers.settings import TraverserSettings
from plugins.traversers.walking import costs, starts, walkable

PRIMARY = (25, 12, 7)  # edges where circles meet, for 1, 2, and 3 or more starts
SECONDARY = 6  # other edges, only if there are no such
FRAGMENTS = (15, 10, 7)  # theses, and as many episodes, for 1, 2, and 3 or more starts
OWN = 0.7  # what the first start next to an episode or thesis counts; each further one counts its weight


@dataclass(slots=True)
class Rings:
    """What circles drew: `reached` vertex -> the starts whose circles hold it, and how far from each; `paths` the way
    to each from its nearest start; `edges` edge id -> its two ends."""

    reached: dict[int, dict[int, int]] = field(default_factory=dict)
    paths: dict[int, Path] = field(default_factory=dict)
    edges: dict[int, tuple[int, int]] = field(default_factory=dict)

    def count_shared(self, edge: int) -> int:
        """How many starts' circles the two ends of an edge hold together."""
        a, b = self.edges[edge]
        return len(self.reached[a].keys() | self.reached[b].keys())


def circles(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Edges where circles meet, and the episodes and theses next to most starts. A vertex scores by how many starts
    stand next to it, by the share of the starts whose circles meet there, and by its relevance."""
    walk = walkable(graph, seeds, allowed, settings.walk)
    begin = starts(walk, seeds, settings.walk)
    relevance = relevance_of(walk, seeds)
    rings = draw(walk, begin, relevance, settings.circles.depth, settings.circles.edges)
    primary, secondary = meetings(rings, relevance, len(begin))
    vertices = np.array(sorted(rings.reached), np.int32)
    fits = dict(zip(vertices.tolist(), relevance(vertices).tolist(), strict=True))
    near = _next_to_starts(rings, begin)
    fragments = _fragments(walk, near, fits, len(begin))
    chosen = {end for edge in (*primary, *secondary) for end in rings.edges[edge]} | fragments
    visit = {
        vertex: Visited(
            path, "seed" if vertex in begin else "selected" if vertex in chosen else "scanned", len(path.edges)
        )
        for vertex, path in rings.paths.items()
    }
    met = _met(rings, len(begin))
    most = max([1.0, *near.values()])
    worth = {vertex: (near.get(vertex, 0.0) + met.get(vertex, 0.0) + fits[vertex]) / (most + 2) for vertex in visit}
    episodes, objects = vertex_scores(walk, visit, worth)
    paths = [path for vertex, path in rings.paths.items() if vertex in fragments and path.edges]
    paths.sort(key=lambda path: (-worth[path.vertices[-1]], path.cost, path.edges))
    return Walk(episodes, objects, tuple(paths), visit, (*primary, *secondary))


def draw(walk: Walkable, begin: Iterable[int], relevance: Relevance, depth: int, most: int) -> Rings:
    """Rings of `depth` around each start over `most` edges at the utmost, the most relevant of a vertex first."""
    rings = Rings()
    order = sorted(begin)
    share = most // max(1, len(order))
    for start in order:
        used: set[int] = set()
        rings.reached.setdefault(start, {})[start] = 0
        rings.paths[start] = Path((start,), tag="circles")
        way = {start: rings.paths[start]}
        queue = deque([start])
        while queue and len(used) < share:
            here = queue.popleft()
            if rings.reached[here][start] >= depth:
                continue
            near = walk.neighbours(here)
            fits = relevance(near.vertices)
            cost = costs(fits, walk.penalties(near.vertices))
            for place in np.lexsort((near.edges, -fits))[: share - len(used)].tolist():
                edge, end = int(near.edges[place]), int(near.vertices[place])
                used.add(edge)
                rings.edges.setdefault(edge, (here, end))
                if start not in rings.reached.setdefault(end, {}):
                    rings.reached[end][start] = rings.reached[here][start] + 1
                    way[end] = way[here].extend(edge, end, float(cost[place]))
                    queue.append(end)
        for vertex, path in way.items():
            if vertex not in rings.paths or _order(path) < _order(rings.paths[vertex]):
                rings.paths[vertex] = path
    return rings


def meetings(rings: Rings, relevance: Relevance, n_starts: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Primary edges, which lie in the circles of several starts, most starts first, then relevance; and secondary ones,
    the most relevant others, if there are no primary ones."""
    ends = np.array(sorted({end for pair in rings.edges.values() for end in pair}), np.int32)
    fits = dict(zip(ends.tolist(), relevance(ends).tolist(), strict=True))
    best = {edge: max(fits[end] for end in pair) for edge, pair in rings.edges.items()}
    met = {edge: rings.count_shared(edge) for edge in rings.edges}
    primary = sorted((edge for edge in met if met[edge] > 1), key=lambda edge: (-met[edge], -best[edge], edge))
    secondary = sorted((edge for edge in met if met[edge] < 2), key=lambda edge: (-best[edge], edge))
    most = PRIMARY[min(max(n_starts, 1), len(PRIMARY)) - 1]
    return tuple(primary[:most]), () if primary else tuple(secondary[:SECONDARY])


def _next_to_starts(rings: Rings, begin: Mapping[int, float]) -> dict[int, float]:
    """Vertex -> OWN for the surest start next to it, and the weight of each further one."""
    found = {}
    for vertex, starts_of in rings.reached.items():
        weights = sorted((begin[start] for start, distance in starts_of.items() if distance <= 1), reverse=True)
        if weights:
            found[vertex] = OWN + sum(weights[1:])
    return found


def _met(rings: Rings, n_starts: int) -> dict[int, float]:
    """Vertex -> the greatest share of the starts whose circles meet at an edge of it. All such edges count, not only
    the primary ones: which of many equal ones are primary follows from the order in which they were written."""
    found: dict[int, float] = {}
    for edge, ends in rings.edges.items():
        if (shared := rings.count_shared(edge)) > 1:
            for end in ends:
                found[end] = max(found.get(end, 0.0), shared / n_starts)
    return found


def _fragments(walk: Walkable, near: Mapping[int, float], fits: Mapping[int, float], n_starts: int) -> set[int]:
    most = FRAGMENTS[min(max(n_starts, 1), len(FRAGMENTS)) - 1]
    chosen: set[int] = set()
    vertices = sorted(fits, key=lambda vertex: (-near.get(vertex, 0.0), -fits[vertex], vertex))
    kinds = dict(zip(vertices, walk.kinds(vertices).tolist(), strict=True))
    for kind in (EPISODE, THESIS):
        chosen.update([vertex for vertex in vertices if kinds[vertex] == kind][:most])
    return chosen


def _order(path: Path) -> tuple[int, float, tuple[int, ...]]:
    return len(path.edges), path.cost, path.edges
