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
    """How text is cut into passages (episodes)."""

    words: int = setting(
        240, "Words in a passage, about; a longer code block or table is not cut.", least=10, most=10000
    )
    overlap: int = setting(40, "Words that a passage repeats from the end of the one before.", most=1000)
    turn_gap_minutes: int = setting(60, "Minutes without a message after which a new passage of a chat begins.")


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How passages are found."""

    k: int = setting(10, "Passages returned.", least=1, most=200)
    strategy: str = setting(
        "spread",
        "The search strategy: spread, none (text alone), or others of docs/strategies.md, joined by +.",
    )
    vertices: str = setting(
        "ETO",
        "Vertices that a walk may enter: E passages, T theses, O objects; a small letter: only as the end of a path.",
    )
    candidates: int = setting(1000, "Passages that full-text search may propose.", least=1, most=1000000)
    lexical_weight: float | Literal["auto"] = setting(
        "auto",
        "Share of full text in the text score, the rest is vectors; auto: by the embedder.",
        most=1,
    )
    vectors_in_memory: int = setting(
        30_000, "Above this number of vectors, only those with the most similar signs are compared."
    )
    reset_episodes: int = setting(50, "Passages from which spread starts.", least=1, most=10000)
    seed_weight: float = setting(0.3, "Share of the start weight on the question's objects.", most=1)
    title_weight: float = setting(
        0.7, "Share of an object's weight that goes to passages with it as their title.", most=1
    )
    damping: float = setting(0.8, "PageRank's damping factor.", most=1)
    iterations: int = setting(10, "Iterations of PageRank.", least=1, most=1000)
    common_share: float = setting(0.05, "Objects in more than this share of passages are not walked through.", most=1)
    graph_weight: float | Literal["auto"] = setting(
        "auto",
        "Share of the graph in the final score, the rest is text; auto: 0.3, up to 0.8 where pages link to each other.",
        most=1,
    )
    link_weight: float = setting(0.2, "Weight of the links of a page that the question names.", most=100)
    neighbour_weight: float = setting(0.4, "Weight of its neighbours in the score of a short chat message.", most=100)
    replay: bool = setting(True, "Whether the evidence of earlier questions is searched first.")
    replay_weight: float = setting(0.5, "Weight of passages that answered a similar question.", most=100)
    time_cues: bool = setting(
        True, "Whether a time in the question limits the search: in March 2024, last week, as of 3 May."
    )


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How an answer is made: by a model that passed its probe, or else from the lines of the notes."""

    model: Literal["auto", "off"] = setting(
        "auto", "Whether a language model writes answers, if models.answer names one."
    )
    context_tokens: int = setting(
        1400,
        "Tokens of evidence in the first prompt, about; the second has 1,700.",
        least=100,
        most=1000000,
    )
    answer_tokens: int = setting(700, "Tokens that a model may write.", least=1, most=100000)
    answer_seconds: int = setting(
        60,
        "Seconds for an answer, or twice as long as the probe took; half with --effort quick, three times with deep.",
        least=1,
        most=3600,
    )

    lines: int = setting(8, "Lines shown.", least=1, most=100)
    episodes: int = setting(10, "Passages from which lines are taken.", least=1, most=200)
    threshold: float = setting(0.34, "Confidence below which there is no answer.", most=1)
    line_margin: float = setting(4.0, "A line is shown if its score is at most this far below the best.")
    chains: bool = setting(True, "Whether the lines that lead to the best line are shown.")


@dataclass(frozen=True, slots=True)
class FactSettings:
    """How facts are extracted from text."""

    rules: bool = setting(True, "Whether rules read fields, tables and changes of values as facts.")


@dataclass(frozen=True, slots=True)
class SecretSettings:
    """Passwords, keys, card and account numbers in notes."""

    mask: bool = setting(
        True,
        "Whether they are masked when text is read; `pal ask --secrets` shows them to you.",
    )


@dataclass(frozen=True, slots=True)
class PersonSettings:
    """Whose memory it is."""

    names: tuple[str, ...] = setting(
        (),
        "Your names: 'I' in your notes. Empty: taken from your mails.",
    )


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """The memory: where it is, and all settings of the library."""

    at: str = setting("", "The computer that has the memory, reached through ssh: ssh://me@server. Empty: this one.")
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    facts: FactSettings = field(default_factory=FactSettings)
    secrets: SecretSettings = field(default_factory=SecretSettings)
    person: PersonSettings = field(default_factory=PersonSettings)
