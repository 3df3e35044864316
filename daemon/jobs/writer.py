"""The only thread that writes.

A unit is a function that writes to the memory and is acknowledged by its future. Units run one at a time, urgent ones
(a person waits) first, otherwise in order of arrival.
"""

from __future__ import annotations

import itertools
import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from memory.errors import StoreFullError

log = logging.getLogger(__name__)

T = TypeVar("T")

URGENT, NORMAL = 0, 1


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
        """The future is done when the unit is on the disk, or failed whole. After `close` it is cancelled. With
        StoreFullError it fails at once if it is not urgent and that is refused."""
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
        """The same, after everything that a person waits for."""
        return self.submit(unit).result()

    def refuse_background(self, reason: str) -> None:
        """Refuses background units with this reason; "" accepts them again."""
        self._refusal = reason

    @property
    def waiting(self) -> int:
        """Units that have not begun."""
        return self._units.qsize()

    def close(self, timeout: float) -> bool:
        """Finishes the current unit and the urgent ones, cancels the others. False if time ran out."""
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
