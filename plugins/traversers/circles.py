"""WaterCircles of PersonalAI: rings around every start; the answer is expected where rings of several starts meet.

The rings are symmetric here: each start draws its own, and meetings are counted in the graph, not in words.
"""

from collections.abc import Mapping

import numpy as np

from memory.graph.arrays import Bools, Graph
from memory.graph.walk import EPISODE, THESIS, Visited, Walk, Walkable
from memory.retrieval.traversers import Seeds
from plugins.traversers.settings import TraverserSettings
from plugins.traversers.subgraph import Rings, draw_rings
from plugins.traversers.walking import begin_walk, end_walk

PRIMARY = (25, 12, 7)  # edges where circles meet, for 1, 2, and 3 or more starts (chain_triplets_num)
SECONDARY = 6  # other edges, only if there are no such (other_triplets_num)
FRAGMENTS = (15, 10, 7)  # theses (hyper_num), and as many episodes (episodic_num), for 1, 2, and 3 or more starts
OWN = 0.7  # what the first start next to an episode or thesis counts; each further one counts its weight


def circles(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Edges where circles meet, and the episodes and theses next to most starts. A vertex's score depends on the number
    of starts next to it, the share of starts whose circles meet there, and its relevance."""
    walk, begin, relevance = begin_walk(graph, seeds, allowed, settings.walk)
    rings = draw_rings(walk, begin, relevance, settings.circles.depth, settings.circles.edges)
    vertices = np.array(sorted(rings.reached), np.int32)
    fits = dict(zip(vertices.tolist(), relevance(vertices).tolist(), strict=True))
    edges = select_edges(rings, fits, len(begin))
    near = _count_near(rings, begin)
    fragments = _select_fragments(walk, near, fits, len(begin))
    chosen = {end for edge in edges for end in rings.edges[edge]} | fragments
    visit = {
        vertex: Visited(
            path, "seed" if vertex in begin else "selected" if vertex in chosen else "scanned", len(path.edges)
        )
        for vertex, path in rings.paths.items()
    }
    met = _share_met(rings, len(begin))
    most = max([1.0, *near.values()])
    worth = {vertex: (near.get(vertex, 0.0) + met.get(vertex, 0.0) + fits[vertex]) / (most + 2) for vertex in visit}
    paths = [path for vertex, path in rings.paths.items() if vertex in fragments and path.edges]
    paths.sort(key=lambda path: (-worth[path.vertices[-1]], path.cost, path.edges))
    return end_walk(walk, visit, worth, paths, edges)


def count_meetings(rings: Rings) -> dict[int, int]:
    """Edge -> how many starts' circles its two ends hold together."""
    return {edge: len(rings.reached[a].keys() | rings.reached[b].keys()) for edge, (a, b) in rings.edges.items()}


def select_edges(rings: Rings, fits: Mapping[int, float], n_starts: int) -> tuple[int, ...]:
    """Primary edges, in the circles of several starts: most starts first, then the most relevant. Without primary
    edges, the most relevant of all."""
    met = count_meetings(rings)
    best = {edge: max(fits[end] for end in ends) for edge, ends in rings.edges.items()}
    edges = sorted(met, key=lambda edge: (-met[edge], -best[edge], edge))
    primary = [edge for edge in edges if met[edge] > 1]
    return tuple(primary[: _limit(PRIMARY, n_starts)] or edges[:SECONDARY])


def _limit(limits: tuple[int, ...], n_starts: int) -> int:
    return limits[min(max(n_starts, 1), len(limits)) - 1]


def _count_near(rings: Rings, begin: Mapping[int, float]) -> dict[int, float]:
    """Vertex -> OWN for the surest start next to it, and the weight of each further one."""
    counts = {}
    for vertex, starts_of in rings.reached.items():
        weights = sorted((begin[start] for start, distance in starts_of.items() if distance <= 1), reverse=True)
        if weights:
            counts[vertex] = OWN + sum(weights[1:])
    return counts


def _share_met(rings: Rings, n_starts: int) -> dict[int, float]:
    """Vertex -> the greatest share of the starts whose circles meet at one of its edges. All such edges count, because
    which of several equal edges are primary depends on the order in which they were written."""
    shares: dict[int, float] = {}
    for edge, shared in count_meetings(rings).items():
        for end in rings.edges[edge] if shared > 1 else ():
            shares[end] = max(shares.get(end, 0.0), shared / n_starts)
    return shares


def _select_fragments(walk: Walkable, near: Mapping[int, float], fits: Mapping[int, float], n_starts: int) -> set[int]:
    """The theses and episodes next to most starts, then the most relevant."""
    vertices = np.array(sorted(fits, key=lambda vertex: (-near.get(vertex, 0.0), -fits[vertex], vertex)), np.int32)
    kinds, most = walk.kinds(vertices), _limit(FRAGMENTS, n_starts)
    return {vertex for kind in (EPISODE, THESIS) for vertex in vertices[kinds == kind][:most].tolist()}
