"""The traversers other than spread, and the presets of papers. Importing this imports none of the walk code.

A preset covers the parts of a paper that exist here. What the papers ask of a language model, such as finding the
question's objects, is done by rule.
"""

from collections.abc import Callable
from typing import Any

from plugins.hookspecs import hookimpl, import_late
from plugins.traversers.contract import Preset, Registered, Reranking, Traversal
from plugins.traversers.settings import TraverserSettings

UNLIMITED = 1_000_000  # where a paper knows no limit
NOTHING_BESIDE = {"link_weight": 0.0, "neighbour_weight": 0.0}  # settings that rank by neither text nor walk
FROM_NAMES: dict[str, Any] = {"episodes": 0, "hub_penalty": False}  # a walk begins at the objects that are named

PAPERS = (
    Preset(
        "paper:personalai",
        "PersonalAI, appendix E: its beam search and water circles together, the best with large readers.",
        "beam+circles",
        NOTHING_BESIDE,
        {
            "walk": FROM_NAMES | {"mixed_weight": 1.0},
            "beam": {"apart": True, "width": 10, "depth": 5, "neighbours": UNLIMITED, "paths": 10, "triples": True},
            "circles": {"depth": 1, "edges": UNLIMITED},
        },
    ),
    Preset(
        "paper:reg",
        "ReG: its entity and path retrievers together; what was trained at night scores the edges.",
        "entities+sketches",
        NOTHING_BESIDE,
        {"walk": FROM_NAMES | {"mixed_weight": 1.0}},
    ),
    Preset(
        "paper:tgs-rag",
        "TGS-RAG, algorithm 1 and equation 2: vectors alone, a beam by the last vertex, votes are half of the score.",
        "beam+synergy",
        NOTHING_BESIDE | {"lexical_weight": 0.0, "graph_weight": 0.0},
        {
            "walk": FROM_NAMES,
            "beam": {"width": 20, "depth": 3, "neighbours": 30, "rank": "last"},
            "synergy": {"weight": 0.5, "formula": "paper"},
        },
    ),
)

WALKS = {  # the module and what it does
    "beam": ("beam", "Beam search from all starts at once (PersonalAI, TGS-RAG)."),
    "circles": ("circles", "Rings around the starts: what lies where several meet (PersonalAI)."),
    "paths": ("paths", "Paths between the starts, searched from both ends or by A* (PersonalAI)."),
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
    for preset in PAPERS:
        register(preset)


def _bind(module: str, name: str) -> Callable[[TraverserSettings], Any]:
    """Makes what walks or reranks: a function of a module, which is imported then; it gets its settings last."""
    run = import_late(f"plugins.traversers.{module}", name)
    if name == "synergy":
        return lambda settings: lambda graph, seeds, allowed, walk: run(graph, seeds, allowed, walk, settings)
    return lambda settings: lambda graph, seeds, allowed, _: run(graph, seeds, allowed, settings)
