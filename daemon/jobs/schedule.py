"""All that is done again and again, in one APScheduler: what, how often, and when next.

    disk      the memory's file: still there? its disk: room?    every disk.check_s
    scan      every watched folder is compared with the disk    about every watch.scan_interval_s
    folders   watched folders are looked at: still there?       every watch.root_check_s
    night     consolidation and training, if they are due       a look every ten minutes
    backup    a verified copy of the memory, if it is due       a look every ten minutes
    trial     a backup restored on trial, if it is due        a look every ten minutes
    check     a look for damage, if it is due                   a look every ten minutes

What is done once a day or less is looked at often and done where it is due by what is noted in the memory, so that a
machine that slept, or was off, makes up for what it missed: once. No job runs beside itself.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from daemon import wire

log = logging.getLogger(__name__)

LOOK_SECONDS = 600.0  # between two looks whether something is due
DAY_MS = 24 * 3600 * 1000


class Schedule:
    """Runs jobs in threads of its own, from `start` to `close`."""

    def __init__(self) -> None:
        self._jobs: dict[str, tuple[Callable[[], object], float, float, float]] = {}
        self._later: list[
            tuple[float, Callable[..., object], tuple[Any, ...]]
        ] = []  # what was asked for before `start`
        self._scheduler: Any = None

    def add(
        self, name: str, run: Callable[[], object], seconds: float, first_s: float | None = None, jitter_s: float = 0
    ) -> None:
        """Calls `run` every `seconds`, never if that is 0; first after `first_s`, or else after `seconds`. `jitter_s`:
        so much earlier or later. Before `start`."""
        if seconds:
            self._jobs[name] = run, seconds, seconds if first_s is None else first_s, jitter_s

    def start(self) -> None:
        from apscheduler.schedulers.background import BackgroundScheduler  # 0.2 s, behind the first answer

        self._scheduler = BackgroundScheduler(
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )
        now = datetime.now().astimezone()
        for name, (run, seconds, first_s, jitter_s) in self._jobs.items():
            self._scheduler.add_job(
                partial(_run, name, run), "interval", id=name, name=name, seconds=seconds,
                jitter=jitter_s or None, next_run_time=now + timedelta(seconds=first_s),
            )  # fmt: skip
        self._scheduler.start()
        for seconds, call, args in self._later:
            self.run_later(seconds, call, *args)

    def run_later(self, seconds: float, call: Callable[..., object], *args: Any) -> None:
        """Calls once, in `seconds`; before `start`, so long after that. Until `close`."""
        if self._scheduler is None:
            self._later.append((seconds, call, args))
            return
        later = datetime.now().astimezone() + timedelta(seconds=seconds)
        self._scheduler.add_job(call, "date", run_date=later, args=args)

    def close(self) -> None:
        """Begins nothing more. What runs is not waited for."""
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=False)

    def state(self) -> tuple[wire.ScheduledJob, ...]:
        """When each job runs next; nothing before `start`."""
        if self._scheduler is None:
            return ()
        jobs = {job.id: job for job in self._scheduler.get_jobs()}
        return tuple(
            wire.ScheduledJob(name, jobs[name].next_run_time.replace(microsecond=0), seconds)
            for name, (_, seconds, _, _) in self._jobs.items()
            if name in jobs
        )


def is_due(last_ms: int, now: datetime, hour: int, days: int = 1) -> bool:
    """Whether something done at `last_ms` (ms UTC, 0: never) is to be done again: `days` later, from `hour` on. A time
    of the future counts for nothing: the clock was wrong then."""
    begins = now.replace(hour=min(hour, 23), minute=0, second=0, microsecond=0)
    if begins > now:
        begins -= timedelta(days=1)
    due = begins.timestamp() * 1000 - (days - 1) * DAY_MS
    return last_ms < due or last_ms > now.timestamp() * 1000 + DAY_MS


def _run(name: str, run: Callable[[], object]) -> None:
    """A job that fails is logged, and runs again when it is time."""
    try:
        run()
    except CancelledError:
        log.info("the job %s was stopped", name)
    except Exception as error:
        # Without the message of an unexpected error: it may quote what is remembered.
        where = "".join(traceback.format_tb(error.__traceback__))
        log.error("the job %s failed: %s\n%s", name, type(error).__name__, where)
