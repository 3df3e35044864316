"""What kind of thing a question asks for, by its words: a date, a number, or a name of somebody or of a place."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from memory.text.languages import ENGLISH, languages
from memory.text.unicode import strip_accents

ExpectedType = Literal["date", "number", "name"]
TYPES: tuple[ExpectedType, ...] = ("date", "number", "name")


def expected_types(question: str, language: str) -> frozenset[ExpectedType]:
    """The kinds of thing that a question in `language` (ISO 639-1) asks for; none if its words do not say."""
    text = strip_accents(question.lower())
    return frozenset(kind for kind, pattern in _patterns(language).items() if pattern.search(text))


@cache
def _patterns(language: str) -> dict[ExpectedType, re.Pattern[str]]:
    """What each kind is asked for with; where words are not told apart by spaces, any place in the question counts."""
    data = languages().get(language, {})
    if "asks" not in data:
        data = languages()[ENGLISH]
    edges = ("", "") if "unspaced" in data else (r"(?<!\w)", r"(?!\w)")
    return {kind: re.compile(f"{edges[0]}(?:{strip_accents(data['asks'][kind])}){edges[1]}") for kind in TYPES}
