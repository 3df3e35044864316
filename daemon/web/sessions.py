"""Who may use the page: a link that works once, and the session that it becomes.

A session is known by two secrets. The cookie is sent by the browser to every port of this machine, so that another
user's server could be sent it; the key is kept by the page for its own port alone. Neither is worth anything without
the other, and both are gone with the daemon.
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
    """One browser that was let in. `used`: when it was used last, by the clock of its `WebSessions`."""

    used: float
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32))


class WebSessions:
    """The links that wait and the sessions that are open. Of one thread: the event loop's."""

    def __init__(self, idle_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._idle_s = idle_s
        self._clock = clock
        self._links: dict[str, float] = {}  # token -> when it was made
        self._sessions: list[WebSession] = []

    def __len__(self) -> int:
        """How many sessions are open."""
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
        """The session that a token opens, which is worth nothing from then on; None for one that opens none."""
        self._expire()
        known = next((one for one in self._links if _is_same(one, token)), None)
        if known is None:
            return None
        del self._links[known]
        while len(self._sessions) >= MAX_SESSIONS:
            self._sessions.remove(min(self._sessions, key=lambda one: one.used))
        session = WebSession(self._clock())
        self._sessions.append(session)
        return session

    def find(self, cookie: str, key: str, *, is_use: bool) -> WebSession | None:
        """The open session of these two secrets; `is_use`: a person does something, and it stays open."""
        self._expire()
        for one in self._sessions:
            if _is_same(one.cookie, cookie) & _is_same(one.key, key):
                if is_use:
                    one.used = self._clock()
                return one
        return None

    def end_all(self) -> None:
        self._links.clear()
        self._sessions.clear()

    def seconds_left(self) -> float | None:
        """When something ends next if nobody does anything; None if nothing is left that could."""
        self._expire()
        ends = [made + LINK_SECONDS for made in self._links.values()]
        ends += [one.used + self._idle_s for one in self._sessions]
        return min(ends) - self._clock() if ends else None

    def _expire(self) -> None:
        now = self._clock()
        self._links = {token: made for token, made in self._links.items() if now < made + LINK_SECONDS}
        self._sessions = [one for one in self._sessions if now < one.used + self._idle_s]


def _is_same(secret: str, given: str) -> bool:
    return hmac.compare_digest(secret.encode(), given.encode("utf-8", "surrogateescape"))
