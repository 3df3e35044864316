"""The names of the months, as people write them in every language there is data of, with and without accents."""

from __future__ import annotations

import unicodedata
from functools import cache

from memory.text.languages import word_numbers
from memory.text.unicode import strip_accents


@cache
def month_names() -> dict[str, int]:
    """1 to 12 for each name, in lower case."""
    named = word_numbers("time", "months", first=1)
    return named | {strip_accents(name): number for name, number in named.items()}


def month_of(name: str) -> int | None:
    """1 to 12 for the name of a month, also with letters that patterns take for others whatever their case: ſ, ı."""
    lower = name.lower()
    return month_names().get(lower) or month_names().get(strip_accents(unicodedata.normalize("NFKC", lower)))
