"""Problems are put to a memory, or to a baseline beside it: what came of each, what it cost, where it went wrong."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from benchmarks.baselines import LINES, Baseline, best_lines
from benchmarks.lifelog import answer_lines
from benchmarks.problems import Library, Problem
from memory import Memory
from memory.errors import ModelError
from memory.llm import LlmRequest, Usage, length
from memory.nouns import Answer, Effort, Step, Visit
from memory.protocols import LLM
from memory.store import traces
from tests.fakes.oracle import evidence, standing

CITATION = re.compile(r"\s*\[\d+\]")
ERRORS = ("retrieval", "answering", "refused wrongly", "answered the unanswerable")


@dataclass(slots=True)
class Calls:
    """Hears of every call of a model (a `plugins.llms.guard.Meter`). `count`: how many tokens a text has; without it
    what the server says."""

    count: Callable[[str], int] | None = None
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    failed: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)  # those that had evidence

    def clear(self) -> None:
        self.calls, self.usage, self.failed, self.prompts = 0, Usage(), [], []

    def check_budget(self, name: str, is_local: bool, request: LlmRequest) -> None:
        """Every call may be made."""

    def record(
        self, name: str, is_local: bool, request: LlmRequest, usage: Usage, ms: float, error: ModelError | None
    ) -> None:
        self.calls += 1
        if self.count is not None:
            said = [request.system, *(message.text for message in request.messages)]
            usage = Usage(sum(map(self.count, said)), usage.written)
        self.usage += usage if usage.read else Usage(length(request), usage.written)
        if error is not None:
            self.failed.append(type(error).__name__)
        prompt = "\n\n".join(message.text for message in request.messages if message.role == "user")
        if evidence(prompt):
            self.prompts.append(prompt)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a problem. `lines`: what was said, without marks and earlier values; `written`: by a model.
    `cited`, `context`: the gold ids that the answer cites, and that were there when it was made. `told`: whether a line
    that has the answer was in each prompt, None where no line has it. `steps`: what each stage did."""

    problem: Problem
    lines: tuple[str, ...]
    written: bool
    refused: bool
    cited: frozenset[str]
    context: frozenset[str]
    ms: float
    tier: str = ""
    route_ms: float | None = None
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    failed: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    told: tuple[bool, ...] | None = None

    @property
    def said(self) -> str:
        """What is judged: all that a model wrote; of lines the first."""
        return "\n".join(self.lines) if self.written else self.top(1)

    def top(self, lines: int) -> str:
        return "\n".join(self.lines[:lines])

    @property
    def is_right(self) -> bool:
        if not self.problem.answerable:
            return self.refused
        return not self.refused and self.problem.is_right(self.said)

    def is_accepted(self, lines: int) -> bool:
        """Whether so many lines hold an accepted answer, whatever else they hold."""
        return not self.refused and self.problem.is_accepted(self.said if self.written else self.top(lines))

    @property
    def is_exact(self) -> bool:
        return not self.refused and self.problem.is_exact(self.said)

    @property
    def overlap(self) -> float:
        return 0.0 if self.refused else self.problem.overlap(self.said)

    @property
    def is_stale(self) -> bool | None:
        """Whether the value of another time is given; None where nobody asked for a value."""
        return self.problem.is_stale(self.said)

    @property
    def is_complete(self) -> bool | None:
        """Whether all gold was there; None without gold."""
        return self.context.issuperset(self.problem.gold) if self.problem.gold else None

    @property
    def error(self) -> str | None:
        """Where a wrong answer comes from, one of ERRORS."""
        if self.is_right:
            return None
        if not self.problem.answerable:
            return "answered the unanswerable"
        if not self.is_complete:
            return "retrieval"
        return "refused wrongly" if self.refused else "answering"

    def share(self, found: frozenset[str]) -> float | None:
        """Of the gold; None without any."""
        gold = set(self.problem.gold)
        return len(gold & found) / len(gold) if gold else None

    def row(self) -> dict[str, Any]:
        """As a JSON object."""
        problem = self.problem
        return {
            "id": problem.id,
            "kind": problem.kind,
            "question": problem.text,
            "answer": self.said,
            "lines": self.lines,
            "by_model": self.written,
            "accepted": problem.answers if problem.answerable else (),
            "gold": problem.gold,
            "right": self.is_right,
            "accepted_first_three": self.is_accepted(LINES),
            "exact": self.is_exact,
            "f1": round(self.overlap, 4),
            "stale": self.is_stale,
            "refused": self.refused,
            "cited": self.share(self.cited),
            "in_context": self.share(self.context),
            "complete": self.is_complete,
            "told": self.told,
            "tier": self.tier,
            "calls": self.calls,
            "prompt_tokens": self.usage.read,
            "completion_tokens": self.usage.written,
            "ms": round(self.ms, 2),
            "route_ms": self.route_ms,
            "failed": self.failed,
            "error": self.error,
        }


