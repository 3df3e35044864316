"""The program of a guest: loads one plug-in, takes connections over its standard input, and serves a call on each.

It is limited in memory, the first to go where the machine runs out of it, and ends with the process that started it:
when that closes the connection, or, should the plug-in hold the interpreter, when an alarm is not put off any more.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from memory.errors import MalformedOutputError, ModelUnavailableError, PalimpsestError
from memory.llm import LlmRequest, Reply
from plugins import manager
from plugins.exporters.contract import Line, Part
from plugins.guests.frames import CUT_OFF, About, Answer, End, Raised, Request, Value, Wanted, pack_answer, unpack
from plugins.llms.call import Call
from plugins.readers import MIB

BEAT_SECONDS = 5.0  # between two times that the alarm is put off
PATIENCE_SECONDS = 30  # more than a call may take: for which a plug-in may hold the interpreter
GRACE_SECONDS = 2.0  # within which a call ends that nobody wants any more
PART_BYTES = MIB  # of a file that is sent at a time


def main(name: str, value: str, memory_mb: str, call_s: str) -> int:
    """Serves until nobody is there; returns the exit code."""
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    patience = int(float(call_s)) + PATIENCE_SECONDS
    signal.alarm(patience)
    _confine(int(memory_mb) * MIB)
    plugin = _Plugin(EntryPoint(name, value, manager.GROUP))
    control.sendall(b"l")  # it is loaded
    control.settimeout(BEAT_SECONDS)
    while True:
        signal.alarm(patience)
        try:
            data, files, _, _ = socket.recv_fds(control, 1, 1)
        except TimeoutError:
            continue
        if not data:
            return 0
        threading.Thread(target=plugin.serve, args=[socket.socket(fileno=files[0])], daemon=True).start()


def _confine(memory: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # others do not hold such a limit
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")


class _Plugin:
    """The one that is served, and what was made of what it registers."""

    def __init__(self, entry: EntryPoint) -> None:
        self._made: dict[bytes, Any] = {}
        self._making = threading.Lock()
        self._problem: BaseException | None = None
        self._makers: dict[tuple[str, str], Callable[..., Any]] = {}
        try:
            registered = manager.register_alone(entry)
        except (Exception, SystemExit) as error:  # when it was tried it could be loaded
            self._problem = error
            return
        for hook in ("register_embedders", "register_rerankers"):
            self._makers |= {(hook, name): make for name, make, *_ in registered[hook]}
        self._families = {family.prefix: family for family in registered["register_llms"]}
        self._makers |= {("register_llms", prefix): family.open for prefix, family in self._families.items()}
        self._exporters = {one.name: one for one in registered["register_exporters"]}

    def serve(self, connection: socket.socket) -> None:
        """One call. Whatever the plug-in raises, SystemExit as well, is told to whoever called."""
        is_told = False
        try:
            request: Request = unpack(partial(_receive, connection))
            is_told = request.hook == "register_exporters"  # a person reads it, and it is not kept
            for answer in self._answer(request, connection):
                connection.sendall(pack_answer(answer))
        except BaseException as error:
            with contextlib.suppress(OSError):  # nobody may want it any more
                connection.sendall(pack_answer(_describe(error, is_told)))
        finally:
            connection.close()

    def _answer(self, request: Request, connection: socket.socket) -> Iterator[Answer]:
        if self._problem is not None:
            raise self._problem
        hook, name, given, method, arguments = request
        match hook, method:
            case "register_llms", "look":
                yield Value(self._families[name].look(*given))
            case "register_exporters", _:
                yield from self._export(name, connection)
            case "register_llms", "close":
                self._close(request)
                yield Value()
            case "register_embedders", _:
                yield Value(_ask_embedder(self._make(request), method, *arguments))
            case "register_rerankers", _:
                yield Value([float(score) for score in self._make(request).score(*arguments)])
            case "register_llms", "open":
                backend = self._make(request)
                yield Value((bool(backend.is_local()), tuple(map(float, backend.limits))))
            case "register_llms", "info":
                yield Value(self._make(request).info())
            case "register_llms", _:
                yield from _talk(self._make(request), arguments[0], connection)

    def _make(self, request: Request) -> Any:
        """What was registered, made once of what was given to it."""
        key = pickle.dumps(request[:3])
        with self._making:
            if key not in self._made:
                self._made[key] = self._makers[request.hook, request.name](*request.given)
            return self._made[key]

    def _close(self, request: Request) -> None:
        with self._making:
            backend = self._made.pop(pickle.dumps(request[:3]), None)
        if backend is not None:
            backend.close()

    def _export(self, name: str, connection: socket.socket) -> Iterator[Answer]:
        def lines() -> Iterator[Line]:
            while True:
                connection.sendall(pack_answer(Wanted()))
                if not (texts := unpack(partial(_receive, connection))):
                    return
                yield from map(Line, texts)

        for part in self._exporters[name].write(lines()):
            path, data = Part(*part)
            for start in range(0, max(1, len(data)), PART_BYTES):
                yield Value((path, bytes(data[start : start + PART_BYTES])))
        yield End()


def _ask_embedder(embedder: Any, method: str, *arguments: Any) -> Any:
    if method == "about":
        told = About.__struct_fields__
        return About(**{name: getattr(embedder, name) for name in told if hasattr(embedder, name)})
    if method == "identify":
        return embedder.name, int(embedder.dimension)
    import numpy as np

    name, texts = arguments
    if embedder.name != name:
        raise ModelUnavailableError(
            f"The embedder {name} has become {embedder.name}, whose vectors are others. Choose it anew: pal embedder",
            lasting=True,
        )
    vectors = embedder.embed_query(texts[0]) if method == "embed_query" else embedder.embed_documents(texts)
    found = np.ascontiguousarray(vectors, np.dtype("<f4"))
    return found.shape, found.tobytes()


def _talk(backend: Any, request: LlmRequest, connection: socket.socket) -> Iterator[Answer]:
    messages = tuple(replace(one, native=_thaw(one.native)) for one in request.messages)
    with _Watch(connection) as watch:
        request = replace(request, messages=messages, cancelled=watch.is_cut)
        with Call(backend.limits, watch.is_cut) as call:
            try:
                for item in backend.stream(request, call):
                    call.check()
                    yield Value(replace(item, native=_freeze(item.native)) if isinstance(item, Reply) else str(item))
            except Exception as error:
                raise call.reason or error from error
    yield End()


def _freeze(native: Any) -> bytes | None:
    """The model's own form of its turn, which only its plug-in reads again."""
    return None if native is None else pickle.dumps(native)


