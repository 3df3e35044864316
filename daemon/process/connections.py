"""Limits on connections before there is a request: their owner, their number, and their time.

A connection that sends no complete request within `daemon.request_s` gets an error and is closed. Above the limit, the
connection that has waited longest without a complete request is closed, so a new one is always accepted.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from daemon import wire
from daemon.api.gate import fail

log = logging.getLogger(__name__)

STALL_SECONDS = 60.0  # for which a client may leave unread what it is sent
LOCAL_PEERCRED = 1  # macOS, FreeBSD: <sys/un.h>; the uid is the second number of what it tells


class Connection(H11Protocol):
    """One client's connection. `most` and `request_s` are set for a server by `limit_connections`."""

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
        """Whether no whole request is here that is still to be answered."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _watch(self) -> None:
        """From the moment in which a request may begin it has `request_s` to be whole."""
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
        """Sends the reason and closes, without the application."""
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
    """A listening socket. asyncio disables Nagle's algorithm only if the protocol is given as TCP; otherwise the end of
    a reply waits some 40 ms for the client's acknowledgement."""
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)


def limit_connections(most: int, request_s: float) -> type[Connection]:
    """The connection class of one server."""
    return type("LimitedConnection", (Connection,), {"most": most, "request_s": request_s, "refused": set()})


def peer_uid(sock: Any) -> int | None:
    """The user at the other end; None for the page's port."""
    if sock is None or sock.family != socket.AF_UNIX:
        return None
    if hasattr(socket, "SO_PEERCRED"):
        return int(struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
    return int(struct.unpack_from("2I", sock.getsockopt(0, LOCAL_PEERCRED, 80))[1])
