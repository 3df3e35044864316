"""Night: what one night of learning does (SPEC 7.6; ReG, Zou et al. 2025).

    lessons -> labels (some refined by a model) -> features -> train -> compare on the newest -> promote, or not

A lesson is a question that was answered well. The split is by time: a scorer never sees what it is measured by, and
the newest part is kept from training altogether. It is used from then on only if it beats sigma there by a point,
surely and not by chance; else it is kept beside and measured by the questions that come after it. Every step can be
taken back. What was labelled stays labelled, so a night that was broken off goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np

from memory.errors import ModelCancelledError, ModelError
from memory.graph import Floats
from memory.learn import labels as labelling
from memory.learn.revisiting import Before, Revisit, Revisiting
from memory.learn.scorer import KIND, Case, Example, Gain, Scorer, compare, train
from memory.protocols import LLM
from memory.recall.adjacency import Walkable
from memory.recall.paths import Steps
from memory.recall.signposts import Signposts
from memory.serving import Serving
from memory.settings import RecallSettings
from memory.store import episodes, traces, training
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.store.store import Store
from memory.store.training import Label, Lesson, Model

LESSONS = 2000  # the newest questions that are looked at
LEAST = 200  # labelled questions, with fewer nothing is trained
CALLS = 30  # of a model, a night
NEWEST, HELD = 0.2, 0.2  # share of the questions that measures; of the others, that says when to stop
POINTS = 1.0  # percentage points of recall that a scorer must gain
SURE = 2.6  # standard errors by which its gain must be above nothing; with 1.6 two of 100 trials lowered later recall
PIECE = 20  # questions whose labels are written at once

T = TypeVar("T")
Stage = Literal["label", "train", "measure", "done"]
Write = Callable[[Callable[[], Any]], Any]
"""Runs a unit of writing, where and when there is room for it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a night is: `done` of `total` questions or epochs of a stage."""

    stage: Stage
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a night. Recall in percent, of the needed edges among the first 50, on the newest questions.

    `questions` had labels, of which `reached` is the share of needed edges that lie near the question at all, in
    percent; `labels` by their origin; `calls` of a model and why no more, if it ended them. `sigma` and `scorer` are
    the recall before and after on `measured` questions, `margin` half the 95 % interval of the difference; `active`
    that of the scorer in use before. `shadow`: an earlier scorer that is not used, on the questions asked since it was
    made. `reason` says in a sentence why it was promoted or not; `stopped`: it was broken off.
    """

    questions: int = 0
    reached: float | None = None
    labels: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    calls_ended: str = ""
    trained: int = 0
    epoch: int = 0
    measured: int = 0
    sigma: float | None = None
    scorer: float | None = None
    margin: float | None = None
    active: float | None = None
    shadow: float | None = None
    shadow_sigma: float | None = None
    promoted: bool = False
    model: int | None = None
    reason: str = ""
    seconds: float = 0.0
    stopped: bool = False


class _CancelledError(Exception):
    """Nobody wants it any more."""


def directly(unit: Callable[[], T]) -> T:
    """Writes at once, in this thread."""
    return unit()


