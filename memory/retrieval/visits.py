"""The visited vertices of a question, for its trace: each with the edge that led to it.

A strategy returns scores but not always paths, so the edges are computed afterwards, the same way for all strategies:
the cheapest path over mentions and relations among the visited vertices.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from memory.graph.walk import EPISODE, Walkable
from memory.nouns import Visit
from memory.store import graph as stored
from memory.store.connect import Connection

WORDS_COST = 3.0  # of starting at an episode by its words; up to this many edges from a named object cost less
PASSAGE_COST = 1.5  # of going on from an episode, which names much; of an object it is 1, and more of a hub


class _Step(NamedTuple):
    """The last edge to a vertex."""

    parent: int
    edge: int
    depth: int


def add_parents(conn: Connection, walk: Walkable, visits: Sequence[Visit], before: Sequence[Visit] = ()) -> list[Visit]:
    """Returns the visits with the parent of each, if a visited vertex leads to it; those of `before` keep theirs."""
    starts = {visit.node_id: 0.0 if visit.stage == "seed" else WORDS_COST for visit in visits}
    starts = {id: cost for id, cost in starts.items() if not cost or walk.kinds([id])[0] == EPISODE}
    starts |= {visit.node_id: float(visit.depth) for visit in before}
    depths = {visit.node_id: visit.depth for visit in before}
    steps = _find_steps(walk, starts, depths, {visit.node_id for visit in (*before, *visits)})
    words = stored.relation_words(conn, sorted({step.edge for step in steps.values()}))
    return [_set_parent(visit, steps.get(visit.node_id), words) for visit in visits]


def path_to(visits: Iterable[Visit], episode: int) -> tuple[Visit, ...]:
    """Returns the visits from a start of the question to an episode; empty if it was not visited."""
    visit_of = {visit.node_id: visit for visit in visits}
    path: list[Visit] = []
    step = visit_of.get(episode)
    while step is not None and step not in path:
        path.insert(0, step)
        step = visit_of.get(step.parent) if step.parent is not None else None
    return tuple(path)


def _set_parent(visit: Visit, step: _Step | None, words: Mapping[int, tuple[int, str]]) -> Visit:
    if step is None or step.edge not in words:
        return visit
    begins, relation = words[step.edge]
    return replace(
        visit, parent_edge=step.edge, depth=step.depth, parent=step.parent, relation=relation,
        inverse=begins == visit.node_id,
    )  # fmt: skip


def _find_steps(
    walk: Walkable, starts: Mapping[int, float], depths: Mapping[int, int], vertices: Iterable[int]
) -> dict[int, _Step]:
    """Returns the last edge of the cheapest path from a start to each vertex, by Dijkstra's algorithm; none for a start
    that no edge reaches more cheaply."""
    near: dict[int, list[tuple[int, int]]] = {}
    for edge, first, second in walk.edges_among(vertices):
        near.setdefault(first, []).append((edge, second))
        near.setdefault(second, []).append((edge, first))
    costs, steps, done = dict(starts), dict[int, _Step](), set[int]()
    waiting = [(cost, id) for id, cost in starts.items()]
    heapq.heapify(waiting)
    while waiting:
        cost, vertex = heapq.heappop(waiting)
        if vertex in done:
            continue
        done.add(vertex)
        depth = steps[vertex].depth if vertex in steps else depths.get(vertex, 0)
        leaving = PASSAGE_COST if walk.kinds([vertex])[0] == EPISODE else 2 - float(walk.penalties([vertex])[0])
        for edge, second in near.get(vertex, ()):
            if second not in done and second not in depths and cost + leaving < costs.get(second, np.inf):
                costs[second], steps[second] = cost + leaving, _Step(vertex, edge, depth + 1)
                heapq.heappush(waiting, (cost + leaving, second))
    return steps
