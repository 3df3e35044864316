"""Learning from earlier questions.

One at a time, in a thread of its own; questions and reading go on meanwhile. A daemon that stops breaks it off, and
what was in use stays in use.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from daemon import wire
from daemon.failures import ConflictError
from daemon.jobs.writer import Writer
from daemon.settings import LearningSettings
from memory import Memory
from memory.errors import NotAvailableError
from memory.protocols import Write

if TYPE_CHECKING:
    from memory.ranking import TrainingProgress, TrainingReport

WORDS = {"label": "questions", "train": "training", "measure": "measuring", "done": "done"}

Tell = Callable[[wire.Event], None]


class Learning:
    """What this daemon learns, at night or when a person says so, until `close`."""

    def __init__(self, memory: Memory, writer: Writer, settings: LearningSettings, publish: Tell) -> None:
        self._memory = memory
        self._writer = writer
        self._enabled = settings.enabled
        self._publish = publish
        self._busy = threading.Lock()
        self._closing = threading.Event()

    def close(self, timeout: float) -> bool:
        """Breaks off what is being learnt. False if time ran out."""
        self._closing.set()
        ended = self._busy.acquire(timeout=timeout)
        if ended:
            self._busy.release()
        return ended

    def at_night(self, write: Write, cancelled: Callable[[], bool]) -> str:
        """What a night does (a `night.Learn`); a sentence about what came of it, none if nothing was to do."""
        if not self._enabled:
            return ""
        try:
            done = self.study(False, lambda event: None, write, cancelled)
        except (ConflictError, NotAvailableError):  # a person has begun it just now, or nothing learns
            return ""
        if done.promoted:
            self._publish(wire.Notice("info", f"Learnt at night: {done.reason} To take it back: pal train --undo"))
        return done.reason

    def study(
        self,
        dry_run: bool,
        tell: Tell,
        write: Write | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> wire.Trained:
        """Learns, and tells how far it is; what came of it. `write` runs each unit, by default behind whatever a person
        waits for. ConflictError if it is happening already."""
        if not self._busy.acquire(blocking=False):
            raise ConflictError("It is learning already. Try again when it is done: pal train")
        try:
            report = self._memory.maintenance.train_ranker(
                dry_run=dry_run,
                write=write or (lambda unit: self._writer.submit(unit).result()),
                progress=lambda progress: tell(_progress(progress)),
                cancelled=lambda: self._closing.is_set() or cancelled(),
            )
        finally:
            self._busy.release()
        return training_reply(report, dry_run)

    def undo(self) -> wire.TrainingUndone:
        """Takes back what was last brought into use. ConflictError if it is learning."""
        if not self._busy.acquire(blocking=False):
            raise ConflictError("It is learning at the moment. Try again when it is done.")
        try:
            undone = self._writer.write(self._memory.maintenance.revert_ranker)
        finally:
            self._busy.release()
        return wire.TrainingUndone(undone is not None, undone is not None and undone[1] is not None)


def training_reply(report: TrainingReport, dry_run: bool) -> wire.Trained:
    """The report as clients get it."""
    return wire.Trained(
        report.questions, sum(report.labels.values()), report.trained, report.measured, report.sigma, report.scorer,
        report.margin, report.reached, report.shadow, report.promoted, report.reason, dry_run, report.seconds,
    )  # fmt: skip


def _progress(progress: TrainingProgress) -> wire.Progress:
    return wire.Progress(progress.done, progress.total, WORDS[progress.stage])