def lines_of(text: str, written: bool) -> tuple[str, ...]:
    """What an answer says, without marks; of lines without earlier values."""
    if not written:
        return answer_lines(text)
    lines = (" ".join(CITATION.sub("", line).split()) for line in text.splitlines())
    return tuple(line for line in lines if line)


@dataclass(slots=True)
class Desk:
    """A memory that was filled, the model to ask, if any, and what is counted of it."""

    memory: Memory
    library: Library
    model: LLM | None
    calls: Calls
    effort: Effort

    def ask(self, problem: Problem, replay: bool = True) -> Outcome:
        """Puts the problem to the memory; without `replay` it takes nothing from earlier ones and learns nothing."""
        self.calls.clear()
        model = self.model
        choose = (lambda local_only: model) if model is not None else None
        started = time.perf_counter()
        events = list(
            self.memory.questions.ask(
                problem.text,
                as_of=problem.as_of,
                within=problem.within,
                llm=choose,
                driver=choose,
                effort=self.effort,
                replay=replay,
            )
        )
        ms = 1000 * (time.perf_counter() - started)
        answer = events[-1]
        if not isinstance(answer, Answer):
            raise TypeError(f"ask ended with {answer!r}")
        steps = [event for event in events if isinstance(event, Step)]
        ranked = [
            event.node_id for event in events if isinstance(event, Visit) and event.stage in ("rank", "collected")
        ]
        routed = [step.ms for step in steps if step.name == "route"]
        return Outcome(
            problem,
            lines_of(answer.text, bool(answer.model)),
            bool(answer.model),
            answer.no_answer,
            self._held(citation.episode_id for citation in answer.citations),
            self._shown(problem) if self.calls.prompts else self._held(ranked),
            ms,
            self._tier(answer),
            round(sum(routed), 3) if routed else None,
            self.calls.calls,
            self.calls.usage,
            tuple(self.calls.failed),
            tuple(steps),
            self._told(problem),
        )

    def ask_baseline(self, problem: Problem, baseline: Baseline) -> Outcome:
        """Gives what the baseline finds to the same model; without one its best lines are the answer."""
        self.calls.clear()
        started = time.perf_counter()
        found = baseline(problem, self.library.within(problem))
        if self.model is None:
            found = found[: self.memory.state.settings.answer.episodes]
            lines = best_lines(problem.text, found)
            return Outcome(
                problem, tuple(line for line, _ in lines), False, not lines, self._held(id for _, id in lines),
                self._held(one.id for one in found), 1000 * (time.perf_counter() - started),
            )  # fmt: skip
        said = baseline.composed(self.model, problem, found, problem.as_of or datetime.now(UTC))
        ms = 1000 * (time.perf_counter() - started)
        return Outcome(
            problem, lines_of(said.text, True), True, not said.text,
            self._held(citation.episode_id for citation in said.citations), self._shown(problem), ms, "", None,
            self.calls.calls, self.calls.usage, tuple(self.calls.failed),
        )  # fmt: skip

    def _tier(self, answer: Answer) -> str:
        """The tier that the answer was found on."""
        with self.memory.store.reading() as conn:
            return next((one.tier for one in traces.list_traces(conn, 1) if one.id == answer.trace_id), "")

    def _held(self, ids: Iterable[int]) -> frozenset[str]:
        return frozenset(gold for id in ids for gold in self.library.holds.get(id, ()))

    def _told(self, problem: Problem) -> tuple[bool, ...] | None:
        """Whether a line that has the answer was in each prompt; None where no line has it, or no model was asked."""
        if not self.calls.prompts or not problem.is_in_a_line:
            return None
        rows = ([row for one in evidence(prompt) for row in one.text.splitlines()] for prompt in self.calls.prompts)
        return tuple(any(self.library.tells(problem, row) for row in shown) for shown in rows)

    def _shown(self, problem: Problem) -> frozenset[str]:
        """The gold that stood in the evidence of the last request for an answer."""
        pieces = evidence(self.calls.prompts[-1]) if self.calls.prompts else []
        golds, forms = self.library.golds(problem), (*problem.answers, *problem.parts)
        return frozenset(id for id, gold in zip(problem.gold, golds, strict=True) if standing(gold, pieces, forms))
