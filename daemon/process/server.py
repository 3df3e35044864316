"""Where the daemon listens, and the limits on connections before there is a request: owner, number and time.

A connection that sends no complete request within `daemon.request_s` gets an error and is closed. Above the limit, the
connection that has waited longest without a complete request is closed, so a new one is always accepted.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import signal
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from daemon import wire
from daemon.api.routing import IN_FLIGHT, LISTENERS, fail
from daemon.client.connection import BLOCKED_SECONDS
from daemon.config.settings import DaemonSettings
from daemon.paths import OwnFile, Paths, private_folder

log = logging.getLogger(__name__)

STALL_SECONDS = 60.0  # for which a client may leave unread what it is sent
LOCAL_PEERCRED = 1  # macOS, FreeBSD: <sys/un.h>; the uid is the second number of what it tells
CLOSE_SECONDS = 3  # for replies that are still being sent when all work has ended
HEAD_BYTES = 16 << 10  # of a request
AT_ONE_GO = 16  # connections that are let in before any of them is looked at
QUEUE = 1024  # further connections are asked to retry
WAITING = 16  # connections in addition to the served ones: new ones, and those without a complete request
BEAT_SECONDS = 1.0


class Connection(H11Protocol):
    """A client's connection. `limit_connections` sets `most` and `request_s` for a server."""

    most = 64
    request_s = 10.0
    refused: set[int | None]  # users that were turned away, each logged once

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._since = self.loop.time()
        self._late: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        if self._is_foreign():
            transport.abort()
            return
        self._watch()
        peers = [peer for peer in self.connections if isinstance(peer, Connection) and not peer.transport.is_closing()]
        if len(peers) > self.most and (waiting := [peer for peer in peers if peer._is_receiving]):
            min(waiting, key=lambda peer: peer._since)._drop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        self.resume_writing()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(STALL_SECONDS, self._drop)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def send_400_response(self, msg: str) -> None:
        self._refuse(wire.Failed("bad_input", "This is not an HTTP request, or its head is too large."))

    @property
    def _is_receiving(self) -> bool:
        """Whether no complete request is waiting to be answered."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _watch(self) -> None:
        """Starts the time limit: the next request must be complete within `request_s`."""
        if not self._is_receiving:
            self._cancel()
        elif self._late is None and not self.transport.is_closing():
            self._late = self.loop.call_later(self.request_s, self._give_up)

    def _cancel(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is not None and self.cycle.response_started:
            if not self.cycle.response_complete:
                self._drop()  # another reply is being sent
                return
            if not self.conn.trailing_data[0]:
                self.transport.close()  # it has been answered, and asks nothing more
                return
        self._refuse(wire.Failed("late", f"The request was incomplete after {self.request_s:g} s.", "Send it at once."))

    def _refuse(self, problem: wire.Failed) -> None:
        """Sends the reason and closes the connection, without calling the application."""
        response = fail(problem)
        head = [f"HTTP/1.1 {response.status_code} {problem.code}".encode()]
        head += [name + b": " + value for name, value in response.raw_headers]
        self.transport.write(b"\r\n".join([*head, b"Connection: close", b"", b""]) + bytes(response.body))
        self.transport.close()

    def _drop(self) -> None:
        self.transport.abort()

    def _is_foreign(self) -> bool:
        """Whether another user connected: the mode of the socket decides who may open it, but modes can be changed."""
        uid = peer_uid(self.transport.get_extra_info("socket"))
        if uid is None or uid == os.getuid():
            return False
        if uid not in self.refused:
            self.refused.add(uid)
            log.warning("refused user %d, who can open the socket: its mode or its folder's was changed", uid)
        return True


def open_tcp(family: int = socket.AF_INET) -> socket.socket:
    """Returns a listening socket. asyncio disables Nagle's algorithm only if the protocol is given as TCP; otherwise
    the end of a reply waits some 40 ms for the client's acknowledgement."""
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)


def limit_connections(most: int, request_s: float) -> type[Connection]:
    """Returns the connection class of one server."""
    return type("LimitedConnection", (Connection,), {"most": most, "request_s": request_s, "refused": set()})


def peer_uid(sock: Any) -> int | None:
    """Returns the user id of the peer; None for the page's port."""
    if sock is None or sock.family != socket.AF_UNIX:
        return None
    if hasattr(socket, "SO_PEERCRED"):
        return int(struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
    return int(struct.unpack_from("2I", sock.getsockopt(0, LOCAL_PEERCRED, 80))[1])


class Server(uvicorn.Server):
    """Serves from `serve` on: calls `begin` once requests are answered, and ends after `until` and then `drain`."""

    def __init__(
        self,
        app: ASGIApp,
        settings: DaemonSettings,
        begin: Callable[[], None],
        until: Callable[[], Awaitable[object]],
        drain: Callable[[], None],
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="asyncio",
                http=limit_connections(IN_FLIGHT + LISTENERS + WAITING, settings.request_s),
                h11_max_incomplete_event_size=HEAD_BYTES,
                backlog=AT_ONE_GO,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                date_header=False,
                server_header=False,
                timeout_graceful_shutdown=CLOSE_SECONDS,
            )
        )
        self._begin = begin
        self._until = until
        self._drain = drain

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Keeps the daemon's own signal handlers."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Raises the backlog; the event loop also uses it as the number of connections to accept at once."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(QUEUE)

    async def main_loop(self) -> None:
        """Waits for the end; uvicorn would poll ten times a second."""
        self._begin()
        await self._until()
        for server in self.servers:
            server.close()
        await asyncio.to_thread(self._drain)


@contextlib.contextmanager
def wake_by_signals() -> Iterator[None]:
    """Wakes the running event loop on every signal. Otherwise a signal just before the loop sleeps would be handled
    only with the next event, which may be hours away."""
    loop = asyncio.get_running_loop()
    reader, writer = socket.socketpair()
    with reader, writer:
        for end in (reader, writer):
            end.setblocking(False)
        loop.add_reader(reader, reader.recv, 64)
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(reader)


def listen(paths: Paths) -> tuple[socket.socket, OwnFile]:
    """Binds the address: the socket, and its file, which the daemon removes when it ends. Call it with the lock: an
    existing socket then belongs to a killed daemon."""
    private_folder(paths.socket.parent)
    paths.socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # bound with 0600: no other user can ever connect
    try:
        listener.bind(str(paths.socket))
    finally:
        os.umask(before)
    return listener, OwnFile(paths.socket)


async def watch_loop(stacks: Path) -> None:
    """Keeps `stacks` empty while the running loop is free. What blocked it is logged afterwards."""
    with os.fdopen(os.open(stacks, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+", encoding="utf-8") as file:
        try:
            while True:
                began = time.monotonic()
                faulthandler.dump_traceback_later(BLOCKED_SECONDS, file=file)  # in place of the one before
                await asyncio.sleep(BEAT_SECONDS)
                file.seek(0)
                if text := file.read():
                    log.error("the event loop was blocked for %.0f s:\n%s", time.monotonic() - began, text)
                    file.seek(0)
                    file.truncate()
        finally:
            faulthandler.cancel_dump_traceback_later()
            with contextlib.suppress(OSError):
                file.truncate(0)
