"""The memory around a question as options for the next step: passages one hop from the evidence.

A hop leads over an object that a known passage mentions, over a relation of that object, or to an adjacent passage. It
starts from all the evidence, not from a current position, so there is no going back. Invariant: an `Explorer` never
returns anything that the question may not see, nor, with `only_open`, any word of a local-only text.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memory.exploring.labels import OptionLabels
from memory.graph.arrays import Bools, Floats
from memory.graph.walk import Walkable, top_k
from memory.nouns import Step
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import transition_steps
from memory.store import episodes, relations, sources
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.store.graph import EDGE_KINDS

PART_WEIGHT = 0.5  # of a passage that mentions an object, relative to one about it; and of an adjacent passage
MAX_OBJECTS, MAX_RELATIONS = 60, 30  # objects that lead on, the best; relations of each, the newest
MAX_OPTIONS_PER_OBJECT = 3  # options that lead over one object, at most
MAX_RANKED = 200  # passages by the retrieval's ranking that are options without a hop
OFF_TOPIC_WEIGHT = 0.3  # of a hop to a passage with retrieval score 0, relative to the best
_MENTION, _REL, _NEXT = (EDGE_KINDS.index(kind) for kind in ("mention", "rel", "next"))

Reading = Callable[[], AbstractContextManager[Connection]]


@dataclass(frozen=True, slots=True)
class CollectedEvidence:
    """The evidence gathered for a question: episode id -> relevance in [0, 1], in order. `calls` of a model were made;
    `stopped` says in a word or two why they ended."""

    episodes: Mapping[int, float]
    steps: tuple[Step, ...] = ()
    calls: int = 0
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """A passage (its episode id) to look at next, its label for a model (one line of data), and the edges to it from
    known evidence."""

    episode: int
    label: str
    edges: tuple[int, ...] = ()


class PassageHop(NamedTuple):
    """A step to a passage; the greater is the better. `activation` of its edges (edge memory); how `near` the passage
    comes to what is known, in [0, 1]; the `place` of the known passage where it starts, NAMED for an object of the
    question, NOWHERE if the retrieval alone found the passage; the `column` of the object on the way, or -1; the `link`
    (edge id) of the relation, or to the adjacent passage, or 0."""

    activation: float = 0.0
    near: float = 0.0
    place: int = -2
    column: int = -1
    link: int = 0


NAMED, NOWHERE = -1, -2


def visible_rows(reading: Reading, result: RetrievalResult, only_open: bool) -> Bools:
    """(n,) the episodes that the question may see; with `only_open` those whose text may leave this machine."""
    if not only_open:
        return result.allowed
    with reading() as conn:
        visible: Bools = result.allowed & np.isin(result.graph.source_ids, sources.open_ids(conn))
    return visible


def find_hops(
    result: RetrievalResult, allowed: Bools, known: Sequence[int], weights: Sequence[float]
) -> dict[int, PassageHop]:
    """Row -> the best hop to it, for the `allowed` episodes (n,) one step from the `known` rows, with their `weights`
    in [0, 1], or from the objects that the question names. A hop leads over the best objects that they mention, the
    rarer the better; common ones and dates lead nowhere."""
    graph, activation = result.graph, result.seeds.guidance.activation
    walk = Walkable(graph, allowed, "EO", result.seeds.guidance.when)
    hops: dict[int, PassageHop] = {}
    objects = {column: PassageHop(0.0, weight, NAMED, column) for column, weight in result.seeds.objects.items()}

    def add(row: int, hop: PassageHop) -> None:
        if walk.allowed[row] and row not in known:
            hops[row] = max(hop, hops.get(row, hop))

    for place, (row, weight) in enumerate(zip(known, weights, strict=True)):
        for edge, kind, vertex in _list_edges(walk, int(graph.episode_ids[row])):
            active = activation.get(edge, 0.0)
            if kind == _NEXT:
                add(graph.row_of[vertex], PassageHop(active, PART_WEIGHT * weight, place, link=edge))
            elif kind == _MENTION:
                hop = PassageHop(active, weight, place, column := graph.column_of[vertex])
                objects[column] = max(hop, objects.get(column, hop))
    rarity = transition_steps(graph, allowed, result.settings).rarity(np.array([*objects], np.int64))
    share = (rarity / math.log(max(2, graph.n_alive))).tolist()
    nearer = (hop._replace(near=hop.near * rare) for hop, rare in zip(objects.values(), share, strict=True))
    for start in sorted((hop for hop in nearer if hop.near > 0), reverse=True)[:MAX_OBJECTS]:
        edges = _list_edges(walk, int(graph.object_ids[start.column]))
        titled = set(graph.titles.find(np.array([start.column]))[1].tolist())
        mentions = [(edge, graph.row_of[vertex]) for edge, kind, vertex in edges if kind == _MENTION]
        for edge, row in mentions:
            share_of_row = _one_of(len(titled)) if row in titled else PART_WEIGHT * _one_of(len(mentions))
            active = max(start.activation, activation.get(edge, 0.0))
            add(row, start._replace(activation=active, near=start.near * share_of_row))
        related = sorted((activation.get(edge, 0.0), edge, vertex) for edge, kind, vertex in edges if kind == _REL)
        for active, edge, vertex in related[-MAX_RELATIONS:]:
            pages = graph.titles.find(graph.column_of.find(np.array([vertex])))[1]
            telling = graph.row_of.find(graph.links.evidence_of(edge))
            near_relation = start.near * _one_of(len(related))
            for row in {*pages.tolist(), *telling[telling >= 0].tolist()}:
                add(row, PassageHop(max(start.activation, active), near_relation, start.place, start.column, edge))
    return hops


def _list_edges(walk: Walkable, vertex: int) -> list[tuple[int, int, int]]:
    """Returns (edge, kind, other end) of the edges of a vertex."""
    return list(zip(*(column.tolist() for column in walk.neighbours(vertex)), strict=True))


def _one_of(count: int) -> float:
    return 1 / (1 + math.log(max(count, 1)))


class Explorer:
    """The exploration of memory for one question. `reading` opens a connection to the snapshot of the retrieval, only
    during a lookup and never during a call to a model. With `only_open` passages whose text may not leave this machine
    are ignored. `collected`: episode id -> relevance in [0, 1], in order."""

    def __init__(self, reading: Reading, result: RetrievalResult, only_open: bool = False) -> None:
        self.result = result
        self.only_open = only_open
        self.collected: dict[int, float] = {}
        self.reading = reading
        self.allowed = visible_rows(reading, result, only_open)
        self._relevance: Floats = np.where(self.allowed, result.relevance(self.allowed), 0)
        rows = [result.graph.row_of.get(hit.episode.id, -1) for hit in result.recall.hits]
        self._known = [row for row in rows if row >= 0 and self.allowed[row]]
        self._n_found = len(self._known)
        self._offered: dict[int, int] = {}  # row -> how many were known when it was offered last

    @property
    def known(self) -> tuple[int, ...]:
        """Ids of the evidence: the retrieved episodes, then the taken ones."""
        return self._ids(self._known)

    def _ids(self, rows: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.result.graph.episode_ids[list(rows)].tolist())

    def take(self, option: Option) -> bool:
        """Adds an option's passage to the evidence; whether it is new."""
        row = self.result.graph.row_of[option.episode]
        if row in self._known:
            return False
        self._known.append(row)
        self.collected[option.episode] = min(1.0, float(self._relevance[row]))
        return True

    def evidence(self, most: int) -> list[str]:
        """Returns at most `most` known passages, a line of data each: the taken ones, newest first, then the best
        retrieved ones."""
        rows = [*reversed(self._known[self._n_found :]), *self._known[: self._n_found]]
        labels = OptionLabels(self.result.question, self.only_open)
        with self.reading() as conn:
            return [labels.known_passage(episode) for episode in episodes.get_many(conn, self._ids(rows[:most]))]

    def options(self, most: int = 12) -> list[Option]:
        """The best passages to look at next, best first; ties by id.

        Activated edges come first. The rest is scored half by the retrieval's ranking, which finds what the question's
        words lead to, and half by distance to the evidence, which finds what no word leads to; each relative to the
        best. A passage that was offered and not taken comes after all new ones, unless a later passage leads to it. At
        most MAX_OPTIONS_PER_OBJECT go through one object.
        """
        chosen: list[tuple[int, PassageHop]] = []
        over: Counter[int] = Counter()
        for row, hop in self._rank_hops():
            if hop.column < 0 or over[hop.column] < MAX_OPTIONS_PER_OBJECT:
                over[hop.column] += 1
                chosen.append((row, hop))
            if len(chosen) >= most:
                break
        options = self._label_hops(chosen)
        self._offered |= {self.result.graph.row_of[option.episode]: len(self._known) for option in options}
        return options

    def _rank_hops(self) -> list[tuple[int, PassageHop]]:
        """Returns the passages to look at next, each with the best hop to it, best first."""
        weights = [
            1.0 if place >= self._n_found else math.sqrt(self._relevance[row]) for place, row in enumerate(self._known)
        ]
        hops = {
            row: PassageHop()
            for row in top_k(self._relevance, self.allowed, MAX_RANKED).tolist()
            if row not in self._known
        }
        hops |= find_hops(self.result, self.allowed, self._known, weights)
        new = {row for row, hop in hops.items() if hop.place >= self._offered.get(row, NOWHERE)}
        by_words = {row: float(self._relevance[row]) for row in hops if row not in self._offered}
        by_steps = {
            row: hop.near * (OFF_TOPIC_WEIGHT + (1 - OFF_TOPIC_WEIGHT) * math.sqrt(self._relevance[row]))
            for row, hop in hops.items()
        }
        best = [
            max((scores[row] for row in new if row in scores), default=0.0) or 1.0 for scores in (by_words, by_steps)
        ]

        def order(row: int) -> tuple[bool, float, float, int]:
            score = by_words.get(row, 0.0) / best[0] + by_steps[row] / best[1]
            return row not in new, -hops[row].activation, -score, int(self.result.graph.episode_ids[row])

        return [(row, hops[row]) for row in sorted(hops, key=order)]

    def _label_hops(self, chosen: Sequence[tuple[int, PassageHop]]) -> list[Option]:
        """These as options; without forgotten ones."""
        graph = self.result.graph
        ids = self._ids([row for row, _ in chosen])
        known = self._ids([self._known[hop.place] for _, hop in chosen if hop.place >= 0])
        with self.reading() as conn:
            passages = {episode.id: episode for episode in episodes.get_many(conn, [*ids, *known])}
            facts = {fact.id: fact for fact in relations.get_many(conn, [hop.link for _, hop in chosen if hop.link])}
            nodes = graph.object_ids[[hop.column for _, hop in chosen if hop.column >= 0]].tolist()
            nodes += [node for fact in facts.values() for node in (fact.subject, fact.object)]
            labels = OptionLabels(self.result.question, self.only_open, stored.object_labels(conn, nodes))
        options = []
        for (row, hop), id in zip(chosen, ids, strict=True):
            if id not in passages:
                continue
            start = self._known[hop.place] if hop.place >= 0 else -1
            source = passages.get(int(graph.episode_ids[start])) if start >= 0 else None
            if hop.column < 0:
                options.append(Option(id, labels.open_passage(passages[id], source), (hop.link,) if hop.link else ()))
                continue
            edges = self._mention(start, hop.column), hop.link, self._mention(row, hop.column)
            about = hop.column in graph.titled.indices[slice(*graph.titled.indptr[row : row + 2])]
            label = labels.relation_path(facts.get(hop.link), source, passages[id])
            label = label or labels.object_path(int(graph.object_ids[hop.column]), source, passages[id], about)
            options.append(Option(id, label, tuple(edge for edge in edges if edge)))
        return options

    def _mention(self, row: int, column: int) -> int:
        """Edge id of an episode's mention of an object; 0 without one."""
        graph = self.result.graph
        begin, end = graph.counts.indptr[row : row + 2] if row >= 0 else (0, 0)
        places = np.flatnonzero(graph.counts.indices[begin:end] == column)
        return int(graph.mention_ids[begin + places[0]]) if len(places) else 0
