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
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import TYPE_CHECKING

from daemon.reading.contents import NO_TEXT, FileDrafts, OpenFile, ReaderDiedError
from plugins.readers import MIB, Reader, Unreadable

if TYPE_CHECKING:
    from daemon.reading.frames import Amount, Reply
    from memory.ingest.masking import Masker
    from memory.settings import ChunkSettings

MAX_REPLY_BYTES = 512 * MIB  # of one file
MAX_STREAM_BYTES = 8192 * MIB  # of one that is read in parts, of which no more than one is held
RECEIVE_BYTES = 64 << 10  # at least, at a time
START_SECONDS = 10.0  # more for the first file of a process, on a busy machine
WALL = 3.0  # times its limit of processor time: how long a file may take on a busy machine, where others go first
KEPT_PROCESSES = 2  # that wait for the next file: of a task that reads ahead, and of one that is more urgent
KEPT_VARIABLES = (  # no key of anything
    "PATH HOME USER LANG LANGUAGE LC_ALL LC_CTYPE LC_TIME TZ TMPDIR SYSTEMROOT"
    " PYTHONHOME PYTHONHASHSEED PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE PYTHONUTF8 VIRTUAL_ENV"
).split()
SEND_BYTES = 256 << 10  # of requests that may wait in a process: more than those of all files that are handed to one


class Readers:
    """Reading processes: some that are kept for the next file, and more while several files are read at a time."""

    def __init__(
        self,
        settings: ChunkSettings,
        rules: bool = True,
        masker: Masker | None = None,
        left_out: Sequence[str] = (),
    ) -> None:
        """Secrets are masked if there is a `masker`. Plugins that are `left_out`, by their names, are not loaded."""
        self._new = partial(_ReadingProcess, settings, rules, masker, left_out)
        self._idle: list[_ReadingProcess] = []
        self._used: set[_ReadingProcess] = set()
        self._lock = threading.Lock()
        self.is_closed = False

    def read(self, file: OpenFile) -> FileDrafts:
        """What is in the file. Unreadable with the reason why it cannot be read; ReaderDiedError; CancelledError."""
        ahead = self.read_ahead()
        ahead.hand(file)
        return ahead.take()

    def read_ahead(self) -> ReadAhead:
        """For many files, one after the other."""
        return ReadAhead(self)

    def count(self, file: OpenFile) -> Amount:
        """How much is in the file. Unreadable, ReaderDiedError."""
        from daemon.reading.frames import Amount

        ahead = ReadAhead(self, count=True)
        ahead.hand(file)
        amount, *_ = *ahead.replies(), None
        if not isinstance(amount, Amount):
            raise ReaderDiedError(NO_TEXT)
        return amount

    def close(self) -> None:
        """Ends the processes, whatever they do. What is asked from then on is cancelled."""
        with self._lock:
            self.is_closed = True
            processes = [*self._idle, *self._used]
            self._idle.clear()
        for process in processes:
            process.close()

    def lend(self) -> _ReadingProcess:
        """A process, until it is given back. CancelledError."""
        with self._lock:
            if self.is_closed:
                raise CancelledError
            process = self._idle.pop() if self._idle else self._new()
            self._used.add(process)
            return process

    def give_back(self, process: _ReadingProcess) -> None:
        """It is there for others."""
        with self._lock:
            self._used.discard(process)
            is_spare = self.is_closed or len(self._idle) >= KEPT_PROCESSES
            if not is_spare:
                self._idle.append(process)
        if is_spare:
            process.close()


