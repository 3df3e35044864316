"""How much an agent may write."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable

from daemon.failures import ConflictError
from daemon.settings import McpSettings
from memory.errors import InvalidInputError


class WriteLimiter:
    """How much an agent may write: of a note, in a minute, within a day. What it wrote within a day the memory knows,
    so that neither a new daemon nor many processes of one agent change that."""

    def __init__(self, settings: McpSettings, now: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._now = now
        self._lock = threading.Lock()
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)

    def check_size(self, text: str) -> None:
        """InvalidInputError for a note that is too long."""
        kilobytes = self._settings.note_kb
        if len(text.encode("utf-8", "replace")) > 1000 * kilobytes:
            raise InvalidInputError(
                f"A note may have {kilobytes} kB. Write down what is worth keeping, in fewer words."
            )

    def take(self, agent: str, today: int) -> None:
        """Counts a note of an agent that has written so many `today`. ConflictError for one too many."""
        limits = self._settings
        if today >= limits.notes_per_day:
            raise ConflictError(
                f"{agent} has written {today} notes within 24 hours, which is all it may. The person can allow more: "
                f"pal config set mcp.notes_per_day {2 * limits.notes_per_day}"
            )
        with self._lock:
            times, now = self._times[agent], self._now()
            while times and now - times[0] >= 60:
                times.popleft()
            if len(times) >= limits.notes_per_minute:
                wait = 60 - (now - times[0])
                raise ConflictError(f"{agent} may write {limits.notes_per_minute} notes a minute: wait {wait:.0f} s.")
            times.append(now)
