"""The parser process: receives open files, replies with their contents, exits when idle.

A fresh interpreter without numpy, database or network. The system limits its memory, time and files; it cannot write,
connect, or start programs except those of a reader."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from daemon.reading.frames import PIECE, Contents, End, Piece, ReadRequest, Refusal, pack, unpack_request
from memory.errors import InvalidInputError
from memory.ingest.chunk import Draft
from memory.ingest.draft import BROKEN_OFF, IN_PART, LEFT_OUT, MAX_EPISODES, DocumentDraft, Drafting
from memory.nouns import NOT_READ, Document
from plugins import manager
from plugins.manager import Plugins
from plugins.readers import MIB, Reader, Unread, Unreadable, documents, stream_parts

IDLE_SECONDS = 60.0  # without a file, before it exits: a start takes a quarter of a second
FILES = 2000  # after which a fresh process replaces it
SMALL = MIB  # bytes of a file whose memory does not matter
USED_MEMORY = 160 * MIB  # after which a fresh process replaces it, to return memory
MAX_FILE_EPISODES = 30_000  # of a file of several documents
MAX_STREAM_EPISODES = 500_000  # of a streamed file
LATE = 4.0  # times the limit of processor time: the limit of elapsed time, also without the daemon
NICENESS, LOWEST = 5, 19  # more than the daemon's: interactive work goes first
OUT_OF_MEMORY = 77  # exit code if the system does not enforce the limit

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
FORBIDDEN = frozenset(
    "socket.connect socket.bind socket.getaddrinfo subprocess.Popen os.system os.fork os.forkpty os.exec os.spawn"
    " os.posix_spawn os.remove os.rename os.rmdir os.mkdir os.truncate os.link os.symlink os.chmod os.chown"
    " os.utime shutil.rmtree".split()
)


def main(left_out: Sequence[str] = ()) -> int:
    """Serves the socket on standard input until it is closed or idle; returns the exit code. Does not load the plugins
    `left_out`."""
    _give_way()
    connection = socket.socket(fileno=os.dup(0))
    plugins = manager.load(left_out=left_out)
    assert plugins.readers  # imports them: writing files is impossible afterwards
    _confine()
    for number in range(FILES):
        try:
            request, file = _wait_for_request(connection)
        except (EOFError, OSError):
            return 0
        _limit(request)
        sent = False
        frames: list[bytes] = []
        try:
            for group in _answer(request, file, plugins):
                for frame in frames:
                    _send(connection, frame)
                    sent = True
                frames = group
        finally:
            os.close(file)
        signal.alarm(0)
        is_large = sent or request.size > SMALL or len(frames) > 2
        leaves = (is_large and _find_peak() > USED_MEMORY) or number == FILES - 1
        frames.append(pack(End(leaves)))
        for frame in frames if is_large else [b"".join(frames)]:
            connection.sendall(frame)
        if leaves:
            return 0
    return 0


def _wait_for_request(connection: socket.socket) -> tuple[ReadRequest, int]:
    """Returns the next request; EOFError or OSError when idle. Requests sent before are served; later ones fail, and
    the daemon starts another process."""
    connection.settimeout(IDLE_SECONDS)
    try:
        request = _receive(connection)
    except TimeoutError:
        connection.shutdown(socket.SHUT_RD)
        connection.settimeout(0)
        request = _receive(connection)
    connection.settimeout(None)
    return request


def _receive(connection: socket.socket) -> tuple[ReadRequest, int]:
    """Returns (request, descriptor of its file). EOFError at the end."""
    first, files, _, _ = socket.recv_fds(connection, 1, 1)
    if not first or len(files) != 1:
        raise EOFError
    pending = [first]

    def receive(count: int) -> bytes:
        data = pending.pop() if pending else b""
        while len(data) < count:
            if not (more := connection.recv(count - len(data))):
                raise EOFError
            data += more
        return data

    return unpack_request(receive), files[0]


def _send(connection: socket.socket, frame: bytes) -> None:
    """Sends the first parts of a file; the daemon's time to write them does not count."""
    seconds = signal.alarm(0)
    connection.sendall(frame)
    signal.alarm(max(1, seconds))


