"""At night what is not kept for ever is erased, by the settings `retention.*`, and what is free in the file given back.

Retired text goes by the clock and does not come back. So after a long pause, or where the clock made one, it waits for
the next night: a clock that is wrong has mostly been set by then.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from daemon.settings import RetentionSettings
from memory.protocols import Write

if TYPE_CHECKING:
    from memory import Memory

LONG = timedelta(days=14)  # between two nights


class Tidying:
    """Erases what has been kept for long enough."""

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
        """Tidies up; what came of it in numbers. `last`: when there was a night before, ms UTC, 0 if never."""
        settings = self._settings
        retention, thinned = self._memory.retention, 0
        if settings.questions:  # those since the last night are still to be counted
            thinned = retention.thin_out_questions(settings.questions, last, write)
        return {"thinned": thinned, "erased": self._expire(write, last), "freed": retention.compact(write)}

    def _expire(self, write: Write, last: int) -> int:
        """Erases retired text whose time has come; how many passages."""
        from memory.services.retention import Expiry

        now = self._clock()
        if not last or not timedelta() <= now - datetime.fromtimestamp(last / 1000).astimezone() <= LONG:
            return 0
        settings = self._settings

        def before(**kept: float) -> int | None:
            """Until when what is not kept for ever had gone, ms UTC."""
            return int((now - timedelta(**kept)).timestamp() * 1000) if any(kept.values()) else None

        shortest = int(settings.draft_hours * 3_600_000)
        expiry = Expiry(
            before(days=settings.deleted_days), before(days=settings.edited_days), before(hours=settings.draft_hours),
            shortest,
        )  # fmt: skip
        return self._memory.retention.expire(expiry, write).episodes
