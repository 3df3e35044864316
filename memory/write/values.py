"""When two values say the same: "60" and "60 euros", "Leipzig" and "Leipzig, Germany"; not "4 mg" and "4 tablets"."""

from __future__ import annotations

import re

from memory.words import words
from memory.write.mentions import norm

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_LISTED = re.compile(r",|;|/|\band\b|\bplus\b|\+|&")
_ABOUT = frozenset("about approximately around circa roughly exactly only just per a the of in at by for each".split())


def same_value(one: str, other: str) -> bool:
    """Whether two values of one predicate are the same, the one perhaps told with more words.

    Numbers must be the same; and of two enumerations the longer one is another value.
    """
    if norm(one) == norm(other):
        return True
    numbers = _numbers(one)
    if numbers != _numbers(other):
        return False
    if not numbers and (_LISTED.search(one) or _LISTED.search(other)):
        return False
    left, right = _words(one), _words(other)
    return bool(numbers or (left and right)) and (left <= right or right <= left)


def says(text: str, value: str) -> bool:
    """Whether a text holds the value, as whole words and numbers."""
    wanted = norm(value)
    return bool(wanted) and re.search(rf"(?<![\w]){re.escape(wanted)}(?![\w]|[.,:]\d)", norm(text)) is not None


def _numbers(text: str) -> list[str]:
    return sorted(number.replace(",", ".") for number in _NUMBER.findall(text))


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if not word[:1].isdigit()) - _ABOUT
