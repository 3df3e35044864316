"""The process itself: who answers, that something is done, what went wrong."""

from __future__ import annotations

from dataclasses import dataclass

from memory.events import Event


@dataclass(frozen=True, slots=True)
class Hello:
    """The only reply that never changes between protocols."""

    version: str
    protocol: int
    pid: int


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """A request that could not be answered; also the body of every HTTP error reply.

    `code` is stable, one of `daemon.failures.CODES`; `remedy` says what to do.
    """

    code: str
    message: str
    remedy: str = ""
