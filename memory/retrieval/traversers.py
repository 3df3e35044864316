"""Graph traversal: what a traverser is given and what it returns, and strategies, which are found by name.

A traverser gets the graph, the seeds, the episodes it may enter and the settings of retrieval, and returns a `Walk`.
The same input gives the same walk. `pagerank` is that of the library; others are registered by plugins.
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
from memory.graph.walk import ANY_TIME, EPISODE, OBJECT, THESIS, Moment, Relevance, Walk, Walkable, index, top_k
from memory.nouns import Step
from memory.protocols import LLM, Embedder
from memory.settings import RecallSettings
from memory.store.connect import Connection

MAX_RELEVANCE_SOURCES = 50  # best episodes, from which the relevance of an object follows


class Lookup(NamedTuple):
    """What a traverser may look up beside the graph: `conn` reads, and is open for as long as it walks."""

    conn: Connection
    snapshot: Snapshot
    embedder: Embedder
    question: str


@dataclass(frozen=True, slots=True)
class Guidance:
    """What leads a walk on from where it starts, for traversers that look where they go.

    `relevance` is asked for vertices, and without it follows from the text scores. `activation`: edge id -> how
    strongly its memory fires. `when`: the time for which facts must hold. `lookup`: words and vectors, where there are
    any; `scorer`: the trained edge scorer in use; `at_ms`: when it is asked (UTC); `outline`: sequences of relations
    over which a model expects the answer.
    """

    relevance: Relevance | None = None
    activation: Mapping[int, float] = field(default_factory=dict)
    when: Moment = ANY_TIME
    lookup: Lookup | None = None
    scorer: EdgeScorer | None = None
    at_ms: int = 0
    outline: Sequence[Sequence[str]] = ()


NO_GUIDANCE = Guidance()


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where a walk starts. `episode_scores` (n,) in [0, 1]: the fused text score of every episode; `objects`: column ->
    weight in (0, 1] of the objects that the question names."""

    episode_scores: Floats
    objects: Mapping[int, float]
    guidance: Guidance = NO_GUIDANCE


class EdgeScorer(Protocol):
    """A trained model of which edges a question needs."""

    def score_facts(
        self, lookup: Lookup, graph: Graph, seeds: Seeds, allowed: Bools, facts: Sequence[int]
    ) -> Floats | None:
        """(n,) in [0, 1]: the share of the edges near the question that it finds less needed than each of these
        relations (edge ids); 0 for one that the graph does not know. None if nothing is near."""
        ...


Traverser = Callable[[Graph, Seeds, Bools, RecallSettings], Walk]
Consult = Callable[[LLM, str, datetime | None, Callable[[], bool] | None], tuple[Sequence[Sequence[str]], Step]]
"""Asks a model for an outline: model, question, its time, whether it was cancelled -> the outline, and a step."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to retrieve, by the name under which it can be chosen. `traverse` walks the graph, without it text counts
    alone; `recall`: the settings of retrieval that it changes; `consult`: what a model is asked for before the walk."""

    name: str
    traverse: Traverser | None = None
    recall: Mapping[str, Any] = field(default_factory=dict)
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
        of, entries = counts.entries_of(rows)
        objects = np.zeros(len(self.graph.object_ids), np.float32)
        np.maximum.at(objects, counts.indices[entries], own[rows][of])
        episodes = np.where(self.allowed, np.maximum(own, self._of_titles(objects)), 0).astype(np.float32)
        return episodes, objects

    def _of_titles(self, objects: Floats) -> Floats:
        """(n,) the best relevance times rarity of the objects that give an episode its title."""
        titled = self.graph.titled
        worth = objects * self.graph.idf / max(1e-6, float(self.graph.idf.max(initial=0.0)))
        found = np.zeros(titled.shape[0], np.float32)
        np.maximum.at(found, np.repeat(np.arange(len(found)), np.diff(titled.indptr)), worth[titled.indices])
        return found

    def __call__(self, vertices: Ids) -> Floats:
        """(v,) node ids -> (v,)."""
        places = index(self.graph)
        kinds, rows = places.kinds[vertices], places.rows[vertices]
        episodes, objects = self._known
        found = np.zeros(len(vertices), np.float32)
        for kind, scores in ((EPISODE, episodes), (OBJECT, objects)):
            found[kinds == kind] = scores[rows[kinds == kind]]
        found[kinds == THESIS] = episodes[self.graph.theses.rows[rows[kinds == THESIS]]]
        return found


def relevance_of(walk: Walkable, seeds: Seeds) -> Relevance:
    """The relevance that leads the walk: the given one, else what follows from the text scores."""
    return seeds.guidance.relevance or PropagatedRelevance(walk.graph, seeds.episode_scores, walk.allowed)
