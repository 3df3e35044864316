"""A request to the daemon and its reply, over its socket: HTTP/1.0 by hand, standard library only, cheap to import.

Each request has its own connection. A stream is an iterator of events that ends by itself or with `close()`, which any
thread may call. What goes wrong is

    DaemonError       the daemon answered that it could not do it; `failed` has the code, the reason and the remedy
    DaemonDownError   nobody answers, or the connection broke off
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import threading
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from daemon import wire
from daemon.paths import Paths

if TYPE_CHECKING:
    import socket  # 4 ms, which `pal ask --help` need not pay
    from pathlib import Path

T = TypeVar("T")

LINE_BYTES = 65_536  # of the head of a reply
FAILED, END = b'{"type": "Failed"', b'{"type":"end"'  # how the last line of an export begins
LONGEST_WAIT = 5.0  # seconds that a daemon which has no time may ask for
BLOCKED_SECONDS = 5.0  # after which a daemon that does nothing else is called busy
PATIENCE_SECONDS = 120.0  # in which a hundred questions at once are answered


class DaemonError(Exception):
    """The daemon answered with an error."""

    def __init__(self, failed: wire.Failed) -> None:
        super().__init__(" ".join(filter(None, [failed.message, failed.remedy])))
        self.failed = failed


class DaemonDownError(Exception):
    """No daemon answers, or the connection broke; the message has a remedy. `code`: the exit code of a daemon that
    could not start."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


def send(paths: Paths, method: str, url: str, fields: dict[str, Any] | None, timeout: float | None) -> Response:
    """Sends a request with these fields in its body, or without a body; returns its successful, unread reply. A busy
    daemon says when to retry; retries for PATIENCE_SECONDS."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (response := _exchange(paths, method, url, fields, timeout)).retry_after is not None:
        if time.monotonic() > deadline:
            break
        response.close()
        import random  # 17 ms

        time.sleep(min(response.retry_after, LONGEST_WAIT) * random.uniform(0.5, 1.0))  # not all of them at once
    if response.status >= 400:
        with response:
            raise DaemonError(_read_failure(response))
    return response


def _exchange(paths: Paths, method: str, url: str, fields: dict[str, Any] | None, timeout: float | None) -> Response:
    body = b"" if fields is None else json.dumps(wire.encode(fields)).encode("ascii")
    sock: socket.socket | None = None
    try:
        sock = _dial(paths, timeout)
        headers = {"Host": "localhost"}
        if body:
            headers |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        lines = [f"{method} {url} HTTP/1.0", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused before all was sent: it says why
            sock.sendall("\r\n".join(lines).encode("ascii") + body)
        _await_reply(sock, paths, timeout)
        return Response(sock)
    except (OSError, ValueError) as error:
        if sock is not None:
            sock.close()
        if isinstance(error, FileNotFoundError | ConnectionRefusedError):
            raise DaemonDownError("No daemon is running. Start it with `pal daemon start`.") from error
        raise DaemonDownError(f"The daemon does not answer ({error}). Look into {paths.log}.") from error


def _await_reply(sock: socket.socket, paths: Paths, timeout: float | None) -> None:
    """Waits for the reply to begin. DaemonError if the daemon's event loop is blocked; TimeoutError."""
    began = time.monotonic()
    while not select.select([sock], [], [], BLOCKED_SECONDS)[0]:
        if what := _read_busy(paths.stacks):
            raise DaemonError(wire.Failed("busy", f"The daemon is busy with {what}.", f"Details: {paths.stacks}"))
        if timeout and time.monotonic() - began > timeout:
            raise TimeoutError("timed out")


def _read_busy(stacks: Path) -> str:
    """Returns the function that blocks the daemon's main thread, the last one in the file; "" while the loop is
    free."""
    try:
        *_, main = stacks.read_text("utf-8", "replace").split("most recent call first")
    except OSError:
        return ""
    line = next((line for line in main.splitlines() if line.startswith("  File ")), "")
    return line.rpartition(" in ")[2]


class Response:
    """A reply in HTTP/1.0: status, seconds until a retry if given, and a body up to the end of the connection.
    http.client would take a third of the time of a whole command to import."""

    def __init__(self, sock: socket.socket) -> None:
        """Reads up to the body. OSError, or ValueError for invalid HTTP."""
        self.socket = sock
        self._file = sock.makefile("rb")
        protocol, _, rest = self._file.readline(LINE_BYTES).partition(b" ")
        if not protocol.startswith(b"HTTP/1."):
            raise ValueError("no reply" if not protocol else "no HTTP reply")
        self.status = int(rest[:3])
        self.retry_after: float | None = None
        while line := self._file.readline(LINE_BYTES).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"retry-after":
                self.retry_after = float(value)

    def read(self) -> bytes:
        return self._file.read()

    def readline(self) -> bytes:
        return self._file.readline()

    def interrupt(self) -> None:
        """Wakes the reading thread, which then sees the end."""
        import socket

        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._file.close()
        self.socket.close()

    def __enter__(self) -> Response:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Replies(ABC, Generic[T]):
    """The lines of one request as they come. An iterator that ends by itself or with `close`, and a context manager.
    The `last` line begins with this; without it a stream may end at any line.

    Raises DaemonError where the daemon sends Failed, DaemonDownError where it goes away before the last line.
    """

    def __init__(self, response: Response, last: bytes) -> None:
        self._response, self._last = response, last
        self._is_closed = False
        self._reading = threading.Lock()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        if self._is_closed:
            raise StopIteration
        with self._reading:
            try:
                line, reason = self._response.readline(), "the stream was interrupted"
            except (OSError, ValueError) as error:
                line, reason = b"", str(error)
        is_over = self._is_closed or not self._last
        is_whole = line.endswith(b"\n")
        if not is_whole or line.startswith((FAILED, self._last or FAILED)):
            self.close()
        if is_whole and line.startswith(FAILED):
            raise DaemonError(cast("wire.Failed", wire.parse_event(line)))
        if is_whole:
            return self._decode(line)
        if is_over:
            raise StopIteration
        raise DaemonDownError(f"The daemon ended while it answered ({reason}). Try again.")

    @abstractmethod
    def _decode(self, line: bytes) -> T:
        """Returns what a line contains."""

    def close(self) -> None:
        """Ends the stream; a thread that waits for its next line gets StopIteration."""
        self._is_closed = True
        self._response.interrupt()
        with self._reading:
            self._response.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Stream(Replies["wire.Event"]):
    """The events of one request; the last is one of the type called `ends`, "" for a stream without an end."""

    def __init__(self, response: Response, ends: str) -> None:
        super().__init__(response, f'{{"type": "{ends}"'.encode() if ends else b"")

    def _decode(self, line: bytes) -> wire.Event:
        return wire.parse_event(line)


class Lines(Replies[bytes]):
    """The lines of an export, each with its line feed, undecoded; to be closed if it is not read to its end."""

    def __init__(self, response: Response) -> None:
        super().__init__(response, END)

    def _decode(self, line: bytes) -> bytes:
        return line


def _dial(paths: Paths, timeout: float | None) -> socket.socket:
    """Connects to the daemon."""
    import socket

    if paths.socket.stat().st_uid != os.getuid():
        raise PermissionError(f"{paths.socket} belongs to another user")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout)
        sock.connect(os.fspath(paths.socket))
    except OSError:
        sock.close()
        raise
    return sock


def _read_failure(response: Response) -> wire.Failed:
    try:
        return wire.decode(wire.Failed, json.loads(response.read()))
    except (OSError, ValueError):
        return wire.Failed("internal", f"The daemon answered {response.status} without a reason.", "See its log.")
