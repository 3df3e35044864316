"""Writes that nobody waits for: an answer is shown before its trace and its message are stored."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from memory.errors import NotFoundError, StoreBusyError, StoreError
from memory.store import traces
from memory.store.store import Store

log = logging.getLogger(__name__)


class PendingWrites:
    """Units of writing, in order. What reads their rows calls `write` or `try_write` first."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._units: deque[Callable[[], object]] = deque(maxlen=1000)  # if another program writes for so many
        self._writing = threading.RLock()
        self._reserving = threading.Lock()
        self._last_trace = 0

    def reserve_trace(self) -> int:
        """The id for a trace that is stored later; does not wait for writers."""
        with self._reserving:
            self._last_trace = max(self._last_trace, self._store.read(traces.find_last)) + 1
            return self._last_trace

    def add(self, unit: Callable[[], object]) -> None:
        self._units.append(unit)

    def write(self) -> None:
        """Writes all units, or waits for the thread that does. One that fails is dropped and logged. StoreBusyError
        while another program holds the file; they stay."""
        with self._writing:
            while self._units:
                unit = self._units.popleft()
                try:
                    unit()
                except StoreBusyError:
                    self._units.appendleft(unit)
                    raise
                except (StoreError, NotFoundError) as error:
                    log.warning("a question or an answer was not kept: %s", type(error).__name__)

    def try_write(self) -> None:
        """The same without an error; the units may stay."""
        with suppress(StoreBusyError):
            self.write()
