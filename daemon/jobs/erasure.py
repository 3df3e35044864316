"""Erasures that outlast a request: whole folders, and bytes that cannot be overwritten yet.

A folder is a durable job of small steps, so a restarted daemon continues it. Forgotten text is off the disk once the
write-ahead log is empty; another program that reads the memory, or a full disk, can prevent that. The memory notes it,
and the daemon retries without limit.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from daemon import wire
from daemon.jobs.workers import ADD, Task, Tasks, Writer
from memory import Memory
from memory.errors import PalimpsestError
from memory.services.activity import Job
from memory.time.timestamps import from_ms
from memory.views import Forgotten

log = logging.getLogger(__name__)

T = TypeVar("T")

KIND = "forget"
RETIRED = "retired text "  # before what such a job is called
AT_ONCE = 200  # sources; each such unit costs one reading of the whole graph
RETRY_SECONDS = 5.0


def find_files(uris: Iterable[str]) -> set[str]:
    """Returns the existing files of these sources, by uri; one file may have several sources."""
    candidates = {uri if Path(uri).exists() else uri.partition("#")[0] for uri in uris}
    return {name for name in candidates if Path(name).is_absolute() and Path(name).is_file()}


@dataclass
class Erasure:
    """Forgets folders, and ensures that forgotten text leaves the disk. `run_later` is that of the schedule."""

    memory: Memory
    writer: Writer
    tasks: Tasks
    run_later: Callable[..., object]

    def __post_init__(self) -> None:
        self._waiting = threading.Lock()  # locked while a retry is planned
        self._running: dict[str, Future[Forgotten]] = {}  # by the key of the job

    @staticmethod
    def job(folder: str, in_watched: bool = False) -> Job:
        """Returns the job that forgets all sources of a folder (a uri). `in_watched`: the folder is inside a watched
        one, so its files are not read again, whatever their later content."""
        return Job(KIND, folder, {"folder": folder, "in_watched": in_watched})

    @staticmethod
    def job_of_retired(under: str) -> Job:
        """Returns the job that forgets all retired text, or that of a source or folder (a uri)."""
        return Job(KIND, f"{RETIRED}{under}", {"retired": under})

    def resume(self) -> None:
        """Continues the jobs and failed overwriting of an earlier daemon."""
        for job in self.memory.jobs.list_unfinished([KIND]):
            self._begin(job)
        if self.memory.forgetting.unwiped_since():
            self._plan(0)

    def forget(self, spec: Job) -> Future[Forgotten]:
        """Starts a job, or joins it if it is queued or running; the future is done when everything is erased, and
        cancelled if the daemon stops first: the next one continues."""
        if (running := self._running.get(spec.key)) is not None:
            return running
        [id] = self._write(partial(self.memory.jobs.enqueue, [spec]))
        return self._begin(spec._replace(id=id))

    def is_unfinished(self, folder: str) -> bool:
        """Whether the folder's job is queued or running."""
        return any(job.key == folder for job in self.memory.jobs.list_unfinished([KIND]))

    def watch(self, forgotten: Forgotten) -> Forgotten:
        """Returns `forgotten`; retries later if it is not off the disk yet."""
        if forgotten.pending:
            self._plan(RETRY_SECONDS)
        return forgotten

    def state(self) -> wire.Erasing | None:
        """Returns what is still to be erased, or None."""
        jobs = self.memory.jobs.list_unfinished([KIND])
        folders = [job.payload["folder"] for job in jobs if "folder" in job.payload]
        since = self.memory.forgetting.unwiped_since()
        if not jobs and since is None:
            return None
        remaining = sum(self.memory.sources.count_under(folder + "/", ever=True) for folder in folders)
        return wire.Erasing(tuple(folders), remaining, from_ms(since), self.memory.forgetting.unwiped_because)

    def _begin(self, job: Job) -> Future[Forgotten]:
        """Submits a job as a task, unless it runs: a request and the daemon's start may both begin it."""
        future: Future[Forgotten] = Future()
        future.set_running_or_notify_cancel()
        if (running := self._running.setdefault(job.key, future)) is not future:
            return running
        task = Task(f"Forgetting {job.key.rpartition('/')[2]}")
        parts: list[Forgotten] = []
        task.steps = self._forget(job, task, parts)
        task.ended = partial(self._report_end, job, future, parts)
        self.tasks.submit(ADD, task)
        return future

    def _forget(self, job: Job, task: Task, parts: list[Forgotten]) -> Iterator[None]:
        """Deletes some at a time, so that others may write in between."""
        what = job.payload
        if "folder" in what:
            yield from self._forget_folder(what["folder"] + "/", what.get("in_watched", False), task, parts)
        else:
            forget = partial(self.memory.forgetting.forget_retired, what["retired"])
            while (batch := self._write(forget)) != Forgotten():
                parts.append(batch)
                yield
        pending = self._write(self.memory.forgetting.wipe)
        parts.append(self.watch(Forgotten(pending=pending)))
        self._write(partial(self._finish, job.id))

    def _forget_folder(self, below: str, skip: bool, task: Task, parts: list[Forgotten]) -> Iterator[None]:
        """Deletes all sources of a folder, including retired ones."""
        task.total = self.memory.sources.count_under(below, ever=True)
        while uris := self.memory.sources.list_uris(below, AT_ONCE):
            files = find_files(uris) if skip else ()
            forget = partial(self.memory.forgetting.forget_sources, uris, files, wipe=False)
            parts.append(self._write(forget))
            task.done += len(uris)
            yield

    def _write(self, unit: Callable[[], T]) -> T:
        """Runs a unit of the writer, also on a full disk, because it frees space."""

        def make_room() -> T:
            with self.memory.store.allow_deletes():
                return unit()

        return self.writer.write(make_room)

    def _finish(self, job: int) -> None:
        self.memory.jobs.finish(job)
        self.memory.jobs.prune([KIND])  # it has the name of the folder

    def _report_end(
        self, job: Job, future: Future[Forgotten], parts: list[Forgotten], error: BaseException | None
    ) -> None:
        del self._running[job.key]
        if error is None:
            future.set_result(sum(parts, Forgotten()))
            return
        if not isinstance(error, CancelledError):
            self.run_later(RETRY_SECONDS, self._begin, job)
        future.set_exception(error)

    def _plan(self, seconds: float) -> None:
        """Schedules emptying the log after that many seconds, with retries."""
        if self._waiting.acquire(blocking=False):
            self.run_later(seconds, self._wipe)

    def _wipe(self) -> None:
        self._waiting.release()
        try:
            pending = self._write(partial(self.memory.forgetting.wipe, 0.0))
        except CancelledError:  # the daemon is stopping
            return
        except PalimpsestError as error:
            log.error("forgotten text could not be overwritten: %s", type(error).__name__)
            pending = "?"
        if pending:
            self._plan(RETRY_SECONDS)
        else:
            log.info("forgotten text is off the disk")
