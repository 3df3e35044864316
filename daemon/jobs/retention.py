"""Nightly retention by the settings `retention.*`: erases expired data, returns free space of the file, and clears its
unused parts after something was forgotten.

Retired text expires by the clock and cannot be restored. So after a long pause, or a jump of the clock, it waits for
the next night: a wrong clock has mostly been corrected by then.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from daemon.config.settings import RetentionSettings
from memory.protocols import Write

if TYPE_CHECKING:
    from memory import Memory

LONG = timedelta(days=14)  # between two nights


class RetentionJob:
    """Erases data older than the retention settings allow."""

    def __init__(
        self,
        memory: Memory,
        settings: RetentionSettings,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self._memory = memory
        self._settings = settings
        self._clock = clock

    def at_night(self, write: Write, last: int) -> dict[str, int]:
        """Runs the retention; returns counts. `last`: the previous night, ms UTC, 0 if none."""
        settings = self._settings
        retention, thinned = self._memory.retention, 0
        if settings.questions:  # those since the last night are still to be counted
            thinned = retention.thin_out_questions(settings.questions, last, write)
        counts = {"thinned": thinned, "erased": self._expire(write, last), "freed": retention.compact(write)}
        self._memory.ingest.clear_unused(write)
        return counts

    def _expire(self, write: Write, last: int) -> int:
        """Erases expired retired text; returns the number of passages."""
        from memory.services.retention import Expiry

        now = self._clock()
        if not last or not timedelta() <= now - datetime.fromtimestamp(last / 1000).astimezone() <= LONG:
            return 0
        settings = self._settings

        def before(**age: float) -> int | None:
            """The time before which retired text expires, ms UTC."""
            return int((now - timedelta(**age)).timestamp() * 1000) if any(age.values()) else None

        shortest = int(settings.draft_hours * 3_600_000)
        expiry = Expiry(
            before(days=settings.deleted_days), before(days=settings.edited_days), before(hours=settings.draft_hours),
            shortest,
        )  # fmt: skip
        return self._memory.retention.expire(expiry, write).episodes
