"""Graph traversal: the input and output of a traverser, and strategies, which are found by name.

A traverser gets the graph, the seeds, the episodes it may enter and the retrieval settings, and returns a `Walk`. The
same input gives the same walk. `pagerank` is the library's; plugins register others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph, Ids
from memory.graph.snapshot import Snapshot
from memory.graph.walk import (
    ANY_TIME,
    EPISODE,
    OBJECT,
    THESIS,
    VERTEX_KINDS,
    Moment,
    Relevance,
    Walk,
    Walkable,
    index,
    top_k,
)
from memory.nouns import Step
from memory.protocols import LLM, Embedder
from memory.settings import RecallSettings
from memory.store.connect import Connection

MAX_RELEVANCE_SOURCES = 50  # best episodes, from which the relevance of an object follows


class Lookup(NamedTuple):
    """Data outside the graph that a traverser may read; `conn` is open during the walk."""

    conn: Connection
    snapshot: Snapshot
    embedder: Embedder
    question: str


@dataclass(frozen=True, slots=True)
class Guidance:
    """Data for traversers that choose their steps.

    `relevance` of vertices, by default from the text scores. `activation`: edge id -> activation. `when`: the time at
    which facts must hold. `lookup`: words and vectors, if any; `scorer`: the trained edge scorer in use; `outline`:
    sequences of relations over which a model expects the answer; `vertices`: the kinds that may be entered, as in
    `Walkable`.
    """

    relevance: Relevance | None = None
    activation: Mapping[int, float] = field(default_factory=dict)
    when: Moment = ANY_TIME
    lookup: Lookup | None = None
    scorer: EdgeScorer | None = None
    outline: Sequence[Sequence[str]] = ()
    vertices: str = VERTEX_KINDS


NO_GUIDANCE = Guidance()


@dataclass(frozen=True, slots=True)
class Seeds:
    """The starts of a walk. `episode_scores` (n,) in [0, 1]: the fused text score of every episode; `objects`: column
    -> weight in (0, 1] of the objects that the question names."""

    episode_scores: Floats
    objects: Mapping[int, float]
    guidance: Guidance = NO_GUIDANCE


class EdgeScorer(Protocol):
    """A trained model of the edges that a question needs."""

    def score_edges(self, near: Any, walk: Walkable, seeds: Seeds, begin: Mapping[int, float]) -> Floats:
        """(e,) in (0, 1): how likely the question needs each edge `near` the starts (a `Subgraph` of the
        traversers)."""
        ...


Traverser = Callable[[Graph, Seeds, Bools, RecallSettings], Walk]
Consult = Callable[[LLM, str, datetime | None, Callable[[], bool] | None], tuple[Sequence[Sequence[str]], Step]]
"""Asks a model for an outline: model, question, its time, whether it was cancelled -> the outline, and a step."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A named way to retrieve. `traverse` walks the graph, without it only text counts; `vertices`: the kinds that it
    may enter, by default those of the settings; `consult`: a call to a model before the walk."""

    name: str
    traverse: Traverser | None = None
    vertices: str = ""
    consult: Consult | None = None


FindStrategy = Callable[[str], Strategy]
"""The strategy of a name; InvalidInputError names those there are."""


@dataclass(frozen=True)
class PropagatedRelevance:
    """Relevance of vertices from the episodes' scores (n,) along the graph: a passage that answers need not look like
    the question, it is often about an object that a similar passage mentions. Of an object: the best score of the
    MAX_RELEVANCE_SOURCES best episodes that mention it. Of an episode: its score, or that of an object that titles it,
    the rarer the more (without this beam's recall at 5 falls from 88 to 83 on hotpotqa). Of a thesis: its episode's."""

    graph: Graph
    scores: Floats
    allowed: Bools

    @cached_property
    def _known(self) -> tuple[Floats, Floats]:
        """(n,) of the episodes and (m,) of the objects."""
        own = np.where(self.allowed, np.clip(self.scores, 0, 1), 0).astype(np.float32)
        rows = top_k(own, self.allowed, MAX_RELEVANCE_SOURCES)
        counts = self.graph.counts
        origins, entries = counts.entries_of(rows)
        objects = np.zeros(len(self.graph.object_ids), np.float32)
        np.maximum.at(objects, counts.indices[entries], own[rows][origins])
        episodes = np.where(self.allowed, np.maximum(own, self._score_titles(objects)), 0).astype(np.float32)
        return episodes, objects

    def _score_titles(self, objects: Floats) -> Floats:
        """(n,) the best relevance times rarity of the objects that title an episode."""
        titled = self.graph.titled
        worth = objects * self.graph.idf / max(1e-6, float(self.graph.idf.max(initial=0.0)))
        best = np.zeros(titled.shape[0], np.float32)
        np.maximum.at(best, np.repeat(np.arange(len(best)), np.diff(titled.indptr)), worth[titled.indices])
        return best

    def __call__(self, vertices: Ids) -> Floats:
        """(v,) node ids -> (v,)."""
        places = index(self.graph)
        kinds, rows = places.kinds[vertices], places.rows[vertices]
        episodes, objects = self._known
        relevance = np.zeros(len(vertices), np.float32)
        for kind, scores in ((EPISODE, episodes), (OBJECT, objects)):
            relevance[kinds == kind] = scores[rows[kinds == kind]]
        relevance[kinds == THESIS] = episodes[self.graph.theses.rows[rows[kinds == THESIS]]]
        return relevance


def relevance_of(walk: Walkable, seeds: Seeds) -> Relevance:
    """Returns the relevance that guides the walk: the given one, by default from the text scores."""
    return seeds.guidance.relevance or PropagatedRelevance(walk.graph, seeds.episode_scores, walk.allowed)
