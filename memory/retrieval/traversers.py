"""Graph traversal: what a traverser is given and what it returns, and strategies, which are found by name.

A traverser gets the graph, the seeds, the episodes it may enter and the settings of retrieval, and returns a `Walk`.
The same input gives the same walk. `pagerank` is that of the library; others are registered by plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from memory.graph.adjacency import ANY_TIME, Moment, Relevance
from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.snapshot import Snapshot
from memory.nouns import Step
from memory.protocols import LLM, Embedder
from memory.settings import RecallSettings
from memory.store.connect import Connection

PATH_EXPONENT = 0.75  # of a path's length in its cost: below 1, so that of two equally good paths the shorter wins

Status = Literal["seed", "selected", "pruned", "scanned"]


class Lookup(NamedTuple):
    """What a traverser may look up beside the graph: `conn` reads, and is open for as long as it walks."""

    conn: Connection
    snapshot: Snapshot
    embedder: Embedder
    question: str


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where a walk starts, and what it is led by.

    `episode_scores` (n,) in [0, 1]: the fused text score of every episode; `objects`: column -> weight in (0, 1] of
    the objects that the question names. `relevance` is asked for vertices, and without it follows from the scores.
    `memory`: edge id -> its activation for the question. `when`: the time for which facts must hold. `lookup`: words
    and vectors, where there are any; `scorer`: the trained edge scorer in use; `at`: when it is asked (ms UTC);
    `outline`: sequences of relations over which a model expects the answer.
    """

    episode_scores: Floats
    objects: Mapping[int, float]
    relevance: Relevance | None = None
    memory: Mapping[int, float] = field(default_factory=dict)
    when: Moment = ANY_TIME
    lookup: Lookup | None = None
    scorer: EdgeScorer | None = None
    at: int = 0
    outline: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """A path in the graph: node ids, the ids of the edges between them, what each costs, and who found it."""

    vertices: tuple[int, ...]
    edges: tuple[int, ...] = ()
    costs: tuple[float, ...] = ()
    tag: str = ""

    @property
    def cost(self) -> float:
        """`sum / length^0.75`, 0 for a path without edges (SPEC 7.4)."""
        return sum(self.costs) / len(self.costs) ** PATH_EXPONENT if self.costs else 0.0

    def onward(self, edge: int, vertex: int, cost: float) -> Path:
        """This path and one edge more."""
        return Path((*self.vertices, vertex), (*self.edges, edge), (*self.costs, cost), self.tag)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a walk remembers of a vertex: the cheapest path there, how deep it was met first, and what became of it.
    Nothing that was seen is forgotten: what a beam dropped can still be brought back."""

    path: Path
    status: Status
    depth: int


@dataclass(frozen=True, slots=True)
class Walk:
    """What a traverser reached: a score for every episode (n,) and object (m,), 0 where it never came; the paths it
    chose, best first; all it saw, by node id; and the edges of what it chose, best first. `votes`: scores (n,) in
    [0, 1] by which the ranking is to be mixed, and their share of it."""

    episodes: Floats
    objects: Floats
    paths: tuple[Path, ...] = ()
    visit: Mapping[int, Seen] = field(default_factory=dict)
    edges: tuple[int, ...] = ()
    votes: tuple[Floats, float] | None = None


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
