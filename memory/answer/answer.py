"""One answer: the lines of memory, or what a model wrote from them, whichever can be had.

The lines are always found first; they are what a person gets when there is no model, when it fails in whatever way, or
when it says nothing that is proved. No connection is open while a model writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import perf_counter

from memory.answer import compose
from memory.answer.compose import Written
from memory.answer.context import Context, Piece, fitted, gathered
from memory.answer.extract import NOT_FOUND, NOT_FOUND_THERE, Extract, extract
from memory.errors import ModelError
from memory.llm import NOTHING, Usage, about_tokens
from memory.nouns import Answer, Citation, Step, Token
from memory.protocols import LLM, ChooseLLM, Embedder
from memory.recall.pipeline import Found
from memory.settings import AnswerSettings
from memory.store.connect import Connection

PROMPT = 400  # tokens of a request beside system, evidence and reply
LEAST = 300  # tokens of evidence without which a model is not asked
_LAST_NUMBER = re.compile(r"\[(\d+)\](?=\s*$)")
INSTEAD = "This is what your notes say, word for word."


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked beside what was searched for: the `question` as the person put it, where that is another, `now`,
    `as_of`, the questions it may follow, and whether it still matters."""

    now: datetime | None = None
    as_of: datetime | None = None
    before: tuple[str, ...] = ()
    cancelled: Callable[[], bool] | None = None
    question: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer, the steps that led to it, and what models took for it."""

    answer: Answer
    steps: tuple[Step, ...]
    calls: int = 0
    usage: Usage = NOTHING


def answer(
    reading: Callable[[], AbstractContextManager[Connection]],
    found: Found,
    embedder: Embedder,
    settings: AnswerSettings,
    choose: ChooseLLM | None,
    asking: Asking,
) -> Generator[Step | Token | Citation, None, Outcome]:
    """Answers from what was recalled. A connection must see what the recall saw."""
    asked = choose if settings.model == "auto" and found.n_allowed else None
    with reading() as conn:
        lines = extract(conn, found, embedder, settings)
        pieces = gathered(conn, found, lines.lines) if asked is not None else ()
    yield lines.step
    start = perf_counter()
    try:
        picked = compose.chosen(asked, pieces) if asked is not None else None
        context = _context(picked, settings) if picked is not None else None
    except ModelError as error:
        return (yield from _extractive(lines, str(error)))
    except Exception as error:  # a model of somebody else's
        return (yield from _extractive(lines, f"The model failed ({type(error).__name__})."))
    if picked is None or context is None:
        return (yield from _extractive(lines))
    llm = picked[0]
    request = compose.request(
        asking.question or found.question.text,
        context,
        now=asking.now or asking.as_of or datetime.now(UTC),
        as_of=asking.as_of,
        before=asking.before,
        max_tokens=settings.answer_tokens,
        cancelled=asking.cancelled,
    )
    said = yield from compose.written(llm, request, context, found.question.text)
    step = Step("compose", (perf_counter() - start) * 1000, said.detail(llm.name, context))
    yield step
    rest = yield from _ended(said, lines, found, llm.name, context)
    return Outcome(rest, (lines.step, step), said.calls, said.usage)


def _context(picked: tuple[LLM, Sequence[Piece], int], settings: AnswerSettings) -> Context | None:
    """As much evidence as the setting allows and the model has room for; None if that is next to nothing."""
    llm, pieces, left_out = picked
    room = llm.context_tokens - about_tokens(compose.SYSTEM) - PROMPT - 2 * settings.answer_tokens
    tokens = min(settings.context_tokens, room)
    return fitted(pieces, tokens, left_out) if tokens >= LEAST else None


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
    outcome = yield from _extractive(lines, failed)
    return outcome.answer


def _extractive(lines: Extract, why: str = "") -> Generator[Token | Citation, None, Outcome]:
    """The lines themselves, with a sentence why no model wrote if one should have."""
    for piece in lines.pieces:
        yield Token(piece) if isinstance(piece, str) else piece
    said = "" if lines.answer.no_answer else INSTEAD
    note = " ".join(filter(None, [why, said])) if why else ""
    return Outcome(replace(lines.answer, note=note), (lines.step,))


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
