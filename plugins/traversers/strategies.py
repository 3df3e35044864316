"""Strategies: the library's own, those of plugins, several joined by "+", and presets, found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from memory.errors import InvalidInputError
from memory.graph.arrays import Bools, Graph
from memory.graph.walk import Walk
from memory.retrieval.pagerank import SPREAD, TEXT_ALONE
from memory.retrieval.traversers import Seeds, Strategy, Traverser
from memory.settings import RecallSettings
from plugins.traversers.contract import Preset, Reranking, Traversal
from plugins.traversers.mixed import joined
from plugins.traversers.settings import TraverserSettings

Reranker = Callable[[Graph, Seeds, Bools, Walk], Walk]
Registered = Traversal | Reranking | Preset


class Strategies:
    """Finds strategies by name: a `memory.retrieval.traversers.FindStrategy`."""

    def __init__(self, registered: Mapping[str, Registered], settings: TraverserSettings) -> None:
        self._registered = registered
        self._settings = settings

    def __call__(self, name: str) -> Strategy:
        """The strategy of a name. InvalidInputError for one that is not there, and for what cannot work together."""
        preset = self._registered.get(name)
        if isinstance(preset, Preset):
            sections = {
                section: replace(getattr(self._settings, section), **changed)
                for section, changed in preset.traversers.items()
            }
            found = Strategies(self._registered, replace(self._settings, **sections))(preset.strategy)
            return replace(found, name=name, recall=preset.recall)
        parts = list(dict.fromkeys(name.split("+")))
        if parts == [TEXT_ALONE.name]:
            return TEXT_ALONE
        walks, rerankers = self._parts(name, parts)
        consults = [walk.consult for walk in walks if isinstance(walk, Traversal) and walk.consult is not None]
        traversers = [SPREAD.traverse if walk is None else walk.make(self._settings) for walk in walks]
        made = [reranker.make(self._settings) for reranker in rerankers]
        traverse = self._union([one for one in traversers if one is not None], made)
        return Strategy(name, traverse, consult=consults[0]() if consults else None)

    def _parts(self, name: str, parts: Sequence[str]) -> tuple[list[Traversal | None], list[Reranking]]:
        """The traversals of a joined name, None for spread, and what reranks."""
        walks: list[Traversal | None] = []
        rerankers: list[Reranking] = []
        for part in parts:
            one = self._registered.get(part)
            if part == SPREAD.name:
                walks.append(None)
            elif isinstance(one, Traversal):
                walks.append(one)
            elif isinstance(one, Reranking):
                rerankers.append(one)
            else:
                raise InvalidInputError(
                    f"There is no strategy {part!r}. There are: {', '.join(self.names)}; those without a colon can be"
                    f" joined by +."
                    if len(parts) == 1 or part not in (TEXT_ALONE.name, *self._registered)
                    else f"{part!r} cannot be joined to other strategies."
                )
        if rerankers and not any(walk is not None and walk.remembers for walk in walks):
            able = [one.name for one in self._registered.values() if isinstance(one, Traversal) and one.remembers]
            raise InvalidInputError(
                f"{rerankers[0].name!r} works on what traversers saw, and there is nothing of that in {name!r}."
                f" Join it to one of these: {', '.join(sorted(able))}."
            )
        return walks, rerankers

    def _union(self, traversers: Sequence[Traverser], rerankers: Sequence[Reranker]) -> Traverser:
        """Runs all of these on the same question, joins what they found, and lets the others rerank it."""
        if len(traversers) == 1 and not rerankers:
            return traversers[0]
        weight = self._settings.walk.mixed_weight

        def mixed(graph: Graph, seeds: Seeds, allowed: Bools, settings: RecallSettings) -> Walk:
            walks = [traverse(graph, seeds, allowed, settings) for traverse in traversers]
            walk = joined(walks, weight) if len(walks) > 1 else walks[0]
            for rerank in rerankers:
                walk = rerank(graph, seeds, allowed, walk)
            return walk

        return mixed

    @property
    def names(self) -> list[str]:
        """All names there are, without those that can be made by joining."""
        return [SPREAD.name, TEXT_ALONE.name, *sorted(self._registered, key=lambda name: (":" in name, name))]

    def sentences(self) -> dict[str, str]:
        """What each strategy does, by its name."""
        own = {
            SPREAD.name: "Personalised PageRank over passages and what they mention: the default.",
            TEXT_ALONE.name: "Words and vectors alone.",
        }
        return {name: own[name] if name in own else self._registered[name].sentence for name in self.names}
