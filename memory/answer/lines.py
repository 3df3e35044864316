"""Lines: how well one sentence of memory answers a question, and when two sentences say the same thing.

Every weight here was set on the lifelog development set (benchmarks/README.md has the figures) and is one number for
every memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import snowballstemmer

from memory.nouns import Episode
from memory.recall.analyse import STOP, Question
from memory.store.episodes import Thesis
from memory.times import to_ms
from memory.write.mentions import mentions

COVERAGE_WEIGHT = 1.0  # share of the question's weight that the sentence itself holds
CONTEXT_WEIGHT = 0.35  # the same, found only in the title or the rest of the passage
COSINE_WEIGHT = 0.6
EPISODE_WEIGHT = 0.4  # the episode's place in the recall
KIND_WEIGHT = 0.25  # the sentence holds the kind of thing asked for
QUESTION_PENALTY = 0.3  # a sentence that itself asks answers nothing
SAME_STATEMENT = 0.5  # share of words, values apart, from which two sentences say the same

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d")
_ASKS_DATE = re.compile(r"\b(when|what (date|day|year|month|time)|which (date|day|year|month)|since when|how long)\b")
_ASKS_NUMBER = re.compile(r"\b(how (many|much|old|far|big|tall|long)|what (number|price|rate|amount)|cost|price)\b")
_ASKS_NAME = re.compile(r"\b(who|whom|whose|where|which (city|town|street|country|person))\b")


@lru_cache(maxsize=1)
def _stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    stemmed: str = _stemmer().stemWord(word)
    return stemmed


def stems(text: str) -> list[str]:
    """Stems of a text's content words, in order."""
    return [stem(word) for word in _WORD.findall(text.lower()) if word not in STOP]


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence as an answer. `score` orders lines; `confidence` in [0, 1] says whether any is an answer at all.

    `values` are its numbers, dates and names that the question does not name; `covered` the question's stems that
    it or its passage holds; `newness` is its time in ms.
    """

    episode: Episode
    thesis_id: int
    start: int
    quote: str
    shown: str
    words: frozenset[str]
    values: frozenset[str]
    covered: frozenset[str]
    score: float
    confidence: float
    newness: int
    earlier: bool = False


class Scorer:
    """Judges the sentences of one question's recall.

    `frequencies`: term -> how many of the `total` episodes hold it.
    """

    def __init__(self, question: Question, seeds: Iterable[str], frequencies: Mapping[str, int], total: int) -> None:
        lowered = question.text.lower()
        self._weights: dict[str, float] = {}
        for term in question.terms:
            weight = math.log(1 + total / (1 + frequencies.get(term, 0)))
            self._weights[stem(term)] = max(weight, self._weights.get(stem(term), 0.0))
        self._total = sum(self._weights.values()) or 1.0
        self._asks_date = bool(_ASKS_DATE.search(lowered))
        self._asks_number = bool(_ASKS_NUMBER.search(lowered))
        self._asks_name = bool(_ASKS_NAME.search(lowered))
        self._seeds = tuple(seeds)

    def line(self, episode: Episode, thesis: Thesis, cosine: float, rank: float) -> Line:
        """`cosine` of the question and the sentence under its title, `rank` in [0, 1]: 1 for the best episode."""
        shown = " ".join(thesis.text.split())
        words = stems(shown)
        own = self._covered(words)
        around = self._covered(_context(episode)) - own
        coverage = self._share(own)
        context = self._share(around)
        values = self._values(shown)
        kind = self._has_kind(shown, values)
        score = (
            COVERAGE_WEIGHT * coverage
            + CONTEXT_WEIGHT * context
            + COSINE_WEIGHT * max(0.0, cosine)
            + EPISODE_WEIGHT * rank
            + KIND_WEIGHT * kind
            - QUESTION_PENALTY * shown.endswith("?")
        )
        confidence = min(1.0, 0.5 * (coverage + 0.7 * context) + 0.5 * max(0.0, cosine))
        at: datetime | None = episode.at
        return Line(
            episode, thesis.id, thesis.span_from or 0, thesis.text, shown, frozenset(words), values, own | around,
            score, confidence, to_ms(at) if at else 0,
        )  # fmt: skip

    def _covered(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(word for word in words if word in self._weights)

    def _share(self, covered: frozenset[str]) -> float:
        return sum(self._weights[word] for word in covered) / self._total

    def _values(self, shown: str) -> frozenset[str]:
        names = {m.norm for m in mentions(shown) if not set(stems(m.surface)) & self._weights.keys()}
        return frozenset(names | {w for w in re.findall(r"\d[\d.,:/-]*\w*", shown) if stem(w) not in self._weights})

    def _has_kind(self, shown: str, values: frozenset[str]) -> bool:
        if self._asks_date:
            return any(m.kind == "date" for m in mentions(shown))
        if self._asks_number:
            return any(_NUMBER.search(value) for value in values)
        return self._asks_name and any(not _NUMBER.search(value) for value in values)


def _context(episode: Episode) -> list[str]:
    return stems(f"{episode.title} {episode.speaker or ''} {episode.text}")


def same_statement(a: Line, b: Line) -> bool:
    """Both say the same of the same subject, with other values: apart from their values they share their words."""
    if not a.values or not b.values or a.values == b.values:
        return False
    left, right = a.words - _stems_of(a.values), b.words - _stems_of(b.values)
    union = left | right
    return bool(union) and len(left & right) / len(union) >= SAME_STATEMENT


def _stems_of(values: frozenset[str]) -> frozenset[str]:
    return frozenset(word for value in values for word in stems(value))
