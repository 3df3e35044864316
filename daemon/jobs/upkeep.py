"""Scheduled upkeep: a verified backup of the memory and a look for damage, each when it is due.

Backups carry `scheduled` in their names; of these the oldest go when there are more than are to be kept. What a person
made with `pal backup`, or put there, is never touched.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from daemon import wire
from daemon.jobs.schedule import is_due
from daemon.jobs.writer import Writer
from daemon.paths import private_folder
from daemon.settings import UpkeepSettings
from memory import Memory
from memory.errors import PalimpsestError
from memory.time.timestamps import from_ms

log = logging.getLogger(__name__)

PREFIX = "memory-scheduled-"  # of a backup that the schedule has made
BACKUP, CHECK = "backup", "check"


class Upkeep:
    """Makes backups and checks the memory, one at a time."""

    def __init__(
        self,
        memory: Memory,
        writer: Writer,
        settings: UpkeepSettings,
        folder: Path,
        publish: Callable[[wire.Event], None],
        *,
        clock: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        """`folder` takes the backups; `publish` gets a Notice when something is wrong."""
        self._memory = memory
        self._writer = writer
        self._settings = settings
        self._folder = folder
        self._publish = publish
        self._clock = clock
        self._one_at_a_time = threading.Lock()
        self._backup_problem = ""
        self._gave_up = 0  # when a backup failed; ms UTC

    def back_up(self) -> bool:
        """Makes a backup if one is due, and removes the oldest that are too many; whether it made one."""
        with self._one_at_a_time:
            if not self._is_due(BACKUP, self._settings.backup_days, self._gave_up):
                return False
            began = time.monotonic()
            to = self._folder / f"{PREFIX}{self._clock():%Y%m%d-%H%M%S}.db"
            try:
                private_folder(self._folder)
                size = self._memory.backup(to)
                for old in self._scheduled()[: -max(1, self._settings.backups_kept)]:
                    old.unlink(missing_ok=True)
                    Memory.checksum_path(old).unlink(missing_ok=True)
            except (PalimpsestError, OSError) as error:
                self._gave_up = self._now()  # it would fail again until something changes
                self._backup_problem = str(error)
                log.error("the scheduled backup failed: %s", type(error).__name__)
                self._publish(wire.Notice("error", f"The scheduled backup failed: {error} Do it now: pal backup"))
                return False
            self._backup_problem = ""
            self._note(BACKUP, {"bytes": size})
            log.info("backed up in %.1f s", time.monotonic() - began)
            return True

    def check(self) -> bool:
        """Looks for damage if that is due; whether it did."""
        with self._one_at_a_time:
            if not self._is_due(CHECK, self._settings.check_days):
                return False
            problems = self._memory.check(quick=True).problems
            self._note(CHECK, {"problems": len(problems)})  # the sentences may name what is forgotten later
            if problems:
                log.error("the check found %d problems", len(problems))
                found = f"{problems[0]} All of them: pal check"
                self._publish(wire.Notice("error", f"The memory is damaged: {found}"))
            return True

    def state(self) -> wire.Upkeep:
        """What was done last, and what came of it."""
        backed_up, checked = self._last(BACKUP), self._last(CHECK)
        return wire.Upkeep(
            hour=self._settings.hour,
            backup_days=self._settings.backup_days,
            backup_at=from_ms(backed_up["t"]) if backed_up else None,
            backups=len(self._scheduled()),
            backup_problem=self._backup_problem,
            check_days=self._settings.check_days,
            check_at=from_ms(checked["t"]) if checked else None,
            problems=checked["problems"] if checked else 0,
        )

    def _is_due(self, name: str, days: int, gave_up: int = 0) -> bool:
        if not days:
            return False
        last = self._last(name)
        if gave_up and not is_due(gave_up, self._clock(), self._settings.hour):
            return False
        return is_due(last["t"] if last else 0, self._clock(), self._settings.hour, days)

    def _scheduled(self) -> list[Path]:
        """The backups of the schedule, the oldest first."""
        return sorted(self._folder.glob(f"{PREFIX}*.db"))

    def _last(self, name: str) -> dict[str, Any] | None:
        return self._memory.maintenance.last_run(name)

    def _note(self, name: str, figures: dict[str, Any]) -> None:
        self._writer.write(partial(self._memory.maintenance.note_run, name, {"t": self._now()} | figures))

    def _now(self) -> int:
        """The store's time: ms UTC."""
        return int(self._clock().timestamp() * 1000)
