"""Scheduled upkeep: a verified backup, a trial restore, and checks for damage, each when due.

Scheduled backups have `scheduled` in their names; the newest of the last days, weeks and months are kept, and none is
deleted while the memory is damaged: it may be the last good one. Backups made by a person with `pal backup`, or copied
there, are never touched.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from daemon import wire
from daemon.config.settings import UpkeepSettings
from daemon.jobs.schedule import Runs, read_clock
from daemon.jobs.workers import Writer
from daemon.paths import REPLACED, private_folder
from memory import Memory
from memory.errors import PalimpsestError
from memory.time.timestamps import from_ms

log = logging.getLogger(__name__)

PREFIX = "memory-scheduled-"  # of a backup that the schedule has made
STAMP = "%Y%m%d-%H%M%S"  # after the prefix
BACKUP, CHECK, SCRUB, TRIAL = "backup", "check", "scrub", "trial"
LATE_DAYS = 2  # overdue backup from which a person is warned


@dataclass
class BackupJob:
    """Makes backups, tries them and checks the memory, one at a time. `folder` takes the backups; `publish` gets a
    Notice about problems."""

    memory: Memory
    writer: Writer
    settings: UpkeepSettings
    folder: Path
    publish: Callable[[wire.Event], None]
    clock: Callable[[], datetime] = read_clock

    def __post_init__(self) -> None:
        self._runs = Runs(self.memory, self.writer.write, self.settings.hour, self.clock)
        self._one_at_a_time = threading.Lock()
        self._backup_problem = ""

    def back_up(self) -> bool:
        """Makes a backup if one is due and the memory changed since the last one, and deletes surplus ones; returns
        whether it made one."""
        self.scrub()  # a memory that is already damaged is no reason to delete an older backup
        with self._one_at_a_time:
            if not self._runs.is_due(BACKUP, self.settings.backup_days):
                return False
            contents, last = self.memory.maintenance.sum_checksums(), self._runs.read_last(BACKUP)
            if last.get("contents") == contents and self._list_scheduled():
                self._runs.note(BACKUP, last)
                return False
            began = time.monotonic()
            to = self.folder / f"{PREFIX}{self._runs.clock():{STAMP}}.db"
            try:
                private_folder(self.folder)
                size = self.memory.maintenance.backup(to)
                if not self._is_damaged():
                    self._rotate()
            except (PalimpsestError, OSError) as error:
                self._runs.give_up(BACKUP)
                self._backup_problem = str(error)
                log.error("the scheduled backup failed: %s", type(error).__name__)
                self.publish(wire.Notice("error", f"The scheduled backup failed: {error} Do it now: pal backup"))
                return False
            self._backup_problem = ""
            self._runs.note(BACKUP, {"bytes": size, "contents": contents})
            log.info("backed up in %.1f s", time.monotonic() - began)
            return True

    def try_restoring(self) -> bool:
        """Restores the newest backup into a temporary place, if due; returns whether it did."""
        with self._one_at_a_time:
            backup = next(iter(self._list_backups()), None)
            if backup is None or not self._runs.is_due(TRIAL, self.settings.trial_days):
                return False
            problem = ""
            try:
                self.memory.maintenance.rehearse(backup)
            except (PalimpsestError, OSError) as error:
                problem = str(error)
                log.error("a backup could not be restored on trial: %s", type(error).__name__)
                text = f"The backup {backup} could not be restored on trial: {problem} Make another one: pal backup"
                self.publish(wire.Notice("error", text))
            self._runs.note(TRIAL, {"problem": problem})
            return True

    def scrub(self) -> bool:
        """Verifies the checksums of a part of all rows, another part every night, if due; returns whether it did."""
        nights = self.settings.scrub_nights
        with self._one_at_a_time:
            if not nights or not self._runs.is_due(SCRUB, 1):
                return False
            damage = self.memory.maintenance.scrub(self._runs.clock().toordinal() % nights, nights)
            before = self._runs.read_last(SCRUB)
            last = max(len(damage), before.get("damage", 0)) if self._is_damaged() else len(damage)
            self._runs.note(SCRUB, {"damage": last})
            self._tell(damage)
            return True

    def check(self) -> bool:
        """Checks for damage if due; returns whether it did."""
        with self._one_at_a_time:
            if not self._runs.is_due(CHECK, self.settings.check_days):
                return False
            problems = self.memory.maintenance.check(quick=True).problems
            # Not the sentences, which may contain text that is forgotten later.
            self._runs.note(CHECK, {"problems": len(problems)})
            if not problems:
                self._runs.note(SCRUB, self._runs.read_last(SCRUB) | {"damage": 0})  # all seals were looked at
            self._tell(problems)
            return True

    def state(self) -> wire.BackupState:
        """Returns the last backup, trial and check, with their results."""
        backed_up, checked, tried = map(self._runs.read_last, (BACKUP, CHECK, TRIAL))
        copies = self._list_backups()
        last = _find_time(copies[0]) if copies else None
        if backed_up and self._list_scheduled():
            last = from_ms(backed_up["t"])
        return wire.BackupState(
            hour=self.settings.hour,
            backup_days=self.settings.backup_days,
            backup_at=last,
            backups=len(self._list_scheduled()),
            backup_problem=self._backup_problem,
            check_days=self.settings.check_days,
            check_at=from_ms(checked["t"]) if checked else None,
            problems=checked.get("problems", 0) + self._runs.read_last(SCRUB).get("damage", 0),
            trial_at=from_ms(tried["t"]) if tried else None,
            trial_problem=tried.get("problem", ""),
            warnings=tuple(self._list_warnings(last)),
        )

    def _list_warnings(self, last: datetime | None) -> Iterator[str]:
        """Yields warnings about backups, each with the command that fixes it."""
        now, days = self._runs.clock(), self.settings.backup_days
        began = self.memory.maintenance.first_read()
        if self._backup_problem:
            yield f"The scheduled backup failed: {self._backup_problem} To make one now: pal backup"
        elif last is None and began and now - from_ms(began) > timedelta(days=LATE_DAYS):
            yield "There is no backup. To make one: pal backup; one every day: pal config set upkeep.backup_days 1"
        elif last and days and now - last > timedelta(days=days + LATE_DAYS):
            yield f"The last backup is {(now - last).days} days old. To make one now: pal backup"
        tried = self._runs.read_last(TRIAL)
        if tried.get("problem"):
            yield f"A backup could not be restored on trial: {tried['problem']} Make another one: pal backup"
        if self._is_damaged():
            yield "The disk has changed stored data, so no old backup is removed. Details: pal check"

    def _is_damaged(self) -> bool:
        scrubbed, checked = self._runs.read_last(SCRUB), self._runs.read_last(CHECK)
        return bool(scrubbed.get("damage") or checked.get("problems"))

    def _tell(self, problems: tuple[str, ...]) -> None:
        if problems:
            log.error("the memory has %d problems", len(problems))
            self.publish(wire.Notice("error", f"The memory is damaged: {problems[0]} All of them: pal check"))

    def _rotate(self) -> None:
        settings = self.settings
        backups = {path: _find_time(path) for path in self._list_scheduled()}
        for old in backups.keys() - choose_kept(
            backups, settings.backups_kept, settings.backups_weekly, settings.backups_monthly
        ):
            old.unlink(missing_ok=True)
            Memory.checksum_path(old).unlink(missing_ok=True)

    def _list_scheduled(self) -> list[Path]:
        """Lists the scheduled backups, oldest first."""
        return sorted(self.folder.glob(f"{PREFIX}*.db"))

    def _list_backups(self) -> list[Path]:
        """Lists all backups in the folder, newest first."""
        backups = [path for path in self.folder.glob("*.db") if not path.name.startswith(REPLACED)]
        return sorted(backups, key=_find_time, reverse=True)


def choose_kept(backups: Mapping[Path, datetime], days: int, weeks: int, months: int) -> set[Path]:
    """Returns the newest backup of each of the last `days` days, `weeks` weeks and `months` months that have one; at
    least one."""
    chosen: set[Path] = set()
    for span, number in (("%Y-%m-%d", max(1, days)), ("%G-%V", weeks), ("%Y-%m", months)):
        newest = {f"{made:{span}}": path for path, made in sorted(backups.items(), key=lambda item: item[1])}
        chosen |= {newest[name] for name in sorted(newest, reverse=True)[:number]}
    return chosen


def _find_time(backup: Path) -> datetime:
    """Returns the time in its name, else the file's time."""
    try:
        return datetime.strptime(backup.stem.removeprefix(PREFIX), STAMP).astimezone()
    except ValueError:
        return datetime.fromtimestamp(backup.stat().st_mtime).astimezone()
