"""Paths between the starts, after PersonalAI's A*.

The default takes all shortest paths, ranked by how well they fit the question. A* with the three heuristics of the
paper embeds all that it sees: on hotpotqa it finds 0 to 1 points more at 15 to 29 times the processor time. A search
that reaches its budget returns no path.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, islice, pairwise, product
from statistics import fmean
from typing import Literal

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph, Ids
from memory.graph.walk import Path, Walk, Walkable
from memory.retrieval.traversers import Seeds
from plugins.settings import PathsSettings, TraverserSettings
from plugins.traversers.beam import beam
from plugins.traversers.subgraph import GraphEmbeddings
from plugins.traversers.walking import begin_walk, price_paths, walk_along

EDGES_OF_A_POP = 100  # on average; in a clique a search would follow all edges before it has opened many vertices
MAX_PATHS = 20  # of one search: shortest paths, or those over parallel edges
MAX_STARTS = 4  # the surest, which are six pairs

Ring = dict[int, list[tuple[int, int]]]
"""Vertex -> the edges that reached it first, each with the vertex before it; none of where the search began."""
Heuristic = Literal["ip", "weighted", "averaged"]
Distance = Callable[[int, int], float]
"""Two node ids -> 1 - cosine."""
Embed = Callable[[Ids], Floats]
"""Node ids (v,) -> unit vectors (v, d)."""


def paths(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Returns the walk over the paths between the surest starts. With fewer than two starts it walks as `beam` does."""
    walk, begin, relevance = begin_walk(graph, seeds, allowed, settings.walk)
    if len(begin) < 2:
        return beam(graph, seeds, allowed, settings)
    return walk_along(walk, begin, price_paths(walk, connect_starts(walk, begin, seeds, settings.paths), relevance))


def connect_starts(walk: Walkable, begin: Mapping[int, float], seeds: Seeds, own: PathsSettings) -> list[Path]:
    """Returns the paths between the surest of these starts, by their weights."""
    surest = sorted(begin, key=lambda vertex: (-begin[vertex], vertex))[:MAX_STARTS]
    pairs = [*combinations(surest, 2)]
    if own.search == "shortest":
        return [path for a, b in pairs for path in shortest_paths(walk, a, b, own.length, own.pops)]
    embed = _embedding(seeds)
    return [path for a, b in pairs for path in astar(walk, a, b, own.search, embed, own)]


def shortest_paths(walk: Walkable, a: int, b: int, length: int, pops: int) -> list[Path]:
    """Returns all shortest paths between two vertices, up to MAX_PATHS; parallel edges make different paths. Empty if
    every path has more than `length` edges or the search reaches its limits."""
    back: Ring = {a: []}
    for ring in search_rings(walk, a, length, pops):
        back |= ring
        if b in ring:
            return list(islice(_trace_back(back, b), MAX_PATHS))
    return []


def search_rings(walk: Walkable, start: int, length: int, pops: int) -> Iterator[Ring]:
    """Yields the vertices one edge away, two edges away and so on, up to `length`; ends before it would open more than
    `pops` vertices or follow EDGES_OF_A_POP times as many edges."""
    reached, ring = {start}, [start]
    opened = followed = 0
    for _ in range(length):
        onward: Ring = {}
        for here in ring:
            near = walk.neighbours(here)
            opened, followed = opened + 1, followed + len(near.edges)
            if opened > pops or followed > pops * EDGES_OF_A_POP:
                return
            for edge, target in zip(near.edges.tolist(), near.vertices.tolist(), strict=True):
                if target not in reached:
                    onward.setdefault(target, []).append((edge, here))
        reached |= onward.keys()
        ring = [*onward]
        yield onward


def _trace_back(back: Ring, vertex: int) -> Iterator[Path]:
    """Yields the paths by which a search reached a vertex."""
    if not back[vertex]:
        yield Path((vertex,))
    for edge, before in back[vertex]:
        for path in _trace_back(back, before):
            yield replace(path, vertices=(*path.vertices, vertex), edges=(*path.edges, edge))


def estimate(heuristic: Heuristic, path: Path, end: int, to_go: int, distance: Distance) -> float:
    """h of a path on its way to `end`, `to_go` steps away: "ip" is the distance of its tip to the end; "weighted": that
    times `to_go`; "averaged": the mean of that and of the distances between neighbours on the path, times `to_go`."""
    away = distance(path.vertices[-1], end)
    if heuristic == "ip":
        return away
    if heuristic == "averaged":
        away = fmean([away, *(distance(*pair) for pair in pairwise(path.vertices))])
    return away * to_go


def astar(walk: Walkable, a: int, b: int, heuristic: Heuristic, embed: Embed, settings: PathsSettings) -> list[Path]:
    """One path from `a` to `b`, and those over parallel edges, by A* with f = steps taken + h. Empty if `b` is not
    reached after opening `pops` vertices."""
    if a == b:
        return []
    rings = () if heuristic == "ip" else search_rings(walk, b, settings.length, settings.pops)
    to_go = {b: 0} | {vertex: steps for steps, ring in enumerate(rings, 1) for vertex in ring}
    vectors: dict[int, Floats] = {}

    def measure(vertices: Ids) -> None:
        new = np.array([vertex for vertex in vertices.tolist() if vertex not in vectors], np.int32)
        vectors.update(zip(new.tolist(), embed(new), strict=True))

    def distance(first: int, second: int) -> float:
        return 1 - float(vectors[first] @ vectors[second])

    measure(np.array([a, b], np.int32))
    queue: list[tuple[float, int, tuple[int, ...], Path]] = [(0.0, a, (), Path((a,)))]
    shortest = {a: 0}
    for _ in range(settings.pops):
        if not queue:
            break
        *_, path = heapq.heappop(queue)
        tip, length = path.vertices[-1], len(path.edges)
        if tip == b:
            return _add_parallels(walk, path)
        near = walk.neighbours(tip)
        measure(near.vertices)
        for edge, vertex in zip(near.edges.tolist(), near.vertices.tolist(), strict=True):
            if length + 1 < shortest.get(vertex, settings.length + 1):
                shortest[vertex] = length + 1
                onward = path.extend(edge, vertex, 0.0)
                f = length + 1 + estimate(heuristic, onward, b, to_go.get(vertex, settings.length), distance)
                heapq.heappush(queue, (f, vertex, onward.edges, onward))
    return []


def _add_parallels(walk: Walkable, path: Path) -> list[Path]:
    """The path over each edge that joins two vertices next to each other on it: parallel relations are all kept."""
    around = [(walk.neighbours(source), target) for source, target in pairwise(path.vertices)]
    choices = [near.edges[near.vertices == target].tolist() for near, target in around]
    return [Path(path.vertices, edges) for edges in islice(product(*choices), MAX_PATHS)]


def _embedding(seeds: Seeds) -> Embed:
    """Returns the vectors of vertices; without any, all are equally far from each other."""
    if seeds.guidance.lookup is None:
        return lambda vertices: np.zeros((len(vertices), 1), np.float32)
    return GraphEmbeddings(seeds.guidance.lookup).vertices
