"""Training: how the edge scorer comes into use (ReG, Zou et al. 2025).

    lessons -> labels -> features -> train -> compare on the newest -> promote, or not

A lesson is a question with a good answer. The split is by time: the newest part is never used for training. A scorer is
used only if it beats plain relevance on that part by a point with statistical confidence. Every step can be undone.

Which edges a question needed follows from what its answer cited (after ReG's weak supervision). ReG's pool of candidate
paths (4.1, appendix D.2) has three sources: all shortest paths from the question's objects to the answer, the edges at
these objects, and the edges at the answer. It is merged twice: one answer stands for all, and one path for all over the
same relations.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from memory.errors import ModelCancelledError
from memory.graph.walk import EPISODE, OBJECT, Path, Relevance, Walkable
from memory.protocols import Write
from memory.retrieval.analyse import analyse
from memory.retrieval.pipeline import retrieve
from memory.retrieval.state import CachedEmbedder, Serving
from memory.retrieval.traversers import Lookup
from memory.settings import RecallSettings
from memory.store import queries, traces
from memory.store.connect import Connection
from memory.store.queries import Lesson
from memory.store.store import Store
from memory.time.timestamps import now_ms
from memory.trace import StoredTrace, TrainingReport
from plugins.rankers.features import Surroundings, features
from plugins.rankers.scorer import Example, Gain, Scorer, compare, train
from plugins.settings import TrainedSettings, ranker_kind
from plugins.traversers.paths import shortest_paths
from plugins.traversers.subgraph import Subgraph

MAX_LESSONS = 2000  # the newest questions that are looked at
LESSONS_CACHED = 100  # lessons for which vectors of words are kept: at most 2,000 texts of each
K = 10
NEWEST, HELD = 0.2, 0.2  # share of the questions that measures; of the others, that says when to stop
SURE = 2.6  # standard errors by which its gain must be above nothing; with 1.6 two of 100 trials lowered later recall
SEED = 42


# Labels -----------------------------------------------------------------------------------------------------------

CITED, SAID_RIGHT, SHOWN, RANDOM = 1.5, 3.0, 0.5, 0.2  # what a label counts
NEGATIVES = 64  # random edges of a question that count as not needed
MAX_CANDIDATES = 15
LENGTH, POPS = 4, 200  # edges of a path, vertices opened to find it


class Label(NamedTuple):
    """Whether a question needed an edge (`y` 1 or 0), with weight and origin: citation, feedback, shown or random."""

    edge: int
    y: float
    weight: float
    origin: str


Predicates = Callable[[Sequence[int]], Mapping[int, str]]
"""Edge ids -> the predicate of each that is a relation."""


def label_from_trace(lesson: Lesson, near: Subgraph) -> list[Label]:
    """Labels from the trace alone. Needed: edges that led to a citation, with a higher weight if a person called the
    answer right. Not needed: edges shown with them, and a random sample of other near edges, the same each time."""
    by_person = lesson.feedback == 1
    weight, origin = (SAID_RIGHT, "feedback") if by_person else (CITED, "citation")
    labels_found = [Label(edge, 1.0, weight, origin) for edge in lesson.needed]
    labels_found += [Label(edge, 0.0, SHOWN, "shown") for edge in lesson.shown]
    unused = near.edges[~np.isin(near.edges, [*lesson.needed, *lesson.shown])]
    draw = np.random.default_rng(lesson.trace_id)
    sample = np.sort(draw.permutation(unused)[:NEGATIVES]).tolist()
    return labels_found + [Label(edge, 0.0, RANDOM, "random") for edge in sample]


def collect_candidates(
    walk: Walkable, starts: Iterable[int], answers: Iterable[int], relevance: Relevance, predicates: Predicates
) -> list[Path]:
    """Returns the candidates of a question: first those that connect it with the answer, then the most relevant.
    `starts`: the objects that it names; `answers`: the vertices that answer it; the first one represents all."""
    begin = [vertex for vertex in dict.fromkeys(starts) if walk.visible(vertex)]
    answer = next((vertex for vertex in answers if walk.visible(vertex) and vertex not in begin), None)
    if answer is None:
        return []
    paths = [path for vertex in begin for path in shortest_paths(walk, vertex, answer, LENGTH, POPS)]
    connecting = {path.edges for path in paths}
    paths += [path for vertex in (*begin, answer) for path in _list_edges(walk, vertex)]
    fits = _measure(paths, relevance)
    names = predicates(sorted({edge for path in paths for edge in path.edges}))
    best: dict[tuple[object, ...], Path] = {}
    for path in sorted(paths, key=lambda path: (path.edges not in connecting, -fits(path), path.edges)):
        steps = zip(path.edges, pairwise(path.vertices), strict=True)
        best.setdefault(tuple(_find_relation(walk, names, edge, *ends) for edge, ends in steps), path)
    return list(best.values())[:MAX_CANDIDATES]


def _list_edges(walk: Walkable, vertex: int) -> list[Path]:
    near = walk.neighbours(vertex)
    ends = zip(near.edges.tolist(), near.vertices.tolist(), strict=True)
    return [Path((vertex, end), (edge,)) for edge, end in ends]


def _measure(paths: Sequence[Path], relevance: Relevance) -> Callable[[Path], float]:
    """Returns the mean relevance of the vertices of each of these paths."""
    vertices = np.array(sorted({vertex for path in paths for vertex in path.vertices}), np.int32)
    fits = dict(zip(vertices.tolist(), relevance(vertices).tolist(), strict=True))
    return lambda path: sum(fits[vertex] for vertex in path.vertices) / len(path.vertices)


def _find_relation(walk: Walkable, names: Mapping[int, str], edge: int, here: int, there: int) -> object:
    """Returns the predicate of a step, and whether it is taken backwards; of an edge without one the thesis or passage
    that it belongs to."""
    if edge in names:
        return names[edge], walk.graph.links.ends(edge) != (here, there)
    kinds = dict(zip((here, there), walk.kinds([here, there]).tolist(), strict=True))
    return min(kinds, key=lambda vertex: (kinds[vertex] == OBJECT, kinds[vertex] == EPISODE, vertex))


# Training ---------------------------------------------------------------------------------------------------------


def decide_promotion(gain: Gain, active: Gain | None, points: float = TrainedSettings().points) -> tuple[bool, str]:
    """Whether to use a scorer, by its gain on the newest questions over relevance and over the scorer in use."""
    if gain.points < points:
        return False, f"It gains {gain.points:+.1f} points over plain relevance, and would need {points:g}."
    if gain.points < 100 * SURE * gain.error:
        return False, f"It gains {gain.points:+.1f} points, but on {gain.questions} questions that may be chance."
    if active is not None and gain.scorer <= active.scorer:
        return False, "It is no better than the one in use."
    return True, f"It gains {gain.points:+.1f} points over plain relevance on the newest {gain.questions} questions."


@dataclass
class Training:
    """One training run; `now` in ms UTC, by default the clock's time, the rest as in `EdgeRanker`."""

    store: Store
    serving: Serving
    recall: RecallSettings
    settings: TrainedSettings
    names: Sequence[str] = ()
    now: int | None = None
    write: Write = lambda unit: unit()
    progress: Callable[[int, int, str], None] = lambda done, total, label: None
    cancelled: Callable[[], bool] = lambda: False
    report: TrainingReport = field(default_factory=TrainingReport)

    def __post_init__(self) -> None:
        self.revisited, self.at = 0, now_ms() if self.now is None else self.now
        self.kind = ranker_kind(self.serving.embedder.name)

    def run(self) -> TrainingReport:
        began = time.perf_counter()
        try:
            self._train()
        except ModelCancelledError:
            self._note(stopped=True, reason="Training was cancelled.")
        self._note(seconds=round(time.perf_counter() - began, 2))
        self.progress(1, 1, "done")
        return self.report

    def _train(self) -> None:
        with self.store.reading() as conn:
            lessons = queries.lessons(conn, MAX_LESSONS)
            model = queries.active_model(conn, self.kind)
        examples = self._study(lessons)
        self._note(questions=len(examples))
        least = max(self.settings.questions, 3)  # one to learn from, one that says when to stop, one to measure by
        if len(examples) < least:
            self._note(reason=f"Training needs {least} questions; so far: {len(examples)}.")
            return
        newest = max(1, round(NEWEST * len(examples)))
        older, measured = examples[:-newest], examples[-newest:]
        held = max(1, round(HELD * len(older)))
        tick = partial(self._progress, total=0, label="training")
        scorer, epoch = train(older[:-held], older[-held:], SEED, tick=tick)
        self._progress(0, newest, "measuring")
        gain = compare(scorer, measured)
        used = Scorer.unpack(model.params) if model is not None else None  # None for another version as well
        active = compare(used, measured) if used is not None else None
        promoted, reason = decide_promotion(gain, active, self.settings.points)
        self._note(
            trained=len(older) - held,
            epoch=epoch,
            measured=newest,
            sigma=_percent(gain.sigma),
            scorer=_percent(gain.scorer),
            margin=_percent(1.96 * gain.error) if np.isfinite(gain.error) else None,
            promoted=promoted,
            reason=reason,
        )
        self._keep(scorer, promoted)

    def _keep(self, scorer: Scorer, promoted: bool) -> None:
        figures = {name: value for name, value in asdict(self.report).items() if name != "promoted"}

        def unit() -> int:
            with self.store.writing() as conn:
                id = queries.store_model(conn, self.kind, self.at, scorer.pack(), figures)
                if promoted:
                    queries.promote(conn, id)
            return id

        self._note(model=self.write(unit))

    # Lessons ------------------------------------------------------------------------------------------------------

    def _study(self, lessons: Sequence[Lesson]) -> list[Example]:
        """Returns the examples of the useful lessons, in order of time."""
        examples: list[Example] = []
        counted: dict[str, int] = {}
        for number, lesson in enumerate(lessons):
            self._progress(number, len(lessons), "questions")
            with self.store.reading() as conn:
                trace = self._find_trace(conn, lesson)
                if trace is None:
                    continue
                revisited, taught = self._revisit(conn, trace), lesson
                if self.settings.labels == "pool":
                    taught = lesson._replace(needed=_pool_edges(conn, trace, revisited))
                from_trace = label_from_trace(taught, revisited.near)
                example = _example(lesson, revisited, from_trace)
            for label in from_trace:
                counted[label.origin] = counted.get(label.origin, 0) + 1
            if example.wanted.any():
                examples.append(example)
        needed = sum(example.total for example in examples)
        reached = sum(int(example.needed.sum()) for example in examples)
        self._note(labels=dict(sorted(counted.items())), reached=_percent(reached / needed) if needed else None)
        return examples

    def _find_trace(self, conn: Connection, lesson: Lesson) -> StoredTrace | None:
        try:
            return traces.get(conn, lesson.trace_id)
        except LookupError:  # forgotten meanwhile
            return None

    def _revisit(self, conn: Connection, trace: StoredTrace) -> Surroundings:
        """Returns the question retrieved today with its original scope and time, and the edges near it. Valid only
        while `conn` is open."""
        if self.revisited % LESSONS_CACHED == 0:
            self.embedder = CachedEmbedder(self.serving.embedder)
        self.revisited += 1
        plan, asked_at = trace.plan, trace.asked.at
        names = self.names or self.serving.owner
        question = analyse(
            plan.searched or trace.asked.question, names, plan.now or asked_at, as_of=plan.as_of, within=plan.within
        )
        retrieved = retrieve(conn, self.serving.snapshot, self.embedder, self.recall, question, K)
        lookup = Lookup(conn, self.serving.snapshot, self.embedder, retrieved.question.text)
        return Surroundings.gather(lookup, retrieved.graph, retrieved.seeds, retrieved.allowed)

    def _progress(self, done: int, total: int, label: str) -> None:
        if self.cancelled():
            raise ModelCancelledError("Training was cancelled.")
        self.progress(done, total, label)

    def _note(self, **figures: Any) -> None:
        self.report = replace(self.report, **figures)


