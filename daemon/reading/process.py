"""The daemon's side of parsing: starts parser processes, passes them open files, kills late or large ones.

Whatever a file does to the process becomes an exception with a reason. The messages (`frames.py`) are imported with the
first file: a daemon must start quickly."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from daemon.reading import NO_TEXT, FileDrafts, OpenFile, ReaderDiedError
from plugins.readers import MIB, Reader, Unreadable

if TYPE_CHECKING:
    from daemon.reading.frames import Reply
    from memory.ingest.draft import Masker
    from memory.settings import ChunkSettings

MAX_REPLY_BYTES = 512 * MIB  # of one file
MAX_STREAM_BYTES = 8192 * MIB  # of a streamed file, of which one part is in memory
RECEIVE_BYTES = 64 << 10  # minimum, at once
START_SECONDS = 10.0  # extra for the first file of a process, on a busy machine
WALL = 3.0  # times the limit of processor time: the limit of elapsed time on a busy machine
KEPT_PROCESSES = 2  # idle processes to keep: one for reading ahead, one for urgent files
KEPT_VARIABLES = (  # without keys
    "PATH HOME USER LANG LANGUAGE LC_ALL LC_CTYPE LC_TIME TZ TMPDIR SYSTEMROOT"
    " PYTHONHOME PYTHONHASHSEED PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE PYTHONUTF8 VIRTUAL_ENV"
).split()
SEND_BYTES = 256 << 10  # of queued requests: more than all files handed to one process need


class Readers:
    """A pool of parser processes: some idle ones, and more while several files are read at once."""

    def __init__(
        self,
        settings: ChunkSettings,
        rules: bool = True,
        masker: Masker | None = None,
        left_out: Sequence[str] = (),
    ) -> None:
        """A `masker` masks secrets. Does not load the plug-ins `left_out`."""
        self._new = partial(_ReadingProcess, settings, rules, masker, left_out)
        self._idle: list[_ReadingProcess] = []
        self._used: set[_ReadingProcess] = set()
        self._lock = threading.Lock()
        self.is_closed = False

    def read(self, file: OpenFile) -> FileDrafts:
        """Returns the contents of the file. Unreadable with the reason; ReaderDiedError; CancelledError."""
        ahead = self.read_ahead()
        ahead.hand(file)
        return ahead.take()

    def read_ahead(self) -> ReadAhead:
        """Returns a queue for many files."""
        return ReadAhead(self)

    def close(self) -> None:
        """Kills the processes; later requests raise CancelledError."""
        with self._lock:
            self.is_closed = True
            processes = [*self._idle, *self._used]
            self._idle.clear()
        for process in processes:
            process.close()

    def lend(self) -> _ReadingProcess:
        """Returns a process for exclusive use, until it is given back. CancelledError."""
        with self._lock:
            if self.is_closed:
                raise CancelledError
            process = self._idle.pop() if self._idle else self._new()
            self._used.add(process)
            return process

    def give_back(self, process: _ReadingProcess) -> None:
        """Returns a lent process."""
        with self._lock:
            self._used.discard(process)
            is_spare = self.is_closed or len(self._idle) >= KEPT_PROCESSES
            if not is_spare:
                self._idle.append(process)
        if is_spare:
            process.close()


class ReadAhead:
    """A queue of files for one process, so that it need not wait for the caller.

    Contents arrive in order. If the process dies, it was reading the first file; the others go to the next process.
    Descriptors stay open until then."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._waiting: deque[OpenFile] = deque()
        self._process: _ReadingProcess | None = None
        self._replies: Generator[Reply, None, None] | None = None  # to the file taken last

    def hand(self, file: OpenFile) -> None:
        """Queues a file. CancelledError."""
        self._waiting.append(file)
        if self._process is None:
            self._process = self._readers.lend()
        if self._process.unanswered == len(self._waiting) - 1:
            with contextlib.suppress(ReaderDiedError):  # taking the file raises it, too
                self._process.send(file)

    def take(self) -> FileDrafts:
        """Returns the contents of the first file. Unreadable with the reason; ReaderDiedError; CancelledError."""
        from daemon.reading.frames import Contents

        if self._replies is not None:
            self._replies.close()
        replies = self._replies = self._ask()
        first = next(replies, None)
        if not isinstance(first, Contents):
            replies.close()
            raise ReaderDiedError(NO_TEXT)
        return FileDrafts(first, replies)

    def close(self) -> None:
        """Drops the queued files."""
        if self._replies is not None:
            self._replies.close()
        self._waiting.clear()
        if self._process is not None:
            self._process.close()
            self._leave()

    def _ask(self) -> Generator[Reply, None, None]:
        """Yields the replies to the first file without the End. Closing it early kills the process."""
        process, file = self._process, self._waiting[0]
        assert process is not None
        is_whole = False
        try:
            if not process.unanswered:
                for waiting in self._waiting:
                    if not process.send(waiting):
                        break
            yield from process.receive(file.reader)
            is_whole = True
        except Exception as error:
            if self._readers.is_closed:
                raise CancelledError from error
            is_whole = isinstance(error, Unreadable)  # the process is ready for the next file, or has exited
            raise
        finally:
            if not is_whole:
                process.close()
            self._waiting.popleft()
            if not self._waiting:
                self._leave()

    def _leave(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            self._readers.give_back(process)


@dataclass(eq=False)
class _ReadingProcess:
    """A parser process: starts with the first file, exits when idle or large, and restarts for the next one."""

    settings: ChunkSettings
    rules: bool
    masker: Masker | None
    left_out: Sequence[str]
    unanswered: int = 0  # files handed over without a complete reply
    _process: subprocess.Popen[bytes] | None = None
    _connection: socket.socket | None = None
    _received: bytearray = field(default_factory=bytearray)
    _has_answered: bool = False

    def close(self) -> None:
        """Kills the process."""
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        self._received = bytearray()
        self._has_answered = False
        self.unanswered = 0
        if connection is not None:
            connection.close()
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def send(self, file: OpenFile) -> bool:
        """Passes a file after the `unanswered` ones; False if their process accepts no more. ReaderDiedError if no
        process can be started."""
        from daemon.reading.frames import ReadRequest, pack

        reader = file.reader
        request = pack(
            ReadRequest(
                os.fsencode(file.path), reader.name, file.size, reader.max_seconds, reader.max_memory, self.settings,
                self.rules, file.tags, self.masker, dict(file.known), file.is_copied,
            )
        )  # fmt: skip
        if not self.unanswered:
            self._notice_end()
        while True:
            is_fresh = self._connection is None
            connection = self._connection or self._start()
            try:
                connection.settimeout(10)
                sent = socket.send_fds(connection, [request], [file.descriptor])
                connection.sendall(request[sent:])
                self.unanswered += 1
                return True
            except OSError as error:
                if self.unanswered:
                    with contextlib.suppress(OSError):  # never continue half a request
                        connection.shutdown(socket.SHUT_WR)
                    return False
                self.close()
                if is_fresh:
                    raise ReaderDiedError(f"no reading process could be started: {error}") from error

    def receive(self, reader: Reader) -> Iterator[Reply]:
        """Yields the replies to the first `unanswered` file without the End. Unreadable, ReaderDiedError."""
        from daemon.reading.frames import End, Refusal

        total, refused = 0, ""
        seconds_left = reader.max_seconds * WALL + (0.0 if self._has_answered else START_SECONDS)
        while True:
            began = time.monotonic()
            reply, size = self._receive(began + seconds_left, reader)
            self._has_answered = True
            seconds_left -= time.monotonic() - began
            total += size
            if isinstance(reply, Refusal):
                refused = reply.reason
                continue
            if isinstance(reply, End):
                self.unanswered -= 1
                if reply.leaves:
                    self.close()
                if refused:
                    raise Unreadable(refused)
                return
            if total > (MAX_STREAM_BYTES if reader.stream else MAX_REPLY_BYTES):
                self.close()
                raise Unreadable(f"too large for the {reader.name} reader: its text exceeds {total // MIB:,} MiB")
            yield reply

    def _notice_end(self) -> None:
        """Detects an exit: an idle connection has data only at its end."""
        if self._connection is not None:
            try:
                self._connection.settimeout(0)
                if not self._connection.recv(1, socket.MSG_PEEK):
                    self.close()
            except BlockingIOError:
                pass
            except OSError:
                self.close()

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SEND_BYTES)
        try:
            self._process = spawn(theirs, self.left_out)
        except OSError as error:
            ours.close()
            raise ReaderDiedError(f"no reading process could be started: {error}") from error
        finally:
            theirs.close()
        self._connection = ours
        return ours

    def _receive(self, deadline: float, reader: Reader) -> tuple[Reply, int]:
        from daemon.reading.frames import unpack_reply

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
            raise self._explain_exit(reader) from error
        except ValueError as error:
            raise self._fail(f"{NO_TEXT} ({error})") from error

    def _explain_exit(self, reader: Reader) -> Exception:
        """Returns the reason of an exit: a limit for the file, or an error that may be temporary."""
        process, self._process = self._process, None
        assert process is not None
        try:
            code = process.wait(1)
        except subprocess.TimeoutExpired:
            self._process = process
            return self._fail("its reader does not respond")
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # including its children
        self.close()
        if code in (-signal.SIGXCPU, -signal.SIGALRM):
            return Unreadable(f"the {reader.name} reader took longer than {reader.max_seconds} s")
        if code < 0:
            name = signal.Signals(-code).name
            return ReaderDiedError(f"the {reader.name} reader was killed by {name}")
        return ReaderDiedError(f"the {reader.name} reader exited with code {code}")

    def _fail(self, how: str) -> ReaderDiedError:
        self.close()
        return ReaderDiedError(how)


def spawn(connection: socket.socket, left_out: Sequence[str]) -> subprocess.Popen[bytes]:
    """Starts a reading process at that end of a connection. OSError."""
    # Without the keys of models, with the same import path. One arena: each reserves 64 MiB, which count against the
    # limit.
    environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    environment |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "MALLOC_ARENA_MAX": "1"}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "daemon.reading.child", *left_out],
        stdin=connection.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
