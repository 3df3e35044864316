"""What a question ends with: what a model wrote as far as it is proved, the lines of memory, or a refusal."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace

from memory.answering.compose import Written
from memory.answering.context import Context
from memory.answering.extractive import NOT_FOUND, NOT_FOUND_THERE, Extract
from memory.nouns import Answer, Citation, Token
from memory.retrieval.pipeline import Found

_NUMBERS = re.compile(r"(?:\[\d+\]\s*)+$")  # of a line's citations, behind it
_NUMBER = re.compile(r"\[(\d+)\]")
INSTEAD = "This is what your notes say, word for word."


def ended(
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
        rest = [moved(piece, first) for piece in lines.pieces]
        yield Token("\n\n")
        yield from rest
        text = "".join(piece.text for piece in rest if isinstance(piece, Token)).rstrip()
        citations = (*said.citations, *(piece for piece in rest if isinstance(piece, Citation)))
        confidence, note = lines.answer.confidence, f"{said.failed} {INSTEAD}"
        return Answer(f"{said.text}\n\n{text}", citations, confidence=confidence, model=model, note=note)
    if said.no_answer and not (context.left_out and not lines.answer.no_answer):
        why = NOT_FOUND_THERE if found.n_allowed < found.n_alive else NOT_FOUND
        yield Token(why)
        note = " ".join(filter(None, [said.failed, note]))
        return Answer(why, no_answer=True, missing=said.missing or lines.answer.missing, model=model, note=note)
    failed = note if said.no_answer else said.failed
    return (yield from extractive(lines, failed))


def extractive(lines: Extract, why: str = "") -> Generator[Token | Citation, None, Answer]:
    """The lines themselves, with a sentence why no model wrote if one should have."""
    for piece in lines.pieces:
        yield Token(piece) if isinstance(piece, str) else piece
    said = "" if lines.answer.no_answer else INSTEAD
    note = " ".join(filter(None, [why, said])) if why else ""
    return replace(lines.answer, note=note)


def moved(piece: str | Citation, by: int) -> Token | Citation:
    """A piece of the lines with higher numbers, behind what a model cited."""
    if isinstance(piece, Citation):
        return replace(piece, n=piece.n + by)
    return Token(_NUMBERS.sub(lambda behind: _NUMBER.sub(lambda n: f"[{int(n[1]) + by}]", behind[0]), piece))


def _left_out(passages: int, model: str) -> str:
    if not passages:
        return ""
    what = "1 passage" if passages == 1 else f"{passages} passages"
    return f"{what} that must stay on this machine {'was' if passages == 1 else 'were'} not shown to {model}."
