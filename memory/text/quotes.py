"""Finds the words that a model quotes in a text; and fences for text in a prompt.

Models copy almost exactly: they join lines, drop marks, fix typos. Numbers must be exact: "rent 850" is no proof of
"rent 950"."""

from __future__ import annotations

import re
import secrets
import string
from dataclasses import dataclass

from rapidfuzz import fuzz

MIN_PARTIAL_RATIO = 85.0  # of 100, partial ratio of quote and text
MIN_FUZZY_QUOTE_CHARS = 12  # characters; a shorter quote must be exact
MAX_QUOTE_CHARS = 1_500
FENCE_LETTERS = 6
MAX_FUZZY_TEXT_CHARS = 30_000  # characters; in a longer text quotes must be exact, because the search is slow

# Invisible characters: control, direction, tags, zero width. Text of strangers can hide instructions in them.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e0fff]"
)
_DROPPED = frozenset("*`")  # emphasis and code marks, which models drop
_SAME = str.maketrans("’‘‚“”„«»–—‑\u2212", '\'\'\'"""""----')
_NUMBER = re.compile(r"\d+")


def make_fence() -> str:
    """Returns random letters around text in a prompt that its writer cannot know; three or four tokens."""
    return "".join(secrets.choice(string.ascii_uppercase) for _ in range(FENCE_LETTERS))


def strip_unseen(text: str) -> str:
    """Returns `text` without invisible characters."""
    return UNSEEN.sub("", text)


def one_line(text: str, most: int | None = None) -> str:
    """Returns `text` in one line without invisible characters, cut at `most` characters."""
    line = " ".join(strip_unseen(text).split())
    return line if most is None or len(line) <= most else f"{line[: most - 1].rstrip()}…"


@dataclass(frozen=True, slots=True)
class Quotable:
    """A text folded for comparison: single spaces, no case, no emphasis. `at[i]` is the position of `folded[i]` in the
    text."""

    folded: str
    at: tuple[int, ...]

    @classmethod
    def from_text(cls, text: str) -> Quotable:
        pairs = [*_fold_text(text)]
        return cls("".join(char for char, _ in pairs), tuple(place for _, place in pairs))

    def find(self, quote: str) -> tuple[int, int] | None:
        """Returns [start, end) of the quote in the text, or None."""
        if len(quote) > MAX_QUOTE_CHARS:
            return None
        needle = "".join(char for char, _ in _fold_text(quote)).strip(" \"'")
        if sum(map(str.isalnum, needle)) < (3 if needle.isascii() else 2):
            return None
        if (start := self._find_place(needle)) is not None:
            return self._trim_span(start, start + len(needle))
        if not MIN_FUZZY_QUOTE_CHARS <= len(needle) <= len(self.folded) <= MAX_FUZZY_TEXT_CHARS:
            return None
        alignment = fuzz.partial_ratio_alignment(needle, self.folded, score_cutoff=MIN_PARTIAL_RATIO)
        if alignment is None:
            return None
        start, end = self._extend_to_words(alignment.dest_start, alignment.dest_end)
        numbers = {*_NUMBER.findall(self.folded[start:end])}
        return self._trim_span(start, end) if numbers.issuperset(_NUMBER.findall(needle)) else None

    def names(self, name: str) -> bool:
        """Whether the text contains that name as a whole word."""
        needle = "".join(char for char, _ in _fold_text(name)).strip()
        return bool(needle) and self._find_place(needle) is not None

    def _find_place(self, needle: str) -> int | None:
        """Returns the first position at word boundaries, or None; scripts without spaces have no boundaries."""
        start = self.folded.find(needle)
        while start >= 0 and (_is_inside_word(self.folded, start) or _is_inside_word(self.folded, start + len(needle))):
            start = self.folded.find(needle, start + 1)
        return start if start >= 0 else None

    def _extend_to_words(self, start: int, end: int) -> tuple[int, int]:
        while _is_inside_word(self.folded, start):
            start -= 1
        while _is_inside_word(self.folded, end):
            end += 1
        return start, end

    def _trim_span(self, start: int, end: int) -> tuple[int, int]:
        while end - start > 1 and self.folded[end - 1] == " ":
            end -= 1
        while end - start > 1 and self.folded[start] == " ":
            start += 1
        return self.at[start], self.at[end - 1] + 1


def _is_inside_word(text: str, place: int) -> bool:
    """Whether a word continues across `place`."""
    before, after = text[max(place - 1, 0) : place], text[place : place + 1]
    return before.isascii() and after.isascii() and before.isalnum() and after.isalnum()


def _fold_text(text: str) -> list[tuple[str, int]]:
    pairs: list[tuple[str, int]] = []
    for place, char in enumerate(text.translate(_SAME)):
        if char.isspace():
            if pairs and pairs[-1][0] != " ":
                pairs.append((" ", place))
        elif char not in _DROPPED and not UNSEEN.match(char):
            folded = char.casefold()
            pairs.append((folded if len(folded) == 1 else char, place))
    return pairs
