"""Authorship: questions for what somebody wrote or said, and for what happened on certain days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from memory.answering.candidates import AnswerCandidate
from memory.answering.features import AnswerState
from memory.retrieval.state import QuestionState
from memory.text.mentions import is_date, mentions, norm
from memory.text.words import strip_accents
from memory.time.expressions import TimeExpression


def is_all_asked(question: QuestionState, line: AnswerCandidate) -> bool:
    """Whether a question asks for anything its writer wrote, with no other topic, and they wrote the line."""
    named = set(_fold_name(question.writer).split())
    topic = {part for term in question.topic for part in _fold_name(term).split()}
    return bool(named) and topic <= named <= _find_writer(line)


def select_written(state: AnswerState, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """The candidates of the question's writer and of its time, if there are any.

    A line of another time stays if it names a day of the question's time, or if it covers more of the question than
    every line of that time.
    """
    kept = list(candidates)
    if writer := set(_fold_name(state.question.writer).split()):
        own = [line for line in kept if line.place.kind in ("text", "row") and writer <= _find_writer(line)]
        kept = own or kept
    when = state.question.when
    if when is None or when.kind != "range" or when.since is None or when.until is None:
        return kept
    inside = [line for line in kept if _is_inside(line, when) is not False]
    most = max((line.features.line_coverage for line in kept), default=0.0)
    return inside if any(line.features.line_coverage >= most for line in inside) else kept


def _fold_name(name: str) -> str:
    return strip_accents(norm(name))


def _find_writer(candidate: AnswerCandidate) -> set[str]:
    turn = candidate.episode.turn_at(candidate.start)
    name = (turn.speaker if turn else "") or candidate.place.speaker or candidate.episode.speaker or ""
    return set(_fold_name(name).split())


def _is_inside(candidate: AnswerCandidate, when: TimeExpression) -> bool | None:
    """Whether a line belongs to a time by when it was written or the days that it names; None if neither is known."""
    episode, turn = candidate.episode, candidate.episode.turn_at(candidate.start)
    written = (turn.at if turn else None) or (None if episode.is_stamped else episode.at)
    days = [name.norm for name in mentions(candidate.quote) if is_date(name.norm) and name.norm.count("-") == 2]
    if any(_covers(when, date.fromisoformat(day)) for day in days if day[0] != "-"):
        return True
    return None if written is None else _covers(when, written)


def _covers(when: TimeExpression, moment: date) -> bool:
    assert when.since is not None and when.until is not None
    if isinstance(moment, datetime):
        return when.since <= moment < when.until
    return when.since.date() <= moment < when.until.date()
