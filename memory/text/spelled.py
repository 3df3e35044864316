"""Numbers in words, as digits: "seventy-five" is 75, "a milligram and a half" 1.5 milligram, "half past six" 6:30."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

_AND = re.compile(r"\b(hundred|thousand|million) and\b", re.IGNORECASE)
_HOUR = r"(?<![\d.,:])(\d{1,2})(?![\d.,:]\d)"
_ORDINALS = {"first": "1st", "second": "2nd", "third": "3rd"}
_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (r"\b(first|second|third)(?= of\b)", lambda match: _ORDINALS[match[1].lower()]),
        (r"\btwice\b", lambda match: "2 times"),
        (rf"\bhalf past {_HOUR}", lambda match: f"{match[1]}:30"),
        (rf"\b(?:a )?quarter past {_HOUR}", lambda match: f"{match[1]}:15"),
        (rf"\b(?:a )?quarter to {_HOUR}", lambda match: f"{int(match[1]) - 1 or 12}:45"),
        (rf"{_HOUR} and a half\b", lambda match: f"{match[1]}.5"),
        (r"\ban? (\w+) and a half\b", lambda match: f"1.5 {match[1]}"),
    )
)


@lru_cache(maxsize=2048)
def put_digits(text: str, language: str) -> str:
    """The text with digits in place of numbers in words, in the languages of text2num. A lone "one" stays a word."""
    from text_to_num.lang import LANG  # 25 ms, which only the answer of a model pays
    from text_to_num.transforms import alpha2digit

    if language not in LANG:
        return text
    text = alpha2digit(_AND.sub(r"\1", text), language)
    for pattern, put in _RULES:
        text = pattern.sub(put, text)
    return text