def _answer(request: ReadRequest, file: int, plugins: Plugins) -> Iterator[list[bytes]]:
    """Yields the frames of the reply, in groups; one group for a reader that does not stream, so that a failing file
    has no partial reply."""
    try:
        reader = plugins.reader(request.reader)
        if reader is None:
            raise Unreadable(f"the reader {request.reader} is gone; restart the daemon: pal daemon restart")
        global _programs
        _programs = frozenset(place for name in reader.programs if (place := shutil.which(name)))
        path = Path(os.fsdecode(request.path))
        if reader.stream is None:
            yield read_file(request, reader, path, file)
        else:
            yield from stream_file(request, reader, path, file)
    except Unreadable as error:
        yield [pack(Refusal(error.reason))]
    except MemoryError:
        yield [pack(Refusal(_explain_memory(request)))]
    except RecursionError:
        yield [pack(Refusal(f"nested too deeply for the {request.reader} reader"))]


def _explain_memory(request: ReadRequest) -> str:
    return f"too large for the {request.reader} reader: it needs more than {request.memory // MIB:,} MiB of memory"


def read_file(request: ReadRequest, reader: Reader, path: Path, file: int) -> list[bytes]:
    """Returns the frames of a file, in order. Raises Unreadable."""
    waiting = _read_documents(request, reader, path, file)
    group = _Group(request)
    left_out, room = "", MAX_FILE_EPISODES
    while waiting:
        if not room:
            left_out = f"{LEFT_OUT}its last {len(waiting):,} parts were not stored; split it"
            break
        room -= group.add(waiting.pop(0), min(MAX_EPISODES, room))
    return group.pack(left_out)


def stream_file(request: ReadRequest, reader: Reader, path: Path, file: int) -> Iterator[list[bytes]]:
    """Yields the frames of a file, some documents at a time. Raises Unreadable before the first."""
    with open(file, "rb", closefd=False) as stream:
        stream.seek(0)
        parts = stream_parts(reader, path, stream, os.fstat(file), request.is_copied)
        group = _Group(request)
        left_out, room, is_empty = "", MAX_STREAM_EPISODES, True
        try:
            for part in parts:
                is_empty = False
                if isinstance(part, Unread):
                    group.unread[part.uri] = part.reason
                elif request.known.get(part.uri) == part.sha256:
                    group.same.append(part.uri)
                else:
                    room -= group.add(_adapt(part, request.tags), min(MAX_EPISODES, room))
                if not room:
                    left_out = f"{LEFT_OUT}only {MAX_STREAM_EPISODES:,} passages were stored; split it"
                    break
                if group.episodes >= PIECE or len(group.drafts) >= PIECE:
                    yield group.pack(more=True)
                    group = _Group(request)
        except (Unreadable, MemoryError) as error:
            reason = error.reason if isinstance(error, Unreadable) else _explain_memory(request)
            if is_empty:
                raise Unreadable(reason) from error
            left_out = f"{BROKEN_OFF}{reason}"
    if is_empty:
        raise Unreadable("no text in it")
    yield group.pack(left_out)


