"""What a plugin registers to walk the graph in another way, and what a name of a strategy means. Standard library only:
what walks is imported when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memory.errors import InvalidInputError
from plugins.traversers.settings import TraverserSettings

if TYPE_CHECKING:
    from memory.graph.arrays import Bools, Graph
    from memory.graph.walk import Walk
    from memory.retrieval.traversers import Consult, Seeds, Traverser

CORE = {  # of the library
    "spread": "Personalised PageRank over passages and what they mention: the default.",
    "none": "Words and vectors alone.",
}


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


Registered = Traversal | Reranking | Preset


def describe_strategies(registered: Mapping[str, Registered]) -> dict[str, str]:
    """The sentence of each strategy, by its name: the library's own, then those that can be joined, then presets."""
    names = sorted(registered, key=lambda name: (isinstance(registered[name], Preset), name))
    return CORE | {name: registered[name].sentence for name in names}


def parse_strategy(name: str, registered: Mapping[str, Registered]) -> list[str]:
    """The names that are joined in a name, each once. InvalidInputError for one that is not there, and for what cannot
    work together."""
    parts = list(dict.fromkeys(name.split("+")))
    for part in parts:
        if part not in CORE and part not in registered:
            known = ", ".join(describe_strategies(registered))
            raise InvalidInputError(f"There is no strategy {part[:40]!r}. There are: {known}.")
        if len(parts) > 1 and (part == "none" or isinstance(registered.get(part), Preset)):
            raise InvalidInputError(f"{part!r} is a strategy by itself: it cannot be joined to others.")
    _check_rerankings(name, [registered[part] for part in parts if part in registered], registered)
    return parts


def _check_rerankings(name: str, chosen: Sequence[Registered], registered: Mapping[str, Registered]) -> None:
    rerankings = [one for one in chosen if isinstance(one, Reranking)]
    if rerankings and not any(isinstance(one, Traversal) and one.remembers for one in chosen):
        able = sorted(one.name for one in registered.values() if isinstance(one, Traversal) and one.remembers)
        raise InvalidInputError(
            f"{rerankings[0].name!r} works on what traversers saw, and {name!r} remembers nothing of that. Join it to"
            f" one of these: {', '.join(able)}; for example {able[0]}+{rerankings[0].name}."
            if able
            else f"There is no traverser that {rerankings[0].name!r} could work on."
        )
