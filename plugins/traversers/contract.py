"""What a plugin registers to walk the graph in another way, and what a name of a strategy means. Standard library only:
what walks is imported when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memory.errors import InvalidInputError
from plugins.traversers.settings import TraverserSettings

if TYPE_CHECKING:
    from memory.graph.arrays import Bools, Graph
    from memory.graph.walk import Walk
    from memory.retrieval.traversers import Consult, Seeds, Strategy, Traverser
    from memory.settings import RecallSettings

    Rerank = Callable[[Graph, Seeds, Bools, Walk], Walk]

CORE = {  # of the library
    "spread": "Personalised PageRank over passages and what they mention: the default.",
    "none": "Words and vectors alone.",
}


@dataclass(frozen=True, slots=True)
class Traversal:
    """A traverser by its name, which can be joined to others by "+". `make(settings)` gives what walks:
    `memory.retrieval.traversers.Traverser`. `remembers`: its walks say what they saw on the way (`Walk.visit`).
    `consult()` gives what asks a model before the walk, if it has a use for that."""

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
    make: Callable[[TraverserSettings], Rerank]


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
    rerankings = [part for part in parts if isinstance(registered.get(part), Reranking)]
    able = sorted(one.name for one in registered.values() if isinstance(one, Traversal) and one.remembers)
    if rerankings and not set(parts).intersection(able):
        raise InvalidInputError(
            f"{rerankings[0]!r} works on what traversers saw, and {name!r} remembers nothing of that. Join it to"
            f" one of these: {', '.join(able)}; for example {able[0]}+{rerankings[0]}."
        )
    return parts


def make_strategy(name: str, registered: Mapping[str, Registered], settings: TraverserSettings) -> Strategy:
    """The strategy of a name: what several that are joined walk is one walk, on which the rerankings work.
    InvalidInputError as for `parse_strategy`."""
    from memory.retrieval.pagerank import find_core_strategy
    from memory.retrieval.traversers import Strategy
    from plugins.traversers.walking import join_walks

    parts = parse_strategy(name, registered)
    if name in CORE:
        return find_core_strategy(name)
    preset = registered.get(name)
    if isinstance(preset, Preset):
        own = {part: replace(getattr(settings, part), **changed) for part, changed in preset.traversers.items()}
        made = make_strategy(preset.strategy, registered, replace(settings, **own))
        return replace(made, name=name, recall=preset.recall)
    walkers: list[Traverser] = []
    rerankers: list[Rerank] = []
    consult: Consult | None = None
    for part in parts:
        one = registered.get(part)
        if isinstance(one, Reranking):
            rerankers.append(one.make(settings))
        elif isinstance(one, Traversal):
            walkers.append(one.make(settings))
            consult = consult or (one.consult() if one.consult is not None else None)
        elif (core := find_core_strategy(part).traverse) is not None:
            walkers.append(core)

    def traverse(graph: Graph, seeds: Seeds, allowed: Bools, recall: RecallSettings) -> Walk:
        walks = [walker(graph, seeds, allowed, recall) for walker in walkers]
        walk = join_walks(walks, settings.walk.mixed_weight) if len(walks) > 1 else walks[0]
        for rerank in rerankers:
            walk = rerank(graph, seeds, allowed, walk)
        return walk

    return Strategy(name, traverse, consult=consult)
