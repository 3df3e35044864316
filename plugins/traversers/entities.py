"""Entities: vertices by the edges that meet in them (ReG@Entity).

An edge gets a score from the trained scorer, or from relevance where there is none; a vertex that of
its best edge; an edge of what it joins `s = p(head) + p(tail)`, over which parallel relations share one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import Path, Relevance, Visited, Walk, Walkable, vertex_scores
from memory.retrieval.traversers import Seeds, relevance_of
from plugins.traversers.nearby import Nearby, extract_subgraph
from plugins.traversers.settings import TraverserSettings
from plugins.traversers.walking import starts, walkable

EDGES = 250  # kept: 200 more than of edges that are scored one by one, for relations beside each other are one
SELECTED = 50  # vertices that count as chosen


def entities(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Every vertex near the starts scores as its best edge does; an episode as itself or the best of its theses."""
    walk = walkable(graph, seeds, allowed, settings.walk)
    begin = starts(walk, seeds, settings.walk)
    relevance = relevance_of(walk, seeds)
    near = extract_subgraph(walk, begin, relevance)
    of_vertices = near.best_of_vertices(edge_scores(near, walk, seeds, tuple(begin), relevance))
    worth = dict(zip(near.vertices.tolist(), of_vertices.tolist(), strict=True))
    chosen = set(sorted(worth, key=lambda vertex: (-worth[vertex], vertex))[:SELECTED])
    visit = {
        vertex: Visited(
            Path((vertex,), tag="entities"),
            "seed" if vertex in begin else "selected" if vertex in chosen else "scanned",
            0 if vertex in begin else 1,
        )
        for vertex in worth
    }
    episodes, objects = vertex_scores(walk, visit, worth)
    return Walk(episodes, objects, (), visit, _edges(near, of_vertices))


@runtime_checkable
class NearbyScorer(Protocol):
    """A trained scorer that knows all edges near a question."""

    def score_near(self, near: Nearby, walk: Walkable, seeds: Seeds, begin: Sequence[int]) -> Floats:
        """(e,) in (0, 1): how likely the question needs each of these edges."""
        ...


def edge_scores(near: Nearby, walk: Walkable, seeds: Seeds, begin: Sequence[int], relevance: Relevance) -> Floats:
    """(e,) in [0, 1]: how likely the question needs each edge, as far as anything was trained; else its relevance."""
    if isinstance(seeds.guidance.scorer, NearbyScorer):
        return seeds.guidance.scorer.score_near(near, walk, seeds, begin)
    return near.relevance(relevance)


def _edges(near: Nearby, of_vertices: Floats) -> tuple[int, ...]:
    """The best edges by what they join; of those that join the same the first counts, and the others follow it."""
    together = of_vertices[near.heads] + of_vertices[near.tails]
    order = np.lexsort((near.edges, near.tails, near.heads, -together))
    places = near.heads[order] * len(near.vertices) + near.tails[order]
    number = np.cumsum(np.diff(places, prepend=-1) != 0)
    kept: list[int] = near.edges[order][number <= EDGES].tolist()
    return tuple(kept)
