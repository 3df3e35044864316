"""The registry of traversers: ways to walk the graph from a question's seeds, by name.

A traverser is a function, not a class: it gets the graph, the seeds, the episodes it may enter and the settings,
and returns a `Walk`. The same input gives the same walk. Register one with `@traverser("name")`; `by_name("a+b")`
makes the union of several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from memory.errors import InvalidInputError
from memory.graph.adjacency import ANY_TIME, Moment, Relevance
from memory.graph.arrays import Bools, Floats, Graph, Ids
from memory.settings import RecallSettings

if TYPE_CHECKING:  # both read what is defined here
    from memory.retrieval.edge_embeddings import Wording
    from memory.retrieval.edge_features import EdgeScorer

PATH_EXPONENT = 0.75  # of a path's length in its cost: below 1, so that of two equally good paths the shorter wins

Status = Literal["seed", "selected", "pruned", "scanned"]


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where a walk starts, and what it is led by.

    `episode_scores` (n,) in [0, 1]: the fused text score of every episode; `objects`: column -> weight in (0, 1] of
    the objects that the question names. `relevance` is asked for vertices, and without it follows from the scores;
    `vectors`: node ids (v,) -> unit vectors (v, d), zeros where there is none. `memory`: edge id -> how strongly it
    fires for the question. `when`: the time for which facts must hold. `wording`: what the question and its edges say,
    for those who compare words; `scorer`: what was learnt at night about edges, if it is to be used; `at`: when it is
    asked (ms UTC).
    """

    episode_scores: Floats
    objects: Mapping[int, float]
    relevance: Relevance | None = None
    vectors: Callable[[Ids], Floats] | None = None
    memory: Mapping[int, float] = field(default_factory=dict)
    when: Moment = ANY_TIME
    wording: Wording | None = None
    scorer: EdgeScorer | None = None
    at: int = 0


@dataclass(frozen=True, slots=True)
class Path:
    """A way through the graph: node ids, the ids of the edges between them, what each costs, and who found it."""

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
    chose, best first; all it saw, by node id; and the edges of what it chose, best first."""

    episodes: Floats
    objects: Floats
    paths: tuple[Path, ...] = ()
    visit: Mapping[int, Seen] = field(default_factory=dict)
    edges: tuple[int, ...] = ()


Traverser = Callable[[Graph, Seeds, Bools, RecallSettings], Walk]

TRAVERSERS: dict[str, Traverser] = {}


def traverser(name: str) -> Callable[[Traverser], Traverser]:
    """Registers a traverser under `name`."""

    def register(function: Traverser) -> Traverser:
        TRAVERSERS[name] = function
        return function

    return register


def by_name(name: str) -> Traverser:
    """The traverser of that name, or the union of those joined by "+"; InvalidInputError names those there are."""
    from memory.retrieval.mixed import union  # it needs this module

    names = name.split("+")
    for one in names:
        if one not in TRAVERSERS:
            raise InvalidInputError(f"There is no traverser {one!r}. There are: {', '.join(sorted(TRAVERSERS))}.")
    return TRAVERSERS[name] if len(names) == 1 else union([TRAVERSERS[one] for one in dict.fromkeys(names)])
