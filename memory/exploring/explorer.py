"""Explore: the memory around a question, as options of where to look next (SPEC 7.4 S6a).

All that is known of a question's evidence lies in one place, the `Explorer`: the passages that were found, those that
were taken since, and what was offered. Options come from all of it, not from where one is, so there is no going back.
The invariant: nothing comes out of it that the question may not see, and with `only_open` no word of a text that has to
stay on this machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

import numpy as np

from memory.exploring.expansion import Expansion, expand
from memory.exploring.labels import OptionLabels
from memory.graph.arrays import Bools, Ints
from memory.nouns import Episode
from memory.retrieval.pagerank import Doubles
from memory.retrieval.state import RetrievalResult
from memory.store import episodes, relations, sources
from memory.store import graph as stored
from memory.store.connect import Connection

MAX_OPTIONS_PER_OBJECT = 3  # options that lead over one object, at most
OFF_TOPIC_WEIGHT = 0.3  # what an expansion counts to a passage that the retrieval scores 0, beside the best it knows

Reading = Callable[[], AbstractContextManager[Connection]]


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
