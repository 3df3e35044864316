"""The replies that `pal ask` needs without the library's nouns: version, errors, and the end of a question."""

from __future__ import annotations

from dataclasses import dataclass

from memory.events import Answer, Event


@dataclass(frozen=True, slots=True)
class Hello:
    """The only reply that never changes between protocols."""

    version: str
    protocol: int
    pid: int


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """A failed request; also the body of every HTTP error reply. `code` is stable, one of `daemon.failures.CODES`;
    `remedy` says what to do."""

    code: str
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Answered(Answer):
    """The end of a question: the answer, with the chat session it is kept in."""

    conversation: int | None = None
    ms: float = 0.0
