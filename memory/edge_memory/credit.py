"""Credit: which edges led to what an answer used, and which were only in the way.

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

from memory.edge_memory import edges
from memory.edge_memory.replay import Replayed
from memory.graph.adjacency import Neighbours, Walkable
from memory.graph.arrays import Floats, Ids
from memory.graph.postings import flatten_slices
from memory.store.graph import EDGE_KINDS
from memory.store.tables import FIRST_EDGE

MOST_EDGES = 1000  # a vertex with more is no way: what passes through it says nothing
ASSERTS = EDGE_KINDS.index("asserts")
NOT_REPLAYED = Replayed()


@dataclass(frozen=True, slots=True)
class QuestionUsage:
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


def assign_credit(walk: Walkable, used: QuestionUsage, *, grounded: bool, no_answer: bool) -> Credit:
    """What a question teaches. `walk`: the graph as the question might walk it; `grounded`: every sentence of the
    answer is proved by what it cites.

    A refusal, or an answer that is not grounded, enhances nothing; a refusal after a replay penalises what was
    replayed. What was shown with a grounded answer and led to nothing useful is penalised.
    """
    replayed = used.replayed.followed
    if no_answer:
        wrong = dict.fromkeys(replayed, edges.REPLAYED)
        return Credit(False, {}, (), (), wrong, replayed, (), used.expanded)
    ways = _PathFinder(walk, used)
    useful = [episode for episode in dict.fromkeys(used.useful) if walk.visible(episode)]
    cited: dict[int, int] = {}
    for episode in useful:
        cited |= ways.edges_to(episode)
    for fact in used.facts:
        cited |= ways.of_fact(fact)
    unread = tuple(sorted({episode for episode in used.shown if walk.visible(episode)} - set(useful)))
    shown = {edge for episode in unread for edge in ways.edges_to(episode)} | set(used.expanded) | set(cited)
    penalised = dict.fromkeys(sorted(shown - cited.keys()), edges.SHOWN) if grounded else {}
    read = tuple(sorted(useful))
    return Credit(grounded, cited, read, unread, penalised, replayed, tuple(sorted(shown)), used.expanded)


class _Near(NamedTuple):
    """The edges around the starting points, by the vertex they lead to, all (e,): `vertices`, `edges`, `seeds`."""

    vertices: Ids
    edges: Ids
    seeds: Ids


class _CreditPath(NamedTuple):
    """A way, seen from its end: what it costs, its edges from the seed on, its vertices back to the seed."""

    cost: float
    edges: tuple[int, ...]
    vertices: tuple[int, ...]

    def prepend(self, edge: int, vertex: int, cost: float) -> _CreditPath:
        """The way and one edge more, which passes through a vertex."""
        return _CreditPath(self.cost + cost, (*self.edges, edge), (vertex, *self.vertices))


class _PathFinder:
    """Ways from what a question named, or if there is none from where its text began."""

    def __init__(self, walk: Walkable, used: QuestionUsage) -> None:
        self._walk = walk
        self._given = used.ways
        self._from = [
            [seed for seed in dict.fromkeys(seeds) if walk.visible(seed)] for seeds in (used.named, used.starts)
        ]
        self._near: dict[int, _Near] = {}
        self._found: dict[int, dict[int, int]] = {}

    def edges_to(self, goal: int) -> dict[int, int]:
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
            return self.edges_to(fact) | dict.fromkeys(told, edges.SLOTS)
        ends = self._walk.graph.links.ends(fact)
        if ends is None or not self._walk.sees_link(fact):
            return {}
        starts = {seed for seeds in self._from for seed in seeds}
        way: dict[int, int] = {}
        if not starts & set(ends):
            way = min((self.edges_to(end) for end in ends), key=lambda one: (not one, len(one), sorted(one)))
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
        shortest = self._joined(near, around, goal)
        ways = [] if shortest is None else [shortest]
        if not ways:
            for edge, vertex in zip(around.edges.tolist(), around.vertices.tolist(), strict=True):
                onward = self._joined(near, self._walk.neighbours(vertex), goal) if self._may_pass(vertex) else None
                if onward is not None:
                    ways.append(onward.prepend(edge, vertex, self._cost([vertex])))
        return [(min(ways).edges, (goal, *min(ways).vertices))] if ways else []

    def _joined(self, near: _Near, around: Neighbours, goal: int) -> _CreditPath | None:
        """The cheapest way of two edges that begins with one of `around` and ends at a seed, if there is one."""
        begin = np.searchsorted(near.vertices, around.vertices)
        count = np.searchsorted(near.vertices, around.vertices, side="right") - begin
        of, met = flatten_slices(begin, np.where(around.vertices == goal, 0, count))
        of, met = of[near.seeds[met] != goal], met[near.seeds[met] != goal]
        cost = self._costs(around.vertices)[of] + self._costs(near.seeds)[met]
        for place in np.lexsort((around.edges[of], near.edges[met], cost)).tolist():
            first, last = int(of[place]), int(met[place])
            vertex = int(around.vertices[first])
            if self._may_pass(vertex):
                edges = int(near.edges[last]), int(around.edges[first])
                return _CreditPath(float(cost[place]), edges, (vertex, int(near.seeds[last])))
        return None

    def _may_pass(self, vertex: int) -> bool:
        return len(self._walk.neighbours(vertex).edges) <= MOST_EDGES

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

    def _cost(self, vertices: Sequence[int]) -> float:
        return float(self._costs(np.array(vertices, np.int32)).sum())

    def _costs(self, vertices: Ids) -> Floats:
        """(v,) what passing through each costs: a hub says less."""
        found: Floats = -np.log(self._walk.penalties(vertices))
        return found
