"""Strategies: the library's own, those of plugins, several joined by "+", and presets, made by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from memory.graph.arrays import Bools, Graph
from memory.graph.walk import Walk
from memory.retrieval.pagerank import find_core_strategy
from memory.retrieval.traversers import Consult, Seeds, Strategy, Traverser
from memory.settings import RecallSettings
from plugins.traversers.contract import CORE, Preset, Registered, Traversal, parse_strategy
from plugins.traversers.mixed import join_walks
from plugins.traversers.settings import TraverserSettings

Reranker = Callable[[Graph, Seeds, Bools, Walk], Walk]


class Strategies:
    """Finds strategies by name: a `memory.retrieval.traversers.FindStrategy`."""

    def __init__(self, registered: Mapping[str, Registered], settings: TraverserSettings) -> None:
        self._registered = registered
        self._settings = settings

    def __call__(self, name: str) -> Strategy:
        """The strategy of a name. InvalidInputError for one that is not there, and for what cannot work together."""
        parts = parse_strategy(name, self._registered)
        preset = self._registered.get(name)
        if isinstance(preset, Preset):
            own = self._settings
            sections = {part: replace(getattr(own, part), **changed) for part, changed in preset.traversers.items()}
            found = Strategies(self._registered, replace(own, **sections))(preset.strategy)
            return replace(found, name=name, recall=preset.recall)
        if len(parts) == 1 and name in CORE:
            return find_core_strategy(name)
        traversers: list[Traverser] = []
        rerankers: list[Reranker] = []
        consult: Consult | None = None
        for part in parts:
            one = self._registered[part] if part not in CORE else find_core_strategy(part)
            if isinstance(one, Strategy):
                assert one.traverse is not None
                traversers.append(one.traverse)
            elif isinstance(one, Traversal):
                traversers.append(one.make(self._settings))
                consult = consult or (one.consult() if one.consult is not None else None)
            elif not isinstance(one, Preset):
                rerankers.append(one.make(self._settings))
        return Strategy(name, _union(traversers, rerankers, self._settings.walk.mixed_weight), consult=consult)


def _union(traversers: list[Traverser], rerankers: list[Reranker], weight: float) -> Traverser:
    """Runs all of these on the same question, joins what they found, and lets the others rerank it."""

    def mixed(graph: Graph, seeds: Seeds, allowed: Bools, settings: RecallSettings) -> Walk:
        walks = [traverse(graph, seeds, allowed, settings) for traverse in traversers]
        walk = join_walks(walks, weight) if len(walks) > 1 else walks[0]
        for rerank in rerankers:
            walk = rerank(graph, seeds, allowed, walk)
        return walk

    return mixed
