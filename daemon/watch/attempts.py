"""Failed attempts to read files, so that no file can block the others.

The file being read is noted before (`begin`) and struck out when it is in the memory (`end`), without waiting for the
disk: the note only has to survive this process. The death of a parser process counts as an attempt. After TRIES the
file is set aside until it changes, a person retries it, or a day has passed. A daemon that finds notes at its start
died while reading these files, perhaps by a power cut: this counts for no file, but they are read alone.

A daemon that died LOOP times within LOOP_SECONDS while scanning or reading, without storing a file, is in a loop: the
next one only answers until the first of these deaths is LOOP_SECONDS ago (`pause`), so that it can be asked what is
wrong. If it dies again after that, it pauses again."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from daemon.jobs.workers import Writer
from daemon.paths import private_folder
from daemon.wire.documents import SET_ASIDE
from memory import Memory
from memory.services.activity import Job

log = logging.getLogger(__name__)

KIND = "read"
TRIES = 3
LOOP, LOOP_SECONDS = 5, 600.0
ASIDE_SECONDS = 24 * 3600.0  # how long a file is set aside
LOOKING = "*"  # note for the scan of folders, before any file
AGAIN = "; to try again: pal retry"
SAFE_MODE = (
    f"The daemon ended {LOOP} times in a row while reading files, so it only answers for some minutes. The files:"
    " pal status --skipped. To read at once: pal daemon restart"
)


class Attempts:
    """The attempts by uri. Used by the task thread only, except `retry`."""

    def __init__(self, memory: Memory, writer: Writer, notes: Path) -> None:
        """`notes` is the file that lists what is being read."""
        self._memory = memory
        self._writer = writer
        self._path = notes
        self._begun: dict[str, None] = {}
        self._failed: dict[str, Job] = {}  # as they are stored; a dead one is set aside
        self._interrupted: set[str] = set()  # files that an earlier daemon was reading when it died
        self._file: int | None = None
        self._crashes = notes.with_name("crashes")
        self._has_crashed = False
        self._recovering = threading.Lock()
        self.pause = 0.0  # seconds without reading, after a loop of deaths

    def recover(self) -> None:
        """Loads the counts, and notes the crash of an earlier daemon. Call before reading."""
        with self._recovering:
            if self._file is None:
                jobs = self._memory.jobs
                self._failed = {job.key: job for job in (*jobs.list_unfinished([KIND]), *jobs.given_up([KIND], -1))}
                self._read_notes()

    def _read_notes(self) -> None:
        private_folder(self._path.parent)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with open(self._file, encoding="utf-8", errors="replace", newline="", closefd=False) as stream:
            uris = [uri for uri in stream.read().split("\0") if uri]
        if uris:
            self._note_crash()
        self._interrupted = {*uris} - {LOOKING}
        for uri in sorted(self._interrupted):
            log.warning("it was reading %s", uri)
        os.ftruncate(self._file, 0)

    def _note_crash(self) -> None:
        """Records a crash and detects a loop."""
        moments = self._crashes.read_text("ascii", "replace").split() if self._crashes.exists() else []
        now = time.time()
        recent = [moment for moment in moments if moment.isdigit() and 0 <= now - int(moment) < LOOP_SECONDS]
        self._crashes.write_text("\n".join([*recent, str(int(now))]), "ascii")
        self._has_crashed = True
        if len(recent) + 1 >= LOOP:
            self.pause = LOOP_SECONDS - (now - int(recent[1 - LOOP]))
        log.warning("an earlier daemon ended while it read files, %d times of late", len(recent) + 1)

    def close(self) -> None:
        """Records a regular shutdown."""
        self._begun.clear()
        if self._file is not None:
            os.ftruncate(self._file, 0)
            os.close(self._file)
        self.settle()

    def settle(self) -> None:
        """Clears the crashes: something was read, or the daemon shuts down regularly."""
        if self._has_crashed:
            self._crashes.unlink(missing_ok=True)
            self._has_crashed = False

    def refusal(self, uri: str, size: int, mtime_ns: int, again: bool) -> str | None:
        """Returns the reason not to try a file; None if it changed, is to be read `again`, was set aside a day ago, or
        has not failed."""
        failed = self._failed.get(uri)
        if failed is None or failed.state != "dead":
            return None
        size_before, mtime_before, at = (failed.payload.get(name, 0) for name in ("size", "mtime_ns", "at"))
        if again or (size_before, mtime_before) != (size, mtime_ns) or time.time() - at > ASIDE_SECONDS:
            self.forgive([uri])
            return None
        return f"{SET_ASIDE} {failed.attempts} tries: {failed.last_error}{AGAIN}"

    def is_doubted(self, uri: str) -> bool:
        """Whether reading the file failed or was interrupted before: it is read alone."""
        return uri in self._failed or uri in self._interrupted

    def begin(self, uri: str) -> None:
        """Notes that the file is being read."""
        assert self._file is not None
        self._begun[uri] = None
        os.write(self._file, f"{uri}\0".encode("utf-8", "replace"))

    def end(self, uris: Iterable[str]) -> None:
        """Strikes out files that are stored, or whose skip is recorded."""
        assert self._file is not None
        ended = [uri for uri in uris if self._begun.pop(uri, 1) is None]
        os.ftruncate(self._file, 0)
        if self._begun:  # of a task that was interrupted by a more urgent one
            os.write(self._file, "".join(f"{uri}\0" for uri in self._begun).encode("utf-8", "replace"))
        self._interrupted.difference_update(ended)
        self.forgive([uri for uri in ended if uri in self._failed])

    def fail(self, uri: str, size: int, mtime_ns: int, reason: str) -> str | None:
        """Counts an attempt; returns the reason if the file is now set aside."""
        self._begun.pop(uri, None)
        job = Job(KIND, uri, {"size": size, "mtime_ns": mtime_ns, "at": time.time()})
        attempts = self._writer.write(partial(self._memory.jobs.count_attempt, job, reason, TRIES))
        is_aside = attempts >= TRIES
        self._failed[uri] = job._replace(attempts=attempts, state="dead" if is_aside else "queued", last_error=reason)
        return f"{SET_ASIDE} {attempts} tries: {reason}{AGAIN}" if is_aside else None

    def forgive(self, uris: Iterable[str]) -> None:
        """Clears the attempts of these files."""
        counted = [uri for uri in uris if self._failed.pop(uri, None)]
        if counted:
            self._writer.write(partial(self._memory.jobs.drop, KIND, counted))

    def retry(self, id: int | None = None) -> list[Path]:
        """Clears the files that were set aside, or the one with this job number; returns these files."""
        dead = [job for job in self._memory.jobs.given_up([KIND], -1) if id in (None, job.id)]
        uris = [job.key for job in dead]
        self.forgive(uris)
        return [path for path in map(Path, uris) if path.is_file()]
