"""How often reading a file ended badly, so that no file can stop the reading of all others.

What is being read is written down before it is begun (`begin`) and struck out when it is in the memory (`end`), without
waiting for the disk: it need only outlive this process. A daemon that finds such names when it starts has died while
they were read, and counts that against them; so does the death of a reading process. A file that was counted once is
read alone; after TRIES it is set aside until it changes or a person wants it read again.

A daemon that died LOOP times within LOOP_SECONDS while it looked for files or read them, and got none of them into the
memory, is in a loop: the next one starts without reading (`is_looping`), so that it can be asked what is wrong.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from daemon.jobs.writer import Writer
from daemon.paths import private_folder
from memory import Memory
from memory.services.jobs import NewJob

log = logging.getLogger(__name__)

KIND = "read"
TRIES = 3
LOOP, LOOP_SECONDS = 5, 600.0
LOOKING = "*"  # stands for what is no file yet: folders are being looked into
DIED = "the daemon ended while it was read"
AGAIN = "; to have it read again: pal retry"


SAFE_MODE = (
    f"{LOOP} times in a row the daemon ended while it read files, so it reads none now and only answers. Files that it"
    " ended with are in: pal status --skipped. To have it read again: pal daemon restart"
)


class Attempts:
    """Of files, by uri. For the thread of the tasks; `retry` is for any."""

    def __init__(self, memory: Memory, writer: Writer, notes: Path) -> None:
        """`notes` is the file that says what is being read."""
        self._memory = memory
        self._writer = writer
        self._path = notes
        self._begun: dict[str, None] = {}
        self._tried: dict[str, tuple[int, str | None]] = {}  # attempts, and the reason if it is set aside
        self._stamps: dict[str, tuple[int, int] | None] = {}  # size and mtime_ns of what was tried; None: as it is
        self._file: int | None = None
        self._crashes = notes.with_name("crashes")
        self._has_crashed = False
        self._recovering = threading.Lock()
        self.is_looping = False

    def recover(self) -> None:
        """Knows what was counted, and counts what an earlier daemon died of. To be called before anything is read."""
        with self._recovering:
            if self._file is None:
                self._load()
                self._recover()

    def _recover(self) -> None:
        private_folder(self._path.parent)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with open(self._file, encoding="utf-8", errors="replace", newline="", closefd=False) as stream:
            left = [uri for uri in stream.read().split("\0") if uri]
        if left:
            self._note_crash()
        for uri in dict.fromkeys(left):
            if uri != LOOKING:
                log.warning("it was reading %s", uri)
                self._count(uri, None, DIED)
        os.ftruncate(self._file, 0)

    def _note_crash(self) -> None:
        """Whether that was once too often."""
        known = self._crashes.read_text("ascii", "replace").split() if self._crashes.exists() else []
        now = time.time()
        recent = [moment for moment in known if moment.isdigit() and 0 <= now - int(moment) < LOOP_SECONDS]
        self._crashes.write_text("\n".join([*recent, str(int(now))]), "ascii")
        self._has_crashed = True
        self.is_looping = len(recent) + 1 >= LOOP
        log.warning("an earlier daemon ended while it read files, %d times of late", len(recent) + 1)

    def close(self) -> None:
        """The daemon ends in order."""
        self._begun.clear()
        if self._file is not None:
            os.ftruncate(self._file, 0)
            os.close(self._file)
        self.settle()

    def settle(self) -> None:
        """Something was read, or the daemon ends in order: it is in no loop."""
        if self._has_crashed:
            self._crashes.unlink(missing_ok=True)
            self._has_crashed = False

    def refusal(self, uri: str, size: int, mtime_ns: int, again: bool) -> str | None:
        """Why the file is not to be tried; None if it may be: it has changed, or is to be read `again`."""
        attempts, reason = self._tried.get(uri, (0, None))
        if reason is None:
            return None
        stamp = self._stamps.get(uri)
        if stamp is None:  # the daemon died of it, whatever it was: as it is now it is left alone
            self._stamps[uri] = (size, mtime_ns)
        elif again or stamp != (size, mtime_ns):
            self.forgive([uri])
            return None
        return f"set aside after {attempts} tries: {reason}{AGAIN}"

    def is_doubted(self, uri: str) -> bool:
        """Whether reading the file has ended badly before: it is read alone."""
        return uri in self._tried

    def begin(self, uri: str) -> None:
        """It is being read from now on."""
        assert self._file is not None
        self._begun[uri] = None
        os.write(self._file, f"{uri}\0".encode("utf-8", "replace"))

    def end(self, uris: Iterable[str]) -> None:
        """What is in them is in the memory, or they are left alone for a reason that is written down."""
        assert self._file is not None
        ended = [uri for uri in uris if self._begun.pop(uri, 1) is None]
        os.ftruncate(self._file, 0)
        if self._begun:  # of a task that gave way to a more urgent one
            os.write(self._file, "".join(f"{uri}\0" for uri in self._begun).encode("utf-8", "replace"))
        self.forgive([uri for uri in ended if uri in self._tried])

    def fail(self, uri: str, size: int, mtime_ns: int, reason: str) -> str | None:
        """Counts a try; why the file is set aside, if this was the last one."""
        self._begun.pop(uri, None)
        self._count(uri, (size, mtime_ns), reason)
        attempts, why = self._tried[uri]
        return f"set aside after {attempts} tries: {why}{AGAIN}" if why else None

    def forgive(self, uris: Iterable[str]) -> None:
        """Nothing counts against these files any more."""
        known = [uri for uri in uris if self._tried.pop(uri, None)]
        if known:
            self._writer.write(partial(self._memory.jobs.drop, KIND, known))

    def retry(self, id: int | None = None) -> list[Path]:
        """Forgives what was set aside, or the one that has this number as a job; returns those files."""
        dead = [job for job in self._memory.jobs.given_up([KIND], -1) if id in (None, job.id)]
        uris = [job.dedupe_key for job in dead]
        self.forgive(uris)
        return [path for path in map(Path, uris) if path.is_file()]

    def _load(self) -> None:
        jobs = self._memory.jobs
        for job in (*jobs.list_unfinished([KIND]), *jobs.given_up([KIND], -1)):
            self._tried[job.dedupe_key] = job.attempts, job.last_error if job.state == "dead" else None
            stamp = job.payload.get("stamp")
            self._stamps[job.dedupe_key] = tuple(stamp) if stamp else None

    def _count(self, uri: str, stamp: tuple[int, int] | None, reason: str) -> None:
        wanted = NewJob(KIND, uri, {"stamp": stamp})
        attempts = self._writer.write(partial(self._memory.jobs.count_attempt, wanted, reason, TRIES))
        self._tried[uri] = attempts, reason if attempts >= TRIES else None
        self._stamps[uri] = stamp
