"""Beam: all seeds share one beam, and nothing it saw is forgotten (PersonalAI's BeamSearch and
TGS-RAG's Algorithm 1).

At every depth each path grows by its most relevant neighbours, and the cheapest `beam_width` of all are kept. A vertex
that was seen and dropped stays in the visit memory with the cheapest path there, for synergy to bring back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph, Ids
from memory.graph.walk import Path, Relevance, Visited, Walk, Walkable, distinct, vertex_scores
from memory.retrieval.traversers import Seeds, relevance_of
from plugins.traversers.settings import BeamSettings, TraverserSettings
from plugins.traversers.walking import costs, starts, walkable


def beam(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Paths from the seeds, and a score for all they saw: exp(-cost) of the cheapest path, of a start its weight."""
    walk = walkable(graph, seeds, allowed, settings.walk)
    begin = starts(walk, seeds, settings.walk)
    paths, visit = search(walk, begin, relevance_of(walk, seeds), settings.beam, seeds.guidance.activation)
    worth = {vertex: begin.get(vertex, float(np.exp(-seen.path.cost))) for vertex, seen in visit.items()}
    episodes, objects = vertex_scores(walk, visit, worth)
    return Walk(episodes, objects, paths, visit, distinct(edge for path in paths for edge in path.edges))


def search(
    walk: Walkable,
    begin: Iterable[int],
    relevance: Relevance,
    settings: BeamSettings,
    memory: Mapping[int, float] | None = None,
) -> tuple[tuple[Path, ...], dict[int, Visited]]:
    """The `paths` best paths, cheapest first, and all vertices that were seen on the way; of each start so many if they
    are walked `apart`."""
    ahead = _Ahead(walk, relevance, memory or {}, settings.neighbours)
    visit = {vertex: Visited(Path((vertex,), tag="beam"), "seed", 0) for vertex in sorted(begin)}
    paths: list[Path] = []
    for together in [[vertex] for vertex in visit] if settings.apart else [[*visit]]:
        paths += _beam(ahead, together, visit, settings)
    return tuple(paths), visit


def _beam(ahead: _Ahead, begin: Iterable[int], visit: dict[int, Visited], settings: BeamSettings) -> list[Path]:
    tips = [visit[vertex].path for vertex in begin]
    kept: list[Path] = []
    for depth in range(1, settings.depth + 1):
        ahead.look([path.vertices[-1] for path in tips])
        candidates = [onward for path in tips for onward in ahead.grow(path)]
        for path in candidates:
            _remember(visit, path, depth, settings)
        tips = _selected(candidates, settings)
        kept += tips
        for vertex in {vertex for path in tips for vertex in path.vertices}:
            if visit[vertex].status == "pruned":
                visit[vertex] = replace(visit[vertex], status="selected")
        if not tips:
            break
    return sorted(dict.fromkeys(kept), key=lambda path: (path.cost, path.edges))[: settings.paths]


class _Ahead:
    """The best neighbours of each vertex, ordered once: memory that fires first, then relevance, then edge id."""

    def __init__(self, walk: Walkable, relevance: Relevance, memory: Mapping[int, float], most: int) -> None:
        self._walk = walk
        self._relevance = relevance
        self._fires = np.array(sorted(edge for edge, strength in memory.items() if strength > 0), np.int32)
        self._most = most
        self._known: dict[int, tuple[Ids, Ids, Floats]] = {}

    def look(self, vertices: Iterable[int]) -> None:
        """Orders the neighbours of these; one call of relevance for all of them, so that its budget is well spent."""
        around = {vertex: self._walk.neighbours(vertex) for vertex in vertices if vertex not in self._known}
        if not around:
            return
        ends = np.unique(np.concatenate([near.vertices for near in around.values()]))
        relevance = self._relevance(ends)
        cost = costs(relevance, self._walk.penalties(ends))
        for vertex, near in around.items():
            place = np.searchsorted(ends, near.vertices)
            fires = np.isin(near.edges, self._fires) if len(self._fires) else np.zeros(len(place), np.bool_)
            order = np.lexsort((near.edges, -relevance[place], ~fires))
            self._known[vertex] = (near.edges[order], near.vertices[order], cost[place[order]])

    def grow(self, path: Path) -> list[Path]:
        """The path with each of its tip's best neighbours, as far as it has not been there."""
        edges, vertices, cost = self._known[path.vertices[-1]]
        found: list[Path] = []
        for start in range(0, len(edges), 2 * self._most):  # a hub has thousands, of which few are looked at
            piece = slice(start, start + 2 * self._most)
            for step in zip(edges[piece].tolist(), vertices[piece].tolist(), cost[piece].tolist(), strict=True):
                if step[1] not in path.vertices and step[0] not in path.edges:
                    found.append(path.extend(*step))
                    if len(found) == self._most:
                        return found
        return found


def _remember(visit: dict[int, Visited], path: Path, depth: int, settings: BeamSettings) -> None:
    """Puts the end of a path into the visit memory; a cheaper path replaces a dearer one, but a seed stays one."""
    end = path.vertices[-1]
    known = visit.get(end)
    if known is None:
        visit[end] = Visited(path, "pruned", depth)
    elif known.status != "seed" and _rank(path, settings) < _rank(known.path, settings):
        visit[end] = replace(known, path=path)


def _selected(candidates: list[Path], settings: BeamSettings) -> list[Path]:
    """The cheapest; of paths `apart` no two end in one vertex or with one edge."""
    kept: list[Path] = []
    ends: set[int] = set()
    edges: set[int] = set()
    for path in sorted(candidates, key=lambda path: (_rank(path, settings), path.edges)):
        if settings.apart and (path.vertices[-1] in ends or path.edges[-1] in edges):
            continue
        ends.add(path.vertices[-1])
        edges.add(path.edges[-1])
        kept.append(path)
        if len(kept) == settings.width:
            break
    return kept


def _rank(path: Path, settings: BeamSettings) -> float:
    return path.costs[-1] if settings.rank == "last" else path.cost
