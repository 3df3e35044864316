"""One running call of a model: its progress, and how to interrupt it.

The calling thread blocks in a socket. A second thread checks a few times a second whether the call was cancelled or is
late, and then shuts its sockets down, which wakes the first at once. For that, `client_arguments` hooks into an httpx
client (httpx or httpx2): it records every socket that a call opens, and limits how much a server may send. Nothing is
sent to another user's program on this machine. A model's reasoning is removed from its reply."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from memory.errors import (
    MalformedOutputError,
    ModelCancelledError,
    ModelError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from memory.llm import Reply

LOOK_SECONDS = 0.1
MOST_BYTES = 64 << 20  # that a server may send in one call
MOST_CHARS = 1 << 20  # of a reply
LOOP_CHARS, COUNTED_CHARS = 600, 1_200  # at the end of a reply without any other text: a loop

T = TypeVar("T")

_current: ContextVar[Call | None] = ContextVar("call", default=None)

OPEN, CLOSE = "<think>", "</think>"  # around the thoughts that some models write before their answer
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LISTENS = "0A"  # state of a socket
REACHED = ("00000000", "0100007F", "0" * 32, f"{'0' * 24}01000000")  # local addresses that a client here may reach
FIRST_PERSON, NOBODY = 1000, 65534  # user ids: below are services that root has installed
OTHERS = "belongs to another user of this machine"


class Call:
    """A context manager around one call. `text` and `reply` are the output of the current attempt, `spent` that of
    interrupted attempts."""

    def __init__(self, limits: tuple[float, float, float], cancelled: Callable[[], bool]) -> None:
        """`limits` are those of `plugins.llms.Backend`."""
        self._first_s, self._next_s, self._total_s = limits
        self._cancelled = cancelled
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.reason: ModelError | None = None  # why it was broken off
        self.text = self.spent = ""
        self._looked = 0  # length of the text at which it was last looked for a loop
        self.reply: Reply | None = None
        self.first_s = 0.0  # until it began to write

    def __enter__(self) -> Call:
        self.began = time.monotonic()
        self._end = self.began + self._total_s
        self._due = min(self._end, self.began + self._first_s)
        self._thread = threading.Thread(target=self._watch, name="model call", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def stream(self, items: Iterator[T]) -> Iterator[T]:
        """Yields `items`; each one extends the deadline for the next."""
        while True:
            token = _current.set(self)
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                _current.reset(token)
            self._due = min(self._end, time.monotonic() + self._next_s)
            yield item

    def hear(self, item: str | Reply) -> None:
        """Adds the next item. MalformedOutputError, with the text, if the output does not end."""
        self.first_s = self.first_s or time.monotonic() - self.began
        if isinstance(item, Reply):
            self.reply = item
            return
        self.text += item
        if len(self.text) > MOST_CHARS:
            raise MalformedOutputError("The model writes without end; it was stopped.", self.text[:10_000])
        if len(self.text) >= self._looked + LOOP_CHARS // 2:
            self._looked = len(self.text)
            if is_loop(self.text):
                raise MalformedOutputError("The model repeats itself; it was stopped.", self.text)

    def begin_again(self) -> None:
        """Starts another attempt; the output of the last one only counts as usage."""
        self.spent += self.text
        self.text, self.reply, self._looked = "", None, 0

    def wait(self, seconds: float) -> None:
        """Waits before another attempt. ModelCancelledError, ModelTimeoutError."""
        self._due = min(self._end, time.monotonic() + seconds + self._first_s)
        deadline = time.monotonic() + seconds
        while (seconds_left := deadline - time.monotonic()) > 0:
            self.check()
            time.sleep(min(seconds_left, LOOK_SECONDS))
        self.check()

    def check(self) -> None:
        """Raises the reason if the call was interrupted."""
        if self.reason is None and self._cancelled():
            self.reason = ModelCancelledError("The question to the model was cancelled.")
        if self.reason:
            raise self.reason

    def cancel(self) -> None:
        """Interrupts the call at once. Thread-safe."""
        self._break(ModelCancelledError("The question to the model was cancelled."))

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Records the sockets of this call (httpcore's extension `trace`)."""
        if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            return
        self._hold(info["return_value"].get_extra_info("socket"))

    def _hold(self, sock: socket.socket) -> None:
        """Adds a socket of this call, to shut it down on an interruption."""
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


