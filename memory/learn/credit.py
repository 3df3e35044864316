"""Credit: which edges led to what an answer used, and which were only in the way (SPEC 7.4 S10, 7.5).

What an answer cites was useful, as is what was collected for it; nobody else is asked. Every useful thing gets the
whole way from what the question named, on all branches: ReMindRAG's code confirms the first branch of a vertex only and
punishes the others. No stage keeps the ways by which spread found something, so they are looked up here, where the
question is over: ways of at most three edges that pass through no hub.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from memory.graph import Ids
from memory.learn import edges
from memory.recall.adjacency import EDGE_KINDS, Neighbours, Walkable
from memory.recall.replay import Replayed
from memory.store.schema_first import FIRST_EDGE

MOST_EDGES = 1000  # a vertex with more is no way: what passes through it says nothing
ASSERTS = EDGE_KINDS.index("asserts")
NOT_REPLAYED = Replayed()


@dataclass(frozen=True, slots=True)
class Used:
    """What a question used, in node ids. `named`: the objects that it names; `starts`: the episodes that the text alone
    began with, the best first; `shown`: the episodes that whoever answered got to see; `useful`: those that were cited
    or collected; `facts`: ids of the facts that were cited. `ways`: episode -> the edges by which it was found, where
    that is known. `replayed`: what memory itself brought; `expanded`: edges that a model chose to follow."""

    named: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    useful: tuple[int, ...] = ()
    facts: tuple[int, ...] = ()
    ways: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    replayed: Replayed = NOT_REPLAYED
    expanded: tuple[int, ...] = ()


class Credit(NamedTuple):
    """What is to be learnt of edges. `grounded`: whether what was cited is to be remembered. `cited`: the edges on the
    way to something useful -> how many slots each may have; `read`, `unread`: the episodes whose text was useful, or
    was seen and was not; `penalised`: edge -> rho; `replayed`: edge -> how strongly it fired; `shown`: the edges on the
    way to all that was shown; `expanded`: those that a model chose."""

    grounded: bool
    cited: Mapping[int, int]
    read: tuple[int, ...]
    unread: tuple[int, ...]
    penalised: Mapping[int, float]
    replayed: Mapping[int, float]
    shown: tuple[int, ...]
    expanded: tuple[int, ...]


def credit(walk: Walkable, used: Used, *, grounded: bool, no_answer: bool) -> Credit:
    """What a question teaches. `walk`: the graph as the question might walk it; `grounded`: every sentence of the
    answer is proved by what it cites.

    A refusal, or an answer that is not grounded, enhances nothing; a refusal after a replay penalises what was
    replayed. What was shown with a grounded answer and led to nothing useful is penalised.
    """
    replayed = used.replayed.followed
    if no_answer:
        wrong = dict.fromkeys(replayed, edges.REPLAYED)
        return Credit(False, {}, (), (), wrong, replayed, (), used.expanded)
    ways = _Ways(walk, used)
    useful = [episode for episode in dict.fromkeys(used.useful) if walk.visible(episode)]
    cited: dict[int, int] = {}
    for episode in useful:
        cited |= ways.to(episode)
    for fact in used.facts:
        cited |= ways.of_fact(fact)
    unread = tuple(sorted({episode for episode in used.shown if walk.visible(episode)} - set(useful)))
    shown = {edge for episode in unread for edge in ways.to(episode)} | set(used.expanded) | set(cited)
    penalised = dict.fromkeys(sorted(shown - cited.keys()), edges.SHOWN) if grounded else {}
    read = tuple(sorted(useful))
    return Credit(grounded, cited, read, unread, penalised, replayed, tuple(sorted(shown)), used.expanded)


class _Near(NamedTuple):
    """The edges around the starting points, by the vertex they lead to, all (e,): `vertices`, `edges`, `seeds`."""

    vertices: Ids
    edges: Ids
    seeds: Ids


class _Ways:
    """Ways from what a question named, or if there is none from where its text began."""

    def __init__(self, walk: Walkable, used: Used) -> None:
        self._walk = walk
        self._given = used.ways
        self._from = [
            [seed for seed in dict.fromkeys(seeds) if walk.visible(seed)] for seeds in (used.named, used.starts)
        ]
        self._near: dict[int, _Near] = {}
        self._found: dict[int, dict[int, int]] = {}

    def to(self, goal: int) -> dict[int, int]:
        """The edges of the ways to a vertex -> how many slots each may have."""
        if goal not in self._found:
            found = dict.fromkeys(self._given.get(goal, ()), edges.SLOTS)
            for number, seeds in enumerate(self._from):
                ways = self._ways(number, seeds, goal)
                if ways:
                    found |= {edge: self._slots(vertices) for way, vertices in ways for edge in way}
                    break
            self._found[goal] = found
        return self._found[goal]

    def of_fact(self, fact: int) -> dict[int, int]:
        """The edges that make up a fact, and the ways there; nothing of a relation that may not be seen."""
        if fact < FIRST_EDGE:
            if not self._walk.visible(fact):
                return {}
            around = self._walk.neighbours(fact)
            told = around.edges[around.kinds == ASSERTS].tolist()
            return self.to(fact) | dict.fromkeys(told, edges.SLOTS)
        ends = self._walk.graph.links.ends(fact)
        if ends is None or not self._walk.follows(fact, *ends):
            return {}
        starts = {seed for seeds in self._from for seed in seeds}
        way: dict[int, int] = {}
        if not starts & set(ends):
            way = min((self.to(end) for end in ends), key=lambda one: (not one, len(one), sorted(one)))
        return way | {fact: self._slots(ends)}

    def _slots(self, vertices: Iterable[int]) -> int:
        crowded = any(len(self._walk.neighbours(vertex).edges) > edges.HUB_DEGREE for vertex in vertices)
        return edges.HUB_SLOTS if crowded else edges.SLOTS

    def _ways(self, number: int, seeds: Sequence[int], goal: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """(edges, vertices) of every way of one edge; without any of the cheapest of two edges, or of three."""
        others = [seed for seed in seeds if seed != goal]
        if not others or (number == 0 and goal in seeds):
            return []
        around = self._walk.neighbours(goal)
        direct = np.isin(around.vertices, others)
        if direct.any():
            pairs = zip(around.edges[direct].tolist(), around.vertices[direct].tolist(), strict=True)
            return [((edge,), (goal, vertex)) for edge, vertex in pairs]
        near = self._around(number, others)
        steps = self._passable(around)
        found = [(way, (goal, *way_vertices)) for way, way_vertices in self._joined(near, steps, goal)]
        if not found:
            for edge, vertex in steps:
                onward = self._passable(self._walk.neighbours(vertex))
                beyond = [step for step in onward if step[1] != goal]
                found += [((*way, edge), (goal, vertex, *rest)) for way, rest in self._joined(near, beyond, goal)]
        return [min(found, key=lambda one: (self._cost(one[1]), one[0]))] if found else []

    def _joined(
        self, near: _Near, steps: Sequence[tuple[int, int]], goal: int
    ) -> Iterable[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Ways (edges, vertices) that a step from the other side completes."""
        if not steps:
            return
        reached = np.array([vertex for _, vertex in steps], np.int32)
        begin = np.searchsorted(near.vertices, reached)
        end = np.searchsorted(near.vertices, reached, side="right")
        for (edge, vertex), first, last in zip(steps, begin.tolist(), end.tolist(), strict=True):
            for place in range(first, last):
                if near.seeds[place] != goal:
                    yield (int(near.edges[place]), edge), (vertex, int(near.seeds[place]))

    def _passable(self, around: Neighbours) -> list[tuple[int, int]]:
        steps = zip(around.edges.tolist(), around.vertices.tolist(), strict=True)
        return [step for step in steps if len(self._walk.neighbours(step[1]).edges) <= MOST_EDGES]

    def _around(self, number: int, seeds: Sequence[int]) -> _Near:
        if number not in self._near:
            parts = [(seed, self._walk.neighbours(seed)) for seed in seeds]
            vertices = np.concatenate([near.vertices for _, near in parts])
            order = np.argsort(vertices, kind="stable")
            self._near[number] = _Near(
                vertices[order],
                np.concatenate([near.edges for _, near in parts])[order],
                np.repeat(np.array(seeds, np.int32), [len(near.edges) for _, near in parts])[order],
            )
        return self._near[number]

    def _cost(self, vertices: tuple[int, ...]) -> float:
        """What passing through these costs: hubs say less."""
        return float(-np.log(self._walk.penalties(vertices)).sum())
