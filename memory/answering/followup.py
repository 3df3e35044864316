"""A question that follows another one: "and before that?", "where does she live?".

What it refers to stands in the question before it, so both are searched for together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.text.mentions import is_date, mentions

FEW = 8  # words of a question that may need the one before it
LONGEST = 500  # characters of the one before
BEFORE = 3  # questions that are looked at, the newest
# What stands for something that was named before, and how a question goes on from another.
_REFERS = re.compile(
    r"\b(?:he|she|it|they|him|her|his|its|them|their|theirs|hers|that|this|those|these|there|then|one|ones|same)\b"
    r"|^(?:and|or|but|so|what about|how about|since when|until when|why|when|where|who|which)\b[^?]{0,12}\??$"
    r"|^(?:and|but|or|what about|how about)\b",
    re.IGNORECASE,
)


def followed(question: str, before: Sequence[str]) -> str:
    """The text to search for: the question, with the newest one before it that names something if it needs one."""
    text = question.strip()
    if not before or len(text.split()) > FEW or not _REFERS.search(text):
        return question
    if not _GOES_ON.match(text) and _names(text):
        return question
    named = next((one for one in reversed(before) if _names(one) or not _REFERS.search(one.strip())), before[-1])
    return f"{named.strip()[:LONGEST]} {text}"


_GOES_ON = re.compile(r"(?:and|but|or|what about|how about)\b", re.IGNORECASE)


def _names(text: str) -> bool:
    return any(not is_date(mention.norm) for mention in mentions(text))
