"""The port of the web page: open from `pal web` until its last session ends, and bound to this machine."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket

from starlette.types import ASGIApp

from daemon import wire
from daemon.api.routing import IN_FLIGHT, Gate
from daemon.config.settings import Settings
from daemon.failures import ConflictError
from daemon.paths import OwnFile, Paths, write_opener
from daemon.process.server import Server, open_tcp
from daemon.web import WebSessions
from memory.errors import InvalidInputError

log = logging.getLogger(__name__)

FIRST_PORT, LAST_PORT = 1024, 65535
LEAST_WAIT_SECONDS = 1.0  # between two checks for open sessions


class Page:
    """The page's server. Used only by the event loop's thread. Listens after `open`."""

    def __init__(self, paths: Paths, settings: Settings) -> None:
        self._paths = paths
        self._settings = settings
        self._sessions = WebSessions(settings.daemon.page_idle_minutes * 60)
        self._app: ASGIApp | None = None
        self._server: asyncio.Task[None] | None = None
        self._is_closed = False
        self._woken = asyncio.Event()
        self._gate: Gate | None = None
        self._port = 0
        self._opens = ""  # the token that the opener has
        self._opener = OwnFile(paths.opener)

    def serve(self, app: ASGIApp) -> None:
        """Sets the application that answers the page."""
        self._app = app

    async def open(self, port: int | None) -> wire.PageLink:
        """Returns a new link to the page; opens the port if needed. ConflictError if the port is taken,
        InvalidInputError."""
        chosen = self._settings.daemon.page_port if port is None else port
        if chosen and not FIRST_PORT <= chosen <= LAST_PORT:
            raise InvalidInputError(f"port is {chosen}; choose one from {FIRST_PORT} to {LAST_PORT}, or 0 for any.")
        if self._server is not None and self._is_closed:
            await self.close()
        if self._server is None:
            self._listen(chosen)
        elif port and port != self._port:
            raise ConflictError(f"The page is open on port {self._port} already. To end that: pal web --stop")
        self._opens = self._sessions.create_link()
        url = f"http://127.0.0.1:{self._port}/#{self._opens}"
        opener = write_opener(self._paths, url)
        self._opener = OwnFile(self._paths.opener)
        return wire.PageLink(url, opener, self._port)

    async def close(self) -> bool:
        """Ends all sessions and closes the port; returns whether it was open."""
        server, self._server = self._server, None
        self.close_soon()
        if server is None:
            return False
        with contextlib.suppress(asyncio.CancelledError):
            await server
        return True

    def close_soon(self) -> None:
        self._sessions.end_all()
        self._opener.remove()
        self._is_closed = True
        self._woken.set()
        if self._gate is not None:
            self._gate.stopping = True

    def _listen(self, port: int) -> None:
        from daemon.web import Guard  # what serves files is imported by who opens the page

        assert self._app is not None
        listeners = _bind(port)
        self._port = listeners[0].getsockname()[1]
        hosts = {"127.0.0.1", "localhost"} | ({"[::1]"} if len(listeners) > 1 else set())
        self._gate = Gate(self._app, IN_FLIGHT)
        guard = Guard(
            self._gate, self._sessions, frozenset(f"{host}:{self._port}" for host in hosts), self._note_session
        )
        self._is_closed = False
        server = Server(guard, self._settings.daemon, lambda: None, self._wait, lambda: None)
        self._server = asyncio.create_task(server.serve(sockets=listeners))
        log.info("the page is open on port %d", self._port)

    async def _wait(self) -> None:
        """Waits until the page is closed or no session is left."""
        while not self._is_closed and (seconds := self._sessions.seconds_left()) is not None:
            self._woken.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), max(seconds, LEAST_WAIT_SECONDS))
        log.info("the page is closed")
        self.close_soon()

    def _note_session(self, token: str) -> None:
        """Counts a link that became a session, which may end before any link does."""
        if token == self._opens:
            self._opener.remove()
        self._woken.set()


def _bind(port: int) -> list[socket.socket]:
    """Binds a port of this machine over IPv4 and, if available, IPv6, so that no other program answers for `localhost`.
    ConflictError if it is taken."""
    first = open_tcp()
    first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a page that was just closed has its port back
    try:
        first.bind(("127.0.0.1", port))
    except OSError as error:
        first.close()
        if error.errno == errno.EADDRINUSE:
            raise ConflictError(f"Port {port} is taken. Choose another one, or any: pal web --port 0") from error
        raise
    second = None
    try:
        second = open_tcp(socket.AF_INET6)
        second.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        second.bind(("::1", first.getsockname()[1]))
    except OSError:
        if second is not None:
            second.close()
        return [first]
    return [first, second]
