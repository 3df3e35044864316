"""What a plug-in registers to walk the graph, and how strategy names are parsed. Standard library only: walk code is
imported on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.errors import InvalidInputError
from plugins.settings import TraverserSettings

if TYPE_CHECKING:
    from memory.graph.arrays import Bools, Graph
    from memory.graph.walk import Walk
    from memory.retrieval.traversers import Consult, Seeds, Strategy, Traverser
    from memory.settings import RecallSettings

CORE = ("spread", "none")  # of the library


@dataclass(frozen=True, slots=True)
class Traversal:
    """A named traverser; "+" joins several. `make(settings)` returns a `memory.retrieval.traversers.Traverser`.
    `consult()` returns the function that asks a model before the walk, if the traverser needs one."""

    name: str
    make: Callable[[TraverserSettings], Traverser]
    consult: Callable[[], Consult] | None = None


def parse_strategy(name: str, registered: Mapping[str, Traversal]) -> list[str]:
    """Returns the parts of a strategy name, each once. InvalidInputError for an unknown part, or "none" with others."""
    parts = list(dict.fromkeys(name.split("+")))
    for part in parts:
        if part not in CORE and part not in registered:
            known = ", ".join((*CORE, *sorted(registered)))
            raise InvalidInputError(f"There is no strategy {part[:40]!r}. Known: {known}.")
        if len(parts) > 1 and part == "none":
            raise InvalidInputError(f"{part!r} is a strategy by itself: it cannot be joined to others.")
    return parts


def make_strategy(name: str, registered: Mapping[str, Traversal], settings: TraverserSettings) -> Strategy:
    """Returns the strategy of a name; what several that are joined walk is one walk. InvalidInputError as for
    `parse_strategy`."""
    from memory.retrieval.traversers import Strategy, find_core_strategy, spread
    from plugins.traversers.walking import join_walks

    parts = parse_strategy(name, registered)
    if name in CORE:
        return find_core_strategy(name)
    entries = [registered[part] for part in parts if part in registered]
    walkers = [spread for part in parts if part in CORE] + [entry.make(settings) for entry in entries]

    def traverse(graph: Graph, seeds: Seeds, allowed: Bools, recall: RecallSettings) -> Walk:
        walks = [walker(graph, seeds, allowed, recall) for walker in walkers]
        return join_walks(walks) if len(walks) > 1 else walks[0]

    return Strategy(name, traverse, consult=next((entry.consult() for entry in entries if entry.consult), None))
