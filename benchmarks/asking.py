"""A memory is built from a question set and asked: what that found, and what it cost."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import command, data, metrics
from benchmarks.ablations import Configuration
from memory import Memory
from memory.nouns import Answer, Document, Scope
from memory.protocols import Embedder
from memory.settings import AnswerSettings, ChunkSettings, MemorySettings
from memory.store import episodes
from plugins import manager

BATCH = 256  # documents per transaction
WARM_UP = 5  # questions asked before the clock counts
COMPARED = 5  # the rank at which two configurations are compared

Returned = tuple[tuple[tuple[str, ...], str], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what came back, best first: the refs and the text of each episode. Times in ms."""

    question: data.Question
    returned: Returned
    ms: float
    cpu_ms: float
    stages: Mapping[str, float]

    def recall(self, k: int) -> float:
        """Recall@k, 0 to 1; of a question that has gold."""
        return metrics.recall_at(self.question.gold, [refs for refs, _ in self.returned], k)


@dataclass(frozen=True, slots=True)
class Built:
    """What writing a set cost."""

    documents: int
    episodes: int
    seconds: float
    cpu_seconds: float
    bytes: int


def build(
    path: Path, documents: Sequence[Document], embedder: Embedder, label: str, chunk: ChunkSettings | None = None
) -> Built:
    """Remember the documents in a new file at `path`: vectors and commits are in `seconds`, reading the set is not."""
    embedder.embed_query("warm")  # load the embedder before the clock runs
    settings = MemorySettings(chunk=chunk or ChunkSettings())
    with Memory.open(path, embedder=embedder, settings=settings) as memory:
        command.note(f"{label}: remember {len(documents)} documents")
        with command.progress() as bar:
            task = bar.add_task("", total=len(documents))
            started, cpu_started = time.perf_counter(), time.process_time()
            for start in range(0, len(documents), BATCH):
                batch = documents[start : start + BATCH]
                memory.ingest.remember_many(batch)
                bar.advance(task, len(batch))
            seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
        episodes = memory.browsing.stats().episodes
    return Built(len(documents), episodes, seconds, cpu_seconds, command.file_bytes(path))  # closing was the checkpoint


def ask_all(
    path: Path,
    questions: Sequence[data.Question],
    embedder: Embedder,
    configuration: Configuration,
    depth: int,
    label: str,
) -> list[Asked]:
    """Ask every question of the memory at `path`, `depth` episodes each, after a warm-up."""
    settings = MemorySettings(recall=configuration.recall)
    find = manager.load().strategies(configuration.traversers)
    with Memory.open(path, embedder=embedder, settings=settings, find_strategy=find) as memory:
        command.note(f"{label}: ask {len(questions)} questions")
        for question in questions[:WARM_UP]:
            _ask(memory, question, depth)
        with command.progress() as bar:
            return [_ask(memory, question, depth) for question in bar.track(questions, description="")]


def _ask(memory: Memory, question: data.Question, depth: int) -> Asked:
    within = Scope(conversation=question.conversation) if question.conversation else None
    started, cpu_started = time.perf_counter(), time.thread_time()
    found = memory.questions.retrieve(question.text, k=depth, within=within).recall
    ms, cpu_ms = 1000 * (time.perf_counter() - started), 1000 * (time.thread_time() - cpu_started)
    returned = tuple((hit.episode.refs, sys.intern(hit.episode.text)) for hit in found.hits)  # many return the same
    return Asked(question, returned, ms, cpu_ms, {step.name: step.ms for step in found.trace.steps})


