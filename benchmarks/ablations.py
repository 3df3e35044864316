"""The ways to ask that the benchmarks compare, by name: each is the default with something off or put another way."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from benchmarks.command import DataError
from memory.settings import RecallSettings
from plugins.settings import BeamSettings, CirclesSettings, TraverserSettings, WalkSettings


class Configuration(NamedTuple):
    """A way to ask: the settings of retrieval, and those of the traversers."""

    recall: RecallSettings = RecallSettings()
    traversers: TraverserSettings = TraverserSettings()


DEFAULT = Configuration()


def _recall(**settings: Any) -> Configuration:
    return Configuration(RecallSettings(**settings))


def _walk(strategy: str, **recall: Any) -> Configuration:
    return Configuration(RecallSettings(strategy=strategy, **recall))


FROM_NAMES = WalkSettings(episodes=0, hub_penalty=False)  # a walk begins at the objects that are named
NOTHING_BESIDE: dict[str, Any] = {
    "link_weight": 0.0,
    "neighbour_weight": 0.0,
}  # settings that rank by neither text nor walk
UNLIMITED = 1_000_000  # where a paper knows no limit
PAPERS = {  # what of a paper exists here, with its numbers
    # PersonalAI, appendix E: beam search and water circles together, the best with large readers.
    "paper-personalai": Configuration(
        RecallSettings(strategy="beam+circles", **NOTHING_BESIDE),
        TraverserSettings(
            walk=FROM_NAMES,
            beam=BeamSettings(
                width=10, depth=5, neighbours=UNLIMITED, paths=10, triples=True, apart=True, share_vertices=False,
                share_edges=False,
            ),
            circles=CirclesSettings(depth=1),
        ),
    ),
    # ReG: its entity and path retrievers together; what was trained scores the edges.
    "paper-reg": Configuration(
        RecallSettings(strategy="entities+sketches", **NOTHING_BESIDE), TraverserSettings(walk=FROM_NAMES)
    ),
    # TGS-RAG, table 4: vectors alone, a beam by the last vertex, votes are half of the score.
    "paper-tgs-rag": Configuration(
        RecallSettings(strategy="synergy", lexical_weight=0, graph_weight=0, **NOTHING_BESIDE),
        TraverserSettings(walk=FROM_NAMES, beam=BeamSettings(width=20, depth=3, neighbours=30, rank="last")),
    ),
}  # fmt: skip

BASELINES = {  # asked in every run
    "bm25": _recall(strategy="none", lexical_weight=1, neighbour_weight=0),
    "vector": _recall(strategy="none", lexical_weight=0, neighbour_weight=0),
    "fused": _recall(strategy="none", neighbour_weight=0),
}
CONFIGURATIONS = {"memory": DEFAULT, **BASELINES}

ABLATIONS: dict[str, Configuration] = {
    "no-graph": _recall(strategy="none"),
    "no-links": _recall(link_weight=0),
    # In the ranking; a walk still starts from the text's best.
    "no-text": _recall(graph_weight=1),
    "no-neighbours": _recall(neighbour_weight=0),
    "no-seeds": _recall(seed_weight=0),
    "no-titles": _recall(title_weight=0),
    "no-replay": _recall(replay=False),
    "no-times": _recall(time_cues=False),
    "spread": DEFAULT,
    "beam": _walk("beam"),
    "circles": _walk("circles"),
    "paths": _walk("paths"),
    "one-hop": _walk("one_hop"),
    "heuristic": _walk("heuristic"),
    "entities": _walk("entities"),
    "sketches": _walk("sketches"),
    "spread-EO": _recall(vertices="EO"),
    "spread-eTO": _recall(vertices="eTO"),
    "beam-EO": _walk("beam", vertices="EO"),
    "beam-eTO": _walk("beam", vertices="eTO"),
    "spread+beam": _walk("spread+beam"),
    "spread+circles": _walk("spread+circles"),
    "spread+paths": _walk("spread+paths"),
    "mixed": _walk("spread+beam+circles+paths"),
    "synergy": _walk("synergy"),
    **PAPERS,
}


def chosen(patterns: Iterable[str]) -> dict[str, Configuration]:
    """The ablations whose names match one of `patterns` ("no-*"), all for none; DataError lists the names there are."""
    patterns = list(patterns) or ["*"]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in ABLATIONS):
            raise DataError(f'There is no ablation "{pattern}". There are: {", ".join(ABLATIONS)}.')
    return {
        name: settings
        for name, settings in ABLATIONS.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
