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

    Rerank = Callable[[Graph, Seeds, Bools, Walk], Walk]

CORE = ("spread", "none")  # of the library


@dataclass(frozen=True, slots=True)
class Traversal:
    """A named traverser; "+" joins several. `make(settings)` returns a `memory.retrieval.traversers.Traverser`.
    `consult()` returns the function that asks a model before the walk, if the traverser needs one."""

    name: str
    make: Callable[[TraverserSettings], Traverser]
    consult: Callable[[], Consult] | None = None


@dataclass(frozen=True, slots=True)
class Reranking:
    """A named step that reranks the walk of the traversers joined to it, from their visited vertices."""

    name: str
    make: Callable[[TraverserSettings], Rerank]


Registered = Traversal | Reranking


def parse_strategy(name: str, registered: Mapping[str, Registered]) -> list[str]:
    """Returns the parts of a strategy name, each once. InvalidInputError for an unknown part, or parts that do not work
    together."""
    parts = list(dict.fromkeys(name.split("+")))
    for part in parts:
        if part not in CORE and part not in registered:
            known = ", ".join((*CORE, *sorted(registered)))
            raise InvalidInputError(f"There is no strategy {part[:40]!r}. Known: {known}.")
        if len(parts) > 1 and part == "none":
            raise InvalidInputError(f"{part!r} is a strategy by itself: it cannot be joined to others.")
    rerankings = [part for part in parts if isinstance(registered.get(part), Reranking)]
    able = sorted(item.name for item in registered.values() if isinstance(item, Traversal))
    if rerankings and not set(parts).intersection(able):
        raise InvalidInputError(
            f"{rerankings[0]!r} works on what traversers visited. Join it to one of these: {', '.join(able)}; for"
            f" example {able[0]}+{rerankings[0]}."
        )
    return parts


def make_strategy(name: str, registered: Mapping[str, Registered], settings: TraverserSettings) -> Strategy:
    """Returns the strategy of a name: what several that are joined walk is one walk, on which the rerankings work.
    InvalidInputError as for `parse_strategy`."""
    from memory.retrieval.traversers import Strategy, find_core_strategy
    from plugins.traversers.walking import join_walks

    parts = parse_strategy(name, registered)
    if name in CORE:
        return find_core_strategy(name)
    walkers: list[Traverser] = []
    rerankers: list[Rerank] = []
    consult: Consult | None = None
    for part in parts:
        entry = registered.get(part)
        if isinstance(entry, Reranking):
            rerankers.append(entry.make(settings))
        elif isinstance(entry, Traversal):
            walkers.append(entry.make(settings))
            consult = consult or (entry.consult() if entry.consult is not None else None)
        elif (core := find_core_strategy(part).traverse) is not None:
            walkers.append(core)

    def traverse(graph: Graph, seeds: Seeds, allowed: Bools, recall: RecallSettings) -> Walk:
        walks = [walker(graph, seeds, allowed, recall) for walker in walkers]
        walk = join_walks(walks) if len(walks) > 1 else walks[0]
        for rerank in rerankers:
            walk = rerank(graph, seeds, allowed, walk)
        return walk

    return Strategy(name, traverse, consult=consult)
