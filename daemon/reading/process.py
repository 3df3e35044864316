"""The daemon's end of the reading process: starts it, hands it open files, and ends it when it is late or too large.

A file can make the process fail, hang or die; all that comes of it here is an exception with the reason. What is said
to it (`frames.py`) is imported with the first file: a daemon must start quickly.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from plugins.readers import MIB, Reader, Unreadable

if TYPE_CHECKING:
    from daemon.reading.frames import Amount, Contents, Reply
    from memory.ingest.draft import DocumentDraft
    from memory.ingest.masking import Masker
    from memory.settings import ChunkSettings

MAX_REPLY_BYTES = 512 * MIB  # of one file
RECEIVE_BYTES = 64 << 10  # at least, at a time
START_SECONDS = 10.0  # more for the first file of a process, on a busy machine
WALL = 1.5  # times its limit of processor time: how long a file may take on a busy machine
KEPT_PROCESSES = 1  # that wait for the next file
NO_TEXT = "its reader answered something else than text"
KEPT_VARIABLES = (
    "PATH HOME USER LANG LANGUAGE LC_ALL LC_CTYPE LC_TIME TZ TMPDIR SYSTEMROOT PALIMPSEST_TRACE_PLUGINS"
    " PYTHONHOME PYTHONHASHSEED PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE PYTHONUTF8 VIRTUAL_ENV"
).split()  # of the environment: no key of anything


class ReaderDiedError(Exception):
    """The process ended while it read a file; the message says how, in words for a person."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is open at `descriptor`, with the name, `size` in bytes and reader it has; `tags` are those that its
    documents get besides their own."""

    descriptor: int
    path: Path
    size: int
    reader: Reader
    tags: tuple[str, ...] = ()


class FileDrafts:
    """What is in a file. Its `pieces` come from the process as they are taken, each once and in order; `unread` are
    documents in it that cannot be kept, by uri, with the reason, and `left_out` says what of it is not kept. `uris` are
    those of the others, which have so many `episodes`."""

    def __init__(self, contents: Contents, replies: Iterator[Reply]) -> None:
        self.uris = frozenset(draft.document.uri for draft in contents.documents)
        self.episodes = sum(len(draft.hashes) for draft in contents.documents)
        self.unread = contents.unread
        self.left_out = contents.left_out
        self._documents = contents.documents
        self._replies = replies

    def pieces(self) -> Iterator[DocumentDraft]:
        """Each document, or one piece of it after the other. ReaderDiedError."""
        from daemon.reading.frames import Piece

        at = [0] * len(self._documents)
        for reply in self._replies:
            if not isinstance(reply, Piece) or not 0 <= reply.document < len(at):
                raise ReaderDiedError(NO_TEXT)
            whole, first = self._documents[reply.document], at[reply.document]
            at[reply.document] += len(reply.episodes)
            yield replace(whole, episodes=reply.episodes, first=first)


class Readers:
    """Reading processes: one that is kept for the next file, and more while several files are read at a time."""

    def __init__(self, settings: ChunkSettings, rules: bool = True, masker: Masker | None = None) -> None:
        """Secrets are masked if there is a `masker`."""
        self._settings = settings
        self._rules = rules
        self._masker = masker
        self._idle: list[_ReadingProcess] = []
        self._used: set[_ReadingProcess] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def read(self, file: OpenFile) -> FileDrafts:
        """What is in the file. Unreadable with the reason why it cannot be read; ReaderDiedError; CancelledError."""
        from daemon.reading.frames import Contents

        replies = self._ask(file)
        first = next(replies, None)
        if not isinstance(first, Contents):
            replies.close()
            raise ReaderDiedError(NO_TEXT)
        return FileDrafts(first, replies)

    def count(self, file: OpenFile) -> Amount:
        """How much is in the file. Unreadable, ReaderDiedError."""
        from daemon.reading.frames import Amount

        amount, *_ = *self._ask(file, count=True), None
        if not isinstance(amount, Amount):
            raise ReaderDiedError(NO_TEXT)
        return amount

    def close(self) -> None:
        """Ends the processes, whatever they do. What is asked from then on is cancelled."""
        with self._lock:
            self._is_closed = True
            processes = [*self._idle, *self._used]
            self._idle.clear()
        for process in processes:
            process.close()

    def _ask(self, file: OpenFile, count: bool = False) -> Generator[Reply, None, None]:
        """The replies to one file, the End left out. Whoever does not take them all ends the process."""
        with self._lock:
            if self._is_closed:
                raise CancelledError
            process = self._idle.pop() if self._idle else _ReadingProcess(self._settings, self._rules, self._masker)
            self._used.add(process)
        is_whole = False
        try:
            yield from process.ask(file, count)
            is_whole = True
        except Exception as error:
            if self._is_closed:
                raise CancelledError from error
            is_whole = isinstance(error, Unreadable)  # the process is there for the next one, or has ended
            raise
        finally:
            if not is_whole:
                process.close()
            with self._lock:
                self._used.discard(process)
                spare = self._is_closed or len(self._idle) >= KEPT_PROCESSES
                if not spare:
                    self._idle.append(process)
            if spare:
                process.close()


class _ReadingProcess:
    """Starts with the first file, ends by itself when it is idle or has grown, and is started anew for the next one."""

    def __init__(self, settings: ChunkSettings, rules: bool, masker: Masker | None) -> None:
        self._settings = settings
        self._rules = rules
        self._masker = masker
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._received = bytearray()

    def close(self) -> None:
        """Ends the process, whatever it does."""
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        self._received = bytearray()
        if connection is not None:
            connection.close()
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def ask(self, file: OpenFile, count: bool) -> Iterator[Reply]:
        """The replies to one file, the End left out. Unreadable, ReaderDiedError."""
        from daemon.reading.frames import End, ReadRequest, Refusal, pack

        reader, total, refused = file.reader, 0, ""
        request = pack(
            ReadRequest(
                os.fsencode(file.path), reader.name, file.size, reader.max_seconds, reader.max_memory, self._settings,
                self._rules, count, file.tags, self._masker,
            )
        )  # fmt: skip
        before = self._process
        self._send(request, file.descriptor)
        left = reader.max_seconds * WALL + (START_SECONDS if self._process is not before else 0.0)
        while True:
            began = time.monotonic()
            reply, size = self._receive(began + left, reader)
            left -= time.monotonic() - began
            total += size
            if isinstance(reply, Refusal):
                refused = reply.reason
                continue
            if isinstance(reply, End):
                if reply.leaves:
                    self.close()
                if refused:
                    raise Unreadable(refused)
                return
            if total > MAX_REPLY_BYTES:
                self.close()
                raise Unreadable(f"too large for the {reader.name} reader: it makes more than {total // MIB:,} MiB")
            yield reply

    def _send(self, request: bytes, descriptor: int) -> None:
        """Hands the file over, to a process that is there or a fresh one."""
        if self._connection is not None:
            try:
                # A process that has ended leaves an end of file, and nothing else is there before it is asked.
                self._connection.settimeout(0)
                if not self._connection.recv(1, socket.MSG_PEEK):
                    self.close()
            except BlockingIOError:
                pass
            except OSError:
                self.close()
        for is_last in (False, True):
            connection = self._connection or self._start()
            try:
                connection.settimeout(10)
                sent = socket.send_fds(connection, [request], [descriptor])
                connection.sendall(request[sent:])
                return
            except OSError as error:
                self.close()
                if is_last:
                    raise ReaderDiedError(f"no reading process could be started: {error}") from error

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        # The same code as here, wherever that is; one arena: each reserves 64 MiB, which would count against the limit.
        environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        environment |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "MALLOC_ARENA_MAX": "1"}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "daemon.reading.child"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise ReaderDiedError(f"no reading process could be started: {error}") from error
        finally:
            theirs.close()
        self._connection = ours
        return ours

    def _receive(self, deadline: float, reader: Reader) -> tuple[Reply, int]:
        from daemon.reading.frames import FrameError, unpack_reply

        connection = self._connection
        assert connection is not None

        def receive(count: int) -> bytes:
            while len(self._received) < count:
                connection.settimeout(max(0.001, deadline - time.monotonic()))
                if not (more := connection.recv(max(RECEIVE_BYTES, count - len(self._received)))):
                    raise EOFError
                self._received += more
            data = bytes(self._received[:count])
            del self._received[:count]
            return data

        try:
            return unpack_reply(receive)
        except TimeoutError:
            self.close()
            raise Unreadable(f"the {reader.name} reader took longer than {reader.max_seconds * WALL:.0f} s") from None
        except (EOFError, OSError) as error:
            raise self._death(reader) from error
        except FrameError as error:
            raise self._broken(f"{NO_TEXT} ({error})") from error

    def _death(self, reader: Reader) -> Exception:
        """Why the process is gone: a limit of the file, or something that may be another time."""
        process, self._process = self._process, None
        assert process is not None
        try:
            code = process.wait(1)
        except subprocess.TimeoutExpired:
            self._process = process
            return self._broken("its reader stopped answering")
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # what it may have started
        self.close()
        if code in (-signal.SIGXCPU, -signal.SIGALRM):
            return Unreadable(f"the {reader.name} reader took longer than {reader.max_seconds} s")
        if code < 0:
            name = signal.Signals(-code).name
            return ReaderDiedError(f"the {reader.name} reader was ended by {name}")
        return ReaderDiedError(f"the {reader.name} reader ended the process it runs in, with code {code}")

    def _broken(self, how: str) -> ReaderDiedError:
        self.close()
        return ReaderDiedError(how)
