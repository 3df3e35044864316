"""The memory around a question as options of where to look next: one-hop expansion, by passages that share an object, a
relation or a document neighbour with the known ones.

All that is known of a question's evidence lies in one place, the `Explorer`: the passages that were found, those that
were taken since, and what was offered. Options come from all of it, not from where one is, so there is no going back.
The invariant: nothing comes out of it that the question may not see, and with `only_open` no word of a text that has to
stay on this machine. Expansion works with mentions alone, where no model ever read the notes, and goes by vectors of
numbers, not by walking: what it costs depends on what is known, not on what is remembered.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

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
MAX_OPTIONS_PER_OBJECT = 3  # options that lead over one object, at most
OFF_TOPIC_WEIGHT = 0.3  # what an expansion counts to a passage that the retrieval scores 0, beside the best it knows
_REL, _NEXT = EDGE_KINDS.index("rel"), EDGE_KINDS.index("next")

HOP = np.dtype([
    ("row", np.int64),  # of the passage that it leads to
    ("near", np.float64),  # how near it comes to what is known, in [0, 1]
    ("activation", np.float64),  # of its edges (edge memory)
    ("place", np.int64),  # which of the known passages it comes from
    ("column", np.int64),  # the object that it leads over, -1 if there is none
    ("link", np.int64),  # edge id of the relation, or of the step to the next passage, 0 if there is none
])  # fmt: skip
NAMED, NOWHERE = -1, -2  # places of hops: from an object that the question names; none, the retrieval alone found it
_AHEAD = np.dtype([*HOP.descr, ("score", np.float64), ("fresh", np.bool_)])
Hops = NDArray[np.void]
Integers = NDArray[np.integer[Any]]
Activation = Callable[[Integers], Doubles]
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
    """A passage (its episode id) that may be looked at next, how it is called before a model, one line of data, and the
    edges that lead there from something that is known."""

    episode: int
    label: str
    edges: tuple[int, ...] = ()


def visible_rows(reading: Reading, found: RetrievalResult, only_open: bool) -> Bools:
    """(n,) the episodes that the question may see; with `only_open` those whose text may leave this machine."""
    if not only_open:
        return found.allowed
    with reading() as conn:
        visible: Bools = found.allowed & np.isin(found.graph.source_ids, sources.open_ids(conn))
    return visible


# One-hop expansion ----------------------------------------------------------------------------


def expand(found: RetrievalResult, allowed: Bools, rows: Ints, weights: Doubles) -> Hops:
    """The best hop from the known episodes `rows` (k,), which count `weights` (k,) in [0, 1], and from the objects that
    the question names, to each other episode that is `allowed` (n,) and that one leads to: the one with the highest
    activation, then the nearest, then the one from the passage that became known last."""
    activation = _activation(found.seeds.guidance.activation)
    objects = _known_objects(found, allowed, rows, weights, activation)
    made = [*_over_objects(found.graph, objects, activation)]
    if len(found.graph.links.ids):
        made.append(_over_relations(found, allowed, objects, activation))
        made += _beside(found, allowed, rows, weights, activation)
    hops = np.concatenate(made)
    hops = hops[allowed[hops["row"]] & ~np.isin(hops["row"], rows)]
    order = np.lexsort((hops["link"], hops["column"], -hops["place"], -hops["near"], -hops["activation"], hops["row"]))
    return _first_of_each(hops[order], "row")


def _first_of_each(hops: Hops, field: str) -> Hops:
    first: Hops = hops[np.diff(hops[field], prepend=-1) > 0]
    return first


def _activation(active: Mapping[int, float]) -> Activation:
    """(e,) edge ids -> (e,) their activation."""
    known = np.array(sorted(active), np.int64)
    values = np.array([active[edge] for edge in known.tolist()], np.float64)

    def activation(edges: Integers) -> Doubles:
        if not len(known):
            return np.zeros(len(edges))
        place = np.minimum(np.searchsorted(known, edges), len(known) - 1)
        return np.where(known[place] == edges, values[place], 0.0)

    return activation


def _known_objects(found: RetrievalResult, allowed: Bools, rows: Ints, known: Doubles, activation: Activation) -> Hops:
    """The objects that known passages mention, each from the passage that counts most, and those that the question
    names, as hops that lead to no row yet. The rarer an object is, the nearer; what is common or a date leads
    nowhere."""
    graph = found.graph
    begin = graph.counts.indptr[rows]
    places, entries = flatten_slices(begin, graph.counts.indptr[rows + 1] - begin)
    named = np.array(sorted(found.seeds.objects), np.int64)
    objects = np.zeros(len(entries) + len(named), HOP)
    objects["column"] = np.concatenate([graph.counts.indices[entries], named])
    objects["near"] = np.concatenate([known[places], [found.seeds.objects[column] for column in named.tolist()]])
    objects["place"] = np.concatenate([places, np.full(len(named), NAMED)])
    objects["activation"][: len(entries)] = activation(graph.mention_ids[entries])
    order = np.lexsort((-objects["place"], -objects["near"], -objects["activation"], objects["column"]))
    objects = _first_of_each(objects[order], "column")
    rarity = transition_steps(graph, allowed, found.settings).rarity(objects["column"])
    objects["near"] *= rarity / math.log(max(2, graph.n_alive))
    return objects[objects["near"] > 0]


def _over_objects(graph: Graph, objects: Hops, activation: Activation) -> Iterator[Hops]:
    of, rows, _ = graph.titles.find(objects["column"])
    hops = objects[of]
    hops["row"], hops["near"] = rows, hops["near"] / _several(graph.degrees.titles[hops["column"]])
    yield hops
    few = objects[graph.degrees.mentions[objects["column"]] <= MAX_MENTIONING]
    of, rows, entries = graph.mentioned.find(few["column"])
    hops = few[of]
    near = MENTION_WEIGHT * hops["near"] / _several(graph.degrees.mentions[hops["column"]])
    hops["row"], hops["near"] = rows, near
    hops["activation"] = np.maximum(hops["activation"], activation(graph.mention_ids[entries]))
    yield hops


def _over_relations(found: RetrievalResult, allowed: Bools, objects: Hops, activation: Activation) -> Hops:
    graph = found.graph
    walk = Walkable(graph, allowed, "O", found.seeds.guidance.when)
    order = np.lexsort((objects["column"], -objects["near"], -objects["activation"]))[:MAX_OBJECTS_RELATED]
    made: list[tuple[int, int, int, float]] = []  # object, edge, row, how much less a relation of so many counts
    for number in order.tolist():
        object = int(graph.object_ids[objects["column"][number]])
        edges, others = _related(found, walk, object, activation) if walk.visible(object) else (np.empty(0),) * 2
        for edge, other in zip(edges.tolist(), others.tolist(), strict=True):
            first, last = np.searchsorted(graph.links.evidence[:, 0], [edge, edge + 1])
            told = graph.row_of.find(graph.links.evidence[first:last, 1])
            _, page, _ = graph.titles.find(graph.column_of.find(np.array([other])))
            reached = np.unique(np.concatenate([told[told >= 0], page])).tolist()
            made += [(number, edge, row, 1 + math.log(len(edges))) for row in reached]
    of, links, rows, several = (np.array(column) for column in zip(*made, strict=True)) if made else np.zeros((4, 0))
    hops = objects[of.astype(np.int64)]
    hops["row"], hops["link"], hops["near"] = rows, links, hops["near"] / several
    hops["activation"] = np.maximum(hops["activation"], activation(hops["link"]))
    return hops


def _related(found: RetrievalResult, walk: Walkable, object: int, activation: Activation) -> tuple[Ids, Ids]:
    """The relations of an object, by edge id, and their other ends; of very many the best."""
    edges, kinds, others = walk.neighbours(object)
    edges, others = edges[kinds == _REL], others[kinds == _REL]
    if len(edges) > MAX_RELATIONS:
        order = np.lexsort((edges, -relevance_of(walk, found.seeds)(others), -activation(edges)))[:MAX_RELATIONS]
        edges, others = edges[np.sort(order)], others[np.sort(order)]
    return edges, others


def _beside(
    found: RetrievalResult, allowed: Bools, rows: Ints, weights: Doubles, activation: Activation
) -> Iterator[Hops]:
    walk = Walkable(found.graph, allowed, "E", found.seeds.guidance.when)
    for place, row in enumerate(rows.tolist()):
        edges, kinds, others = walk.neighbours(int(found.graph.episode_ids[row]))
        edges, others = edges[kinds == _NEXT], others[kinds == _NEXT]
        hops = np.zeros(len(edges), HOP)
        hops["row"], hops["near"] = walk.rows(others), ADJACENT_WEIGHT * weights[place]
        hops["activation"], hops["place"], hops["column"], hops["link"] = activation(edges), place, -1, edges
        yield hops


def _several(count: Integers) -> Doubles:
    """(c,) how much less each of so many counts."""
    found: Doubles = 1 + np.log(np.maximum(count, 1))
    return found


# Options --------------------------------------------------------------------------------------


class Explorer:
    """The exploration of memory for one question. `reading` opens a connection that sees what the retrieval saw; it is
    open only while something is looked up, never while a model thinks. With `only_open` passages whose text may not
    leave this machine are not there at all. `collected`: episode id -> relevance in [0, 1], in the order in which they
    were taken."""

    def __init__(self, reading: Reading, found: RetrievalResult, only_open: bool = False) -> None:
        self.found = found
        self.only_open = only_open
        self.collected: dict[int, float] = {}
        self.reading = reading
        self.allowed = visible_rows(reading, found, only_open)
        self._relevance: Doubles = np.where(self.allowed, found.relevance(self.allowed), 0).astype(np.float64)
        rows = [found.graph.row_of.get(hit.episode.id, -1) for hit in found.recall.hits]
        self._known = [row for row in rows if row >= 0 and self.allowed[row]]
        self._n_found = len(self._known)
        self._offered: dict[int, int] = {}  # row -> how many were known when it was offered last

    @property
    def known(self) -> tuple[int, ...]:
        """Ids of the episodes that are evidence: what was found, then what was taken."""
        return self._ids(self._known)

    def _ids(self, rows: list[int]) -> tuple[int, ...]:
        return tuple(self.found.graph.episode_ids[rows].tolist())

    def take(self, option: Option) -> bool:
        """Takes what an option leads to into the evidence; whether it is new there."""
        row = self.found.graph.row_of[option.episode]
        if row in self._known:
            return False
        self._known.append(row)
        self.collected[option.episode] = min(1.0, float(self._relevance[row]))
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
        ahead = self._ahead()
        chosen: list[int] = []
        over: Counter[int] = Counter()
        for number, column in enumerate(ahead["column"].tolist()):
            if column < 0 or over[column] < MAX_OPTIONS_PER_OBJECT:
                over[column] += 1
                chosen.append(number)
            if len(chosen) >= most:
                break
        options = self._labelled(ahead[chosen])
        self._offered |= {self.found.graph.row_of[option.episode]: len(self._known) for option in options}
        return options

    def _ahead(self) -> Hops:
        """What may be looked at next, the best first: the best hop to each passage, its score in [0, 1], and whether it
        is new since it was offered last."""
        weights = np.sqrt(self._relevance[self._known])
        weights[self._n_found :] = 1.0  # what was taken was chosen on purpose
        hops = expand(self.found, self.allowed, np.array(self._known, np.int64), weights)
        hops["near"] *= OFF_TOPIC_WEIGHT + (1 - OFF_TOPIC_WEIGHT) * np.sqrt(self._relevance[hops["row"]])
        ahead = np.zeros(len(self.allowed), _AHEAD)
        ahead["row"], ahead["place"], ahead["column"], ahead["fresh"] = np.arange(len(ahead)), NOWHERE, -1, True
        for field in HOP.fields or ():
            ahead[field][hops["row"]] = hops[field]
        ranked = self._relevance.copy()
        ranked[self._known] = 0
        for row, known in self._offered.items():
            ahead["fresh"][row] = ahead["place"][row] >= known
            if ahead["fresh"][row]:
                ranked[row] = 0  # by its words alone it was not taken
        rows = np.flatnonzero(self.allowed & ((ahead["near"] > 0) | (ranked > 0)))
        new = rows[ahead["fresh"][rows]]
        scores = sum(value[rows] / (value[new].max(initial=0.0) or 1.0) / 2 for value in (ahead["near"], ranked))
        ahead = ahead[rows]
        ahead["score"] = np.minimum(scores, 1.0)
        ids = self.found.graph.episode_ids[rows]
        return ahead[np.lexsort((ids, -ahead["score"], -ahead["activation"], ~ahead["fresh"]))]

    def _labelled(self, ahead: Hops) -> list[Option]:
        """These as options; without those that are forgotten by now."""
        graph = self.found.graph
        whence = [self._known[known] for known in ahead["place"].tolist() if known >= 0]
        columns, links = (ahead[field][ahead[field] > none].tolist() for field, none in (("column", -1), ("link", 0)))
        with self.reading() as conn:
            there = {one.id: one for one in episodes.by_ids(conn, self._ids([*ahead["row"].tolist(), *whence]))}
            facts = {fact.id: fact for fact in relations.by_id(conn, links)}
            nodes = [*graph.object_ids[columns].tolist(), *(n for f in facts.values() for n in (f.subject, f.object))]
            objects = stored.object_labels(conn, nodes)
        labels = OptionLabels(self.found.question, self.only_open, objects, facts)
        ids = self._ids(ahead["row"].tolist())
        return [
            self._option(labels, there, there[id], hop.item())
            for id, hop in zip(ids, ahead, strict=True)
            if id in there
        ]

    def _option(
        self, labels: OptionLabels, there: Mapping[int, Episode], episode: Episode, hop: tuple[Any, ...]
    ) -> Option:
        """What one hop is called, and its edges: the known passage's mention, the relation or the step, the other's
        mention."""
        graph = self.found.graph
        row, _, _, known, column, link, *_ = hop
        whence = self._known[known] if known >= 0 else -1
        source = there.get(int(graph.episode_ids[whence])) if known >= 0 else None
        edges = tuple(edge for edge in (self._mention(whence, column), link, self._mention(row, column)) if edge)
        if column < 0:
            return Option(episode.id, labels.open_passage(episode, source), edges)
        about = column in graph.titled.indices[slice(*graph.titled.indptr[row : row + 2])]
        label = labels.relation_path(link, source, episode) if link else None
        label = label or labels.object_path(int(graph.object_ids[column]), source, episode, about)
        return Option(episode.id, label, edges)

    def _mention(self, row: int, column: int) -> int:
        """Edge id of an episode's mention of an object; 0 if there is none."""
        graph = self.found.graph
        if row < 0 or column < 0:
            return 0
        begin, end = graph.counts.indptr[row : row + 2]
        at = np.flatnonzero(graph.counts.indices[begin:end] == column)
        return int(graph.mention_ids[begin + at[0]]) if len(at) else 0
