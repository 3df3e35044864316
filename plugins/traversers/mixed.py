"""Mixed: the union of several traversers (PersonalAI's mixed retrievers)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory.graph.arrays import Floats
from memory.graph.walk import Visited, Walk, distinct

_STATUS = ("seed", "selected", "pruned", "scanned")  # what counts most, first


def join_walks(walks: Sequence[Walk], weight: float) -> Walk:
    """One walk of all: the first's scores and `weight` of each other's, all scaled to [0, 1]; paths by cost, each once;
    of each vertex the best status, and the cheaper path."""
    episodes = _mixed([walk.episodes for walk in walks], weight)
    objects = _mixed([walk.objects for walk in walks], weight)
    paths = {path.edges: path for walk in reversed(walks) for path in walk.paths}
    ordered = sorted(paths.values(), key=lambda path: (path.cost, path.edges))
    visit: dict[int, Visited] = {}
    for walk in walks:
        for vertex, seen in walk.visit.items():
            visit[vertex] = _better(visit[vertex], seen) if vertex in visit else seen
    return Walk(episodes, objects, tuple(ordered), visit, distinct(edge for walk in walks for edge in walk.edges))


def _mixed(scores: Sequence[Floats], weight: float) -> Floats:
    total = np.zeros_like(scores[0])
    for place, one in enumerate(scores):
        if one.any():
            total += (1.0 if place == 0 else weight) * one / one.max()
    return total


def _better(one: Visited, other: Visited) -> Visited:
    status = min(one.status, other.status, key=_STATUS.index)
    first, second = sorted((one, other), key=lambda seen: (seen.path.cost, seen.path.edges))
    return Visited(
        first.path if first.path.edges or status == "seed" else second.path, status, min(one.depth, other.depth)
    )
