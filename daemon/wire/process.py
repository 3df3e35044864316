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

    `code` is stable, `remedy` says what to do. Codes: bad_input (422), too_large (413), late (408: it did not all
    come), not_found (404), conflict (409), not_available (501), forbidden (403), no_session (401: of the page in the
    browser), busy and stopping (503), store (500: the memory file), moved (500: it is not where it was), damaged
    (500), full (507: its disk), internal (500).
    """

    code: str
    message: str
    remedy: str = ""
