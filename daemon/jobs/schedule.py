"""All periodic jobs in one APScheduler: what, how often, and when next.

    disk      the memory's file: still there? its disk: room?    every disk.check_s
    scan      compare every watched folder with the disk         about every hour
    folders   watched folders: still there?                      every watch.root_check_s
    embedder  embed what an absent server left                   every minute
    replica   is Litestream running, the replica complete?       every watch.root_check_s
    rest      return memory if questions have ended              checked every minute
    night     consolidation and training, if due                 checked every ten minutes
    backup    a verified copy of the memory, if due              checked every ten minutes
    trial     restore a backup on trial, if due                  checked every ten minutes
    check     verify checksums, if due                           checked every ten minutes

Jobs of a day or longer are checked often and run when due by the dates in the memory, so that a machine that slept or
was off catches up once. A job never runs twice at the same time. Some wait while this machine runs on battery.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from daemon.failures import log_unexpected

if TYPE_CHECKING:
    from memory import Memory
    from memory.protocols import Write

log = logging.getLogger(__name__)

LOOK_SECONDS = 600.0  # between two looks whether something is due
DAY_MS = 24 * 3600 * 1000
STATES = ("Discharging", "Charging", "Full", "Not charging")
SUPPLIES = Path("/sys/class/power_supply")


class Schedule:
    """Runs jobs in its own threads, from `start` to `close`."""

    def __init__(self) -> None:
        self._jobs: dict[str, tuple[Callable[[], object], float, float, float]] = {}
        self._later: list[Callable[[], None]] = []  # calls of `run_later` before `start`
        self._scheduler: Any = None

    def add(
        self, name: str, run: Callable[[], object], seconds: float, first_s: float | None = None, jitter_s: float = 0
    ) -> None:
        """Calls `run` every `seconds`, never if 0; first after `first_s`, by default `seconds`. `jitter_s`: random
        shift of each run. Call it before `start`."""
        if seconds:
            self._jobs[name] = run, seconds, seconds if first_s is None else first_s, jitter_s

    def start(self) -> None:
        from apscheduler.schedulers.background import BackgroundScheduler  # 0.2 s, after the first answer

        self._scheduler = BackgroundScheduler(
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )
        now = read_clock()
        for name, (run, seconds, first_s, jitter_s) in self._jobs.items():
            self._scheduler.add_job(
                partial(_run, name, run), "interval", id=name, name=name, seconds=seconds,
                jitter=jitter_s or None, next_run_time=now + timedelta(seconds=first_s),
            )  # fmt: skip
        self._scheduler.start()
        for plan in self._later:
            plan()

    def run_later(self, seconds: float, call: Callable[..., object], *args: Any) -> None:
        """Calls once, in `seconds`; counted from `start` if called before. Cancelled by `close`."""
        if self._scheduler is None:
            self._later.append(partial(self.run_later, seconds, call, *args))
            return
        later = read_clock() + timedelta(seconds=seconds)
        self._scheduler.add_job(call, "date", run_date=later, args=args)

    def close(self) -> None:
        """Starts no more jobs, without waiting for running ones."""
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=False)


def read_clock() -> datetime:
    return datetime.now().astimezone()


@dataclass
class RateLimit:
    """How often something may be done: `most` times a minute."""

    most: int
    now: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._times: deque[float] = deque()
        self._lock = threading.Lock()

    def take(self) -> float:
        """Counts once; returns the seconds to wait if it was done too often in the last minute, else 0."""
        with self._lock:
            now = self.now()
            while self._times and now - self._times[0] >= 60:
                self._times.popleft()
            if len(self._times) >= self.most:
                return 60 - (now - self._times[0])
            self._times.append(now)
            return 0.0


@dataclass
class Runs:
    """The last runs of periodic jobs and their results, as recorded in the memory. Times are ms UTC. Jobs are due from
    `hour` on."""

    memory: Memory
    write: Write
    hour: int
    clock: Callable[[], datetime]

    def __post_init__(self) -> None:
        self._gave_up: dict[str, int] = {}  # when a job failed, which would fail again until something changes

    def read_last(self, name: str) -> dict[str, Any]:
        """Returns the figures of the last run, with its time as `t`; empty before the first."""
        return self.memory.maintenance.last_run(name) or {}

    def note(self, name: str, figures: Mapping[str, Any], write: Write | None = None) -> None:
        """Records the figures of a run that ends now."""
        (write or self.write)(partial(self.memory.maintenance.note_run, name, {**figures, "t": self._read_clock()}))

    def give_up(self, name: str) -> None:
        """Lets a failed job wait until it would be due again."""
        self._gave_up[name] = self._read_clock()

    def is_due(self, name: str, days: int = 1) -> bool:
        """Whether a job is due, `days` after its last run; never if 0."""
        now, failed = self.clock(), self._gave_up.get(name, 0)
        if not days or (failed and not is_due(failed, now, self.hour)):
            return False
        return is_due(self.read_last(name).get("t", 0), now, self.hour, days)

    def _read_clock(self) -> int:
        return int(self.clock().timestamp() * 1000)


def is_due(last_ms: int, now: datetime, hour: int, days: int = 1) -> bool:
    """Whether a job last done at `last_ms` (ms UTC, 0: never) is due: `days` later, from `hour` on. A time in the
    future is ignored: the clock was wrong."""
    begins = now.replace(hour=min(hour, 23), minute=0, second=0, microsecond=0)
    if begins > now:
        begins -= timedelta(days=1)
    due = begins.timestamp() * 1000 - (days - 1) * DAY_MS
    return last_ms < due or last_ms > now.timestamp() * 1000 + DAY_MS


def _run(name: str, run: Callable[[], object]) -> None:
    """Runs a job. One that fails is logged and runs again when due."""
    try:
        run()
    except CancelledError:
        log.info("the job %s was stopped", name)
    except Exception as error:
        log_unexpected(log, "the job %s failed", name, error=error)


def on_battery(supplies: Path = SUPPLIES, pmset: str = "pmset") -> bool | None:
    """Whether this machine runs on battery, on Linux or macOS; None if unknown."""
    if sys.platform == "darwin":
        return _read_pmset(pmset)
    discharging: list[bool] = []
    try:
        for supply in sorted(supplies.iterdir()):
            kind, status = _read_file(supply / "type"), _read_file(supply / "status")
            if kind == "Mains":
                if _read_file(supply / "online") == "1":
                    return False
                discharging.append(True)
            elif (
                kind == "Battery" and _read_file(supply / "scope") != "Device" and status in STATES
            ):  # not that of a mouse
                discharging.append(status == "Discharging")
    except OSError:
        pass
    return any(discharging) if discharging else None


def _read_pmset(pmset: str) -> bool | None:
    try:
        output = subprocess.run([pmset, "-g", "ps"], capture_output=True, text=True, timeout=5).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    return "'Battery Power'" in output if "drawing from" in output else None


def _read_file(file: Path) -> str:
    try:
        return file.read_text("ascii", "replace").strip()
    except OSError:
        return ""
