"""Learning from earlier questions.

One run at a time, in its own thread, in parallel with questions and reading. A stopping daemon cancels it, and the
ranker in use stays.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from daemon import wire
from daemon.config.settings import LearningSettings
from daemon.failures import ConflictError
from daemon.jobs.writer import Writer
from memory import Memory
from memory.errors import NotAvailableError
from memory.protocols import Write

if TYPE_CHECKING:
    from memory.ranking import TrainingProgress, TrainingReport

WORDS = {"label": "questions", "train": "training", "measure": "measuring", "done": "done"}

Tell = Callable[[wire.Event], None]


class Learning:
    """Learning by this daemon, at night or on request, until `close`."""

    def __init__(self, memory: Memory, writer: Writer, settings: LearningSettings, publish: Tell) -> None:
        self._memory = memory
        self._writer = writer
        self._enabled = settings.enabled
        self._publish = publish
        self._busy = threading.Lock()
        self._closing = threading.Event()

    def close(self, timeout: float) -> bool:
        """Cancels the run. False if time ran out."""
        self._closing.set()
        ended = self._busy.acquire(timeout=timeout)
        if ended:
            self._busy.release()
        return ended

    def at_night(self, write: Write, cancelled: Callable[[], bool]) -> str:
        """The nightly run (a `night.Learn`); returns a sentence about the result, "" without anything to do."""
        if not self._enabled:
            return ""
        try:
            report = self.study(False, lambda event: None, write, cancelled)
        except (ConflictError, NotAvailableError):  # a person has begun it just now, or nothing learns
            return ""
        if report.promoted:
            self._publish(wire.Notice("info", f"Learnt at night: {report.reason} To take it back: pal train --undo"))
        return report.reason

    def study(
        self, dry_run: bool, tell: Tell, write: Write | None = None, cancelled: Callable[[], bool] = lambda: False
    ) -> wire.Trained:
        """Trains, publishes progress, and returns the result. `write` runs each unit, by default after everything a
        person waits for. ConflictError if a run is in progress."""
        if not self._busy.acquire(blocking=False):
            raise ConflictError("Training is already running. Try again later: pal train")
        try:
            report = self._memory.maintenance.train_ranker(
                dry_run=dry_run,
                write=write or (lambda unit: self._writer.submit(unit).result()),
                progress=lambda progress: tell(_make_progress(progress)),
                cancelled=lambda: self._closing.is_set() or cancelled(),
            )
        finally:
            self._busy.release()
        return training_reply(report, dry_run)

    def undo(self) -> wire.TrainingUndone:
        """Withdraws the ranker in use. ConflictError during a run."""
        if not self._busy.acquire(blocking=False):
            raise ConflictError("Training is running. Try again when it is done.")
        try:
            undone = self._writer.write(self._memory.maintenance.revert_ranker)
        finally:
            self._busy.release()
        return wire.TrainingUndone(undone is not None, undone is not None and undone[1] is not None)


def training_reply(report: TrainingReport, dry_run: bool) -> wire.Trained:
    """The report as clients get it."""
    return wire.Trained(
        report.questions, sum(report.labels.values()), report.trained, report.measured, report.sigma, report.scorer,
        report.margin, report.reached, report.promoted, report.reason, dry_run, report.seconds,
    )  # fmt: skip


def _make_progress(progress: TrainingProgress) -> wire.Progress:
    return wire.Progress(progress.done, progress.total, WORDS[progress.stage])
