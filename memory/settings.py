"""The library's settings, declared once as data: default and sentence side by side.

config.toml, `pal config` and docs/configuration.md are made from these declarations or tested against them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def setting(default: Any, sentence: str) -> Any:
    """A dataclass field with its default and the sentence that explains it."""
    return field(default=default, metadata={"help": sentence})


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How text is cut into episodes."""

    words: int = setting(240, "An episode's length in words, about; a longer code block or table is not cut.")
    overlap: int = setting(40, "Words of the end of an episode that the next one repeats.")
    turn_gap_minutes: int = setting(60, "A pause in a chat after which a new group of turns begins.")


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How episodes are found."""

    k: int = setting(10, "Episodes returned.")
    strategy: str = setting("spread", "The traverser that walks the graph, or 'none' for text alone.")
    candidates: int = setting(1000, "Episodes that full text may propose.")
    lexical_weight: float = setting(0.7, "Share of full text in the fused text score; the rest is vectors.")
    vectors_in_memory: int = setting(300_000, "Up to so many vectors are searched in memory, more on disk.")
    reset_episodes: int = setting(50, "Episodes from which spread starts.")
    seed_weight: float = setting(0.3, "Share of spread's start that lies on the question's objects.")
    title_weight: float = setting(0.7, "Share of an object's mass that goes to the episodes it titles.")
    damping: float = setting(0.8, "How far spread walks before it returns to its start.")
    iterations: int = setting(10, "Rounds of spread.")
    common_share: float = setting(0.05, "Objects mentioned in more than this share of episodes do not spread.")
    graph_weight: float = setting(0.85, "Share of the graph in the final score; the rest is the fused text score.")
    neighbour_weight: float = setting(0.4, "What a short turn of a chat gains from its neighbours' scores.")


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How an answer is made without a model."""

    lines: int = setting(5, "Lines shown at most.")
    episodes: int = setting(10, "Episodes the lines are taken from.")
    threshold: float = setting(0.34, "Confidence in [0, 1] below which there is no answer.")
    line_margin: float = setting(2.5, "A line is shown if its score is at most so far below the best one's.")


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Everything the library can be told."""

    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
