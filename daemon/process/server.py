"""The socket and the HTTP server on it, and a watch over the loop that serves."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import uvicorn
from starlette.types import ASGIApp

from daemon.api.gate import IN_FLIGHT, LISTENERS
from daemon.client.connection import BLOCKED_SECONDS
from daemon.config.settings import DaemonSettings
from daemon.paths import OwnFile, Paths, private_folder
from daemon.process.connections import limit_connections

CLOSE_SECONDS = 3  # for replies that are still being sent when all work has ended
HEAD_BYTES = 16 << 10  # of a request
AT_ONE_GO = 16  # connections that are let in before any of them is looked at
QUEUE = 1024  # further connections are asked to retry
WAITING = 16  # connections in addition to the served ones: new ones, and those without a complete request
BEAT_SECONDS = 1.0


class Server(uvicorn.Server):
    """Serves from `serve` on: calls `begin` when requests are answered, and ends after `until` and then `drain`."""

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
        """The daemon has its own handlers."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """The event loop also uses the backlog as the number of connections to accept at once."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(QUEUE)

    async def main_loop(self) -> None:
        """Waits, where uvicorn looks ten times a second whether it should stop."""
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


class Address(NamedTuple):
    """Where a daemon listens: the bound socket and its file, which the daemon removes when it ends."""

    listener: socket.socket
    file: OwnFile


def listen(paths: Paths) -> Address:
    """Binds the address. Call it with the lock: an existing socket then belongs to a killed daemon."""
    private_folder(paths.socket.parent)
    paths.socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # bound with 0600: no other user can ever connect
    try:
        listener.bind(str(paths.socket))
    finally:
        os.umask(before)
    return Address(listener, OwnFile(paths.socket))


log = logging.getLogger(__name__)


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
