"""What a question visited, as its trace shows it: each vertex with the edge over which it was come by.

A strategy gives scores and not always paths, so the edges are found afterwards, in the same way for all of them: over
mentions and relations among what was visited, by the cheapest path from where the question began.
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

WORDS_COST = 3.0  # of an episode as a beginning, for its words: up to so many edges from a named object say more
PASSAGE_COST = 1.5  # of going on from an episode, which names much; of an object it is 1, and more of a hub


class _Step(NamedTuple):
    """How a vertex was come by."""

    parent: int
    edge: int
    depth: int


def add_parents(conn: Connection, walk: Walkable, visits: Sequence[Visit], before: Sequence[Visit] = ()) -> list[Visit]:
    """The visits with what led to each of them, as far as something visited did; those of `before` keep theirs."""
    starts = {visit.node_id: 0.0 if visit.stage == "seed" else WORDS_COST for visit in visits}
    starts = {id: cost for id, cost in starts.items() if not cost or walk.kinds([id])[0] == EPISODE}
    starts |= {visit.node_id: float(visit.depth) for visit in before}
    depths = {visit.node_id: visit.depth for visit in before}
    steps = _find_steps(walk, starts, depths, {visit.node_id for visit in (*before, *visits)})
    words = stored.relation_words(conn, sorted({step.edge for step in steps.values()}))
    return [_led(visit, steps.get(visit.node_id), words) for visit in visits]


def path_to(visits: Iterable[Visit], episode: int) -> tuple[Visit, ...]:
    """The visits from where a question began to an episode; empty if it was not visited."""
    known = {visit.node_id: visit for visit in visits}
    path: list[Visit] = []
    at = known.get(episode)
    while at is not None and at not in path:
        path.insert(0, at)
        at = known.get(at.parent) if at.parent is not None else None
    return tuple(path)


def _led(visit: Visit, step: _Step | None, words: Mapping[int, tuple[int, str]]) -> Visit:
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
    """The last edge of the cheapest path from a start to each vertex, by Dijkstra's algorithm; none for a start that
    nothing leads to more cheaply."""
    near: dict[int, list[tuple[int, int]]] = {}
    for edge, one, other in walk.edges_among(vertices):
        near.setdefault(one, []).append((edge, other))
        near.setdefault(other, []).append((edge, one))
    costs, steps, done = dict(starts), dict[int, _Step](), set[int]()
    waiting = [(cost, id) for id, cost in starts.items()]
    heapq.heapify(waiting)
    while waiting:
        cost, here = heapq.heappop(waiting)
        if here in done:
            continue
        done.add(here)
        depth = steps[here].depth if here in steps else depths.get(here, 0)
        leaving = PASSAGE_COST if walk.kinds([here])[0] == EPISODE else 2 - float(walk.penalties([here])[0])
        for edge, other in near.get(here, ()):
            if other not in done and other not in depths and cost + leaving < costs.get(other, np.inf):
                costs[other], steps[other] = cost + leaving, _Step(here, edge, depth + 1)
                heapq.heappush(waiting, (cost + leaving, other))
    return steps