class _Group:
    """Documents of one file that share a reply."""

    def __init__(self, request: ReadRequest) -> None:
        self._request = request
        self._pieces: list[bytes] = []
        self._left_out = ""
        self.drafts: list[DocumentDraft] = []
        self.unread: dict[str, str] = {}
        self.same: list[str] = []
        self.episodes = 0

    def add(self, document: Document, most: int) -> int:
        """Drafts a document, up to `most` episodes; returns their number."""
        request = self._request
        drafting = Drafting(document, request.chunk, request.masker, request.rules, most)
        waiting: list[Draft] = []
        mine: list[bytes] = []
        count = 0
        for episode in drafting.episodes():
            waiting.append(episode)
            count += 1
            if len(waiting) == PIECE:
                mine.append(pack(Piece(len(self.drafts), tuple(waiting))))
                waiting = []
        if waiting:
            mine.append(pack(Piece(len(self.drafts), tuple(waiting))))
        try:
            draft = drafting.close()
        except InvalidInputError as error:
            self.unread[document.uri] = str(error)
            return count
        note = draft.document.properties.get(NOT_READ)
        self._left_out = self._left_out or draft.left_out or (f"{IN_PART}{note}" if note else "")
        self.drafts.append(draft)
        self._pieces += mine
        self.episodes += count
        return count

    def pack(self, left_out: str = "", more: bool = False) -> list[bytes]:
        contents = Contents(tuple(self.drafts), self.unread, left_out or self._left_out, tuple(self.same), more)
        return [pack(contents), *self._pieces]


def _read_documents(request: ReadRequest, reader: Reader, path: Path, file: int) -> list[Document]:
    with open(file, "rb", closefd=False) as stream:
        stream.seek(0)
        data = stream.read(request.size + 1)
    if len(data) != request.size:
        raise Unreadable("it changed while it was read")
    return [
        _adapt(document, request.tags) for document in documents(reader, path, data, os.fstat(file), request.is_copied)
    ]


def _adapt(document: Document, tags: tuple[str, ...]) -> Document:
    """Returns the document with more tags and with JSON properties, as stored."""
    plain = json.loads(json.dumps(dict(document.properties), default=str)) if document.properties else {}
    return replace(document, properties=plain, tags=(*document.tags, *tags))


def _give_way() -> None:
    """Lowers the priority below the daemon's. Linux may schedule by session, so the session's is lowered, too."""
    os.nice(NICENESS)
    if sys.platform == "linux":
        with suppress(OSError, ValueError, IndexError):
            daemon = int(Path(f"/proc/{os.getppid()}/autogroup").read_text("ascii").split()[-1])
            Path("/proc/self/autogroup").write_text(str(min(daemon + NICENESS, LOWEST)))


def _confine() -> None:
    """Forbids writing, starting programs, connecting and core dumps."""
    import resource

    sys.dont_write_bytecode = True
    if sys.platform == "linux":
        with suppress(OSError):  # killed first if the machine runs out of memory
            Path("/proc/self/oom_score_adj").write_text("1000")
    for limit, value in ((resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, 64)):
        resource.setrlimit(limit, (value, value))
    sys.addaudithook(_refuse)
    if sys.platform == "darwin":  # macOS ignores the limit of memory
        threading.Thread(target=_watch_memory, daemon=True).start()


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen" and arguments[0] in _programs:  # within the limits of this process
        return
    opens = event == "open" and not isinstance(arguments[0], int)  # an open descriptor, such as a pipe
    writes = opens and isinstance(arguments[2], int) and arguments[2] & WRITING
    if writes or event in FORBIDDEN:
        raise PermissionError(f"readers must not do that: {event}")


def _limit(request: ReadRequest) -> None:
    """Limits processor time and memory for one file; the system kills the process beyond."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = math.ceil(used.ru_utime + used.ru_stime) + request.seconds
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    resource.setrlimit(resource.RLIMIT_AS, (request.memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.alarm(int(request.seconds * LATE))
    global _allowed
    _allowed = request.memory


_allowed = sys.maxsize  # bytes
_programs: frozenset[str] = frozenset()  # programs that the current reader may start, by path


def _watch_memory() -> None:
    while _find_peak() < _allowed:
        time.sleep(0.2)
    os._exit(OUT_OF_MEMORY)


def _find_peak() -> int:
    """Returns the peak memory in bytes."""
    try:  # getrusage on Linux includes the peak of the parent process
        with Path("/proc/self/status").open(encoding="ascii", errors="replace") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
