"""Small graphs for tests of what walks them: typed relations between lettered objects, or whole memories."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memory.graph import EpisodeRow, Graph, Link
from memory.recall.adjacency import Walkable, index

FIRST = 1000  # node id of the episode that mentions every object, so that all of them can be seen


def related(edges: Mapping[int, tuple[int, int]], allowed: bool = True) -> Walkable:
    """Objects joined by relations: edge id -> (node id, node id). Only objects may be entered."""
    return Walkable(related_graph(edges), np.array([allowed]), "O")


def related_graph(edges: Mapping[int, tuple[int, int]]) -> Graph:
    objects = sorted({node for pair in edges.values() for node in pair})
    whole = EpisodeRow(FIRST, 1, 0, None, False, 50, dict.fromkeys(objects, 1), frozenset(),
                       {node: 100_000 + node for node in objects})  # fmt: skip
    links = [Link(id, "rel", src, dst) for id, (src, dst) in edges.items()]
    return Graph.empty().added([whole], [(node, False) for node in objects], (), links)


def everything(graph: Graph) -> dict[int, list[tuple[int, int, int]]]:
    """Every vertex that can be seen, with its edges (id, kind, other end) and so the whole graph as it is walked."""
    walkable = Walkable(graph, graph.alive)
    seen = [node for node in range(len(index(graph).kinds)) if walkable.visible(node)]
    return {node: list(zip(*(c.tolist() for c in walkable.neighbours(node)), strict=True)) for node in seen}
