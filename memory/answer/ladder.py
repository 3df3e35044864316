"""One answer: the lines of memory, or what a model wrote from them, by the lowest rung of the ladder that suffices.

The lines are always found first; they are what a person gets when there is no model, when it fails in whatever way, or
when it says nothing that is proved. `memory.recall.route` says when to look further and how; no connection is open
while a model writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import perf_counter

from memory.answer import compose
from memory.answer.allowance import ALLOWED, Meter, Metered
from memory.answer.compose import Written
from memory.answer.context import Context, fitted, gathered
from memory.answer.extract import NOT_FOUND, NOT_FOUND_THERE, Extract, extract
from memory.errors import ModelError
from memory.llm import NOTHING, Usage, about_tokens
from memory.nouns import Answer, Citation, Effort, Step, Token
from memory.protocols import LLM, ChooseLLM, Embedder
from memory.recall.pipeline import Found
from memory.recall.route import Assessment, Tier, assess
from memory.settings import AnswerSettings
from memory.store.connect import Connection

Reading = Callable[[], AbstractContextManager[Connection]]

PROMPT = 400  # tokens of a request beside system, evidence and reply
LEAST = 300  # tokens of evidence without which a model is not asked
DEEP = 5_000  # tokens of evidence that an answer with much effort may be written from
_LAST_NUMBER = re.compile(r"\[(\d+)\](?=\s*$)")
INSTEAD = "This is what your notes say, word for word."

Event = Step | Token | Citation


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked beside what was searched for: the `question` as the person put it, where that is another, `now`,
    `as_of`, the questions it may follow, whether it still matters, and how much it may take."""

    now: datetime | None = None
    as_of: datetime | None = None
    before: tuple[str, ...] = ()
    cancelled: Callable[[], bool] | None = None
    question: str = ""
    effort: Effort = "normal"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer, the steps that led to it, the rung it was found on, and what models took for it. `found` is the
    recall with all that was gathered."""

    answer: Answer
    steps: tuple[Step, ...]
    found: Found
    tier: Tier = "R2"
    calls: int = 0
    usage: Usage = NOTHING


def answer(
    reading: Reading,
    found: Found,
    embedder: Embedder,
    settings: AnswerSettings,
    choose: ChooseLLM | None,
    wish: Wish,
) -> Generator[Event, None, Outcome]:
    """Answers from what was recalled, with as little as suffices. A connection must see what the recall saw."""
    ladder = _Ladder(reading, found, embedder, settings, choose, wish)
    said = yield from ladder.climbed()
    return Outcome(said, tuple(ladder.steps), ladder.found, ladder.tier, ladder.meter.calls, ladder.meter.usage)


class _Ladder:
    """One question on its way up."""

    def __init__(
        self,
        reading: Reading,
        found: Found,
        embedder: Embedder,
        settings: AnswerSettings,
        choose: ChooseLLM | None,
        wish: Wish,
    ) -> None:
        self.found = found
        self.steps: list[Step] = []
        self.tier: Tier = "R2"
        self.meter = Meter(ALLOWED[wish.effort], wish.cancelled)
        self._reading = reading
        self._embedder = embedder
        self._settings = settings
        self._choose = choose if settings.model == "auto" and found.n_allowed else None
        self._wish = wish

    def climbed(self) -> Generator[Event, None, Answer]:
        lines = yield from self._extracted()
        yield from self._assessed(lines)
        if self._choose is None:
            return (yield from _extractive(lines))
        try:
            picked = self._picked(lines)
        except ModelError as error:
            return (yield from _extractive(lines, str(error)))
        except Exception as error:  # a model of somebody else's
            return (yield from _extractive(lines, f"The model failed ({type(error).__name__})."))
        if picked is None:
            return (yield from _extractive(lines))
        said = yield from self._composed(picked)
        return (yield from _ended(said, lines, self.found, picked[0].name, picked[1]))

    def _extracted(self) -> Generator[Event, None, Extract]:
        with self._reading() as conn:
            lines = extract(conn, self.found, self._embedder, self._settings)
        yield self._done(lines.step)
        return lines

    def _assessed(self, lines: Extract) -> Generator[Event, None, Assessment]:
        """Whether what there is looks enough."""
        start = perf_counter()
        evidence = [hit.episode for hit in self.found.recall.hits]
        assessment = assess(self.found, evidence, lines.answer.confidence, self._settings.threshold)
        detail = {"tier": self.tier, "enough": assessment.enough, "gaps": list(assessment.gaps)}
        yield self._done(Step("route", (perf_counter() - start) * 1000, detail))
        return assessment

    def _picked(self, lines: Extract) -> tuple[LLM, Context] | None:
        """The model that answers, and the evidence that it gets; None if there is no model, or no room for evidence.
        Raises what the choice of a model raises."""
        assert self._choose is not None
        with self._reading() as conn:
            pieces = gathered(conn, self.found, lines.lines)
        chosen = compose.chosen(self._choose, pieces)
        if chosen is None:
            return None
        llm, kept, left_out = chosen
        room = llm.context_tokens - about_tokens(compose.SYSTEM) - PROMPT - 2 * self._settings.answer_tokens
        most = (
            max(DEEP, self._settings.context_tokens) if self._wish.effort == "deep" else self._settings.context_tokens
        )
        tokens = min(most, room)
        return (llm, fitted(kept, tokens, left_out)) if tokens >= LEAST else None

    def _composed(self, picked: tuple[LLM, Context]) -> Generator[Event, None, Written]:
        llm, context = picked
        wish, start, before = self._wish, perf_counter(), (self.meter.calls, self.meter.usage.total)
        request = compose.request(
            wish.question or self.found.question.text,
            context,
            now=wish.now or wish.as_of or datetime.now(UTC),
            as_of=wish.as_of,
            before=wish.before,
            max_tokens=self._settings.answer_tokens,
            cancelled=wish.cancelled,
        )
        said = yield from compose.written(Metered(llm, self.meter), request, context, self.found.question.text)
        spent = {"calls": self.meter.calls - before[0], "tokens": self.meter.usage.total - before[1]}
        detail = {"model": llm.name} | spent | said.detail(context)
        yield self._done(Step("compose", (perf_counter() - start) * 1000, detail))
        return said

    def _done(self, step: Step) -> Step:
        self.steps.append(step)
        return step


def _ended(
    said: Written, lines: Extract, found: Found, model: str, context: Context
) -> Generator[Token | Citation, None, Answer]:
    """The answer that what a model said comes to."""
    note = _left_out(context.left_out, model)
    if said.text and not said.broken:
        note = " ".join(filter(None, [said.failed, note]))
        return Answer(said.text, tuple(said.citations), confidence=lines.answer.confidence, model=model, note=note)
    if said.text and lines.answer.no_answer:
        return Answer(said.text, tuple(said.citations), model=model, note=said.failed)
    if said.text:  # it broke off: what it had said is proved, and the lines tell the rest
        first = len(said.citations)
        moved = [_moved(piece, first) for piece in lines.pieces]
        yield Token("\n\n")
        yield from moved
        text = "".join(piece.text for piece in moved if isinstance(piece, Token)).rstrip()
        citations = (*said.citations, *(piece for piece in moved if isinstance(piece, Citation)))
        confidence, note = lines.answer.confidence, f"{said.failed} {INSTEAD}"
        return Answer(f"{said.text}\n\n{text}", citations, confidence=confidence, model=model, note=note)
    if said.no_answer and not (context.left_out and not lines.answer.no_answer):
        why = NOT_FOUND_THERE if found.n_allowed < found.n_alive else NOT_FOUND
        yield Token(why)
        return Answer(why, no_answer=True, missing=said.missing or lines.answer.missing, model=model, note=note)
    failed = note if said.no_answer else said.failed
    return (yield from _extractive(lines, failed))


def _extractive(lines: Extract, why: str = "") -> Generator[Token | Citation, None, Answer]:
    """The lines themselves, with a sentence why no model wrote if one should have."""
    for piece in lines.pieces:
        yield Token(piece) if isinstance(piece, str) else piece
    said = "" if lines.answer.no_answer else INSTEAD
    note = " ".join(filter(None, [why, said])) if why else ""
    return replace(lines.answer, note=note)


def _moved(piece: str | Citation, by: int) -> Token | Citation:
    """A piece of the lines with higher numbers, behind what a model cited."""
    if isinstance(piece, Citation):
        return replace(piece, n=piece.n + by)
    return Token(_LAST_NUMBER.sub(lambda match: f"[{int(match[1]) + by}]", piece))


def _left_out(passages: int, model: str) -> str:
    if not passages:
        return ""
    what = "1 passage" if passages == 1 else f"{passages} passages"
    return f"{what} that must stay on this machine {'was' if passages == 1 else 'were'} not shown to {model}."