def cited(path: Path, questions: Sequence[data.Question], embedder: Embedder, label: str) -> dict[str, Any]:
    """Whether the lines of an answer hold the evidence: percent of the gold that they cite, and of the questions of
    which they cite all, lines per answer and time of `Questions.ask`; with the lines of chains and without."""
    judged = [one for one in questions if one.gold and not one.apart]
    found: dict[str, Any] = {"questions": len(judged)}
    for name, chains in (("chains", True), ("no_chains", False)):
        settings = MemorySettings(answer=AnswerSettings(chains=chains))
        with Memory.open(path, embedder=embedder, settings=settings) as memory:
            command.note(f"{label}: answer {len(judged)} questions, {name}")
            for question in judged[:WARM_UP]:
                _answer(memory, question)
            with command.progress() as bar:
                answers = [_answer(memory, question) for question in bar.track(judged, description="")]
        shares = [
            metrics.recall_at(question.gold, lines, len(lines)) if lines else 0.0
            for question, (lines, _) in zip(judged, answers, strict=True)
        ]
        found[name] = {
            "cited": metrics.percent(shares),
            "margin": metrics.margin(shares),
            "all": metrics.percent([float(share == 1) for share in shares]),
            "lines": round(fmean(len(lines) for lines, _ in answers), 2) if answers else 0.0,
            "p50_ms": metrics.percentile([ms for _, ms in answers], 50),
        }
    return found


def _answer(memory: Memory, question: data.Question) -> tuple[list[tuple[str, ...]], float]:
    """The refs of the episode that each line cites, and milliseconds."""
    within = Scope(conversation=question.conversation) if question.conversation else None
    started = time.perf_counter()
    *_, answer = memory.questions.ask(question.text, within=within)
    ms = 1000 * (time.perf_counter() - started)
    if not isinstance(answer, Answer):
        raise TypeError(f"ask ended with {answer!r}")
    with memory.store.reading() as conn:
        cited = episodes.get_many(conn, [citation.episode_id for citation in answer.citations])
    return [episode.refs for episode in cited], ms


def answerable(asked: Sequence[Asked]) -> list[Asked]:
    """All but the questions that stand apart."""
    return [one for one in asked if not one.question.apart]


def ranks(asked: Sequence[Asked], at: Sequence[int]) -> dict[str, Any]:
    """Recall@k and All@k in percent over the questions that have gold, with the 95 % margin of Recall@k."""
    judged = [one for one in asked if one.question.gold]
    recall = {k: [one.recall(k) for one in judged] for k in at}
    return {
        "questions": len(judged),
        "recall": {str(k): metrics.percent(shares) for k, shares in recall.items()},
        "all": {str(k): metrics.percent([float(share == 1) for share in shares]) for k, shares in recall.items()},
        "margin": {str(k): metrics.margin(shares) for k, shares in recall.items()},
    }


def latency(asked: Sequence[Asked]) -> dict[str, float]:
    """Milliseconds per question, and of those the thread's processor time."""
    times = [one.ms for one in asked]
    return {
        "p50_ms": metrics.percentile(times, 50),
        "p95_ms": metrics.percentile(times, 95),
        "p50_cpu_ms": metrics.percentile([one.cpu_ms for one in asked], 50),
    }


def stages(asked: Sequence[Asked]) -> dict[str, float]:
    """Median milliseconds of each stage, by the trace."""
    names = dict.fromkeys(name for one in asked for name in one.stages)
    return {name: metrics.percentile([one.stages[name] for one in asked if name in one.stages], 50) for name in names}


def against(asked: Sequence[Asked], default: Sequence[Asked]) -> dict[str, float]:
    """The same questions asked in two ways: percent points of Recall@5 that the first gains over `default`, the 95 %
    margin of that, and how many times as long it takes."""
    gains = [
        one.recall(COMPARED) - other.recall(COMPARED)
        for one, other in zip(answerable(asked), answerable(default), strict=True)
        if one.question.gold
    ]
    return {
        "gain": metrics.percent(gains),
        "gain_margin": metrics.margin(gains),
        "times_ms": metrics.ratio([one.ms for one in asked], [one.ms for one in default]),
        "times_cpu_ms": metrics.ratio([one.cpu_ms for one in asked], [one.cpu_ms for one in default]),
    }
