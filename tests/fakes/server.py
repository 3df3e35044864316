"""A real HTTP server in threads of this process, and what it can be told to do with the next requests for words.

Good and bad replies are the same for every protocol; how they look on the wire is for the server that speaks it.
"""

from __future__ import annotations

import abc
import contextlib
import json
import select
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Calls:
    """A tool that the model wants called. `arguments` may be anything, also text that is no JSON."""

    name: str
    arguments: Any = field(default_factory=dict)


@dataclass(frozen=True)
class Says:
    """The model says `text`, in pieces, or in `pieces` if they are given.

    `stop` is "end", "length", "refusal" or whatever else the protocol has a word for. `read` and `written` are the
    tokens that are counted; without them, words. Before piece number `pause_at` the server waits for `go`, and before
    each for `every_s` seconds.
    """

    text: str = ""
    calls: Sequence[Calls] = ()
    thinking: str = ""
    stop: str = "end"
    read: int | None = None
    written: int | None = None
    pieces: Sequence[str] = ()
    pause_at: int = 0
    go: threading.Event | None = None
    every_s: float = 0.0

    def split(self) -> list[str]:
        """The pieces in which the text is sent."""
        if self.pieces:
            return list(self.pieces)
        return [self.text[at : at + 7] for at in range(0, len(self.text), 7)]


@dataclass(frozen=True)
class Breaks:
    """The connection ends after `after` pieces of `says`; `tidily`, as if that had been all."""

    says: Says
    after: int = 1
    tidily: bool = False


@dataclass(frozen=True)
class Fails:
    """An HTTP error with the protocol's own envelope. With `after` pieces of `says`, an error inside a good stream."""

    status: int
    message: str = "it went wrong"
    kind: str = "api_error"
    headers: Mapping[str, str] = field(default_factory=dict)
    says: Says | None = None
    after: int = 1


@dataclass(frozen=True)
class Sends:
    """Any bytes at all, `times` over."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    times: int = 1


@dataclass(frozen=True)
class Hangs:
    """Nothing comes, until the client has left."""


Reply = Says | Breaks | Fails | Sends | Hangs
Answer = Callable[[dict[str, Any]], Reply]


@dataclass(frozen=True)
class Seen:
    """A request that came. Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class FakeServer(abc.ABC):
    """A context manager; `url` is where it listens, `seen` all that came, `left` counts clients that did not wait.

    What is asked of the model is answered with the replies that were enqueued, in their order, then by `answer`, which
    gets the body of the request.
    """

    def __init__(self, answer: Answer | None = None) -> None:
        self.answer = answer or (lambda body: Says("Yes."))
        self.seen: list[Seen] = []
        self.left = 0
        self._queue: deque[Reply] = deque()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self.closing = threading.Event()
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.host}"

    def enqueue(self, *replies: Reply) -> None:
        with self._lock:
            self._queue.extend(replies)

    def next_reply(self, body: dict[str, Any]) -> Reply:
        with self._lock:
            if self._queue:
                return self._queue.popleft()
        return self.answer(body)

    def note(self, seen: Seen) -> None:
        with self._changed:
            self.seen.append(seen)
            self._changed.notify_all()

    def note_left(self) -> None:
        with self._changed:
            self.left += 1
            self._changed.notify_all()

    def until(self, condition: Callable[[Self], bool], seconds: float = 60) -> None:
        """Waits until it holds, looking whenever a request comes or a client leaves."""
        with self._changed:
            assert self._changed.wait_for(lambda: condition(self), seconds), (self.seen, self.left)

    @abc.abstractmethod
    def route(self, exchange: Exchange) -> None:
        """Answers a request."""

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


class Exchange:
    """One request, and the means to answer it."""

    def __init__(self, handler: _Handler, seen: Seen) -> None:
        self._handler = handler
        self.seen = seen

    def reply(self, value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """A JSON document."""
        self.send(Sends(json.dumps(value).encode(), status), headers)

    def send(self, raw: Sends, headers: Mapping[str, str] | None = None) -> None:
        self._head(raw.status, raw.content_type, {"Content-Length": str(len(raw.body) * raw.times), **(headers or {})})
        for _ in range(raw.times):
            self._write(raw.body)

    def stream(self, parts: Iterator[bytes], content_type: str, *, tidily: bool = True) -> None:
        """Parts as they come. Not `tidily`: the connection ends without the mark that all was sent."""
        self._head(200, content_type, {"Transfer-Encoding": "chunked"})
        for part in parts:
            self._write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        if not tidily:
            self._handler.close_connection = True
            return
        with contextlib.suppress(OSError):  # who has read all there is may leave
            self._write(b"0\r\n\r\n")

    def hang(self) -> None:
        """Until the client leaves."""
        self._handler.close_connection = True
        while not self._handler.fake.closing.is_set():
            if self._gone(0.02):
                self._handler.fake.note_left()
                return

    def pace(self, says: Says, number: int) -> None:
        """Waits as long as the model does before a piece."""
        if says.every_s:
            self._handler.fake.closing.wait(says.every_s)
        if says.go is not None and number == says.pause_at:
            self.wait(says.go)

    def wait(self, go: threading.Event) -> None:
        """Until the event is set, or the client leaves."""
        while not go.wait(0.02) and not self._handler.fake.closing.is_set():
            if self._gone(0):
                raise BrokenPipeError

    def _gone(self, seconds: float) -> bool:
        try:
            readable, _, _ = select.select([self._handler.connection], [], [], seconds)
            return bool(readable) and not self._handler.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def _head(self, status: int, content_type: str, headers: Mapping[str, str]) -> None:
        self._handler.send_response(status)
        for name, value in {"Content-Type": content_type, **headers}.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()

    def _write(self, data: bytes) -> None:
        if self._gone(0):  # a server that writes would notice only later
            raise BrokenPipeError
        self._handler.wfile.write(data)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fake: FakeServer

    def handle(self) -> None:
        """Clients come and go as they like."""
        with contextlib.suppress(OSError):
            super().handle()

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(data) if data else None
        except ValueError:
            body = data
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, self.path, headers, body)
        self.fake.note(seen)
        try:
            self.fake.route(Exchange(self, seen))
        except OSError:
            self.close_connection = True
            self.fake.note_left()

    def log_message(self, format: str, *arguments: Any) -> None:
        """It says nothing."""