class ReadAhead:
    """Files that are handed to one process before what is in the first of them is taken, so that it need not wait.

    What is in them comes in their order. Where the process ends, the first of them was being read; the others are
    handed to the next process. The descriptors stay open until then."""

    def __init__(self, readers: Readers, count: bool = False) -> None:
        """With `count` it is asked only how much is in them."""
        self._readers = readers
        self._count = count
        self._waiting: deque[OpenFile] = deque()
        self._process: _ReadingProcess | None = None
        self._replies: Generator[Reply, None, None] | None = None  # to the file that was taken last

    def hand(self, file: OpenFile) -> None:
        """The file is read after those that were handed over before. CancelledError."""
        self._waiting.append(file)
        if self._process is None:
            self._process = self._readers.lend()
        if self._process.unanswered == len(self._waiting) - 1:
            with contextlib.suppress(ReaderDiedError):  # which taking it finds, too
                self._process.send(file, self._count)

    def take(self) -> FileDrafts:
        """What is in the first file. Unreadable with the reason why it cannot be; ReaderDiedError; CancelledError."""
        from daemon.reading.frames import Contents

        replies = self.replies()
        first = next(replies, None)
        if not isinstance(first, Contents):
            replies.close()
            raise ReaderDiedError(NO_TEXT)
        return FileDrafts(first, replies)

    def replies(self) -> Generator[Reply, None, None]:
        """The replies to the first file, the End left out. Whoever does not take them all ends the process."""
        if self._replies is not None:
            self._replies.close()
        self._replies = self._ask()
        return self._replies

    def close(self) -> None:
        """What was handed over and not taken is not wanted any more."""
        if self._replies is not None:
            self._replies.close()
        self._waiting.clear()
        if self._process is not None:
            self._process.close()
            self._leave()

    def _ask(self) -> Generator[Reply, None, None]:
        process, file = self._process, self._waiting[0]
        assert process is not None
        is_whole = False
        try:
            if not process.unanswered:
                for waiting in self._waiting:
                    if not process.send(waiting, self._count):
                        break
            yield from process.receive(file.reader)
            is_whole = True
        except Exception as error:
            if self._readers.is_closed:
                raise CancelledError from error
            is_whole = isinstance(error, Unreadable)  # the process is there for the next one, or has ended
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


class _ReadingProcess:
    """Starts with the first file, ends by itself when it is idle or has grown, and is started anew for the next one."""

    def __init__(self, settings: ChunkSettings, rules: bool, masker: Masker | None, left_out: Sequence[str]) -> None:
        self._settings = settings
        self._rules = rules
        self._masker = masker
        self._left_out = left_out
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._received = bytearray()
        self._has_answered = False
        self.unanswered = 0  # files that it has been handed and has not answered to the end

    def close(self) -> None:
        """Ends the process, whatever it does."""
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

    def send(self, file: OpenFile, count: bool) -> bool:
        """Hands a file over, behind those that are `unanswered`; False if the process that has these takes no more.
        ReaderDiedError if none can be started."""
        from daemon.reading.frames import ReadRequest, pack

        reader = file.reader
        request = pack(
            ReadRequest(
                os.fsencode(file.path), reader.name, file.size, reader.max_seconds, reader.max_memory, self._settings,
                self._rules, count, file.tags, self._masker, dict(file.known), file.is_copied,
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
                    with contextlib.suppress(OSError):  # half a request is never gone on with
                        connection.shutdown(socket.SHUT_WR)
                    return False
                self.close()
                if is_fresh:
                    raise ReaderDiedError(f"no reading process could be started: {error}") from error

    def receive(self, reader: Reader) -> Iterator[Reply]:
        """The replies to the first file that is `unanswered`, the End left out. Unreadable, ReaderDiedError."""
        from daemon.reading.frames import End, Refusal

        total, refused = 0, ""
        left = reader.max_seconds * WALL + (0.0 if self._has_answered else START_SECONDS)
        while True:
            began = time.monotonic()
            reply, size = self._receive(began + left, reader)
            self._has_answered = True
            left -= time.monotonic() - began
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
                raise Unreadable(f"too large for the {reader.name} reader: it makes more than {total // MIB:,} MiB")
            yield reply

    def _notice_end(self) -> None:
        """A process that has ended leaves an end of file, and nothing else is there while nothing is asked of it."""
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
        # One arena: each reserves 64 MiB, which would count against the limit.
        environment = _clean_environment() | {"MALLOC_ARENA_MAX": "1"}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "daemon.reading.child", *self._left_out],
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


def _clean_environment() -> dict[str, str]:
    """Without the keys of models, which a reader need not see; the same code as here, wherever that is."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
