"""One call of a model on its way, which can be broken off from outside.

The thread that makes the call sits in a socket and hears nothing. A second one looks a few times a second whether it
was cancelled or is late, and then shuts its sockets down, which wakes the first at once. `client_arguments` hooks into
an httpx client (httpx or httpx2) for that: it notes every socket that a call opens, and stops reading where a server
sends without end.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

from memory.errors import ModelCancelledError, ModelError, ModelTimeoutError

LOOK_SECONDS = 0.1
MOST_BYTES = 64 << 20  # that a server may send in one call

T = TypeVar("T")

_current: ContextVar[Call | None] = ContextVar("call", default=None)


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: until the first word, between two words, and in all."""

    first_s: float
    next_s: float
    total_s: float


class Call:
    """A context manager around one call."""

    def __init__(self, limits: Limits, cancelled: Callable[[], bool] | None = None) -> None:
        self._limits = limits
        self._cancelled = cancelled or (lambda: False)
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.reason: ModelError | None = None  # why it was broken off

    def __enter__(self) -> Call:
        self.began = time.monotonic()
        self._end = self.began + self._limits.total_s
        self._due = min(self._end, self.began + self._limits.first_s)
        self._thread = threading.Thread(target=self._watch, name="model call", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def stream(self, items: Iterator[T]) -> Iterator[T]:
        """`items`, each of which gives the server time for the next one."""
        while True:
            token = _current.set(self)
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                _current.reset(token)
            self._due = min(self._end, time.monotonic() + self._limits.next_s)
            yield item

    def wait(self, seconds: float) -> None:
        """Waits before another try. ModelCancelledError, ModelTimeoutError."""
        self._due = min(self._end, time.monotonic() + seconds + self._limits.first_s)
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, LOOK_SECONDS))
        self.check()

    def check(self) -> None:
        """Raises why it was broken off, if it was."""
        if self.reason is None and self._cancelled():
            self.reason = ModelCancelledError("The question to the model was cancelled.")
        if self.reason:
            raise self.reason

    def cancel(self) -> None:
        """Breaks it off at once, from any thread."""
        self._break(ModelCancelledError("The question to the model was cancelled."))

    def note(self, sock: socket.socket) -> None:
        """A socket of this call."""
        with self._lock:
            self._sockets.append(sock)
            broken = self.reason is not None
        if broken:
            _shut(sock)

    def _watch(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            if self._cancelled():
                self.cancel()
            elif time.monotonic() > self._due:
                late = time.monotonic() - self.began
                self._break(ModelTimeoutError(f"The model had not answered after {late:.0f} s. Try a smaller one."))
            else:
                continue
            return

    def _break(self, reason: ModelError) -> None:
        with self._lock:
            self.reason = self.reason or reason
            sockets = list(self._sockets)
        for sock in sockets:
            _shut(sock)


def client_arguments(base: type) -> dict[str, Any]:
    """Arguments for an httpx client whose calls can be broken off. `base` is its SyncByteStream."""

    def limit(response: Any) -> None:
        response.stream = type("Limited", (_Limited, base), {})(response.stream)

    return {"event_hooks": {"request": [_trace], "response": [limit]}}


class _Limited:
    """The stream of a response; ends with an error where a server sends too much."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        count = 0
        for data in self._inner:
            count += len(data)
            if count > MOST_BYTES:
                raise OSError("the server sends without end")
            yield data

    def close(self) -> None:
        self._inner.close()


def _trace(request: Any) -> None:
    if call := _current.get():
        request.extensions = {**request.extensions, "trace": lambda event, info: _seen(call, event, info)}


def _seen(call: Call, event: str, info: dict[str, Any]) -> None:
    if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
        sock = info["return_value"].get_extra_info("socket")
        if isinstance(sock, socket.socket):
            call.note(sock)


def _shut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)  # of the socket itself, also where TLS is spoken over it
