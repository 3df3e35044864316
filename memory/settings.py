"""The library's settings, declared once as data: default and sentence side by side.

config.toml, `pal config` and docs/configuration.md are made from these declarations or tested against them.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

MOST = 1_000_000_000  # of any number without another limit


def setting(default: Any, sentence: str, *, least: float = 0, most: float = MOST) -> Any:
    """A dataclass field with its default and the sentence that explains it; of a number also the least and the most
    that it may be, both included."""
    return field(default=default, metadata={"help": sentence, "least": least, "most": most})


def describe_range(least: float, most: float) -> str:
    """`from 1 to 64`, `from 0 upwards`."""
    return f"from {least:,} upwards" if most == MOST else f"from {least:,} to {most:,}"


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How text is cut into episodes."""

    words: int = setting(
        240, "An episode's length in words, about; a longer code block or table is not cut.", least=10, most=10000
    )
    overlap: int = setting(40, "Words of the end of an episode that the next one repeats.", most=1000)
    turn_gap_minutes: int = setting(60, "A pause in a chat after which a new group of turns begins.")


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How episodes are found."""

    k: int = setting(10, "Episodes returned.", least=1, most=200)
    strategy: str = setting(
        "spread",
        "What walks the graph: spread, none (text alone), or what `pal strategies` lists, several joined by +.",
    )
    vertices: str = setting(
        "ETO", "What a walk may enter: episodes, theses, objects; a small letter: only as the end of a path."
    )
    candidates: int = setting(1000, "Episodes that full text may propose.", least=1, most=1000000)
    lexical_weight: float | Literal["auto"] = setting(
        "auto",
        "Share of full text in the fused text score, the rest is vectors; auto: as it suits the embedder.",
        most=1,
    )
    vectors_in_memory: int = setting(
        30_000, "Up to so many vectors are compared one by one; of more, those whose signs are most alike."
    )
    reset_episodes: int = setting(50, "Episodes from which spread starts.", least=1, most=10000)
    seed_weight: float = setting(0.3, "Share of spread's start that lies on the question's objects.", most=1)
    title_weight: float = setting(0.7, "Share of an object's mass that goes to the episodes it titles.", most=1)
    damping: float = setting(0.8, "How far spread walks before it returns to its start.", most=1)
    iterations: int = setting(10, "Rounds of spread.", least=1, most=1000)
    common_share: float = setting(0.05, "Objects mentioned in more than this share of episodes do not spread.", most=1)
    graph_weight: float | Literal["auto"] = setting(
        "auto",
        "Share of the graph in the final score, the rest is text; auto: 0.3 among notes, up to 0.8 among pages that"
        " name each other.",
        most=1,
    )
    link_weight: float = setting(0.2, "What the links of a page count that the question names, beside both.", most=100)
    neighbour_weight: float = setting(0.4, "What a short turn of a chat gains from its neighbours' scores.", most=100)
    replay: bool = setting(True, "Whether what earlier questions were answered from is looked at first.")
    replay_weight: float = setting(0.5, "What a passage gains that answered such a question before.", most=100)
    time_cues: bool = setting(True, "A time in the question limits the search: in March 2024, last week, as of 3 May.")


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How an answer is made: by a model that passed, if there is one, else of the lines of memory themselves."""

    model: Literal["auto", "off"] = setting(
        "auto", "Whether a language model writes answers where there is one (models.answer); off: never."
    )
    context_tokens: int = setting(
        1100,
        "Evidence that a model gets to read for an answer at first, in tokens, about; 1,400 more if that holds none.",
        least=100,
        most=1000000,
    )
    answer_tokens: int = setting(700, "Tokens that it may write.", least=1, most=100000)
    answer_seconds: int = setting(
        60,
        "Seconds that it may take in all, or twice what its probe took for a question if that is more; half as many"
        " with --effort quick, three times with deep.",
        least=1,
        most=3600,
    )

    lines: int = setting(8, "Lines shown at most.", least=1, most=100)
    episodes: int = setting(10, "Episodes the lines are taken from.", least=1, most=200)
    threshold: float = setting(0.34, "Confidence in [0, 1] below which there is no answer.", most=1)
    line_margin: float = setting(4.0, "A line is shown if its score is at most so far below the best one's.")
    chains: bool = setting(True, "Whether lines are shown that lead from what the question names to the best line.")


@dataclass(frozen=True, slots=True)
class FactSettings:
    """How facts are extracted from text."""

    rules: bool = setting(True, "Whether fields, tables and changes between values are read as facts without a model.")


@dataclass(frozen=True, slots=True)
class SecretSettings:
    """Passwords, keys, card and account numbers in what is read."""

    mask: bool = setting(
        True,
        "Whether they are masked when text is read, and kept apart: no index, model, log or trace sees them, and you do"
        " with `pal ask --secrets`. false: what is read from now on is kept as it is written.",
    )


@dataclass(frozen=True, slots=True)
class PersonSettings:
    """Whose memory it is."""

    names: tuple[str, ...] = setting(
        (),
        "Your own names: in notes 'I' is you, and a question that names you means 'I'. Without any, mails tell them.",
    )


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """All settings of the library."""

    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    facts: FactSettings = field(default_factory=FactSettings)
    secrets: SecretSettings = field(default_factory=SecretSettings)
    person: PersonSettings = field(default_factory=PersonSettings)