def night(
    store: Store,
    serving: Serving,
    settings: RecallSettings,
    llm: LLM | None = None,
    *,
    names: Sequence[str] = (),
    calls: int = CALLS,
    least: int = LEAST,
    dry_run: bool = False,
    seed: int = 42,
    now: int | None = None,
    write: Write = directly,
    progress: Callable[[Progress], None] = lambda progress: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Report:
    """Learns from the questions that were answered so far. `llm` refines the labels of at most `calls` of them; `names`
    are those of the person; `dry_run`: says what would come of it and writes nothing; `now` in ms UTC.

    Deterministic for the same memory and seed, but for what a model says. Breaking off leaves what is in use in use.
    """
    at = time.time_ns() // 1_000_000 if now is None else now
    return _Night(
        store, serving, settings, llm, names, calls, least, dry_run, seed, at, write, progress, cancelled
    ).run()


def undo(conn: Connection, embedder: str) -> tuple[Model, Model | None] | None:
    """Takes the scorer in use back; what is used now, if there was one before it. None if none was used."""
    return training.undo(conn, kind(embedder))


def kind(embedder: str) -> str:
    """What the models are kept as: cosines of one embedder mean nothing to another."""
    return f"{KIND}, {embedder}"


def load(conn: Connection, embedder: str) -> Scorer | None:
    """The scorer in use with an embedder of that name."""
    model = training.active(conn, kind(embedder))
    return Scorer.unpacked(model.params) if model else None


def decided(gain: Gain, active: Gain | None) -> tuple[bool, str]:
    """Whether a scorer is to be used, by what it gains on the newest questions over sigma, and over the one in use."""
    if gain.points < POINTS:
        return False, f"It gains {gain.points:+.1f} points over plain relevance, and would need {POINTS:g}."
    if gain.points < 100 * SURE * gain.error:
        return False, f"It gains {gain.points:+.1f} points, but on {gain.questions} questions that may be chance."
    if active is not None and gain.scorer <= active.scorer:
        return False, "It is no better than the one in use."
    return True, f"It gains {gain.points:+.1f} points over plain relevance on the newest {gain.questions} questions."


@dataclass
class _Studied:
    """A lesson, ready to be learnt from. `needed` counts all of its edges; `case` is kept where it may be measured."""

    trace_id: int
    t: int
    example: Example
    case: Case


def _study(lesson: Lesson, again: Revisit, features: Floats, labels: Sequence[Label]) -> _Studied | None:
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
    case = Case(features, needed, max(1, len(lesson.needed)))
    return _Studied(lesson.trace_id, lesson.t, Example(features[rows], positive, importance), case)


def _told_by(walk: Walkable, ways: Sequence[Steps], passages: Sequence[int]) -> list[int]:
    """The episodes whose text these ways show: those on them, those of their theses, and those that tell their
    relations."""
    vertices = sorted({vertex for way in ways for vertex in way.vertices})
    rows = walk.episodes_of(vertices)
    told = walk.graph.links.told
    edges = sorted({edge for way in ways for edge in way.edges})
    by_relation = told[np.isin(told[:, 0], edges), 1].tolist()
    return [*passages, *walk.graph.episode_ids[rows[rows >= 0]].tolist(), *by_relation]


def _percent(share: float) -> float:
    return round(100 * share, 2)


class _Night:
    def __init__(
        self,
        store: Store,
        serving: Serving,
        settings: RecallSettings,
        llm: LLM | None,
        names: Sequence[str],
        calls: int,
        least: int,
        dry_run: bool,
        seed: int,
        at: int,
        write: Write,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self._store = store
        self._serving = serving
        self._kind = kind(serving.embedder.name)
        self._revisiting = Revisiting(serving, settings, names)
        self._llm = llm
        self._calls = calls if llm is not None else 0
        self._least = max(least, 3)  # one to learn from, one that says when to stop, one to measure by
        self._dry_run = dry_run
        self._seed = seed
        self._at = at
        self._write = write
        self._progress = progress
        self._cancelled = cancelled
        self._report = Report()

    def run(self) -> Report:
        began = time.perf_counter()
        try:
            self._learn()
        except _CancelledError:
            self._note(stopped=True, reason="It was broken off; what was labelled stays.")
        self._note(seconds=round(time.perf_counter() - began, 2))
        self._progress(Progress("done", 1, 1))
        return self._report

    def _learn(self) -> None:
        with self._store.reading() as conn:
            lessons = training.lessons(conn, LESSONS)
        asked = self._refined(lessons)
        studied = self._studied(lessons, asked)
        self._note(questions=len(studied))
        if len(studied) < self._least:
            self._note(reason=f"It takes {self._least} questions to learn from; so far: {len(studied)}.")
            return
        newest = max(1, round(NEWEST * len(studied)))
        older, measured = studied[:-newest], studied[-newest:]
        held = max(1, round(HELD * len(older)))
        fit = train(
            [one.example for one in older[:-held]], [one.case for one in older[-held:]], self._seed, tick=self._epoch
        )
        self._check()
        self._progress(Progress("measure", 0, len(measured)))
        cases = [one.case for one in measured]
        gain = compare(fit.scorer, cases)
        with self._store.reading() as conn:
            models = training.models(conn, self._kind)
        in_use = next((scorer for one in models if one.active and (scorer := Scorer.unpacked(one.params))), None)
        active = compare(in_use, cases) if in_use is not None else None
        promoted, reason = decided(gain, active)
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
        self._shadow(models, studied)
        if not self._dry_run:
            self._keep(fit.scorer, promoted)

    def _keep(self, scorer: Scorer, promoted: bool) -> None:
        figures = {name: value for name, value in asdict(self._report).items() if name != "promoted"}

        def unit() -> int:
            with self._store.writing() as conn:
                id = training.store_model(conn, self._kind, self._at, scorer.packed(), figures)
                if promoted:
                    training.promote(conn, id)
            return id

        self._note(model=self._write(unit))

    def _shadow(self, models: Sequence[Model], studied: Sequence[_Studied]) -> None:
        """Measures the newest scorer that is not used by the questions that were asked after it was made."""
        made = next((model for model in models if not model.active), None)
        scorer = Scorer.unpacked(made.params) if made else None
        since = [one.case for one in studied if made and one.t > made.t]
        if scorer is not None and since:
            gain = compare(scorer, since)
            self._note(shadow=_percent(gain.scorer), shadow_sigma=_percent(gain.sigma))

    # Labels ---------------------------------------------------------------------------------------------------

    def _studied(self, lessons: Sequence[Lesson], asked: dict[int, list[Label]]) -> list[_Studied]:
        """Every lesson with something to learn, in the order of time, and its labels written."""
        found: list[_Studied] = []
        waiting: list[tuple[Lesson, list[Label]]] = []
        counted: dict[str, int] = {}
        reached = needed = 0
        with self._store.reading() as conn:
            ids = [lesson.trace_id for lesson in lessons]
            before, noted = Before(conn, self._serving, ids), training.taught(conn, ids)
            refined = training.labels(conn, ids)
        for number, lesson in enumerate(lessons):
            self._check()
            self._progress(Progress("label", number, len(lessons)))
            with self._store.reading() as conn:
                again = self._again(conn, lesson, before)
                before.learn(conn, lesson.trace_id, noted.get(lesson.trace_id, []))
                if again is None:
                    continue
                told = labelling.told(lesson, again.near)
                features = again.features
            by_model = asked.get(lesson.trace_id) or [
                label for label in refined.get(lesson.trace_id, ()) if label.origin == "model"
            ]
            for label in (*told, *by_model):
                counted[label.origin] = counted.get(label.origin, 0) + 1
            one = _study(lesson, again, features, [*told, *by_model])
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
        for lesson in reversed(lessons):
            if self._llm is None or len(found) >= self._calls or self._report.calls_ended:
                break
            if "model" in lesson.labelled:
                continue
            self._check()
            said = self._picked(self._llm, lesson)
            if said is None:
                continue
            found[lesson.trace_id] = said
            self._note(calls=len(found))
            if not self._dry_run:
                self._write(lambda lesson=lesson, said=said: self._put(lesson, said))  # type: ignore[misc]
        return found

    def _put(self, lesson: Lesson, said: Sequence[Label]) -> None:
        with self._store.writing() as conn:
            training.put_labels(conn, lesson.trace_id, ("model",), said)

    def _picked(self, llm: LLM, lesson: Lesson) -> list[Label] | None:
        """What the model says of a lesson; None if there is nothing to choose from, it may not see it, or it fails."""
        with self._store.reading() as conn:
            again = self._again(conn, lesson, None)
            if again is None:
                return None
            walk, relevance = again.walk, again.asked.relevance

            def predicates(edges: Sequence[int]) -> dict[int, str]:
                return {edge: row[0] for edge, row in training.tellings(conn, edges).items()}

            def texts(nodes: Sequence[int]) -> dict[int, str]:
                return stored.thesis_texts(conn, nodes) | stored.object_labels(conn, nodes)

            named = tuple(again.found.seeds) or again.starts
            goals = labelling.answers(walk, lesson, texts)
            ways = labelling.candidates(walk, named, goals, relevance, predicates)
            if not ways:
                return None
            on_them, others = labelling.vertices_of(walk, ways)
            is_open = training.are_open(conn, [*lesson.cited, *_told_by(walk, ways, on_them)])
            if not llm.is_local and not is_open:
                return None
            passages = {episode.id: episode for episode in episodes.by_ids(conn, on_them)}
            names = texts(others)
            if not llm.is_local:  # a name may be known from a text that has to stay here
                said = "\n".join(f"{one.title}\n{one.text}" for one in passages.values()).casefold()
                ways = [way for way in ways if all(names.get(id, "").casefold() in said for id in way.vertices)]
                if not ways:
                    return None
            edges = sorted({edge for way in ways for edge in way.edges})
            signs = Signposts(again.found.question, False)
            lines = labelling.read_out(ways, walk, signs, names, passages, predicates(edges))
            question = again.found.question.text
        try:
            return labelling.refined(llm, question, lesson, ways, lines, not is_open, self._cancelled)
        except ModelCancelledError:
            raise _CancelledError from None
        except Exception as error:  # a model of somebody else's may raise anything
            self._note(calls_ended=str(error) if isinstance(error, ModelError) else type(error).__name__)
            return None

    def _again(self, conn: Connection, lesson: Lesson, before: Before | None) -> Revisit | None:
        """The question again; None if its trace is gone."""
        try:
            trace = traces.get(conn, lesson.trace_id)
        except LookupError:
            return None
        return self._revisiting.visit(conn, trace, before.fires(lesson.trace_id) if before else None)

    def _epoch(self, epoch: int) -> None:
        self._check()
        self._progress(Progress("train", epoch, 0))

    def _check(self) -> None:
        if self._cancelled():
            raise _CancelledError

    def _note(self, **figures: Any) -> None:
        self._report = replace(self._report, **figures)
