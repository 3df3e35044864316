"""What is true of a question, for a model that knows it: the answer, and the passages without which there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

BEGINNING = 2_000  # characters by which a long passage is told: what is shown may be cut
FEW = 4  # words by which a passage is told
_CUT = re.compile(r"^…\S*|\S*…$")
_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=20_000)
def plain(text: str) -> str:
    """The words alone, in lower case, a blank around each."""
    return f" {' '.join(_WORD.findall(text)).lower()} "


def uncut(words: str) -> str:
    """Without the words that were cut, where "…" stands."""
    return _CUT.sub("", words).strip()


def holds(text: str, words: str) -> bool:
    """Whether these words stand in a text."""
    wanted = plain(words)
    return bool(wanted.strip()) and wanted in plain(text)


@dataclass(frozen=True)
class Gold:
    """A passage without which a question cannot be answered: any of `texts` is it. `title`: of the passage; `around`:
    where `texts` are parts of passages, those."""

    texts: tuple[str, ...]
    title: str = ""
    around: tuple[str, ...] = ()

    def has(self, words: str) -> bool:
        """Whether these words, which may be cut at both ends, are of the passage."""
        inner = uncut(words)
        ways = [one for one in (inner, " ".join(inner.split()[1:-1])) if len(plain(one).split()) >= FEW]
        return any(holds(text, one) for text in self.around or self.texts for one in ways)

    def tells(self, forms: Iterable[str]) -> bool:
        """Whether one of these forms of the answer stands in it."""
        return any(holds(text, form) for text in self.texts for form in forms)

    def stands_in(self, words: str) -> bool:
        """Whether one of its texts stands there, with its beginning at least."""
        shown = plain(words)
        return any(plain(text)[:BEGINNING].rstrip() in shown for text in self.texts)

    def is_called(self, title: str) -> bool:
        """Whether that is its title, which may be cut."""
        if not self.title:
            return False
        told = title.endswith("…")
        return plain(self.title).startswith(plain(title).rstrip()) if told else plain(self.title) == plain(title)


@dataclass(frozen=True)
class Known:
    """What is true of a question. Without an `answer` it cannot be answered; `accepted`: other ways to say it; `parts`:
    the values of an answer that is made of several."""

    answer: str = ""
    accepted: tuple[str, ...] = ()
    gold: tuple[Gold, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def forms(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.answer, *self.accepted))) if self.answer else ()

    @property
    def told(self) -> tuple[str, ...]:
        """What stands in the passages that tell the answer, or a part of it."""
        return (*self.forms, *self.parts) if self.answer else ()
