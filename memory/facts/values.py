"""When two values say the same: "60" and "60 euros", "Leipzig" and "Leipzig, Germany"; not "4 mg" and "4 tablets"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from memory.text.mentions import norm
from memory.text.words import words

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_LISTED = re.compile(r",|;|/|\band\b|\bplus\b|\+|&")
_ABOUT = frozenset("about approximately around circa roughly exactly only just per a the of in at by for each".split())


class _Value(NamedTuple):
    norm: str
    numbers: list[str]
    listed: bool
    words: frozenset[str]


def same_value(one: str, other: str) -> bool:
    """Whether two values of one predicate are the same, the one perhaps told with more words.

    Numbers must be the same; and of two enumerations the longer one is another value.
    """
    left, right = _value(one), _value(other)
    if left.norm == right.norm:
        return True
    if left.numbers != right.numbers or (not left.numbers and (left.listed or right.listed)):
        return False
    told = left.numbers or (left.words and right.words)
    return bool(told) and (left.words <= right.words or right.words <= left.words)


@lru_cache(10_000)
def _value(text: str) -> _Value:
    """What is compared of a value; kept, because a new one is compared with all that are known."""
    numbers = sorted(number.replace(",", ".") for number in _NUMBER.findall(text))
    spoken = frozenset(word for word in words(text) if not word[:1].isdigit()) - _ABOUT
    return _Value(norm(text), numbers, _LISTED.search(text) is not None, spoken)


def says(text: str, value: str) -> bool:
    """Whether a text holds the value, as whole words and numbers."""
    wanted = norm(value)
    return bool(wanted) and re.search(rf"(?<![\w]){re.escape(wanted)}(?![\w]|[.,:]\d)", norm(text)) is not None
