"""Questions that were asked, looked into: what led to an answer, what it rests on, what a person says of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from daemon.wire.questions import Passage
from memory.events import Citation, Event, Scope, Step, Visit
from memory.nouns import Fact
from memory.trace import Asked, Opinion


@dataclass(frozen=True, slots=True)
class Judged:
    """POST /traces/{id}/feedback. `before` is the verdict that stood before; the answer cites `passages` of them, and
    where that is none nothing is learnt."""

    asked: Asked
    before: Opinion | None
    passages: int


@dataclass(frozen=True, slots=True)
class TracesReply:
    """GET /traces?limit=&offset=, newest first. `total` counts all there are."""

    traces: tuple[Asked, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Trace:
    """GET /traces/{id}: all that is kept of a question. `effort`: quick | normal | deep; `strategy` walked the
    graph, where one was chosen for the question; `searched` is what was searched for in its place, where it followed
    another question; `text` is None if only passages were asked for."""

    asked: Asked
    as_of: datetime | None = None
    within: Scope = field(default_factory=Scope)
    effort: str = "normal"
    searched: str = ""
    strategy: str = ""
    steps: tuple[Step, ...] = ()
    visits: tuple[Visit, ...] = ()
    text: str | None = None
    citations: tuple[Citation, ...] = ()
    missing: tuple[str, ...] = ()
    confidence: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class LostPassage:
    """A passage that holds the words asked about, and what became of it, with the reason in a sentence. `cut`: used |
    gone | later | scope | time | not_proposed | ranked | replaced | threshold | lines | room | model
    (`memory.trace` says what each means). It came in `place` of `of`; `by` took its place, `since` then."""

    passage: Passage
    quote: str
    line: int | None
    cut: str
    reason: str
    place: int | None = None
    of: int = 0
    score: float | None = None
    channels: dict[str, float] = field(default_factory=dict)
    by: Fact | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class WhyNotReply:
    """GET /traces/{id}/whynot?words=. The nearest passages that hold the words; those of the words in `missing` stand
    nowhere in the memory."""

    asked: Asked
    words: str
    lost: tuple[LostPassage, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rebuilt(Event):
    """The end of a rebuild: of `what`, how many `edges` remember something now, how many `passages` are in the full
    text, and how many have `vectors`; 0 for what was not asked for."""

    what: tuple[str, ...]
    edges: int = 0
    passages: int = 0
    vectors: int = 0
