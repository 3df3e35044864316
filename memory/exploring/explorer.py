"""The memory around a question as options for the next step: one-hop expansion to passages that share an object, a
relation or a document neighbour with known ones.

The `Explorer` holds all evidence of a question: the passages found, those taken since, and the options offered. Options
come from all evidence, not from a current position, so there is no going back. Invariant: it never returns anything
that the question may not see, nor, with `only_open`, any word of a local-only text. Expansion works with mentions
alone, without extraction by a model, and uses arrays instead of walking: its cost depends on the evidence, not on the
size of the memory.
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

MENTION_WEIGHT = 0.5  # of a passage that mentions an object, relative to one about it
ADJACENT_WEIGHT = 0.5  # of a passage adjacent to a known one
MAX_MENTIONING = 200  # passages that mention an object, from which on mentioning it leads nowhere
MAX_OBJECTS_RELATED, MAX_RELATIONS = 60, 30  # objects whose relations are looked at, the best; relations of each
MAX_OPTIONS_PER_OBJECT = 3  # options that lead over one object, at most
OFF_TOPIC_WEIGHT = 0.3  # of an expansion to a passage with retrieval score 0, relative to the best
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


def visible_rows(reading: Reading, result: RetrievalResult, only_open: bool) -> Bools:
    """(n,) the episodes that the question may see; with `only_open` those whose text may leave this machine."""
    if not only_open:
        return result.allowed
    with reading() as conn:
        visible: Bools = result.allowed & np.isin(result.graph.source_ids, sources.open_ids(conn))
    return visible


# One-hop expansion ----------------------------------------------------------------------------


def expand(result: RetrievalResult, allowed: Bools, rows: Ints, weights: Doubles) -> Hops:
    """The best hop to each other `allowed` (n,) episode from the known episodes `rows` (k,), with `weights` (k,) in [0,
    1], and from the objects that the question names: by activation, then distance, then from the passage that became
    known last."""
    activation = _activation(result.seeds.guidance.activation)
    objects = _known_objects(result, allowed, rows, weights, activation)
    parts = [*_hop_over_objects(result.graph, objects, activation)]
    if len(result.graph.links.ids):
        parts.append(_hop_over_relations(result, allowed, objects, activation))
        parts += _hop_to_adjacent(result, allowed, rows, weights, activation)
    hops = np.concatenate(parts)
    hops = hops[allowed[hops["row"]] & ~np.isin(hops["row"], rows)]
    order = np.lexsort((hops["link"], hops["column"], -hops["place"], -hops["near"], -hops["activation"], hops["row"]))
    return _first_of_each(hops[order], "row")


def _first_of_each(hops: Hops, field: str) -> Hops:
    first: Hops = hops[np.diff(hops[field], prepend=-1) > 0]
    return first


def _activation(active: Mapping[int, float]) -> Activation:
    """(e,) edge ids -> (e,) their activation."""
    edge_ids = np.array(sorted(active), np.int64)
    values = np.array([active[edge] for edge in edge_ids.tolist()], np.float64)

    def activation(edges: Integers) -> Doubles:
        if not len(edge_ids):
            return np.zeros(len(edges))
        place = np.minimum(np.searchsorted(edge_ids, edges), len(edge_ids) - 1)
        return np.where(edge_ids[place] == edges, values[place], 0.0)

    return activation


def _known_objects(result: RetrievalResult, allowed: Bools, rows: Ints, known: Doubles, activation: Activation) -> Hops:
    """The objects that known passages mention, each from the passage with the highest weight, and those that the
    question names, as hops without a target row. Rare objects are nearer; common ones and dates lead nowhere."""
    graph = result.graph
    begin = graph.counts.indptr[rows]
    places, entries = flatten_slices(begin, graph.counts.indptr[rows + 1] - begin)
    seeded = np.array(sorted(result.seeds.objects), np.int64)
    objects = np.zeros(len(entries) + len(seeded), HOP)
    objects["column"] = np.concatenate([graph.counts.indices[entries], seeded])
    objects["near"] = np.concatenate([known[places], [result.seeds.objects[column] for column in seeded.tolist()]])
    objects["place"] = np.concatenate([places, np.full(len(seeded), NAMED)])
    objects["activation"][: len(entries)] = activation(graph.mention_ids[entries])
    order = np.lexsort((-objects["place"], -objects["near"], -objects["activation"], objects["column"]))
    objects = _first_of_each(objects[order], "column")
    rarity = transition_steps(graph, allowed, result.settings).rarity(objects["column"])
    objects["near"] *= rarity / math.log(max(2, graph.n_alive))
    return objects[objects["near"] > 0]


def _hop_over_objects(graph: Graph, objects: Hops, activation: Activation) -> Iterator[Hops]:
    origins, rows, _ = graph.titles.find(objects["column"])
    hops = objects[origins]
    hops["row"], hops["near"] = rows, hops["near"] / _divide_several(graph.degrees.titles[hops["column"]])
    yield hops
    few = objects[graph.degrees.mentions[objects["column"]] <= MAX_MENTIONING]
    origins, rows, entries = graph.mentioned.find(few["column"])
    hops = few[origins]
    near = MENTION_WEIGHT * hops["near"] / _divide_several(graph.degrees.mentions[hops["column"]])
    hops["row"], hops["near"] = rows, near
    hops["activation"] = np.maximum(hops["activation"], activation(graph.mention_ids[entries]))
    yield hops


def _hop_over_relations(result: RetrievalResult, allowed: Bools, objects: Hops, activation: Activation) -> Hops:
    graph = result.graph
    walk = Walkable(graph, allowed, "O", result.seeds.guidance.when)
    order = np.lexsort((objects["column"], -objects["near"], -objects["activation"]))[:MAX_OBJECTS_RELATED]
    reachable: list[tuple[int, int, int, float]] = []  # object, edge, row, weight of one of many relations
    for number in order.tolist():
        object = int(graph.object_ids[objects["column"][number]])
        edges, neighbours = (
            _find_relations(result, walk, object, activation) if walk.visible(object) else (np.empty(0),) * 2
        )
        for edge, neighbour in zip(edges.tolist(), neighbours.tolist(), strict=True):
            first, last = np.searchsorted(graph.links.evidence[:, 0], [edge, edge + 1])
            evidence = graph.row_of.find(graph.links.evidence[first:last, 1])
            _, page, _ = graph.titles.find(graph.column_of.find(np.array([neighbour])))
            reached = np.unique(np.concatenate([evidence[evidence >= 0], page])).tolist()
            reachable += [(number, edge, row, 1 + math.log(len(edges))) for row in reached]
    origins, links, rows, several = (
        (np.array(column) for column in zip(*reachable, strict=True)) if reachable else np.zeros((4, 0))
    )
    hops = objects[origins.astype(np.int64)]
    hops["row"], hops["link"], hops["near"] = rows, links, hops["near"] / several
    hops["activation"] = np.maximum(hops["activation"], activation(hops["link"]))
    return hops


def _find_relations(result: RetrievalResult, walk: Walkable, object: int, activation: Activation) -> tuple[Ids, Ids]:
    """The relations of an object, by edge id, and their other ends; of very many the best."""
    edges, kinds, neighbours = walk.neighbours(object)
    edges, neighbours = edges[kinds == _REL], neighbours[kinds == _REL]
    if len(edges) > MAX_RELATIONS:
        order = np.lexsort((edges, -relevance_of(walk, result.seeds)(neighbours), -activation(edges)))[:MAX_RELATIONS]
        edges, neighbours = edges[np.sort(order)], neighbours[np.sort(order)]
    return edges, neighbours


def _hop_to_adjacent(
    result: RetrievalResult, allowed: Bools, rows: Ints, weights: Doubles, activation: Activation
) -> Iterator[Hops]:
    walk = Walkable(result.graph, allowed, "E", result.seeds.guidance.when)
    for place, row in enumerate(rows.tolist()):
        edges, kinds, neighbours = walk.neighbours(int(result.graph.episode_ids[row]))
        edges, neighbours = edges[kinds == _NEXT], neighbours[kinds == _NEXT]
        hops = np.zeros(len(edges), HOP)
        hops["row"], hops["near"] = walk.rows(neighbours), ADJACENT_WEIGHT * weights[place]
        hops["activation"], hops["place"], hops["column"], hops["link"] = activation(edges), place, -1, edges
        yield hops


def _divide_several(count: Integers) -> Doubles:
    """(c,) the divisor for one of several."""
    divisor: Doubles = 1 + np.log(np.maximum(count, 1))
    return divisor


# Options --------------------------------------------------------------------------------------


class Explorer:
    """The exploration of memory for one question. `reading` opens a connection to the snapshot of the retrieval, only
    during a lookup and never during a call to a model. With `only_open` passages whose text may not leave this machine
    are ignored. `collected`: episode id -> relevance in [0, 1], in order."""

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
        """Ids of the evidence: the retrieved episodes, then the taken ones."""
        return self._ids(self._known)

    def _ids(self, rows: list[int]) -> tuple[int, ...]:
        return tuple(self.found.graph.episode_ids[rows].tolist())

    def take(self, option: Option) -> bool:
        """Adds an option's passage to the evidence; whether it is new."""
        row = self.found.graph.row_of[option.episode]
        if row in self._known:
            return False
        self._known.append(row)
        self.collected[option.episode] = min(1.0, float(self._relevance[row]))
        return True

    def evidence(self, most: int) -> list[str]:
        """At most `most` known passages, a line of data each: the taken ones, newest first, then the best retrieved
        ones."""
        rows = [*reversed(self._known[self._n_found :]), *self._known[: self._n_found]]
        labels = OptionLabels(self.found.question, self.only_open)
        with self.reading() as conn:
            return [labels.known_passage(episode) for episode in episodes.by_ids(conn, self._ids(rows[:most]))]

    def options(self, most: int = 12) -> list[Option]:
        """The best passages to look at next, best first; ties by id.

        Activated edges come first. The rest is scored half by the retrieval's ranking, which finds what the question's
        words lead to, and half by distance to the evidence, which finds what no word leads to; each relative to the
        best. A passage that was offered and not taken comes after all new ones, unless a later passage leads to it. At
        most MAX_OPTIONS_PER_OBJECT go through one object.
        """
        ahead = self._rank_hops()
        chosen: list[int] = []
        over: Counter[int] = Counter()
        for number, column in enumerate(ahead["column"].tolist()):
            if column < 0 or over[column] < MAX_OPTIONS_PER_OBJECT:
                over[column] += 1
                chosen.append(number)
            if len(chosen) >= most:
                break
        options = self._label_hops(ahead[chosen])
        self._offered |= {self.found.graph.row_of[option.episode]: len(self._known) for option in options}
        return options

    def _rank_hops(self) -> Hops:
        """The next candidates, best first: the best hop to each passage, its score in [0, 1], and whether it is new
        since the last offer."""
        weights = np.sqrt(self._relevance[self._known])
        weights[self._n_found :] = 1.0  # the passages taken were chosen on purpose
        hops = expand(self.found, self.allowed, np.array(self._known, np.int64), weights)
        hops["near"] *= OFF_TOPIC_WEIGHT + (1 - OFF_TOPIC_WEIGHT) * np.sqrt(self._relevance[hops["row"]])
        ahead = np.zeros(len(self.allowed), _AHEAD)
        ahead["row"], ahead["place"], ahead["column"], ahead["fresh"] = np.arange(len(ahead)), NOWHERE, -1, True
        for field in HOP.fields or ():
            ahead[field][hops["row"]] = hops[field]
        ranked = self._relevance.copy()
        ranked[self._known] = 0
        for row, n_known in self._offered.items():
            ahead["fresh"][row] = ahead["place"][row] >= n_known
            if ahead["fresh"][row]:
                ranked[row] = 0  # by its words alone it was not taken
        rows = np.flatnonzero(self.allowed & ((ahead["near"] > 0) | (ranked > 0)))
        new = rows[ahead["fresh"][rows]]
        scores = sum(value[rows] / (value[new].max(initial=0.0) or 1.0) / 2 for value in (ahead["near"], ranked))
        ahead = ahead[rows]
        ahead["score"] = np.minimum(scores, 1.0)
        ids = self.found.graph.episode_ids[rows]
        return ahead[np.lexsort((ids, -ahead["score"], -ahead["activation"], ~ahead["fresh"]))]

    def _label_hops(self, ahead: Hops) -> list[Option]:
        """These as options; without forgotten ones."""
        graph = self.found.graph
        whence = [self._known[place] for place in ahead["place"].tolist() if place >= 0]
        columns, links = (ahead[field][ahead[field] > none].tolist() for field, none in (("column", -1), ("link", 0)))
        with self.reading() as conn:
            by_id = {
                episode.id: episode for episode in episodes.by_ids(conn, self._ids([*ahead["row"].tolist(), *whence]))
            }
            facts = {fact.id: fact for fact in relations.by_id(conn, links)}
            nodes = [*graph.object_ids[columns].tolist(), *(n for f in facts.values() for n in (f.subject, f.object))]
            objects = stored.object_labels(conn, nodes)
        labels = OptionLabels(self.found.question, self.only_open, objects, facts)
        ids = self._ids(ahead["row"].tolist())
        return [
            self._option(labels, by_id, by_id[id], hop.item())
            for id, hop in zip(ids, ahead, strict=True)
            if id in by_id
        ]

    def _option(
        self, labels: OptionLabels, by_id: Mapping[int, Episode], episode: Episode, hop: tuple[Any, ...]
    ) -> Option:
        """The label and the edges of one hop: the known passage's mention, the relation or the step, and the other's
        mention."""
        graph = self.found.graph
        row, _, _, place, column, link, *_ = hop
        whence = self._known[place] if place >= 0 else -1
        source = by_id.get(int(graph.episode_ids[whence])) if place >= 0 else None
        edges = tuple(edge for edge in (self._mention(whence, column), link, self._mention(row, column)) if edge)
        if column < 0:
            return Option(episode.id, labels.open_passage(episode, source), edges)
        about = column in graph.titled.indices[slice(*graph.titled.indptr[row : row + 2])]
        label = labels.relation_path(link, source, episode) if link else None
        label = label or labels.object_path(int(graph.object_ids[column]), source, episode, about)
        return Option(episode.id, label, edges)

    def _mention(self, row: int, column: int) -> int:
        """Edge id of an episode's mention of an object; 0 without one."""
        graph = self.found.graph
        if row < 0 or column < 0:
            return 0
        begin, end = graph.counts.indptr[row : row + 2]
        places = np.flatnonzero(graph.counts.indices[begin:end] == column)
        return int(graph.mention_ids[begin + places[0]]) if len(places) else 0
