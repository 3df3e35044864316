"""The registry of traversers: ways to walk the graph from a question's seeds, by name.

A traverser is a function, not a class: it gets the graph, the seeds, the episodes it may enter and the settings,
and returns a `Walk`. The same input gives the same walk. Register one with `@traverser("name")`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memory.errors import InvalidInputError
from memory.graph import Bools, Floats, Graph
from memory.settings import RecallSettings


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where a walk starts. `episode_scores` (n,) in [0, 1]: the fused text score of every episode;
    `objects`: column -> weight in (0, 1] of the objects that the question names."""

    episode_scores: Floats
    objects: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Walk:
    """What a traverser reached: a score for every episode (n,) and object (m,), 0 where it never came."""

    episodes: Floats
    objects: Floats


Traverser = Callable[[Graph, Seeds, Bools, RecallSettings], Walk]

TRAVERSERS: dict[str, Traverser] = {}


def traverser(name: str) -> Callable[[Traverser], Traverser]:
    """Registers a traverser under `name`."""

    def register(function: Traverser) -> Traverser:
        TRAVERSERS[name] = function
        return function

    return register


def by_name(name: str) -> Traverser:
    """The traverser of that name; InvalidInputError names those there are."""
    if name not in TRAVERSERS:
        raise InvalidInputError(f"There is no traverser {name!r}. There are: {', '.join(sorted(TRAVERSERS))}.")
    return TRAVERSERS[name]
