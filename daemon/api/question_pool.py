"""The threads in which questions are answered, and whether anybody asks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

QUIET_SECONDS = 2.0  # after the last answer: who has asked asks on


class Readers(ThreadPoolExecutor):
    """Threads that answer what a person waits for. What may wait looks at `busy`."""

    def __init__(self, most: int) -> None:
        super().__init__(most, "reader")
        self._counting = threading.Lock()
        self._open = 0
        self._last = -QUIET_SECONDS

    @property
    def busy(self) -> bool:
        """Whether something is being answered, or has just been."""
        return self._open > 0 or time.monotonic() - self._last < QUIET_SECONDS

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with self._counting:
            self._open += 1
        try:
            future = super().submit(call, *args, **kwargs)
        except RuntimeError:  # it is closed
            self._ended()
            raise
        future.add_done_callback(self._ended)
        return future

    def _ended(self, future: object = None) -> None:
        with self._counting:
            self._open -= 1
            self._last = time.monotonic()
