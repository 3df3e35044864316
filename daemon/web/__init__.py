"""Access control for the page's port, which every program of this machine and every page in a browser can reach: the
exact host, against DNS rebinding; the page's own origin, against other pages; a session, against other programs; and
only those calls of the API that the page needs.

    GET  /, /app.js, ...       the page's files, without personal data
    POST /session              a token out of a link, which works once -> the session's cookie and key
    ...  /api/...              the API

A session has two secrets. The browser sends the cookie to every port of this machine, so another user's server could
receive it; the page keeps the key for its own port. Each is useless without the other, and both end with the daemon.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from daemon import wire
from daemon.api.routing import fail, read_body

LINK_SECONDS = 120.0  # within which a link must be opened
MAX_LINKS = 8  # that wait to be opened; the oldest goes
MAX_SESSIONS = 16  # the one that was not used for longest goes
STATIC = Path(__file__).with_name("static")
API = "/api"
KEY = "x-palimpsest-key"
ON_ITS_OWN = "x-palimpsest-background"  # sent with the page's requests while the user is idle
TOKEN_BYTES = 1024  # of the request that brings a token
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# What the page may ask. Nothing here reads a path that the page names, forgets anything but what was told last, shows
# secrets, changes settings or ends the daemon: whoever got into the page could not, either.
ALLOWED = {
    "GET": re.compile(
        r"/(hello|status|home|suggestions|names|graph|object|note|facts|history|revisions(/\d+)?"
        r"|search/(objects|facts|notes)|episodes/\d+|traces/\d+(/why|/whynot)?|conversations(/\d+)?)"
    ),
    "POST": re.compile(r"/(ask|told(/undo)?|conversations|traces/\d+/feedback|revisions/\d+)"),
}
WRONG_HOST = wire.Failed("forbidden", "This page is served at 127.0.0.1 only.", "Open it again: pal web")
WRONG_ORIGIN = wire.Failed("forbidden", "Other pages may not read this memory.")
NO_SESSION = wire.Failed("no_session", "This session has ended, or belongs to another browser.", "pal web")
USED = wire.Failed("no_session", "This link was used already, or is older than two minutes.", "pal web")
ELSEWHERE = wire.Failed("forbidden", "This cannot be done from the page.", "Use `pal` in a terminal.")


@dataclass
class WebSession:
    """A browser's session. `used`: its last use, by the clock of its `WebSessions`."""

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
        """Returns a token that opens one session."""
        self._expire()
        token = secrets.token_urlsafe(32)
        self._links[token] = self._clock()
        while len(self._links) > MAX_LINKS:
            del self._links[next(iter(self._links))]
        return token

    def exchange(self, token: str) -> WebSession | None:
        """Exchanges a token for a session once; None for an invalid token."""
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
        """Returns the open session of these two secrets; `is_use`: a person acts, which keeps it open."""
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
        """Returns the seconds until the next link or session expires; None without one."""
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


@dataclass
class Guard:
    """The application on the page's port. `hosts`: its host names, each with the port; `when_used` is called with the
    token of a link that became a session."""

    api: ASGIApp
    sessions: WebSessions
    hosts: frozenset[str]
    when_used: Callable[[str], None]

    def __post_init__(self) -> None:
        self._files = StaticFiles(directory=STATIC, html=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        path: str = scope["path"]
        is_file = path != "/session" and not path.startswith(f"{API}/")

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                out.update(HEADERS)
                out.setdefault("Cache-Control", "no-cache" if is_file else "no-store")
            await send(message)

        answer: ASGIApp
        if headers.getlist("host") != [headers.get("host")] or headers.get("host") not in self.hosts:
            answer = fail(WRONG_HOST)
        elif path == "/session":
            answer = await self._begin_session(scope, headers, receive)
        elif path.startswith(f"{API}/"):
            answer = self._let_through(scope, headers)
            path = path.removeprefix(API)
            scope = {**scope, "path": path, "raw_path": path.encode("utf-8", "surrogateescape")}
        elif scope["method"] in ("GET", "HEAD"):
            answer = await self._find_file(path, scope)
        else:
            answer = fail(wire.Failed("not_allowed", f"{scope['method'][:20]} is not for the page."))
        await answer(scope, receive, send_guarded)

    async def _find_file(self, path: str, scope: Scope) -> Response:
        try:
            return await self._files.get_response(self._files.get_path(scope), scope)
        except HTTPException:
            return fail(wire.Failed("not_found", f"There is no {path[:80]} on the page."))

    def _let_through(self, scope: Scope, headers: Headers) -> ASGIApp:
        """Returns the API, or the refusal."""
        if not _is_own(scope["method"], headers):
            return fail(WRONG_ORIGIN)
        if self._session(headers) is None:
            return fail(NO_SESSION)
        pattern = ALLOWED.get(scope["method"])
        if pattern is None or not pattern.fullmatch(scope["path"].removeprefix(API)):
            return fail(ELSEWHERE)
        return self.api

    async def _begin_session(self, scope: Scope, headers: Headers, receive: Receive) -> Response:
        if not _is_own(scope["method"], headers):
            return fail(WRONG_ORIGIN)
        if scope["method"] != "POST":
            return fail(wire.Failed("not_allowed", "Create a session with POST."))
        token = await _read_token(receive)
        session = self.sessions.exchange(token)
        if session is None:
            return fail(USED)
        self.when_used(token)
        response = JSONResponse({"key": session.key})
        response.set_cookie(_cookie_name(headers), session.cookie, path=API, httponly=True, samesite="strict")
        return response

    def _session(self, headers: Headers) -> WebSession | None:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:  # which another port of this machine may have set
            return None
        cookie = cookies.get(_cookie_name(headers))
        key = headers.get(KEY, "")
        return self.sessions.find(cookie.value, key, is_use=ON_ITS_OWN not in headers) if cookie else None


def _is_own(method: str, headers: Headers) -> bool:
    """Whether the page itself sent the request, according to the browser's headers; required for changes."""
    origins = headers.getlist("origin")
    allowed = [[f"http://{headers['host']}"]] + ([[]] if method in ("GET", "HEAD") else [])
    return origins in allowed and headers.get("sec-fetch-site", "same-origin") == "same-origin"


def _cookie_name(headers: Headers) -> str:
    """Returns a cookie name with the port: cookies belong to a machine, and the pages of two memories need two
    names."""
    return f"palimpsest-{headers['host'].rpartition(':')[2]}"


async def _read_token(receive: Receive) -> str:
    """Returns the token in a request's body; "" without one."""
    body = await read_body(receive, TOKEN_BYTES) or b""
    try:
        token = json.loads(body[: TOKEN_BYTES + 1])["token"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""
    return token if isinstance(token, str) else ""
