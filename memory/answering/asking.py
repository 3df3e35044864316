"""Asking: one question from its retrieval to the extractive answer, with the steps for its trace."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from memory.answering.confidence import find_unknown_names
from memory.answering.extractive import extract_answer, stream_extractive
from memory.answering.options import AskOptions
from memory.answering.selection import ExtractiveAnswer
from memory.llm import NOTHING, Usage
from memory.nouns import Answer, Citation, Preview, Step, Token, Visit, Writing
from memory.protocols import Embedder
from memory.retrieval.state import RetrievalResult
from memory.settings import AnswerSettings
from memory.stages import RouteNote, Tier, step
from memory.store.connect import Connection

OpenConnection = Callable[[], AbstractContextManager[Connection]]
Event = Step | Visit | Preview | Writing | Token | Citation


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """The answer, its steps, its tier, and the calls and tokens of models. `result`: the retrieval with all additions;
    `expanded`: the edges that a model chose to follow."""

    answer: Answer
    steps: tuple[Step, ...]
    result: RetrievalResult
    tier: Tier = "R2"
    calls: int = 0
    usage: Usage = NOTHING
    expanded: tuple[int, ...] = ()


@dataclass
class Answering:
    """The answering of one question. `result`: the results so far. A connection of `reading` must see what the
    retrieval saw."""

    reading: OpenConnection
    result: RetrievalResult
    embedder: Embedder
    settings: AnswerSettings
    options: AskOptions
    steps: list[Step] = field(default_factory=list)
    tier: Tier = "R2"

    def run(self) -> Generator[Event, None, AskOutcome]:
        """Yields the events that lead to the answer; returns the outcome."""
        extractive = yield from self._extract()
        yield self._route()
        answer = yield from stream_extractive(extractive)
        return AskOutcome(answer, tuple(self.steps), self.result)

    def _extract(self) -> Generator[Event, None, ExtractiveAnswer]:
        with self.reading() as conn:
            extractive = extract_answer(conn, self.result, self.embedder, self.settings)
        yield self._record(extractive.step)
        return extractive

    def _route(self) -> Step:
        """Returns the step with the tier and the question's unknown names."""
        return self._record(step(RouteNote(self.tier, find_unknown_names(self.result) or None), 0.0))

    def _collect(self, episodes: Iterable[int]) -> tuple[Visit, ...]:
        """Adds episodes to the retrieval; returns the new ones as visits."""
        before = len(self.result.recall.trace.visits)
        with self.reading() as conn:
            self.result = self.result.with_collected(conn, episodes)
        return self.result.recall.trace.visits[before:]

    def _record(self, step: Step) -> Step:
        self.steps.append(step)
        return step