def _thaw(native: Any) -> Any:
    return pickle.loads(native) if isinstance(native, bytes) else None  # noqa: S301  # what `_freeze` gave


class _Watch:
    """Looks whether whoever called still wants the answer. The process ends where its plug-in goes on without."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._is_over = False

    def __enter__(self) -> _Watch:
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._is_over = True
            if self._timer is not None:
                self._timer.cancel()

    def is_cut(self) -> bool:
        """Whether nobody wants it any more."""
        try:
            is_cut = not self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            is_cut = True
        with self._lock:
            if is_cut and self._timer is None and not self._is_over:
                self._timer = threading.Timer(GRACE_SECONDS, os._exit, [CUT_OFF])
                self._timer.daemon = True
                self._timer.start()
        return is_cut


def _describe(error: BaseException, is_told: bool) -> Raised:
    """What was raised, without a word that may be of a note, unless it is a person who is told."""
    told = str(error) if is_told or isinstance(error, PalimpsestError) else ""
    more: dict[str, Any] = {}
    if isinstance(error, ModelUnavailableError):
        more = {"retry_after": error.retry_after, "lasting": error.lasting}
    if isinstance(error, MalformedOutputError):
        more = {"text": error.text}
    # The class that is known here: numpy's MemoryError, for one, is its own.
    bases = (one for one in type(error).__mro__ if one is MemoryError or one.__module__ == PalimpsestError.__module__)
    return Raised(next(bases, type(error)).__name__, told, **more)


def _receive(connection: socket.socket, count: int) -> bytes:
    """So many bytes. EOFError."""
    data = bytearray()
    while len(data) < count:
        if not (more := connection.recv(count - len(data))):
            raise EOFError
        data += more
    return bytes(data)


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    os._exit(code)  # whatever the plug-in has left behind
