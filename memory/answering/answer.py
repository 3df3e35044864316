"""Answering one question from what was retrieved for it, without a model: the extractive answer is always found first,
and is what a person gets when there is no model. `escalation` goes on from there with one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter

from memory.answering.extractive import ExtractiveAnswer, extract_answer, merge_answers, stream_extractive
from memory.answering.options import AskOptions
from memory.llm import NOTHING, Usage
from memory.nouns import Answer, Citation, Step, Token
from memory.protocols import Embedder
from memory.retrieval.route import Assessment, Tier, assess
from memory.retrieval.state import RetrievalResult
from memory.settings import AnswerSettings
from memory.store.connect import Connection

MAX_EPISODES_PER_PART = 5  # of each part of a question that are looked at before those of the whole

OpenConnection = Callable[[], AbstractContextManager[Connection]]
Event = Step | Token | Citation


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """The answer, the steps that led to it, the tier it was found on, and what models took for it. `found` is the
    retrieval with all that was gathered, `expanded` the edges that a model chose to follow."""

    answer: Answer
    steps: tuple[Step, ...]
    found: RetrievalResult
    tier: Tier = "R2"
    calls: int = 0
    usage: Usage = NOTHING
    expanded: tuple[int, ...] = ()


def answer_extractively(
    reading: OpenConnection,
    found: RetrievalResult,
    embedder: Embedder,
    settings: AnswerSettings,
    options: AskOptions,
    parts: Sequence[RetrievalResult] = (),
) -> Generator[Event, None, AskOutcome]:
    """Answers without a model; `parts` is what was retrieved for each of the questions that this one is made of. A
    connection must see what the retrieval saw."""
    run = Answering(reading, found, embedder, settings, options, parts)
    extractive = yield from run.extract_enough()
    answer = yield from stream_extractive(extractive)
    return AskOutcome(answer, tuple(run.steps), run.found)


class Answering:
    """One question on its way from its retrieval to an answer; `found` is what was retrieved and gathered so far."""

    def __init__(
        self,
        reading: OpenConnection,
        found: RetrievalResult,
        embedder: Embedder,
        settings: AnswerSettings,
        options: AskOptions,
        parts: Sequence[RetrievalResult],
    ) -> None:
        self.found = found
        self.steps: list[Step] = []
        self.tier: Tier = "R2"
        self._reading = reading
        self._embedder = embedder
        self._settings = settings
        self._options = options
        self._parts = parts
        self._collect_parts()

    def extract_enough(self) -> Generator[Event, None, ExtractiveAnswer]:
        """The extractive answer, from what lies around what is named as well where the retrieval is not enough."""
        extractive = yield from self._extract()
        assessment = yield from self._assess(extractive)
        if not assessment.enough and self._options.effort != "quick":
            yield from self._look_around()
            extractive = yield from self._extract()
        return extractive

    def _extract(self) -> Generator[Event, None, ExtractiveAnswer]:
        with self._reading() as conn:
            if self._parts:
                of_parts = [extract_answer(conn, part, self._embedder, self._settings) for part in self._parts]
                extractive = merge_answers(of_parts, [part.question.text for part in self._parts])
            if not self._parts or extractive.answer.no_answer:
                extractive = extract_answer(conn, self.found, self._embedder, self._settings)
        yield self._record(extractive.step)
        return extractive

    def _assess(self, extractive: ExtractiveAnswer) -> Generator[Event, None, Assessment]:
        """Whether what there is looks enough."""
        start = perf_counter()
        evidence = [hit.episode for hit in self.found.recall.hits]
        assessment = assess(self.found, evidence, extractive.answer.confidence, self._settings.threshold)
        detail: dict[str, object] = {"tier": self.tier, "enough": assessment.enough, "gaps": list(assessment.gaps)}
        if assessment.unknown:
            detail["unknown"] = list(assessment.unknown)
        yield self._record(Step("route", (perf_counter() - start) * 1000, detail))
        return assessment

    def _look_around(self) -> Generator[Event, None, None]:
        """Looks around what is named, without a model."""
        from memory.exploring.heuristic import explore_best_first  # most questions never need it

        looked = explore_best_first(self.found)
        yield from map(self._record, looked.steps)
        most = max(len(self.found.recall.hits), self._settings.episodes)
        self._collect(looked.episodes)
        self.found = self.found.top(most)

    def _collect_parts(self) -> None:
        self._collect(hit.episode.id for part in self._parts for hit in part.recall.hits[:MAX_EPISODES_PER_PART])

    def _collect(self, episodes: Iterable[int]) -> None:
        with self._reading() as conn:
            self.found = self.found.with_collected(conn, episodes)

    def _record(self, step: Step) -> Step:
        self.steps.append(step)
        return step