def _pool_edges(conn: Connection, trace: StoredTrace, around: Surroundings) -> tuple[int, ...]:
    """Returns the edges on the candidate paths between the objects that a question names and what its answer cites."""
    objects = [vertex for vertex in around.starts if around.walk.kinds([vertex])[0] == OBJECT]
    cited = [citation.episode_id for citation in trace.answer.citations] if trace.answer else []
    candidates = collect_candidates(around.walk, objects, cited, around.relevance, partial(queries.predicates, conn))
    return tuple(sorted({edge for path in candidates for edge in path.edges}))


def _example(lesson: Lesson, around: Surroundings, labels: Sequence[Label]) -> Example:
    """Returns the example of a lesson; empty if no edge is wanted. For an edge with several labels, all positive ones
    count together."""
    place = {edge: number for number, edge in enumerate(around.near.edges.tolist())}
    wanted, weights = np.zeros(len(place), np.float32), np.zeros(len(place), np.float32)
    needed = np.zeros(len(place), np.bool_)
    for label in labels:
        row = place.get(label.edge)
        if row is not None and label.y:
            wanted[row] += label.weight
        elif row is not None:
            weights[row] = max(weights[row], label.weight)
    weights[wanted > 0] = 1
    needed[[place[edge] for edge in lesson.needed if edge in place]] = True
    return Example(features(around), wanted, weights, needed, max(1, len(lesson.needed)))


def _percent(share: float) -> float:
    return round(100 * share, 2)
