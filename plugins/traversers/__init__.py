"""The traversers other than spread. Importing this imports none of the walk code.

What the papers ask of a language model before a walk, such as finding the question's objects, is done by rule.
"""

from collections.abc import Callable
from typing import Any

from plugins.hookspecs import hookimpl, import_late
from plugins.traversers.contract import Registered, Reranking, Traversal
from plugins.traversers.settings import TraverserSettings

WALKS = {  # the module and what it does
    "beam": ("beam", "Beam search from all starts at once (PersonalAI, TGS-RAG)."),
    "circles": ("circles", "Rings around the starts: what lies where several meet (PersonalAI)."),
    "paths": ("paths", "Paths between the starts, searched from both ends or by A* (PersonalAI)."),
    "one_hop": ("rlm", "The passages around the best ones, one hop over what most of these mention (RLM-on-KG)."),
    "heuristic": ("rlm", "The passages of the named objects and their neighbours, breadth first (RLM-on-KG)."),
    "entities": ("reg", "Vertices by the best edge that a trained ranker sees at them (ReG)."),
    "sketches": ("reg", "Paths whose relations read as an outline of the answer; a model may write one first (ReG)."),
}
SYNERGY = "What the others saw votes for passages, and the text confirms their paths (TGS-RAG)."


@hookimpl
def register_traversers(register: Callable[[Registered], None]) -> None:
    sketch_paths = import_late("plugins.traversers.reg", "sketch_paths")
    for name, (module, sentence) in WALKS.items():
        consult = (lambda: sketch_paths) if name == "sketches" else None
        register(Traversal(name, sentence, _bind(module, name), consult=consult))
    register(Reranking("synergy", SYNERGY, _bind("synergy", "synergy")))


def _bind(module: str, name: str) -> Callable[[TraverserSettings], Any]:
    """Makes what walks or reranks: a function of a module, which is imported then; it gets its settings last."""
    run = import_late(f"plugins.traversers.{module}", name)
    if name == "synergy":
        return lambda settings: lambda graph, seeds, allowed, walk: run(graph, seeds, allowed, walk, settings)
    return lambda settings: lambda graph, seeds, allowed, _: run(graph, seeds, allowed, settings)
