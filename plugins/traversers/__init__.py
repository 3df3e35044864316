"""The traversers beside spread, and the presets of papers. Importing this imports none of what walks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from plugins.hookspecs import hookimpl
from plugins.traversers.contract import Preset, Reranking, Traversal
from plugins.traversers.papers import PAPERS
from plugins.traversers.settings import TraverserSettings

if TYPE_CHECKING:
    from memory.retrieval.traversers import Consult, Traverser
    from plugins.traversers.strategies import Reranker

WALKS = {
    "beam": "Beam search from all starts at once (PersonalAI, TGS-RAG).",
    "circles": "Rings around the starts: what lies where several meet (PersonalAI).",
    "paths": "Paths between the starts, searched from both ends or by A* (PersonalAI).",
    "entities": "Vertices by the best edge that a trained ranker sees at them (ReG).",
    "sketches": "Paths whose relations read as an outline of the answer; a model may write one first (ReG).",
}
SYNERGY = "What the others saw votes for passages, and the text confirms their paths (TGS-RAG)."


@hookimpl
def register_traversers(register: Callable[[Traversal | Reranking | Preset], None]) -> None:
    for name, sentence in WALKS.items():
        register(Traversal(name, sentence, _walking(name), consult=_sketching if name == "sketches" else None))
    register(Reranking("synergy", SYNERGY, _synergy))
    for preset in PAPERS:
        register(preset)


def _walking(name: str) -> Callable[[TraverserSettings], Traverser]:
    """Makes the traverser that is the function `name` of the module `name`."""

    def make(settings: TraverserSettings) -> Traverser:
        walk: Callable[..., Any] = getattr(import_module(f"plugins.traversers.{name}"), name)
        return lambda graph, seeds, allowed, _: walk(graph, seeds, allowed, settings)

    return make


def _synergy(settings: TraverserSettings) -> Reranker:
    from plugins.traversers.synergy import synergy

    return lambda graph, seeds, allowed, walk: synergy(graph, walk, seeds, allowed, settings)


def _sketching() -> Consult:
    from plugins.traversers.sketching import sketch_paths

    return sketch_paths
