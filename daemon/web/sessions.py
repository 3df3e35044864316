"""Access to the page: a link that works once, and its session.

A session has two secrets. The browser sends the cookie to every port of this machine, so another user's server could
receive it; the page keeps the key for its own port. Each is useless without the other, and both end with the daemon.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

LINK_SECONDS = 120.0  # within which a link must be opened
MAX_LINKS = 8  # that wait to be opened; the oldest goes
MAX_SESSIONS = 16  # the one that was not used for longest goes


@dataclass
class WebSession:
    """The session of one browser. `used`: its last use, by the clock of its `WebSessions`."""

    used: float
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32))


class WebSessions:
    """Unused links and open sessions. Used only by the event loop's thread."""

    def __init__(self, idle_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._idle_s = idle_s
        self._clock = clock
        self._links: dict[str, float] = {}  # token -> when it was made
        self._sessions: list[WebSession] = []

    def __len__(self) -> int:
        self._expire()
        return len(self._sessions)

    def create_link(self) -> str:
        """A token that opens one session."""
        self._expire()
        token = secrets.token_urlsafe(32)
        self._links[token] = self._clock()
        while len(self._links) > MAX_LINKS:
            del self._links[next(iter(self._links))]
        return token

    def exchange(self, token: str) -> WebSession | None:
        """The session for a token, which is then used up; None for an invalid token."""
        self._expire()
        link = next((waiting for waiting in self._links if _is_same(waiting, token)), None)
        if link is None:
            return None
        del self._links[link]
        while len(self._sessions) >= MAX_SESSIONS:
            self._sessions.remove(min(self._sessions, key=lambda session: session.used))
        session = WebSession(self._clock())
        self._sessions.append(session)
        return session

    def find(self, cookie: str, key: str, *, is_use: bool) -> WebSession | None:
        """The open session of these two secrets; `is_use`: a person does something, and it stays open."""
        self._expire()
        for session in self._sessions:
            if _is_same(session.cookie, cookie) & _is_same(session.key, key):
                if is_use:
                    session.used = self._clock()
                return session
        return None

    def end_all(self) -> None:
        self._links.clear()
        self._sessions.clear()

    def seconds_left(self) -> float | None:
        """Seconds until the next link or session expires; None if none is left."""
        self._expire()
        ends = [created + LINK_SECONDS for created in self._links.values()]
        ends += [session.used + self._idle_s for session in self._sessions]
        return min(ends) - self._clock() if ends else None

    def _expire(self) -> None:
        now = self._clock()
        self._links = {token: created for token, created in self._links.items() if now < created + LINK_SECONDS}
        self._sessions = [session for session in self._sessions if now < session.used + self._idle_s]


def _is_same(secret: str, candidate: str) -> bool:
    return hmac.compare_digest(secret.encode(), candidate.encode("utf-8", "surrogateescape"))
