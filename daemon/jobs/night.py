"""The night: once a day the memory is consolidated while it is idle; and training the ranker, which is done on request.

    consolidate -> erase what is not kept -> note it

Retired text expires by the clock and cannot be restored. So after a long pause, or a jump of the clock, it waits for
the next night: a wrong clock has mostly been corrected by then.

The daemon checks every ten minutes instead of setting an alarm: a machine that slept or was off catches up once at the
next check. An interrupted night starts again: all its work is in small units that are not repeated. Questions have
priority over each of them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from daemon import wire
from daemon.config.settings import NightSettings, RetentionSettings
from daemon.failures import log_unexpected
from daemon.jobs.schedule import Runs, on_battery, read_clock
from daemon.jobs.workers import Writer, try_lock
from memory import Memory
from memory.time.timestamps import from_ms

log = logging.getLogger(__name__)

NIGHT = "night"
LONG = timedelta(days=14)  # between two nights
DRAFT_MS = 3_600_000  # earlier text of a note that was in it for a shorter time is erased
PAUSE_SECONDS = 0.2  # between two checks for running questions


@dataclass
class NightlyJob:
    """Runs the nightly work in the thread that checks whether it is due, until `close`. `asking` returns whether
    somebody waits for an answer."""

    memory: Memory
    writer: Writer
    settings: NightSettings
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    asking: Callable[[], bool] = lambda: False
    battery: Callable[[], bool | None] = on_battery
    clock: Callable[[], datetime] = read_clock

    def __post_init__(self) -> None:
        self._runs = Runs(self.memory, self.writer.write, self.settings.hour, self.clock)
        self._closing = threading.Event()
        self._one_at_a_time = threading.Lock()  # a night
        self._ordering = threading.Lock()  # what of it a person may want as well
        self._training = threading.Lock()
        self._state = "idle" if self.settings.enabled else "off"

    def close(self, timeout: float) -> bool:
        """Stops after the current unit, and cancels training. Returns False after `timeout`."""
        self._closing.set()
        for lock in (self._one_at_a_time, self._training):
            if not lock.acquire(timeout=timeout):
                return False
            lock.release()
        return True

    def run_if_due(self) -> bool:
        """Runs the nightly work if it is due; returns whether it ran completely."""
        if self._closing.is_set() or not self.settings.enabled or not self._runs.is_due(NIGHT):
            return False
        if not self.settings.on_battery and self.battery():
            self._state = "battery"
            return False
        with self._one_at_a_time:
            self._state = ended = "working"
            try:
                result, ended = self._run_night(), "idle"
                return result
            except CancelledError:
                ended = "idle"  # the daemon is stopping
                return False
            except Exception as error:
                log_unexpected(log, "the night broke off", error=error)
                ended = "failed"
                self._runs.give_up(NIGHT)
                return False
            finally:
                self._state = ended

    def consolidate(self) -> wire.ConsolidationReport:
        """Consolidates now, on a person's request."""
        with self._ordering:
            report = self.memory.maintenance.consolidate(write=self.writer.write, cancelled=self._closing.is_set)
            self.memory.forgetting.clear_unused(self.writer.write)
        log.info("put in order: %s", asdict(report))
        return report

    def train(self, tell: Callable[[wire.Event], None]) -> wire.TrainingReport:
        """Trains the ranker on earlier questions, publishes progress, and returns the result. Writes after everything a
        person waits for. ConflictError if a run is in progress."""
        with try_lock(self._training, "Training is already running. Try again later: pal train"):
            return self.memory.maintenance.train_ranker(
                write=self.writer.write_later,
                progress=lambda *progress: tell(wire.Progress(*progress)),
                cancelled=self._closing.is_set,
            )

    def undo_training(self) -> str:
        """Removes the ranker in use; returns the one in use now: "earlier" or "none", "" without one before.
        ConflictError during a run."""
        with try_lock(self._training, "Training is running. Try again when it is done."):
            undone = self.writer.write(self.memory.maintenance.revert_ranker)
        return "" if undone is None else "none" if undone[1] is None else "earlier"

    def state(self) -> wire.Night:
        """Returns whether nights are enabled, and the result of the last one."""
        last = self._runs.read_last(NIGHT)
        if not last:
            return wire.Night(self._state, self.settings.hour)
        names = [field.name for field in fields(wire.Night)[3:]]
        counts = {name: last[name] for name in names if name in last}
        return wire.Night(self._state, self.settings.hour, from_ms(last["t"]), **counts)

    def _run_night(self) -> bool:
        began = time.monotonic()
        with self._ordering:
            report = self.memory.maintenance.consolidate(write=self._write, cancelled=self._is_stopped)
        if report.stopped:
            return False
        erased = self._erase(self._runs.read_last(NIGHT).get("t", 0))
        seconds = round(time.monotonic() - began, 1)
        self._runs.note(NIGHT, asdict(report) | erased | {"seconds": seconds}, self._write)
        log.info("the night is done in %s s: %s", seconds, asdict(report))
        return True

    def _erase(self, last: int) -> dict[str, int]:
        """Erases what the settings `retention.*` do not keep; returns counts. `last`: the previous night, ms UTC, 0 if
        none."""
        forgetting, write, keep, thinned = self.memory.forgetting, self._write, self.retention.questions, 0
        if keep:  # those since the last night are still to be counted
            thinned = forgetting.thin_out_questions(keep, last, write)
        erased = self._expire(last)
        forgetting.clear_unused(write)
        return {"thinned": thinned, "erased": erased}

    def _expire(self, last: int) -> int:
        """Erases expired retired text; returns the number of passages."""
        from memory.services.forgetting import Expiry

        now, settings = self._runs.clock(), self.retention
        if not last or not timedelta() <= now - datetime.fromtimestamp(last / 1000).astimezone() <= LONG:
            return 0

        def before(**age: float) -> int | None:
            """Returns the time (ms UTC) before which retired text expires."""
            return int((now - timedelta(**age)).timestamp() * 1000) if any(age.values()) else None

        deleted, edited = before(days=settings.deleted_days), before(days=settings.edited_days)
        expiry = Expiry(deleted, edited, before(hours=1), DRAFT_MS)
        return self.memory.forgetting.expire(expiry, self._write).episodes

    def _write(self, unit: Callable[[], Any]) -> Any:
        """Runs a unit in the writer's thread, after everything a person waits for."""
        if self._is_stopped():
            raise CancelledError
        return self.writer.write_later(unit)

    def _is_stopped(self) -> bool:
        """Whether the daemon stops; called between units, and blocks while questions run."""
        while self.asking() and not self._closing.wait(PAUSE_SECONDS):
            pass
        return self._closing.is_set()
