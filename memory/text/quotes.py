"""Finds in a text the words that a model quotes from it, or says that they do not stand there; and what goes around
text in a prompt.

Models copy almost exactly: they join lines, leave marks out, mend a typo. A number they got wrong is no such slip:
"rent 850" is not proof of "rent 950", however alike the two are.
"""

from __future__ import annotations

import re
import secrets
import string
from dataclasses import dataclass

from rapidfuzz import fuzz

MIN_PARTIAL_RATIO = 85.0  # of 100, partial ratio of quote and text
MIN_FUZZY_QUOTE_CHARS = 12  # characters: a shorter quote must stand there as it is
MAX_QUOTE_CHARS = 1_500
FENCE_LETTERS = 6
MAX_FUZZY_TEXT_CHARS = 30_000  # characters of a text, beyond which a quote must be exact: looking takes time

# What nobody sees: control characters, directions of writing, tags, zero width. Text of strangers hides orders in it.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e0fff]"
)
_LEFT_OUT = frozenset("*`")  # emphasis and code, which models take off
_SAME = str.maketrans("’‘‚“”„«»–—‑\u2212", '\'\'\'"""""----')
_NUMBER = re.compile(r"\d+")


def make_fence() -> str:
    """Letters to stand before and behind text in a prompt: nobody who wrote the text could know them, and they take
    three or four tokens."""
    return "".join(secrets.choice(string.ascii_uppercase) for _ in range(FENCE_LETTERS))


def strip_unseen(text: str) -> str:
    """`text` without the characters that nobody sees."""
    return UNSEEN.sub("", text)


def one_line(text: str, most: int | None = None) -> str:
    """`text` in one line, without what nobody sees, cut at so many characters."""
    line = " ".join(strip_unseen(text).split())
    return line if most is None or len(line) <= most else f"{line[: most - 1].rstrip()}…"


@dataclass(frozen=True, slots=True)
class Quotable:
    """A text folded for comparing: one space for any white space, no case, no emphasis. `at[i]` is where character `i`
    of `folded` stands in the text."""

    folded: str
    at: tuple[int, ...]

    @classmethod
    def from_text(cls, text: str) -> Quotable:
        pairs = [*_folded(text)]
        return cls("".join(char for char, _ in pairs), tuple(place for _, place in pairs))

    def find(self, quote: str) -> tuple[int, int] | None:
        """[start, end) of the quote in the text; None if it does not stand there."""
        if len(quote) > MAX_QUOTE_CHARS:
            return None
        wanted = "".join(char for char, _ in _folded(quote)).strip(" \"'")
        if sum(map(str.isalnum, wanted)) < (3 if wanted.isascii() else 2):
            return None
        if (start := self._place(wanted)) is not None:
            return self._span(start, start + len(wanted))
        if not MIN_FUZZY_QUOTE_CHARS <= len(wanted) <= len(self.folded) <= MAX_FUZZY_TEXT_CHARS:
            return None
        found = fuzz.partial_ratio_alignment(wanted, self.folded, score_cutoff=MIN_PARTIAL_RATIO)
        if found is None:
            return None
        start, end = self._whole_words(found.dest_start, found.dest_end)
        numbers = {*_NUMBER.findall(self.folded[start:end])}
        return self._span(start, end) if numbers.issuperset(_NUMBER.findall(wanted)) else None

    def names(self, name: str) -> bool:
        """Whether the text has that name, as a word of its own."""
        wanted = "".join(char for char, _ in _folded(name)).strip()
        return bool(wanted) and self._place(wanted) is not None

    def _place(self, wanted: str) -> int | None:
        """Where it stands so that no word reaches over its ends; scripts without spaces have none that could."""
        start = self.folded.find(wanted)
        while start >= 0 and (_joined(self.folded, start) or _joined(self.folded, start + len(wanted))):
            start = self.folded.find(wanted, start + 1)
        return start if start >= 0 else None

    def _whole_words(self, start: int, end: int) -> tuple[int, int]:
        while _joined(self.folded, start):
            start -= 1
        while _joined(self.folded, end):
            end += 1
        return start, end

    def _span(self, start: int, end: int) -> tuple[int, int]:
        while end - start > 1 and self.folded[end - 1] == " ":
            end -= 1
        while end - start > 1 and self.folded[start] == " ":
            start += 1
        return self.at[start], self.at[end - 1] + 1


def _joined(text: str, place: int) -> bool:
    """Whether one word goes on from before `place` to behind it."""
    before, behind = text[max(place - 1, 0) : place], text[place : place + 1]
    return before.isascii() and behind.isascii() and before.isalnum() and behind.isalnum()


def _folded(text: str) -> list[tuple[str, int]]:
    pairs: list[tuple[str, int]] = []
    for place, char in enumerate(text.translate(_SAME)):
        if char.isspace():
            if pairs and pairs[-1][0] != " ":
                pairs.append((" ", place))
        elif char not in _LEFT_OUT and not UNSEEN.match(char):
            folded = char.casefold()
            pairs.append((folded if len(folded) == 1 else char, place))
    return pairs
