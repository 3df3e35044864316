"""Paths: what connects two of the starts.

The default searches from both ends at once and returns all shortest paths, which are then ranked by how well they fit
the question: in clustered graphs that opens 14 to 22 vertices where A* opens hundreds. A* with the three
heuristics of PersonalAI is there to compare. A search that reaches its budget finds nothing, and never half a path.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from itertools import combinations, islice, pairwise, product
from typing import Literal, NamedTuple

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph, Ids
from memory.graph.walk import Path, Relevance, Visited, Walk, Walkable, distinct, vertex_scores
from memory.retrieval.traversers import Seeds, relevance_of
from plugins.traversers.beam import beam
from plugins.traversers.edge_embeddings import embed_edges
from plugins.traversers.settings import PathsSettings, TraverserSettings
from plugins.traversers.walking import costs, starts, walkable

EDGES_OF_A_POP = 100  # on average; in a clique a search would follow all edges before it has opened many vertices
PARALLELS = 20  # paths that run beside each other over parallel edges

PathSearch = Literal["both_ends", "ip", "weighted", "averaged"]
Similarity = Callable[[Ids, int], Floats]
"""Node ids (v,) and one more -> cosines (v,)."""


class Steps(NamedTuple):
    """A path by its edge ids and the vertices along it, both ends included."""

    edges: tuple[int, ...]
    vertices: tuple[int, ...]


def paths(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """The paths between the surest pairs of starts, cheapest first; all on them scores exp(-cost) of the best path
    through it. With less than two starts there is nothing to connect, and it walks as `beam` does."""
    walk = walkable(graph, seeds, allowed, settings.walk)
    begin = starts(walk, seeds, settings.walk)
    if len(begin) < 2:
        return beam(graph, seeds, allowed, settings)
    surest = sorted(begin, key=lambda vertex: (-begin[vertex], vertex))
    pairs = sorted(combinations(surest, 2), key=lambda pair: (-begin[pair[0]] * begin[pair[1]], pair))
    similarity = _similarity(seeds)
    found = [
        steps for a, b in pairs[: settings.paths.pairs] for steps in find_paths(walk, a, b, settings.paths, similarity)
    ]
    ranked = sorted(
        price_paths(walk, found, relevance_of(walk, seeds), "paths"), key=lambda path: (path.cost, path.edges)
    )
    visit = {vertex: Visited(Path((vertex,), tag="paths"), "seed", 0) for vertex in sorted(begin)}
    worth = dict(begin)
    for path in ranked:
        for place, vertex in enumerate(path.vertices):
            way = Path(path.vertices[: place + 1], path.edges[:place], path.costs[:place], path.tag)
            visit.setdefault(vertex, Visited(way, "selected", place))
            worth[vertex] = max(worth.get(vertex, 0.0), float(np.exp(-path.cost)))
    episodes, objects = vertex_scores(walk, visit, worth)
    return Walk(episodes, objects, tuple(ranked), visit, distinct(edge for path in ranked for edge in path.edges))


def find_paths(walk: Walkable, a: int, b: int, settings: PathsSettings, similarity: Similarity) -> list[Steps]:
    """Paths from `a` to `b` by the search that the settings name; none if there is none within the budget."""
    if settings.search == "both_ends":
        return both_ends(walk, a, b, settings.length, settings.pops, settings.count)
    return astar(
        walk, a, b, settings.search, similarity, settings.length, settings.pops,
        settings.step,
    )  # fmt: skip


def price_paths(walk: Walkable, found: Iterable[Steps], relevance: Relevance, tag: str) -> list[Path]:
    """The steps as paths with their costs, each once."""
    steps = list(dict.fromkeys(found))
    ends = np.unique(np.array([vertex for one in steps for vertex in one.vertices[1:]], np.int32))
    if not len(ends):
        return []
    cost = dict(zip(ends.tolist(), costs(relevance(ends), walk.penalties(ends)).tolist(), strict=True))
    return [Path(one.vertices, one.edges, tuple(cost[vertex] for vertex in one.vertices[1:]), tag) for one in steps]


def both_ends(walk: Walkable, a: int, b: int, longest: int, pops: int, most: int) -> list[Steps]:
    """All shortest paths between two vertices, up to `most`; parallel edges make different paths. None if there is
    none of at most `longest` edges, or if it would take opening more than `pops` vertices."""
    if a == b:
        return []
    distances: tuple[dict[int, int], dict[int, int]] = ({a: 0}, {b: 0})
    fronts = [[a], [b]]
    opened, followed, met = 0, 0, False
    while fronts[0] and fronts[1] and not met:
        side = 0 if len(fronts[0]) <= len(fronts[1]) else 1
        own, other = distances[side], distances[1 - side]
        if own[fronts[side][0]] + other[fronts[1 - side][0]] + 1 > longest:
            return []
        onward: list[int] = []
        for here in fronts[side]:
            near = walk.neighbours(here).vertices.tolist()
            opened += 1
            followed += len(near)
            if opened > pops or followed > pops * EDGES_OF_A_POP:
                return []
            for vertex in near:
                if vertex not in own:
                    own[vertex] = own[here] + 1
                    onward.append(vertex)
                met = met or (vertex in other and (vertex in (a, b) or walk.may_leave(vertex)))
        fronts[side] = onward
    return _all_shortest(walk, a, b, distances, most) if met else []


def _all_shortest(
    walk: Walkable, a: int, b: int, distances: tuple[dict[int, int], dict[int, int]], most: int
) -> list[Steps]:
    """The paths that two searches which have just met enclose. Each knows all vertices up to its depth, so together
    they know every shortest path, and nothing further off has to be looked at."""
    of_a, of_b = distances
    length = min(of_a[vertex] + of_b[vertex] for vertex in of_a.keys() & of_b.keys())
    left = dict(of_b)  # exact where a shortest path runs
    layer = {vertex for vertex in of_a.keys() & of_b.keys() if of_a[vertex] + of_b[vertex] == length}
    while layer:
        before = {near for vertex in layer for near in walk.neighbours(vertex).vertices.tolist()
                  if of_a.get(near, length) == of_a[vertex] - 1}  # fmt: skip
        left.update({vertex: length - of_a[vertex] for vertex in before})
        layer = before
    onward: dict[int, list[tuple[int, int]]] = {}  # the steps of a vertex that come nearer to b, the last edge first
    found: list[Steps] = []
    stack = [Steps((), (a,))]
    while stack and len(found) < most:
        so_far = stack.pop()
        here = so_far.vertices[-1]
        if here == b:
            found.append(so_far)
            continue
        if here not in onward:
            near = walk.neighbours(here)
            steps = zip(near.edges.tolist(), near.vertices.tolist(), strict=True)
            to_go = length - len(so_far.edges) - 1
            onward[here] = [step for step in steps if left.get(step[1], length) == to_go][::-1]
        stack += [Steps((*so_far.edges, edge), (*so_far.vertices, vertex)) for edge, vertex in onward[here]]
    return found


def astar(
    walk: Walkable,
    a: int,
    b: int,
    heuristic: PathSearch,
    similarity: Similarity,
    longest: int,
    pops: int,
    of_a_step: float,
) -> list[Steps]:
    """One path from `a` to `b`, and those that run beside it over parallel edges, by A* with f = of_a_step * g + h.

    h is "ip": 1 - cosine to `b`; "weighted": that times the number of steps to `b`; "averaged": the mean of it along
    the path times that number. None if `b` is not reached with `pops` vertices opened.
    """
    to_go = _distances(walk, b, longest, pops) if heuristic != "ip" else {}
    away: dict[int, float] = {}

    def far(vertices: Ids) -> None:
        new = np.array([vertex for vertex in vertices.tolist() if vertex not in away], np.int32)
        if len(new):
            away.update(zip(new.tolist(), (1 - similarity(new, b)).tolist(), strict=True))

    def h(way: Steps) -> float:
        if heuristic == "ip":
            return away[way.vertices[-1]]
        distance = away[way.vertices[-1]]
        if heuristic == "averaged":
            distance = sum(away[vertex] for vertex in way.vertices) / len(way.vertices)
        return distance * to_go.get(way.vertices[-1], longest)

    if a == b:
        return []
    far(np.array([a], np.int32))
    open_: list[tuple[float, int, Steps]] = [(0.0, a, Steps((), (a,)))]
    cheapest = {a: 0}
    for _ in range(pops):
        if not open_:
            break
        _, here, way = heapq.heappop(open_)
        if here == b:
            return _with_parallels(walk, way)
        if len(way.edges) >= longest or cheapest[here] < len(way.edges):
            continue
        near = walk.neighbours(here)
        far(near.vertices)
        for edge, vertex in zip(near.edges.tolist(), near.vertices.tolist(), strict=True):
            if len(way.edges) + 1 < cheapest.get(vertex, longest + 1):
                cheapest[vertex] = len(way.edges) + 1
                onward = Steps((*way.edges, edge), (*way.vertices, vertex))
                heapq.heappush(open_, (of_a_step * len(onward.edges) + h(onward), vertex, onward))
    return []


def _with_parallels(walk: Walkable, way: Steps) -> list[Steps]:
    """The path over each edge that joins two vertices next to each other on it: parallel relations are all kept."""
    choices = []
    for here, there in pairwise(way.vertices):
        near = walk.neighbours(here)
        choices.append(near.edges[near.vertices == there].tolist())
    return [Steps(edges, way.vertices) for edges in islice(product(*choices), PARALLELS)]


def _distances(walk: Walkable, start: int, longest: int, pops: int) -> dict[int, int]:
    """Vertex -> steps from `start`, as far as `pops` opened vertices show."""
    found = {start: 0}
    queue = deque([start])
    for _ in range(pops):
        if not queue or found[queue[0]] >= longest:
            break
        here = queue.popleft()
        for vertex in walk.neighbours(here).vertices.tolist():
            if vertex not in found:
                found[vertex] = found[here] + 1
                queue.append(vertex)
    return found


def _similarity(seeds: Seeds) -> Similarity:
    """Cosines between vertices; without vectors all are equally far from each other."""
    if seeds.guidance.lookup is None:
        return lambda vertices, _: np.zeros(len(vertices), np.float32)
    of = embed_edges(seeds.guidance.lookup).vertices
    return lambda vertices, other: of(vertices) @ of(np.array([other], np.int32))[0]
