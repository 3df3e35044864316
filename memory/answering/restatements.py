"""Restatements: whether a line gives another value of what another line states: "Hourly rate 48", "Hourly rate 52"."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from memory.answering.candidates import AnswerCandidate, stems
from memory.facts.rules.phrases import clean, is_name, value_kind
from memory.nouns import Episode
from memory.text.predicates import same_value

SAME_STATEMENT_OVERLAP = 0.5  # share of words in common, without values
_BEFORE_KEY = re.compile(r": |[.;]\s|\s[–—-]\s")


def same_statement(a: AnswerCandidate, b: AnswerCandidate) -> bool:
    """Whether two lines of different times state the same thing with other values of the same kind.

    They share most of their other words, two at least, apart from the speaker's name. A name at the beginning of a line
    is its subject: "Flights cost 210" is no earlier value of "The press costs 400". Two fields state the same if their
    keys are equal, in one note or in versions of one note.
    """
    if a.newness == b.newness:
        return False
    (key, value), (other_key, other_value) = _split_field(a), _split_field(b)
    if key and other_key:
        return key == other_key and _is_other_value(value, other_value) and _is_same_note(a.episode, b.episode)
    if not _are_same_kind(a.values - b.values, b.values - a.values):
        return False
    if _has_other_subject(a, b) or _has_other_subject(b, a):
        return False
    left, right = a.words - _stem_values(a.values), b.words - _stem_values(b.values)
    shared = left & right
    topic = shared.difference(stems(a.episode.speaker or ""), stems(b.episode.speaker or ""))
    return bool(topic) and len(shared) >= 2 and len(shared) / len(left | right) >= SAME_STATEMENT_OVERLAP


def _is_other_value(value: str, other: str) -> bool:
    """Whether two values of a field differ and are of one kind."""
    if same_value(value, other) or value_kind(value) != value_kind(other):
        return False
    return value_kind(value) != "word" or (is_name(value) and is_name(other))


def _split_field(line: AnswerCandidate) -> tuple[str, str]:
    """The key in lower case and the value of a field; the key is "" if it is a speaker's name."""
    before, _, value = line.sentence.rpartition(": ")
    key = clean(_BEFORE_KEY.split(before)[-1]).casefold()
    return ("" if key == (line.episode.speaker or "").casefold() else key), clean(value)


def _is_same_note(a: Episode, b: Episode) -> bool:
    """Whether two passages are of one note, or of notes of one title in one folder, of which the file name of one
    begins with that of the other."""
    if a.source.id == b.source.id:
        return True
    if a.at is None or b.at is None or a.source.title.casefold() != b.source.title.casefold():
        return False
    path, other = (PurePosixPath(passage.source.uri.partition("#")[0]) for passage in (a, b))
    shorter, longer = sorted((path.stem.casefold(), other.stem.casefold()), key=len)
    return path.parent == other.parent and longer.startswith(shorter)


def _has_other_subject(line: AnswerCandidate, other: AnswerCandidate) -> bool:
    """Whether a line begins with a name that the other does not contain."""
    first, names = next(iter(stems(line.shown)), ""), [value for value in line.values if not value[0].isdigit()]
    return first not in other.words and first in _stem_values(frozenset(names))


def _are_same_kind(values: frozenset[str], others: frozenset[str]) -> bool:
    """Whether both contain a number, or both a name."""
    return bool({value[0].isdigit() for value in values} & {value[0].isdigit() for value in others})


def _stem_values(values: frozenset[str]) -> frozenset[str]:
    return frozenset(word for value in values for word in stems(value))
