"""The memory around a question as options of where to look next: one-hop expansion, by passages that share an object, a
relation or a document neighbour with the known ones.

All that is known of a question's evidence lies in one place, the `Explorer`: the passages that were found, those that
were taken since, and what was offered. Options come from all of it, not from where one is, so there is no going back.
The invariant: nothing comes out of it that the question may not see, and with `only_open` no word of a text that has to
stay on this machine. Expansion works with mentions alone, where no model ever read the notes, and goes by vectors of
numbers, not by walking: what it costs depends on what is known, not on what is remembered.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memory.exploring.labels import OptionLabels
from memory.graph.arrays import Bools, Graph, Ids, Ints
from memory.graph.postings import flatten_slices
from memory.graph.walk import Walkable
from memory.nouns import Episode, Step
from memory.retrieval.pagerank import Doubles, transition_steps
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import relevance_of
from memory.store import episodes, relations, sources
from memory.store import graph as stored
from memory.store.connect import Connection
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
    made = _Collector(found.seeds.guidance.activation)
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
    rarity = transition_steps(graph, allowed, found.settings).rarity(columns) / math.log(max(2, graph.n_alive))
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
    walk = Walkable(graph, allowed, "O", found.seeds.guidance.when)
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
            _, page, _ = graph.titles.find(graph.column_of.find(np.array([other])))
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
    walk = Walkable(graph, allowed, "E", found.seeds.guidance.when)
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


MAX_OPTIONS_PER_OBJECT = 3  # options that lead over one object, at most
OFF_TOPIC_WEIGHT = 0.3  # what an expansion counts to a passage that the retrieval scores 0, beside the best it knows

Reading = Callable[[], AbstractContextManager[Connection]]


@dataclass(frozen=True, slots=True)
class CollectedEvidence:
    """What exploring gathered for a question: episode id -> relevance in [0, 1], in the order in which it was. `calls`
    of a model were made; `stopped` is the reason why there were no more, a word or two."""

    episodes: Mapping[int, float]
    steps: tuple[Step, ...] = ()
    calls: int = 0
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """A passage (its episode id) that may be looked at next, how it is called before a model, and how good it looks.

    `follow`: something that is known leads there, over the `edges`; `open`: it is the next best of the recall. `score`
    in [0, 1]; `label` is one line of data.
    """

    kind: Literal["open", "follow"]
    episode: int
    label: str
    score: float
    edges: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Frontier:
    """What may be looked at next: rows (f,), scores in [0, 1], activation, whether it is new since it was offered last,
    and which hop of the expansion leads there (-1: none)."""

    expansion: Expansion
    rows: Ints
    scores: Doubles
    activation: Doubles
    fresh: Bools
    place: Ints


class Explorer:
    """The exploration of memory for one question. `reading` opens a connection that sees what the retrieval saw; it is
    open only while something is looked up, never while a model thinks.

    `shown`: how many of the recall's hits are evidence already, by default all. With `only_open` passages whose text
    may not leave this machine are not there at all. `collected`: episode id -> relevance in [0, 1], in the order in
    which they were taken.
    """

    def __init__(
        self, reading: Reading, found: RetrievalResult, only_open: bool = False, shown: int | None = None
    ) -> None:
        self.found = found
        self.only_open = only_open
        self.collected: dict[int, float] = {}
        self.reading = reading
        self.allowed = self._visible()
        top = float(found.ranking[self.allowed].max(initial=0.0)) or 1.0
        self._relevance: Doubles = np.where(self.allowed, found.ranking / top, 0).astype(np.float64)
        rows = [found.graph.row_of.get(hit.episode.id, -1) for hit in found.recall.hits[:shown]]
        self._known = [row for row in rows if row >= 0 and self.allowed[row]]
        self._n_found = len(self._known)
        self._offered: dict[int, int] = {}  # row -> how many were known when it was offered last

    def _visible(self) -> Bools:
        graph = self.found.graph
        allowed: Bools = self.found.allowed & graph.alive
        if self.only_open:
            with self.reading() as conn:
                allowed = allowed & np.isin(graph.source_ids, sources.open_ids(conn))
        return allowed

    @property
    def known(self) -> tuple[int, ...]:
        """Ids of the episodes that are evidence: what was found, then what was taken."""
        return self._ids(self._known)

    @property
    def explored(self) -> tuple[int, ...]:
        """Ids of the episodes that were offered, the first first."""
        return self._ids(list(self._offered))

    @property
    def frontier(self) -> tuple[int, ...]:
        """Ids of the episodes that could be looked at next, the best first."""
        frontier = self._frontier()
        return self._ids(frontier.rows[self._order(frontier)].tolist())

    def _ids(self, rows: list[int]) -> tuple[int, ...]:
        return tuple(self.found.graph.episode_ids[rows].tolist())

    def relevance(self, episode: int) -> float:
        """How well an episode fits the question, by the recall's ranking: in [0, 1]."""
        return min(1.0, float(self._relevance[self.found.graph.row_of[episode]]))

    def take(self, option: Option) -> bool:
        """Takes what an option leads to into the evidence; whether it is new there."""
        row = self.found.graph.row_of[option.episode]
        if row in self._known:
            return False
        self._known.append(row)
        self.collected[option.episode] = self.relevance(option.episode)
        return True

    def evidence(self, most: int) -> list[str]:
        """The known passages, at most so many, a line of data each: what was taken, the newest first, then the best of
        what was found."""
        rows = [*reversed(self._known[self._n_found :]), *self._known[: self._n_found]]
        labels = OptionLabels(self.found.question, self.only_open)
        with self.reading() as conn:
            return [labels.known_passage(one) for one in episodes.by_ids(conn, self._ids(rows[:most]))]

    def options(self, most: int = 12) -> list[Option]:
        """The best passages to look at next, the best first; ties by id.

        What edge memory activates comes first. The rest goes by half the retrieval's ranking, which finds what the
        question's words lead to, and half how near the evidence comes, which finds what no word of it does; each as a
        share of the best. What was offered and not taken comes again only behind all that was not, unless something
        taken since leads to it. No more than MAX_OPTIONS_PER_OBJECT lead over one object.
        """
        frontier = self._frontier()
        chosen: list[int] = []
        over: Counter[int] = Counter()
        for one in self._order(frontier).tolist():
            place = int(frontier.place[one])
            column = int(frontier.expansion.columns[place]) if place >= 0 else -1
            if column < 0 or over[column] < MAX_OPTIONS_PER_OBJECT:
                over[column] += 1
                chosen.append(one)
            if len(chosen) >= most:
                break
        options = self._labelled(frontier, chosen)
        self._offered |= {self.found.graph.row_of[option.episode]: len(self._known) for option in options}
        return options

    def _order(self, frontier: _Frontier) -> Ints:
        ids = self.found.graph.episode_ids[frontier.rows]
        return np.lexsort((ids, -frontier.scores, -frontier.activation, ~frontier.fresh))

    def _frontier(self) -> _Frontier:
        n = len(self.allowed)
        weights = np.sqrt(self._relevance[self._known])
        weights[self._n_found :] = 1.0  # what was taken was chosen on purpose
        found = expand(self.found, self.allowed, np.array(self._known, np.int64), weights)
        near, activation, place, fresh = np.zeros(n), np.zeros(n), np.full(n, -1), np.ones(n, np.bool_)
        fits = OFF_TOPIC_WEIGHT + (1 - OFF_TOPIC_WEIGHT) * np.sqrt(self._relevance[found.rows])
        near[found.rows], activation[found.rows] = found.near * fits, found.activation
        place[found.rows] = np.arange(len(fits))
        ranked = self._relevance.copy()
        ranked[self._known] = 0
        for row, known in self._offered.items():
            fresh[row] = place[row] >= 0 and found.places[place[row]] >= known
            if fresh[row]:
                ranked[row] = 0  # by its words alone it was not taken
        rows = np.flatnonzero(self.allowed & ((near > 0) | (ranked > 0)))
        new = rows[fresh[rows]]
        scores = sum(value[rows] / (value[new].max(initial=0.0) or 1.0) / 2 for value in (near, ranked))
        return _Frontier(found, rows, np.minimum(scores, 1.0), activation[rows], fresh[rows], place[rows])

    def _labelled(self, frontier: _Frontier, chosen: list[int]) -> list[Option]:
        """Options for these places of the frontier; without those that are forgotten by now."""
        graph, found = self.found.graph, frontier.expansion
        places = [place for place in frontier.place[chosen].tolist() if place >= 0]
        whence = [self._known[known] for known in found.places[places].tolist() if known >= 0]
        columns = [column for column in found.columns[places].tolist() if column >= 0]
        with self.reading() as conn:
            there = {one.id: one for one in episodes.by_ids(conn, self._ids([*frontier.rows[chosen], *whence]))}
            facts = {
                fact.id: fact for fact in relations.by_id(conn, [link for link in found.links[places].tolist() if link])
            }
            nodes = [*graph.object_ids[columns].tolist(), *(n for f in facts.values() for n in (f.subject, f.object))]
            objects = stored.object_labels(conn, nodes)
        labels = OptionLabels(self.found.question, self.only_open, objects, facts)
        options = []
        for one in chosen:
            row, place, score = int(frontier.rows[one]), int(frontier.place[one]), float(frontier.scores[one])
            episode = there.get(int(graph.episode_ids[row]))
            if episode is not None and place < 0:
                options.append(Option("open", episode.id, labels.open_passage(episode), score))
            elif episode is not None:
                label, edges = self._hop(labels, there, episode, found.select(np.array([place])))
                options.append(Option("follow", episode.id, label, score, edges))
        return options

    def _hop(
        self, labels: OptionLabels, there: Mapping[int, Episode], episode: Episode, hop: Expansion
    ) -> tuple[str, tuple[int, ...]]:
        """What one hop is called, and its edges."""
        graph = self.found.graph
        row, known, column, link = int(hop.rows[0]), int(hop.places[0]), int(hop.columns[0]), int(hop.links[0])
        whence = self._known[known] if known >= 0 else -1
        source = there.get(int(graph.episode_ids[whence])) if known >= 0 else None
        edges = self._edges(row, column, link, whence)
        if column < 0:
            return labels.open_passage(episode, source), edges
        about = column in graph.titled.indices[slice(*graph.titled.indptr[row : row + 2])]
        label = labels.relation_path(link, source, episode) if link else None
        return label or labels.object_path(int(graph.object_ids[column]), source, episode, about), edges

    def _edges(self, row: int, column: int, link: int, source: int) -> tuple[int, ...]:
        """The edges of a hop, by id: the known passage's mention, the relation or the step, the other's mention."""
        ends = [self._mention(source, column), link, self._mention(row, column)]
        return tuple(edge for edge in ends if edge)

    def _mention(self, row: int, column: int) -> int:
        """Edge id of an episode's mention of an object; 0 if there is none."""
        graph = self.found.graph
        if row < 0 or column < 0:
            return 0
        begin, end = graph.counts.indptr[row : row + 2]
        at = np.flatnonzero(graph.counts.indices[begin:end] == column)
        return int(graph.mention_ids[begin + at[0]]) if len(at) else 0
