"""The memory around a question as options for the next step: passages near the evidence.

A walk of a few steps starts from all the evidence, not from a current position, so there is no going back. An
`Explorer` never returns anything that the question may not see, nor, with `only_open`, any word of a local-only text.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np

from memory.exploring.labels import describe, name_objects, title_label
from memory.graph.arrays import Bools, Floats, Ints
from memory.graph.walk import Walkable, scale, top_k
from memory.nouns import Episode, Step, Visit
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import Seeds, add_parents, path_to, spread
from memory.store import episodes, sources
from memory.store.connect import Connection

STEPS = 2  # from a passage to an object, and to its passages
NEXT_SHARE = 0.5  # of the best, for what comes before or after a known passage
OFF_TOPIC_SHARE = 0.3  # of what a passage counts that the walk reaches and no word finds
LAST = 1000  # by which the score of what was offered already is divided
MAX_OBJECTS = 60  # objects over which options are reached, the best

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


class Explorer:
    """The exploration of memory for one question. `reading` opens a connection to the snapshot of the retrieval, only
    during a lookup and never during a call to a model. With `only_open` passages whose text may not leave this machine
    are ignored. `collected`: episode id -> relevance in [0, 1], in order."""

    def __init__(self, reading: Reading, result: RetrievalResult, only_open: bool = False) -> None:
        self.result = result
        self.only_open = only_open
        self.collected: dict[int, float] = {}
        self.reading = reading
        allowed = visible_rows(reading, result, only_open)
        self._walk = Walkable(result.graph, allowed, "EO", result.seeds.guidance.when)
        self._relevance: Floats = np.where(allowed, result.relevance(allowed), 0).astype(np.float32)
        self._terms = result.question.topic or result.question.terms
        self.known = [hit.episode.id for hit in result.recall.hits if self._walk.visible(hit.episode.id)]
        self._offered: set[int] = set()

    def take(self, option: Option) -> bool:
        """Adds an option's passage to the evidence; whether it is new."""
        if option.episode in self.known:
            return False
        self.known.append(option.episode)
        self.collected[option.episode] = min(1.0, float(self._relevance[self.result.graph.row_of[option.episode]]))
        return True

    def evidence(self, most: int) -> list[str]:
        """Returns at most `most` known passages, a line of data each: the taken ones, newest first, then the best
        retrieved ones."""
        retrieved = [id for id in self.known if id not in self.collected]
        ids = [*reversed(self.collected), *retrieved][:most]
        with self.reading() as conn:
            return [describe(title_label(passage), passage, self._terms) for passage in episodes.get_many(conn, ids)]

    def options(self, most: int = 12) -> list[Option]:
        """Returns the best passages to look at next, best first; ties by id. Half of the score is the retrieval's
        ranking, which finds what the question's words lead to, and half the walk's from the evidence, which finds what
        no word leads to. A passage that was offered and not taken comes after all new ones."""
        graph = self.result.graph
        with self.reading() as conn:
            near, objects = self._walk_on(conn)
            is_new = ~np.isin(graph.episode_ids, [*self.known, *self._offered])
            by_steps = near * (OFF_TOPIC_SHARE + (1 - OFF_TOPIC_SHARE) * np.sqrt(self._relevance))
            scores = sum(part / max(1e-9, part[is_new].max(initial=0)) for part in (by_steps, self._relevance))
            scores = np.where(is_new, scores, scores / LAST).astype(np.float32)
            scores[self._rows(self.known)] = 0
            rows = top_k(scores, self._walk.allowed, most)
            passages = episodes.get_many(conn, graph.episode_ids[rows].tolist())
            self._offered |= {passage.id for passage in passages}
            return self._label(conn, passages, graph.object_ids[objects].tolist())

    def _rows(self, ids: Sequence[int]) -> Ints:
        return np.array([self.result.graph.row_of[id] for id in ids], np.int64)

    def _walk_on(self, conn: Connection) -> tuple[Floats, Ints]:
        """Returns (n,) in [0, 1]: how near the walk from the evidence comes to each passage; and the columns of the
        best objects on its way."""
        start = np.zeros(len(self._walk.allowed), np.float32)
        start[self._rows(self.known)] = 1  # all count alike
        settings = replace(self.result.settings, iterations=STEPS, vertices="EO")
        walk = spread(self.result.graph, Seeds(start, self.result.seeds.objects), self._walk.allowed, settings)
        near = walk.episodes.copy()
        near[self._rows(self.known)] = 0
        near = scale(near)
        for pair in episodes.neighbours(conn, self.known).values():
            rows = self._rows([id for id in pair if id is not None and id in self.result.graph.row_of])
            near[rows] = np.maximum(near[rows], NEXT_SHARE)
        return near, top_k(walk.objects, np.ones(len(walk.objects), np.bool_), MAX_OBJECTS)

    def _label(self, conn: Connection, passages: Sequence[Episode], objects: Sequence[int]) -> list[Option]:
        """Returns these passages as options, each with the path to it from the evidence."""
        names = name_objects(conn, self._walk, objects, self.only_open)
        known = episodes.get_many(conn, self.known)
        visits = [Visit(passage.id, "episode", title_label(passage, day=False), 1.0, "seed") for passage in known]
        visits += [Visit(id, "object", name, 0.0, "graph") for id, name in names.items()]
        visits += [Visit(passage.id, "episode", title_label(passage), 0.0, "graph") for passage in passages]
        visits = add_parents(conn, self._walk, visits)
        options = []
        for passage in passages:
            path = path_to(visits, passage.id)
            steps = " -> ".join(visit.label for visit in path if visit.label not in ("", passage.title))
            edges = tuple(visit.parent_edge for visit in path[1:] if visit.parent_edge is not None)
            options.append(Option(passage.id, describe(steps, passage, self._terms), edges))
        return options
