"""Two worker threads: the only writer, and one for long tasks.

A unit is a function that writes to the memory and is acknowledged by its future. Units run one at a time, urgent ones
(a person waits) first, otherwise in order of arrival.

Long tasks run in steps, and a more urgent task may run between two steps. Of equally urgent tasks the one with the
least time so far continues: a saved note need not wait for a large folder."""

from __future__ import annotations

import heapq
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from daemon import wire
from daemon.failures import ConflictError, log_unexpected
from memory.errors import PalimpsestError, StoreFullError

log = logging.getLogger(__name__)

T = TypeVar("T")

URGENT, NORMAL = 0, 1
# How urgent a task is: a person waits; a file was just saved; all the rest; what may take hours.
ADD, CHANGE, SCAN, EMBED = 0, 1, 2, 3


@contextmanager
def try_lock(lock: threading.Lock, message: str) -> Iterator[None]:
    """Holds a lock without waiting for it: ConflictError with the message."""
    if not lock.acquire(blocking=False):
        raise ConflictError(message)
    try:
        yield
    finally:
        lock.release()


class Writer:
    """Runs units in its own thread, from `start` to `close`."""

    def __init__(self, written: Callable[[], None] = lambda: None) -> None:
        """`written` is called in that thread after each successful unit, when its future is done."""
        self._written = written
        self._units: queue.PriorityQueue[tuple[int, int, Callable[[], Any] | None, Future[Any]]] = queue.PriorityQueue()
        self._number = itertools.count()
        self._closing = threading.Lock()
        self._closed = False
        self._refusal = ""
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, unit: Callable[[], T], *, urgent: bool = False) -> Future[T]:
        """Queues a unit. The future is done when the unit is on the disk, or failed completely; cancelled after
        `close`. StoreFullError at once if background units are refused."""
        future: Future[T] = Future()
        if self._refusal and not urgent:
            future.set_exception(StoreFullError(self._refusal))
            return future
        with self._closing:
            if self._closed:
                future.cancel()
            else:
                self._units.put((URGENT if urgent else NORMAL, next(self._number), unit, future))
        return future

    def write(self, unit: Callable[[], T]) -> T:
        """Runs an urgent unit; returns its result or raises its error, CancelledError after `close`."""
        return self.submit(unit, urgent=True).result()

    def write_later(self, unit: Callable[[], T]) -> T:
        """Runs a unit after everything that a person waits for."""
        return self.submit(unit).result()

    def refuse_background(self, reason: str) -> None:
        """Refuses background units with this reason; "" accepts them again."""
        self._refusal = reason

    @property
    def waiting(self) -> int:
        """Returns the number of queued units."""
        return self._units.qsize()

    def close(self, timeout: float) -> bool:
        """Finishes the current unit and the urgent ones, cancels the others. Returns False after `timeout`."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._units.put((URGENT, next(self._number), None, Future()))
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            _, _, unit, future = self._units.get()
            if unit is None:
                break
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = unit()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
                self._tell()
            del unit, future  # release their objects before the next unit
        while not self._units.empty():
            self._units.get()[3].cancel()

    def _tell(self) -> None:
        try:
            self._written()
        except Exception as error:  # the unit is on the disk all the same
            log.error("a write could not be reported: %s", type(error).__name__)


@dataclass
class Task:
    """`steps` does one step at each `next`. `ended` is called at the end with the error, if any: CancelledError if the
    daemon stopped first. `tell` receives the events for the client that asked; the numbers count files."""

    name: str
    steps: Iterator[None] = field(default_factory=lambda: iter(()))
    ended: Callable[[BaseException | None], None] = lambda error: None
    tell: Callable[[wire.Event], None] = lambda event: None
    total: int = 0
    done: int = 0
    sources: int = 0
    episodes: int = 0
    unchanged: int = 0
    skipped: int = 0
    removed: int = 0
    label: str = ""
    began: float = field(default_factory=time.monotonic)
    taken: float = 0.0  # seconds of its steps
    _shown_at: float = 0.0

    def progress(self, last: bool = False) -> wire.Progress | None:
        """Returns the progress, ten times a second at most; the `last` one always."""
        if time.monotonic() - self._shown_at < 0.1 and not last:
            return None
        self._shown_at = time.monotonic()
        return wire.Progress(self.done, self.total, self.label)

    def result(self) -> wire.Added:
        ms = (time.monotonic() - self.began) * 1000
        return wire.Added(self.sources, self.episodes, self.unchanged, self.skipped, self.removed, round(ms, 1))


class Tasks:
    """Runs tasks in its own thread, from `start` to `close`."""

    def __init__(self, tell: Callable[[wire.Event], None]) -> None:
        """`tell` receives a Notice about a failed task."""
        self._tell = tell
        self._queue: list[tuple[int, float, int, Task]] = []
        self._number = itertools.count()
        self._changed = threading.Condition()
        self._closing = False
        self._now: Task | None = None
        self._thread = threading.Thread(target=self._run, name="ingest", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, urgency: int, task: Task) -> None:
        """Queues a task; after `close` it ends at once."""
        with self._changed:
            closing = self._closing
            if not closing:
                self._put(urgency, task)
                self._changed.notify()
        if closing:
            task.ended(CancelledError())

    def _put(self, urgency: int, task: Task) -> None:
        heapq.heappush(self._queue, (urgency, task.taken, next(self._number), task))

    def close(self, timeout: float) -> bool:
        """Stops after the current step, and cancels unfinished tasks. Returns False after `timeout`."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def queue(self) -> int:
        """Returns the number of waiting files."""
        with self._changed:
            tasks = [task for *_, task in self._queue] + ([self._now] if self._now else [])
        return sum(max(0, task.total - task.done) for task in tasks)

    @property
    def busy(self) -> str:
        """Returns the name of the current task, or ""."""
        now = self._now
        return now.name if now else ""

    def _run(self) -> None:
        while True:
            with self._changed:
                self._now = None
                self._changed.wait_for(lambda: self._closing or self._queue)
                if self._closing:
                    break
                urgency, *_, self._now = heapq.heappop(self._queue)
            task, began = self._now, time.monotonic()
            try:
                next(task.steps)
            except StopIteration:
                self._end(task, None)
            except BaseException as error:
                self._end(task, error)
            else:
                task.taken += time.monotonic() - began
                with self._changed:
                    self._put(urgency, task)
        for *_, task in self._queue:
            self._end(task, CancelledError())

    def _end(self, task: Task, error: BaseException | None) -> None:
        if error is None:
            log.info("a task is done: %s", task.result())
        elif isinstance(error, CancelledError):
            log.info("a task was stopped before its end")
        else:
            reason = "internal error; see the log."
            if isinstance(error, PalimpsestError):
                log.error("%s failed: %s", task.name, reason := str(error))
            else:
                log_unexpected(log, "%s failed", task.name, error=error)
            self._tell(wire.Notice("error", f"{task.name} failed: {reason}"))
        try:
            task.ended(error)
        except Exception as trouble:
            log.error("the end of a task: %s", type(trouble).__name__)