def client_arguments(httpx: Any, url: str, limits: tuple[float, float, float], connect_s: float) -> dict[str, Any]:
    """Returns arguments for a client of `httpx` (or httpx2) whose calls can be interrupted; `limits` are those of a
    Backend. ModelUnavailableError if another user's program answers there."""
    refuse_other_user(url)

    def limit(response: Any) -> None:
        is_plain = response.headers.get("content-encoding", "identity") == "identity"
        if not is_plain and response.request.headers.get("accept-encoding") == "identity":
            raise OSError("the server compressed its reply, which was not asked for")
        rewrite_stream(httpx, response, _limit_chunks)

    return {
        "timeout": httpx.Timeout(max(limits[:2]) + 1, connect=connect_s),  # the call itself ends it before that
        "verify": url.startswith("https:"),  # loading certificates takes 50 ms
        "follow_redirects": False,
        "limits": httpx.Limits(max_keepalive_connections=0),  # a call must know its own socket
        "event_hooks": {"request": [_trace], "response": [limit]},
    }


def to_int(value: Any) -> int:
    """Returns a number in a reply; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def shorten_reason(text: str) -> str:
    """Shortens a server's error message to a line of 200 characters."""
    return (text.strip().splitlines() or ["no reason given"])[0][:200]


def is_loop(text: str) -> bool:
    """Whether a text ends in an endless repetition, a failure of small models. Words that only count up ("Juno_1",
    "Juno_2") are equal, but must be short and more frequent, because rows of a table look similar."""
    counted = re.sub(r"\d+", "0", text[-4 * COUNTED_CHARS :])
    return repeats(text, 100, 6, LOOP_CHARS) or repeats(counted, 40, 24, COUNTED_CHARS)


def repeats(text: str, longest: int, times: int, chars: int = 0) -> bool:
    """Whether a text ends with a string of at most `longest` characters, repeated at least `times` in a row and over at
    least `chars` characters."""
    return any(text.endswith(text[-n:] * max(times, -(-chars // n))) for n in range(1, min(longest, len(text)) + 1))


def rewrite_stream(httpx: Any, response: Any, rewrite: Callable[[Iterable[bytes]], Iterator[bytes]]) -> None:
    """Lets a response of `httpx` (or httpx2) yield its body rewritten."""
    inner = response.stream

    class Rewritten(httpx.SyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            return rewrite(inner)

        def close(self) -> None:
            inner.close()

    response.stream = Rewritten()


def _limit_chunks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Raises an error if a server sends too much."""
    count = 0
    for data in chunks:
        count += len(data)
        if count > MOST_BYTES:
            raise OSError("the server sends without end")
        yield data


def _trace(request: Any) -> None:
    if call := _current.get():
        request.extensions = {**request.extensions, "trace": call.trace}


def _shut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)  # of the socket itself, also where TLS is spoken over it


def find_json(text: str, thought: str) -> str:
    """Returns the reply's JSON from text or thought: servers confuse the two."""
    if not text.strip() and thought.lstrip().startswith("{"):
        return thought
    return text if text.lstrip().startswith("{") else text.rpartition(CLOSE)[2]


def without_thoughts(pieces: Iterable[str]) -> Iterator[str]:
    """Yields the pieces of a text without the reasoning before it, `<think>...</think>`."""
    pieces = iter(pieces)
    buffer = ""
    for piece in pieces:
        buffer += piece
        start = buffer.lstrip()
        if len(start) >= len(OPEN) or not OPEN.startswith(start):
            break
    if buffer.lstrip().startswith(OPEN):
        while CLOSE not in buffer:
            if (more := next(pieces, None)) is None:
                return
            buffer = buffer[-len(CLOSE) :] + more
        buffer = buffer.partition(CLOSE)[2].lstrip()
        while not buffer:
            if (more := next(pieces, None)) is None:
                return
            buffer = more.lstrip()
    yield from filter(None, itertools.chain([buffer], pieces))


def refuse_other_user(url: str) -> None:
    """ModelUnavailableError if another user's program listens on this URL's port on this machine. Linux only: other
    systems do not tell."""
    parts = urlsplit(url)
    if parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        return
    addresses = [f"{address}:{parts.port or 80:04X}" for address in REACHED]
    for table in TABLES:
        users = [user for address, user in _list_listeners(table) if address in addresses]
        persons = (user for user in users if FIRST_PERSON <= user != os.getuid() and user != NOBODY)
        if user := next(persons, None):
            raise ModelUnavailableError(
                f"What listens on {url} {OTHERS} (user {user}), so nothing is sent to it. Run your own server on"
                " another port and name its address: pal config set ollama.host ADDRESS",
                lasting=True,
            )
        if users and parts.hostname == "127.0.0.1":  # its port is taken, for the other table, too
            return


def _list_listeners(table: Path) -> Iterator[tuple[str, int]]:
    """Yields (address with its port, user id) of the sockets that listen. The kernel lists these before all others,
    which it writes only for who reads on: they are most of the lines, and most of the time."""
    with contextlib.suppress(OSError), table.open("rb", buffering=256) as lines:
        next(lines, None)
        for line in lines:
            _, address, _, state, _, _, _, user, *_ = line.decode("ascii").split()
            if state != LISTENS:
                return
            yield address, int(user)
