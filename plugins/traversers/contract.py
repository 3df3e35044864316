"""What a plugin registers to walk the graph in another way. Standard library only: what walks is imported when asked
for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plugins.traversers.settings import TraverserSettings

if TYPE_CHECKING:
    from memory.graph.arrays import Bools, Graph
    from memory.graph.walk import Walk
    from memory.retrieval.traversers import Consult, Seeds, Traverser


@dataclass(frozen=True, slots=True)
class Traversal:
    """A traverser by its name, which can be joined to others by "+".

    `make(settings)` gives what walks: `memory.retrieval.traversers.Traverser`. `remembers`: its walks say what they
    saw on the way (`Walk.visit`). `consult()` gives what asks a model before the walk, if it has a use for that.
    """

    name: str
    sentence: str
    make: Callable[[TraverserSettings], Traverser]
    remembers: bool = True
    consult: Callable[[], Consult] | None = None


@dataclass(frozen=True, slots=True)
class Reranking:
    """What works on the walk of the traversers that it is joined to, and needs what they saw; by its name."""

    name: str
    sentence: str
    make: Callable[[TraverserSettings], Callable[[Graph, Seeds, Bools, Walk], Walk]]


@dataclass(frozen=True, slots=True)
class Preset:
    """A strategy with settings of its own, such as those of a paper: `recall` of retrieval, `traversers` by section.
    The sentence says what of the paper it has."""

    name: str
    sentence: str
    strategy: str
    recall: Mapping[str, Any] = field(default_factory=dict)
    traversers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
