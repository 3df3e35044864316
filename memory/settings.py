"""The library's settings, declared once: default and sentence together.

config.toml, `pal config` and docs/configuration.md are made from these declarations or tested against them."""

from dataclasses import dataclass, field
from typing import Any, Literal

MOST = 1_000_000_000  # of any number without another limit


def setting(default: Any, sentence: str, *, least: float = 0, most: float = MOST) -> Any:
    """Returns a dataclass field with its default and its explanation; for a number also its inclusive range."""
    return field(default=default, metadata={"help": sentence, "least": least, "most": most})


def describe_range(least: float, most: float) -> str:
    """Describes the range: `from 1 to 64`, `from 0 upwards`."""
    return f"from {least:,} upwards" if most == MOST else f"from {least:,} to {most:,}"


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How text is cut into passages (episodes)."""

    words: int = field(default=240, metadata={"least": 20})  # in a passage, about; a longer code block is not cut
    overlap: int = 40  # words of a chat's message up to which the next passage repeats it
    turn_gap_minutes: int = 60  # without a message after which a new passage of a chat begins


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How passages are found."""

    k: int = 10  # passages returned
    strategy: str = setting(
        "spread",
        "The search strategy: spread, none (text alone), or others of docs/strategies.md, joined by +.",
    )
    vertices: str = "ETO"  # that a walk may enter: E passages, T theses, O objects; a small letter: only to end a path
    candidates: int = 1000  # passages that full-text search may propose
    lexical_weight: float | Literal["auto"] = "auto"  # share of full text, the rest is vectors; auto: by the embedder
    vectors_in_memory: int = 30_000  # above it, only vectors with the most similar signs are compared
    reset_episodes: int = 50  # passages from which spread starts
    seed_weight: float = 0.3  # share of the start weight on the question's objects
    title_weight: float = 0.7  # share of an object's weight that goes to passages with it as their title
    damping: float = 0.8  # of PageRank
    iterations: int = 10  # of PageRank
    common_share: float = 0.05  # objects in more than this share of passages are not walked through
    graph_weight: float | Literal["auto"] = "auto"  # share of the graph, the rest is text; auto: 0.3 to 0.8
    link_weight: float = 0.2  # of the links of a page that the question names
    neighbour_weight: float = 0.4  # of its neighbours in the score of a short chat message
    replay: bool = setting(True, "Whether the evidence of earlier questions is searched first.")
    replay_weight: float = 0.5  # of passages that answered a similar question
    time_cues: bool = True  # whether a time in the question limits the search


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How an answer is made: by a model that passed its probe, or else from the lines of the notes."""

    model: Literal["auto", "off"] = setting(
        "auto", "Whether a language model writes answers, if models.answer names one."
    )
    context_tokens: int = 1200  # of evidence in the first prompt, about; the second has 1,500
    answer_tokens: int = 700  # that a model may write
    answer_seconds: int = setting(
        60,
        "Seconds for an answer, or twice as long as the probe took; half with --effort quick, three times with deep.",
        least=1,
        most=3600,
    )

    lines: int = setting(8, "Lines shown.", least=1, most=100)
    episodes: int = 10  # passages from which lines are taken
    threshold: float = setting(0.34, "Confidence below which there is no answer.", most=1)
    line_margin: float = 4.0  # a line is shown if its score is at most this far below the best
    chains: bool = True  # whether the lines that lead to the best line are shown


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """The memory: where it is, and all settings of the library."""

    at: str = setting("", "The computer that has the memory, reached through ssh: ssh://me@server. Empty: this one.")
    owner_names: tuple[str, ...] = setting((), "Your names: 'I' in your notes. Empty: taken from your mails.")
    mask_secrets: bool = setting(
        True,
        "Whether passwords, keys, card and account numbers are masked in text; `pal ask --secrets` shows them.",
    )
    rules: bool = True  # whether rules read fields, tables and changes of values as facts
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
