"""Asked kinds: whether a question asks for a date, a number, a name, or a value of a known shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from memory.retrieval.state import QuestionState
from memory.text.languages import ENGLISH, alternatives, languages
from memory.text.words import strip_accents

ExpectedType = Literal["date", "number", "name"]
EXPECTED_TYPES: tuple[ExpectedType, ...] = ("date", "number", "name")

SHAPES: Mapping[str, re.Pattern[str]] = {  # of values that are recognised without their name
    "phone": re.compile(
        r"(?<![\w.,-])(?<!\d )(?!\d\d?/\d{4}(?!\d))"  # no month
        r"(?:(?:\+\d|\(?0\d)[\d ()/-]{4,16}\d|(?:\d{3}[ -]\d{3}[ -]|\d{3}-)\d{4})(?![\w-])"
    ),
    "email": re.compile(r"[\w.+-]+@[\w-]+\.\w"),
}


def expected_types(question: str, language: str) -> frozenset[ExpectedType]:
    """The kinds of thing that a question in `language` (ISO 639-1) asks for; empty if its words name none."""
    text = strip_accents(question.lower())
    return frozenset(kind for kind, pattern in _make_patterns(language).items() if pattern.search(text))


@cache
def _make_patterns(language: str) -> dict[ExpectedType, re.Pattern[str]]:
    """What each kind is asked for with, as whole words unless the language has no spaces."""
    data = languages().get(language, {})
    if "asks" not in data:
        data = languages()[ENGLISH]
    edges = ("", "") if "unspaced" in data else (r"(?<!\w)", r"(?!\w)")
    return {kind: re.compile(f"{edges[0]}(?:{strip_accents(data['asks'][kind])}){edges[1]}") for kind in EXPECTED_TYPES}


def find_owned(question: QuestionState) -> str:
    """The words for a person's thing that the question asks for ("phone" in "Ana's phone"); "" for other questions."""
    form, ends = (alternatives("asks", key, language=question.language) for key in ("owned", "owned_ends"))
    match = re.search(form, question.text, re.IGNORECASE) if form else None
    return re.split(ends, match[1], maxsplit=1, flags=re.IGNORECASE)[0] if match else ""
