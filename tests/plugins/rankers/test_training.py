"""A night on a real memory: labels, training, what is promoted, what is taken back."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from memory.errors import NotAvailableError
from memory.protocols import Embedder
from memory.retrieval.state import CachedEmbedder
from memory.store import queries
from memory.trace import TrainingReport
from plugins.manager import Plugins
from plugins.rankers import TrainedRanker, training
from plugins.rankers.scorer import Gain, Scorer
from plugins.rankers.training import decide_promotion
from plugins.settings import TrainedSettings, ranker_kind
from tests.plugins.rankers import school
from tests.plugins.rankers.trials import scorer_of

QUESTIONS = 40


@pytest.fixture(scope="module")
def asked(static: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("school") / "memory.db"
    school.fill(path, static, QUESTIONS)
    return path


@pytest.fixture
def memory(asked: Path, static: Embedder, plugins: Plugins, tmp_path: Path) -> Iterator[Memory]:
    with opened(asked, tmp_path, static, plugins) as memory:
        yield memory


@dataclass(frozen=True)
class Night:
    """What one night came to: its report, what it said meanwhile, and the memory that it left behind."""

    report: TrainingReport
    told: list[tuple[int, int, str]]
    path: Path


@pytest.fixture(scope="module")
def night(asked: Path, static: Embedder, plugins: Plugins, tmp_path_factory: pytest.TempPathFactory) -> Night:
    told: list[tuple[int, int, str]] = []
    folder = tmp_path_factory.mktemp("night")
    with opened(asked, folder, static, plugins) as memory:
        report = learn(memory, progress=lambda *progress: told.append(progress))
    return Night(report, told, folder / "memory.db")


@pytest.fixture
def studied(night: Night, static: Embedder, plugins: Plugins, tmp_path: Path) -> Iterator[Memory]:
    """The memory after that night."""
    (folder := tmp_path / "studied").mkdir()
    with opened(night.path, folder, static, plugins) as memory:
        yield memory


@contextlib.contextmanager
def opened(original: Path, folder: Path, static: Embedder, plugins: Plugins) -> Iterator[Memory]:
    """A copy of a memory in a folder."""
    path = folder / "memory.db"
    shutil.copy(original, path)
    with Memory.open(path, embedder=static, find_strategy=plugins.strategies(), ranker=plugins.ranker()) as memory:
        yield memory


def learn(memory: Memory, **how: Any) -> TrainingReport:
    ranker = TrainedRanker(how.pop("settings", TrainedSettings(questions=20)))
    how = {"now": school.BEGAN + 10**6} | how
    return ranker.train(memory.store, memory.state.serving, memory.state.settings.recall, **how)


def models(memory: Memory) -> list[queries.Model]:
    with memory.store.reading() as conn:
        return queries.models(conn, ranker_kind(memory.embedder.name))


def timeless(report: TrainingReport) -> TrainingReport:
    return replace(report, seconds=0.0)


def test_a_night_labels_trains_and_says_what_it_found(night: Night, studied: Memory) -> None:
    report, memory = night.report, studied
    assert (report.questions, report.trained, report.measured) == (QUESTIONS, 26, 8)
    assert set(report.labels) == {"citation", "shown", "random"}
    assert report.sigma is not None and report.scorer is not None and report.scorer >= report.sigma
    assert report.reached == 100.0
    assert report.model == models(memory)[0].id
    assert models(memory)[0].metrics["sigma"] == report.sigma
    assert {label for *_, label in night.told} == {"questions", "training", "measuring", "done"}
    assert [done for done, _, label in night.told if label == "questions"] == list(range(QUESTIONS))


def test_nothing_is_learnt_from_an_answer_that_was_wrong(memory: Memory) -> None:
    trace = find_first(memory)
    memory.questions.feedback(trace, "good")
    assert learn(memory).labels["feedback"] > 0
    memory.questions.feedback(trace, "bad")
    report = learn(memory)
    assert report.questions == QUESTIONS - 1 and "feedback" not in report.labels


def find_first(memory: Memory) -> int:
    with memory.store.reading() as conn:
        (trace,) = conn.execute("SELECT min(id) FROM trace").fetchone()
    return int(trace)


def test_two_nights_come_to_the_same(memory: Memory, night: Night, studied: Memory) -> None:
    assert timeless(learn(memory)) == timeless(night.report)
    assert models(memory)[0].params == models(studied)[0].params


def test_the_edges_of_the_pool_may_be_the_needed_ones(memory: Memory, night: Night) -> None:
    report = learn(memory, settings=TrainedSettings(questions=20, labels="pool"))
    assert report.questions == QUESTIONS and report.measured == 8
    assert report.labels["citation"] > night.report.labels["citation"], (
        "shortest paths to what was cited, and edges at both"
    )


def test_few_questions_are_too_few(memory: Memory) -> None:
    report = memory.maintenance.train_ranker()
    assert not report.promoted and str(TrainedSettings().questions) in report.reason and report.labels
    assert not models(memory) and memory.state.serving.scorer is None


def test_what_is_promoted_is_used_and_can_be_taken_back(memory: Memory) -> None:
    name = memory.embedder.name
    with memory.store.writing() as conn:
        first = queries.store_model(conn, ranker_kind(name), 1, _numbers(1), {})
        queries.promote(conn, first)
        second = queries.store_model(conn, ranker_kind(name), 2, _numbers(2), {})
        queries.promote(conn, second)
    memory.maintenance.load_ranker()
    assert [(one.id, one.active) for one in models(memory)] == [(second, True), (first, False)]
    assert memory.state.serving.scorer is not None and memory.state.serving.scorer.pack() == _numbers(2)
    undone = memory.maintenance.revert_ranker()
    assert undone is not None and (undone[0].id, undone[1] and undone[1].id) == (second, first)
    assert memory.state.serving.scorer.pack() == _numbers(1)
    assert memory.maintenance.revert_ranker() is not None
    assert memory.state.serving.scorer is None and memory.maintenance.revert_ranker() is None


def _numbers(seed: int) -> bytes:
    return scorer_of(seed).pack()


def test_a_night_that_is_broken_off_goes_on_where_it_was(memory: Memory, night: Night) -> None:
    for after in (5, 25, 42):
        asked = iter(range(after))
        report = learn(memory, cancelled=lambda asked=asked: next(asked, None) is None)
        assert report.stopped and not models(memory)
    assert timeless(learn(memory)) == timeless(night.report)


def test_vectors_of_words_are_kept_for_some_questions_only(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    caches: list[CachedEmbedder] = []
    monkeypatch.setattr(training, "LESSONS_CACHED", QUESTIONS // 2)
    monkeypatch.setattr(
        training, "CachedEmbedder", lambda embedder: caches.append(CachedEmbedder(embedder)) or caches[-1]
    )
    said: list[str] = []
    learn(memory, progress=lambda done, total, label: said.append(label), cancelled=lambda: "training" in said)
    assert len(caches) == 2


@pytest.mark.parametrize(
    ("gain", "active", "promoted"),
    [
        (Gain(0.50, 0.509, 40, 0.001), None, False),  # less than a point
        (Gain(0.50, 0.53, 40, 0.02), None, False),  # perhaps by chance
        (Gain(0.50, 0.53, 40, 0.01), None, True),
        (Gain(0.50, 0.53, 40, 0.01), Gain(0.50, 0.53, 40, 0.01), False),  # as good as the one in use
        (Gain(0.50, 0.53, 40, 0.01), Gain(0.50, 0.52, 40, 0.01), True),
        (Gain(0.50, 0.53, 1, float("inf")), None, False),
    ],
)
def test_only_a_sure_gain_is_promoted(gain: Gain, active: Gain | None, promoted: bool) -> None:
    assert decide_promotion(gain, active)[0] is promoted


def test_what_is_forgotten_is_not_learnt_from(studied: Memory) -> None:
    studied.forgetting.forget(source="home Ana.md")
    left = studied.questions.count_traces()
    assert learn(studied).questions == left < QUESTIONS


def put_into_use(memory: Memory, *scorers: Scorer) -> None:
    """Promotes them one after the other, as nights would."""
    with memory.store.writing() as conn:
        for t, scorer in enumerate(scorers):
            model = queries.store_model(conn, ranker_kind(memory.embedder.name), t, scorer.pack(), {})
            queries.promote(conn, model)
    memory.maintenance.load_ranker()


def test_what_was_trained_changes_what_entities_find_and_can_be_taken_back(memory: Memory) -> None:
    plain, _ = _order(memory), put_into_use(memory, scorer_of(1))
    trained, _ = _order(memory), put_into_use(memory, scorer_of(2))
    assert len({tuple(plain), tuple(trained), tuple(_order(memory))}) == 3
    memory.maintenance.revert_ranker()
    assert _order(memory) == trained
    memory.maintenance.revert_ranker()
    assert _order(memory) == plain


def _order(memory: Memory) -> list[tuple[int, float]]:
    settings = replace(memory.state.settings.recall, strategy="entities", replay=False)
    memory.state.settings = replace(memory.state.settings, recall=settings)
    return [
        (hit.episode.id, round(hit.score, 6))
        for hit in memory.questions.retrieve("Where does the friend of Ana live?").recall.hits
    ]


def test_where_nothing_learns_it_says_so(asked: Path, static: Embedder) -> None:
    with Memory.open(asked, embedder=static) as memory:
        with pytest.raises(NotAvailableError, match="without a ranker"):
            memory.maintenance.train_ranker()
        with pytest.raises(NotAvailableError):
            memory.maintenance.revert_ranker()
