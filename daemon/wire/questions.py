"""A question: what it asks, the events of its stream, the passages it finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from daemon.wire.codec import Event


@dataclass(frozen=True, slots=True)
class Within:
    """Limits a question to a part of the memory; empty means no limit. `conversation` is a chat's name; an unknown one
    is an error that names some that there are."""

    sources: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    conversation: str | None = None
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class AskRequest:
    """POST /ask -> question stream. `conversation` is the id of a chat session the turn is saved in; `effort`, how far
    the question may go: quick | normal | deep. Without `replay` nothing of earlier questions is used, and nothing is
    learnt from this one. `strategy`: what walks the graph, by default that of the settings; an unknown one is an error
    that names those there are."""

    question: str
    as_of: str | None = None
    within: Within = field(default_factory=Within)
    conversation: int | None = None
    effort: str = "normal"
    replay: bool = True
    strategy: str = ""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """POST /recall -> RecallReply"""

    question: str
    k: int = 10
    as_of: str | None = None
    within: Within = field(default_factory=Within)
    strategy: str = ""


@dataclass(frozen=True, slots=True)
class Stage(Event):
    """A stage of a question has ended."""

    name: str
    ms: float
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Visited(Event):
    """A vertex that a question touched. `kind`: episode | thesis | object."""

    node_id: int
    kind: str
    label: str
    score: float
    stage: str
    status: str = "selected"


@dataclass(frozen=True, slots=True)
class Chunk(Event):
    """The next piece of the answer's Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Cited(Event):
    """The proof under a line: `label` stands after [n], `passage` is the whole episode, `quote` the exact words."""

    n: int
    label: str
    uri: str
    title: str
    quote: str
    passage: str
    episode_id: int
    line: int | None = None
    end_line: int | None = None
    at: str | None = None
    speaker: str | None = None
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class Answered(Event):
    """The end of a question. `model` wrote the text; "" if it is the lines of memory themselves. `note` is a sentence
    for the person: why no model did, or what it did not get to see."""

    text: str
    citations: tuple[Cited, ...] = ()
    no_answer: bool = False
    missing: tuple[str, ...] = ()
    confidence: float = 0.0
    trace_id: int | None = None
    conversation: int | None = None
    ms: float = 0.0
    model: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """An episode, as clients see it."""

    episode_id: int
    uri: str
    kind: str
    title: str
    text: str
    at: str | None = None
    speaker: str | None = None
    line: int | None = None
    end_line: int | None = None
    refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    passage: Passage
    score: float
    channels: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecallReply:
    hits: tuple[Found, ...]
    ms: float
    steps: tuple[Stage, ...] = ()
