"""Fuzzy matching of typed text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from typing import TypeVar

T = TypeVar("T")

NEARLY = 0.7  # share of letters that a word with a slip has in common with the one that was meant
LEAST_WITHIN = 2  # letters, below which anything has them somewhere
LEAST_SLIP = 3  # letters; in shorter words a typo is another word


def rank(query: str, items: Iterable[T], names: Callable[[T], Iterable[str]], slips: bool = False) -> list[T]:
    """Returns the items with a matching name, best first, on ties in their own order. With `slips` a typo matches,
    too."""
    scored = []
    for item in items:
        fits = [fit for name in names(item) if (fit := _fit(query.casefold(), name.casefold(), slips)) is not None]
        if fits:
            scored.append((min(fits), item))
    return [item for _, item in sorted(scored, key=lambda pair: pair[0])]


def _fit(query: str, name: str, slips: bool) -> int | None:
    """Returns the quality of a match: 0 the whole name, 1 its beginning, 2 a word's beginning, 3 within, 4 its letters
    in order, 5 nearly its beginning; None without a match."""
    if name == query:
        return 0
    if name.startswith(query):
        return 1
    if len(query) < LEAST_WITHIN:
        return None
    if query in name:
        return 2 if re.search(rf"\b{re.escape(query)}", name) else 3
    letters = iter(name)
    if all(letter in letters for letter in query):
        return 4
    if slips and len(query) >= LEAST_SLIP:
        matcher = SequenceMatcher(None, query, name[: len(query)], autojunk=False)
        return 5 if matcher.ratio() >= NEARLY else None
    return None
