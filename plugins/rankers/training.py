"""Training: what one night of learning does (ReG, Zou et al. 2025).

    lessons -> labels (some refined by a model) -> features -> train -> compare on the newest -> promote, or not

A lesson is a question that was answered well. The split is by time: a scorer never sees what it is measured by, and
the newest part is kept from training altogether. It is used from then on only if it beats plain relevance there by a
point, surely and not by chance; else it is kept beside and measured by the questions that come after it. Every step can
be taken back. What was labelled stays labelled, so a night that was broken off goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from memory.errors import ModelCancelledError
from memory.protocols import Write
from memory.ranking import TrainingProgress, TrainingReport
from memory.serving import Serving
from memory.store import traces, training
from memory.store.connect import Connection
from memory.store.store import Store
from memory.store.training import Label, Lesson, Model
from plugins.rankers import labels as labelling
from plugins.rankers.examples import Before, Revisit, Revisiting
from plugins.rankers.features import features
from plugins.rankers.llm_labelling import Refining
from plugins.rankers.scorer import Case, Example, Gain, Scorer, compare, train
from plugins.rankers.settings import TrainedSettings, kind

LESSONS = 2000  # the newest questions that are looked at
NEWEST, HELD = 0.2, 0.2  # share of the questions that measures; of the others, that says when to stop
SURE = 2.6  # standard errors by which its gain must be above nothing; with 1.6 two of 100 trials lowered later recall
PIECE = 20  # questions whose labels are written at once


class _CancelledError(Exception):
    """Nobody wants it any more."""


def decide_promotion(gain: Gain, active: Gain | None, points: float = TrainedSettings().points) -> tuple[bool, str]:
    """Whether a scorer is to be used, by what it gains on the newest questions over relevance, and over the one in
    use."""
    if gain.points < points:
        return False, f"It gains {gain.points:+.1f} points over plain relevance, and would need {points:g}."
    if gain.points < 100 * SURE * gain.error:
        return False, f"It gains {gain.points:+.1f} points, but on {gain.questions} questions that may be chance."
    if active is not None and gain.scorer <= active.scorer:
        return False, "It is no better than the one in use."
    return True, f"It gains {gain.points:+.1f} points over plain relevance on the newest {gain.questions} questions."


@dataclass(frozen=True, slots=True)
class _Studied:
    """A lesson, ready to be learnt from, and to be measured by."""

    t: int
    example: Example
    case: Case


def _study(lesson: Lesson, again: Revisit, labels: Sequence[Label]) -> _Studied | None:
    """What is learnt from a lesson; None if nothing near the question was needed. Of an edge that several speak of
    counts whoever says that it was needed, all of them together."""
    wanted: dict[int, float] = {}
    weights: dict[int, float] = {}
    for label in labels:
        if label.y:
            wanted[label.edge] = wanted.get(label.edge, 0.0) + label.weight
        else:
            weights[label.edge] = max(weights.get(label.edge, 0.0), label.weight)
    place = {edge: number for number, edge in enumerate(again.near.edges.tolist())}
    known = sorted(edge for edge in wanted.keys() | weights.keys() if edge in place)
    rows = [place[edge] for edge in known]
    positive = np.array([wanted.get(edge, 0.0) for edge in known], np.float32)
    if not positive.any():
        return None
    importance = np.array([1.0 if edge in wanted else weights[edge] for edge in known], np.float32)
    needed = np.zeros(len(place), np.bool_)
    needed[[place[edge] for edge in lesson.needed if edge in place]] = True
    seen = features(again.near, again.walk, again.asked)
    case = Case(seen, again.near.relevance(again.asked.relevance), needed, max(1, len(lesson.needed)))
    return _Studied(lesson.t, Example(seen[rows], positive, importance), case)


def _gain(scorer: Scorer, studied: Sequence[_Studied]) -> Gain:
    return compare(scorer, [one.case for one in studied])


def _unpacked(model: Model | None) -> Scorer | None:
    """The scorer that was kept; None if it is of another version."""
    return None if model is None else Scorer.unpack(model.params)


def _percent(share: float) -> float:
    return round(100 * share, 2)


class Training:
    """One training, from the questions to what is kept."""

    def __init__(
        self,
        store: Store,
        serving: Serving,
        revisiting: Revisiting,
        refining: Refining | None,
        settings: TrainedSettings,
        dry_run: bool,
        seed: int,
        at: int,
        write: Write,
        progress: Callable[[TrainingProgress], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self._store = store
        self._serving = serving
        self._kind = kind(serving.embedder.name)
        self._revisiting = revisiting
        self._refining = refining
        self._least = max(settings.questions, 3)  # one to learn from, one that says when to stop, one to measure by
        self._points = settings.points
        self._dry_run = dry_run
        self._seed = seed
        self._at = at
        self._write = write
        self._progress = progress
        self._cancelled = cancelled
        self._report = TrainingReport()

    def run(self) -> TrainingReport:
        began = time.perf_counter()
        try:
            self._learn()
        except (_CancelledError, ModelCancelledError):
            self._note(stopped=True, reason="It was broken off; what was labelled stays.")
        self._note(seconds=round(time.perf_counter() - began, 2))
        self._progress(TrainingProgress("done", 1, 1))
        return self._report

    def _learn(self) -> None:
        with self._store.reading() as conn:
            lessons = training.lessons(conn, LESSONS)
            models = training.models(conn, self._kind)
        in_use = _unpacked(next((model for model in models if model.active), None))
        beside = next((model for model in models if not model.active), None)
        studied = self._studied(lessons, self._refined(lessons))
        self._note(questions=len(studied))
        if len(studied) < self._least:
            self._note(reason=f"It takes {self._least} questions to learn from; so far: {len(studied)}.")
            return
        newest = max(1, round(NEWEST * len(studied)))
        older, measured = studied[:-newest], studied[-newest:]
        held = max(1, round(HELD * len(older)))
        examples, cases = [one.example for one in older[:-held]], [one.case for one in older[-held:]]
        fit = train(examples, cases, self._seed, tick=self._epoch)
        self._check()
        self._progress(TrainingProgress("measure", 0, len(measured)))
        gain = _gain(fit.scorer, measured)
        active = _gain(in_use, measured) if in_use is not None else None
        promoted, reason = decide_promotion(gain, active, self._points)
        self._note(
            trained=len(older) - held,
            epoch=fit.epoch,
            measured=len(measured),
            sigma=_percent(gain.sigma),
            scorer=_percent(gain.scorer),
            margin=_percent(1.96 * gain.error) if np.isfinite(gain.error) else None,
            active=_percent(active.scorer) if active else None,
            promoted=promoted,
            reason=reason,
        )
        self._shadow(beside, studied)
        if not self._dry_run:
            self._keep(fit.scorer, promoted)

    def _keep(self, scorer: Scorer, promoted: bool) -> None:
        figures = {name: value for name, value in asdict(self._report).items() if name != "promoted"}

        def unit() -> int:
            with self._store.writing() as conn:
                id = training.store_model(conn, self._kind, self._at, scorer.pack(), figures)
                if promoted:
                    training.promote(conn, id)
            return id

        self._note(model=self._write(unit))

    def _shadow(self, made: Model | None, studied: Sequence[_Studied]) -> None:
        """Measures the newest scorer that is not used by the questions that were asked after it was made."""
        scorer = _unpacked(made)
        since = [one for one in studied if made and one.t > made.t]
        if scorer is not None and since:
            gain = _gain(scorer, since)
            self._note(shadow=_percent(gain.scorer), shadow_sigma=_percent(gain.sigma))

    # Labels ---------------------------------------------------------------------------------------------------

    def _studied(self, lessons: Sequence[Lesson], asked: dict[int, list[Label]]) -> list[_Studied]:
        """Every lesson with something to learn, in the order of time; and its labels written."""
        found: list[_Studied] = []
        waiting: list[tuple[Lesson, list[Label]]] = []
        counted: dict[str, int] = {}
        reached = needed = 0
        with self._store.reading() as conn:
            ids = [lesson.trace_id for lesson in lessons]
            before, noted = Before(conn, self._serving, ids), training.list_signals_by_trace(conn, ids)
            refined = training.labels(conn, ids)
        for number, lesson in enumerate(lessons):
            self._check()
            self._progress(TrainingProgress("label", number, len(lessons)))
            with self._store.reading() as conn:
                again = self._again(conn, lesson, before)
                before.learn(conn, lesson.trace_id, noted.get(lesson.trace_id, []))
                if again is None:
                    continue
                told = labelling.label_from_trace(lesson, again.near)
                by_model = asked.get(lesson.trace_id) or [
                    label for label in refined.get(lesson.trace_id, ()) if label.origin == "model"
                ]
                one = _study(lesson, again, [*told, *by_model])
            for label in (*told, *by_model):
                counted[label.origin] = counted.get(label.origin, 0) + 1
            if one is not None:
                found.append(one)
                reached += int(one.case.needed.sum())
                needed += one.case.total
            if not {label.origin for label in told if label.y or label.origin == "random"} <= lesson.labelled:
                waiting.append((lesson, told))
            if len(waiting) >= PIECE:
                self._label(waiting)
        self._label(waiting)
        self._note(labels=dict(sorted(counted.items())), reached=_percent(reached / needed) if needed else None)
        return found

    def _label(self, waiting: list[tuple[Lesson, list[Label]]]) -> None:
        """Writes labels that traces tell, and empties the list."""
        pieces = list(waiting)
        waiting.clear()
        if self._dry_run or not pieces:
            return

        def unit() -> None:
            with self._store.writing() as conn:
                for lesson, told in pieces:
                    training.put_labels(conn, lesson.trace_id, ("citation", "feedback", "shown", "random"), told)

        self._write(unit)

    def _refined(self, lessons: Sequence[Lesson]) -> dict[int, list[Label]]:
        """Asks the model about the newest lessons that it has not seen; what it said, by trace."""
        found: dict[int, list[Label]] = {}
        if self._refining is None:
            return found
        for lesson in reversed(lessons):
            if self._refining.done:
                break
            if "model" in lesson.labelled:
                continue
            self._check()
            said = self._refining.labels(lesson)
            self._note(calls=self._refining.calls, calls_ended=self._refining.ended)
            if said is None:
                continue
            found[lesson.trace_id] = said
            if not self._dry_run:
                self._write(lambda lesson=lesson, said=said: self._put(lesson, said))  # type: ignore[misc]
        return found

    def _put(self, lesson: Lesson, said: Sequence[Label]) -> None:
        with self._store.writing() as conn:
            training.put_labels(conn, lesson.trace_id, ("model",), said)

    def _again(self, conn: Connection, lesson: Lesson, before: Before) -> Revisit | None:
        """The question again; None if its trace is gone."""
        try:
            trace = traces.get(conn, lesson.trace_id)
        except LookupError:
            return None
        return self._revisiting.visit(conn, trace, before.fires(lesson.trace_id))

    def _epoch(self, epoch: int) -> None:
        self._check()
        self._progress(TrainingProgress("train", epoch, 0))

    def _check(self) -> None:
        if self._cancelled():
            raise _CancelledError

    def _note(self, **figures: Any) -> None:
        self._report = replace(self._report, **figures)
