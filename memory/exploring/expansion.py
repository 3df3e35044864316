"""One-hop expansion: passages that share an object, a relation or a document neighbour with the known ones, and by
which edge.

From a passage over an object that it mentions to those that the object titles or that mention it, over a relation of
such an object to what tells of it and to the page of its other end, and to the passages before and behind. Works with
mentions alone, where no model ever read the notes, and goes by vectors of numbers, not by walking: what it costs
depends on what is known, not on what is remembered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.graph.adjacency import Walkable
from memory.graph.arrays import Bools, Graph, Ids, Ints
from memory.graph.postings import flatten_slices
from memory.retrieval.pagerank import Doubles, around
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import relevance_of
from memory.store.graph import EDGE_KINDS

MENTION_WEIGHT = 0.5  # what it counts that a passage mentions an object, beside that it is about it
ADJACENT_WEIGHT = 0.5  # and that it stands next to a known one
MAX_MENTIONING = 200  # passages that mention an object, from which on mentioning it leads nowhere
MAX_OBJECTS_RELATED, MAX_RELATIONS = 60, 30  # objects whose relations are looked at, the best; relations of each
Integers = NDArray[np.integer[Any]]
_REL, _NEXT = EDGE_KINDS.index("rel"), EDGE_KINDS.index("next")


@dataclass(frozen=True, slots=True)
class Expansion:
    """w hops from known passages to others: the row of the passage each leads to, how near it comes in [0, 1], and the
    activation of its edges (edge memory).

    `places` (w,): which of the known passages it comes from, -1 for an object of the question; `columns` (w,): the
    object it leads over, -1 if there is none; `links` (w,): edge id of the relation or of the step to the next passage,
    0 if there is none.
    """

    rows: Ints
    near: Doubles
    activation: Doubles
    places: Ints
    columns: Ints
    links: Ints

    def best(self) -> Expansion:
        """Of all hops to a passage the one with the highest activation, then the nearest, then the one from the passage
        that became known last."""
        order = np.lexsort((self.links, self.columns, -self.places, -self.near, -self.activation, self.rows))
        first = order[np.diff(self.rows[order], prepend=-1) > 0]
        return self.select(first)

    def select(self, chosen: Integers | Bools) -> Expansion:
        """Some of them."""
        return Expansion(
            self.rows[chosen],
            self.near[chosen],
            self.activation[chosen],
            self.places[chosen],
            self.columns[chosen],
            self.links[chosen],
        )


class _Collector:
    """Hops as they are found. `active`: edge id -> its activation."""

    def __init__(self, active: Mapping[int, float]) -> None:
        self.parts: list[Expansion] = []
        self._edges = np.array(sorted(active), np.int64)
        self._activation = np.array([active[edge] for edge in self._edges.tolist()], np.float64)

    def activation(self, edges: Integers) -> Doubles:
        """(e,) edge ids -> (e,) their activation."""
        if not len(self._edges):
            return np.zeros(len(edges))
        place = np.minimum(np.searchsorted(self._edges, edges), len(self._edges) - 1)
        return np.where(self._edges[place] == edges, self._activation[place], 0.0)

    def add(
        self,
        rows: Integers,
        near: Doubles,
        activation: Doubles,
        places: Ints,
        columns: Ints,
        links: Ints | None = None,
    ) -> None:
        links = np.zeros(len(rows), np.int64) if links is None else links
        self.parts.append(Expansion(rows.astype(np.int64), near, activation, places, columns, links))


def expand(found: RetrievalResult, allowed: Bools, rows: Ints, weights: Doubles) -> Expansion:
    """The best hop from the known episodes `rows` (k,), which count `weights` (k,) in [0, 1], and from the objects that
    the question names, to each other episode that is `allowed` (n,) and that one leads to."""
    graph = found.graph
    made = _Collector(found.seeds.activation)
    objects = _objects(found, allowed, rows, weights, made)
    _over_objects(graph, objects, made)
    if len(graph.links.ids):
        _over_relations(found, allowed, objects, made)
        _beside(found, allowed, rows, weights, made)
    every = Expansion(*(np.concatenate([getattr(part, name) for part in made.parts]) for name in Expansion.__slots__))
    other = allowed[every.rows]
    other[np.isin(every.rows, rows)] = False
    return every.select(other).best()


@dataclass(frozen=True, slots=True)
class _Objects:
    """Objects that known passages mention, each with the passage that counts most: columns (o,), how much each counts
    in [0, 1], the place of the passage, and the activation of its mention."""

    columns: Ints
    weights: Doubles
    places: Ints
    activation: Doubles


def _objects(found: RetrievalResult, allowed: Bools, rows: Ints, known: Doubles, made: _Collector) -> _Objects:
    """The rarer an object is, the more it counts; what is common or a date leads nowhere."""
    graph = found.graph
    begin = graph.counts.indptr[rows]
    places, entries = flatten_slices(begin, graph.counts.indptr[rows + 1] - begin)
    named = np.array(sorted(found.seeds.objects), np.int64)
    columns = np.concatenate([graph.counts.indices[entries].astype(np.int64), named])
    weights = np.concatenate([known[places], [found.seeds.objects[column] for column in named.tolist()]])
    places = np.concatenate([places, np.full(len(named), -1)])
    activation = np.concatenate([made.activation(graph.mention_ids[entries]), np.zeros(len(named))])
    order = np.lexsort((-places, -weights, -activation, columns))
    first = order[np.diff(columns[order], prepend=-1) > 0]
    columns = columns[first]
    rarity = around(graph, allowed, found.settings).rarity(columns) / math.log(max(2, graph.n_alive))
    objects = _Objects(columns, weights[first] * rarity, places[first], activation[first])
    leads = objects.weights > 0
    return _Objects(columns[leads], objects.weights[leads], objects.places[leads], objects.activation[leads])


def _over_objects(graph: Graph, objects: _Objects, made: _Collector) -> None:
    of, rows, _ = graph.titles.find(objects.columns)
    near = objects.weights / _several(graph.degrees.titles[objects.columns])
    made.add(rows, near[of], objects.activation[of], objects.places[of], objects.columns[of])
    spoken_of = graph.degrees.mentions[objects.columns]
    few = np.flatnonzero(spoken_of <= MAX_MENTIONING)
    of, rows, entries = graph.mentioned.find(objects.columns[few])
    of = few[of]
    near = MENTION_WEIGHT * objects.weights / _several(spoken_of)
    activation = np.maximum(objects.activation[of], made.activation(graph.mention_ids[entries]))
    made.add(rows, near[of], activation, objects.places[of], objects.columns[of])


def _over_relations(found: RetrievalResult, allowed: Bools, objects: _Objects, made: _Collector) -> None:
    graph = found.graph
    walk = Walkable(graph, allowed, "O", found.seeds.when)
    best = np.lexsort((objects.columns, -objects.weights, -objects.activation))[:MAX_OBJECTS_RELATED]
    rows: list[int] = []
    near: list[float] = []
    from_object: list[int] = []
    links: list[int] = []
    for number in best.tolist():
        object = int(graph.object_ids[objects.columns[number]])
        edges, others = _related(found, walk, object, made) if walk.visible(object) else (np.empty(0), np.empty(0))
        for edge, other in zip(edges.tolist(), others.tolist(), strict=True):
            first, last = np.searchsorted(graph.links.evidence[:, 0], [edge, edge + 1])
            told = graph.row_of.find(graph.links.evidence[first:last, 1])
            page = graph.titles.find(graph.column_of.find(np.array([other]))).rows
            reached = np.unique(np.concatenate([told[told >= 0], page])).tolist()
            rows += reached
            near += [float(objects.weights[number]) / (1 + math.log(len(edges)))] * len(reached)
            from_object += [number] * len(reached)
            links += [edge] * len(reached)
    of, edges_of = np.array(from_object, np.int64), np.array(links, np.int64)
    activation = np.maximum(objects.activation[of], made.activation(edges_of))
    made.add(
        np.array(rows, np.int64),
        np.array(near, np.float64),
        activation,
        objects.places[of],
        objects.columns[of],
        edges_of,
    )


def _related(found: RetrievalResult, walk: Walkable, object: int, made: _Collector) -> tuple[Ids, Ids]:
    """The relations of an object, by edge id, and their other ends; of very many the best."""
    edges, kinds, others = walk.neighbours(object)
    edges, others = edges[kinds == _REL], others[kinds == _REL]
    if len(edges) > MAX_RELATIONS:
        order = np.lexsort((edges, -relevance_of(walk, found.seeds)(others), -made.activation(edges)))[:MAX_RELATIONS]
        edges, others = edges[np.sort(order)], others[np.sort(order)]
    return edges, others


def _beside(found: RetrievalResult, allowed: Bools, rows: Ints, weights: Doubles, made: _Collector) -> None:
    graph = found.graph
    walk = Walkable(graph, allowed, "E", found.seeds.when)
    for place, row in enumerate(rows.tolist()):
        edges, kinds, others = walk.neighbours(int(graph.episode_ids[row]))
        edges, others = edges[kinds == _NEXT], others[kinds == _NEXT]
        near = np.full(len(edges), ADJACENT_WEIGHT * weights[place])
        whence = np.full(len(edges), place), np.full(len(edges), -1)
        made.add(walk.rows(others), near, made.activation(edges), *whence, edges.astype(np.int64))


def _several(count: Integers) -> Doubles:
    """(c,) how much less each of so many counts."""
    found: Doubles = 1 + np.log(np.maximum(count, 1))
    return found
