"""Hop distance: in how many hops the objects that a question named lead to the episodes that its answer cited.

A search from the middle: the neighbours of the seeds on one side, those of the episode and of its neighbours on the
other. So three hops cost as many look-ups as the episode has neighbours, however many there are two hops away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from memory.graph.arrays import Graph, Ids
from memory.graph.walk import THESIS, Walkable, index

HOPS = 3
MOST_EDGES = 1000  # a vertex with more is no way: what passes through it says nothing


class Reached(NamedTuple):
    """Episode -> edges on the shortest way there from any seed, 1 to HOPS, those further off left out; and whether one
    of the episodes mentions a seed, or asserts a thesis that speaks of one."""

    hops: dict[int, int]
    is_hit: bool


class HopDistances:
    """A graph as it is now, with all that ever held in it and every kind of edge. Vertices are node ids."""

    def __init__(self, graph: Graph) -> None:
        self._walk = Walkable(graph, graph.alive)
        self._near = np.zeros(len(index(graph).kinds), np.bool_)

    def measure_hops(self, seeds: Iterable[int], episodes: Sequence[int]) -> Reached:
        """How the seeds reach the episodes, which must be visible; a seed that is not leads nowhere.

        Between its ends a way passes through no vertex with more than MOST_EDGES edges.
        """
        around = [self._walk.neighbours(seed).vertices for seed in seeds if self._walk.visible(seed)]
        for vertices in around:
            self._near[vertices] = True
        hops = {episode: n for episode in episodes if (n := self._to(episode))}
        is_hit = any(map(self._links, episodes))
        for vertices in around:
            self._near[vertices] = False
        return Reached(hops, is_hit)

    def _links(self, episode: int) -> bool:
        around = self._walk.neighbours(episode).vertices
        theses = around[self._walk.kinds(around) == THESIS]
        return bool(self._near[episode] or self._near[theses].any())

    def _to(self, episode: int) -> int | None:
        if self._near[episode]:
            return 1
        around = self._walk.neighbours(episode).vertices
        if self._meets(around):
            return 2
        if any(self._is_way(vertex) and self._meets(self._walk.neighbours(vertex).vertices) for vertex in around):
            return HOPS
        return None

    def _meets(self, vertices: Ids) -> bool:
        return any(map(self._is_way, vertices[self._near[vertices]]))

    def _is_way(self, vertex: int) -> bool:
        return len(self._walk.neighbours(int(vertex)).edges) <= MOST_EDGES
