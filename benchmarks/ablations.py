"""The ways to ask that the benchmarks compare, by name: each is the default with something off or put another way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase

from benchmarks.command import DataError
from memory.retrieval.papers import PAPERS
from memory.settings import RecallSettings

DEFAULT = RecallSettings()
BASELINES: dict[str, RecallSettings] = {  # asked in every run
    "bm25": replace(DEFAULT, strategy="none", lexical_weight=1, neighbour_weight=0),
    "vector": replace(DEFAULT, strategy="none", lexical_weight=0, neighbour_weight=0),
    "fused": replace(DEFAULT, strategy="none", neighbour_weight=0),
}
CONFIGURATIONS = {"memory": DEFAULT, **BASELINES}

# Beam is seen by synergy alone: its own scores would hide what synergy does.
_SYNERGY = DEFAULT if DEFAULT.synergy_weight else replace(DEFAULT, strategy="spread+beam", mixed_weight=0)
_SYNERGY = replace(_SYNERGY, synergy_weight=DEFAULT.synergy_weight or 0.1)


def _walk(strategy: str, **settings: str | int) -> RecallSettings:
    return replace(DEFAULT, strategy=strategy, **settings)  # type: ignore[arg-type]


ABLATIONS: dict[str, RecallSettings] = {
    "no-graph": _walk("none"),
    "no-links": replace(DEFAULT, link_weight=0),
    # In the ranking; a walk still starts from the text's best.
    "no-text": replace(DEFAULT, graph_weight=1, chat_graph_weight=1),
    "no-neighbours": replace(DEFAULT, neighbour_weight=0),
    "no-seeds": replace(DEFAULT, seed_weight=0),
    "no-titles": replace(DEFAULT, title_weight=0),
    "no-replay": replace(DEFAULT, replay=False),
    "no-times": replace(DEFAULT, time_cues=False),
    "no-synergy": replace(DEFAULT, synergy_weight=0),
    "spread": _walk("spread"),
    "beam": _walk("beam"),
    "circles": _walk("circles"),
    "paths": _walk("paths"),
    "entities": _walk("entities"),
    "sketches": _walk("sketches"),
    "beam-EO": _walk("beam", walk_vertices="EO"),
    "beam-eTO": _walk("beam", walk_vertices="eTO"),
    "beam-embedded": _walk("beam", walk_embedded=100),
    "spread+beam": _walk("spread+beam"),
    "spread+circles": _walk("spread+circles"),
    "spread+paths": _walk("spread+paths"),
    "mixed": _walk("spread+beam+circles+paths"),
    "synergy": _SYNERGY,
    "synergy-beam": replace(_SYNERGY, strategy="beam"),
    "synergy-no-votes": replace(_SYNERGY, synergy_votes=False),
    "synergy-no-confirmation": replace(_SYNERGY, synergy_confirm=False),
    "synergy-no-bridges": replace(_SYNERGY, synergy_bridge=False),
    "synergy-no-pruning": replace(_SYNERGY, synergy_prune=False),
    **{f"paper-{name}": settings for name, settings in PAPERS.items()},
}


def chosen(patterns: Iterable[str]) -> dict[str, RecallSettings]:
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
