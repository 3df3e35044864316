"""Lines: how well one sentence of memory answers a question, and when two sentences say the same thing.

A line's score is a weighted sum of named features. The weights were fitted as one softmax over the sentences of each
question, with the sentences that hold the answer as its targets, on 871 questions of six sets (Wikipedia, LoCoMo,
lifelog), each kind of set counting alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from memory.answering.expected_type import expected_types
from memory.answering.late_interaction import LateInteraction
from memory.graph.arrays import Floats
from memory.nouns import Episode
from memory.protocols import Embedder
from memory.retrieval.state import QuestionState
from memory.store.episodes import Thesis
from memory.text.languages import ENGLISH, stem, stop_words
from memory.text.mentions import mentions
from memory.text.unicode import strip_accents
from memory.text.words import WORD, Term, index_form, words
from memory.time.timestamps import to_ms

COVERAGE = 3.4  # share of the question's weight that the sentence itself holds
TITLE = 0.8  # the same, held only by the passage's title or speaker
COSINE_TITLED = 1.2  # of the question and the sentence under its title
COSINE = 2.0  # of the question and the sentence alone
RANK = 1.5  # of the episode in the recall, 1 for the best
DATE_ASKED, NUMBER_ASKED, NAME_ASKED = 1.1, 0.7, 1.2  # the sentence holds the kind of thing asked for
NOVELTY = 1.0  # of words that neither question nor title holds, full at MANY_NEW
LENGTH = 1.5  # full at MANY_WORDS
NEWNESS = 0.8  # 1 for the newest of the recalled episodes
SHORT = -0.6  # fewer than FEW_WORDS: a signature, a label
HEADING = -4.0  # only words of the passage's title, which is shown beside every line anyway
HEADER = -2.0  # a line of a mail's head or a note's frontmatter that only names or files it
ASKS = -4.0  # a sentence that itself asks answers nothing; what follows it may
MANY_NEW, MANY_WORDS, FEW_WORDS = 8, 30, 3
SAME_STATEMENT = 0.5  # share of words, values apart, from which two sentences say the same

_HEADER = re.compile(r"(from|to|cc|subject|date|title|tags?|aliases|created|updated|category|id): ", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d.,:/-]*\w*")
_ASKING = re.compile(r"[?？؟\u037e]$|[すた]か。?$")  # the last is Japanese


def stems(text: str, language: str = ENGLISH) -> list[str]:
    """Stems of a text's content words, in order."""
    little = stop_words(language)
    return [stem(word, language) for word in words(text) if word not in little]


@dataclass(frozen=True, slots=True)
class AnswerCandidate:
    """A sentence as an answer. `score` orders lines; any real number.

    `values` are its numbers, dates and names that the question does not name; `covered` the question's stems that
    it or its passage holds, `coverage` their share of the question's weight; `cosine` that of the question and the
    sentence under its title; `newness` its time in ms. `newer` is the line (its thesis id) that tells what took the
    place of what this one tells. `also` are other lines that prove what is shown.
    """

    episode: Episode
    thesis_id: int
    start: int
    quote: str
    shown: str
    words: frozenset[str]
    values: frozenset[str]
    covered: frozenset[str]
    coverage: float
    cosine: float
    score: float
    newness: int
    earlier: bool = False
    newer: int | None = None
    also: tuple[AnswerCandidate, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageScores:
    """What a line gets from where it stands, each in [-1, 1]: cosines of the question with the sentence under its
    title and alone, `rank` of its episode in the recall, `newness` among the recalled episodes."""

    cosine_titled: float
    cosine: float
    rank: float
    newness: float


class QueryFeatures:
    """Judges the sentences of one question's recall.

    `frequencies`: term -> how many of the `total` episodes hold it.
    """

    def __init__(self, question: QuestionState, frequencies: Mapping[str, int], total: int, embedder: Embedder) -> None:
        self._language = question.language
        self._little = stop_words(question.language)
        self._weights: dict[str, float] = {}
        written: dict[str, str] = {}  # the question's word of each stem
        self._begun: list[tuple[str, str]] = []  # how a word begins that full text takes for one of the question's
        for term in question.topic or question.terms:
            weight = math.log(1 + total / (1 + frequencies.get(term, 0)))
            key = stem(term, question.language)
            self._weights[key] = max(weight, self._weights.get(key, 0.0))
            written.setdefault(key, str(term))
            if isinstance(term, Term):
                self._begun += [(strip_accents(form.removesuffix("*")), key) for form in term.forms]
        self._stem_of: dict[str, str] = {}
        self._total = sum(self._weights.values()) or 1.0
        self._keys = tuple(self._weights)
        self._shares = np.array(list(self._weights.values()), np.float32) / self._total
        self._likeness = LateInteraction(embedder, [written[key] for key in self._keys])
        self._asks = expected_types(question.text, question.language)
        self._passages: dict[int, tuple[frozenset[str], frozenset[str]]] = {}

    def line(
        self, episode: Episode, thesis: Thesis, place: PassageScores, before: str = "", facts: str = ""
    ) -> AnswerCandidate:
        """The sentence with its score. `before` is the sentence before it in the same passage: if that one asks, this
        one speaks of what it asked. `facts` are the words of the facts that it tells."""
        shown = " ".join(thesis.text.split())
        said = self._stems(shown)
        title, passage = self._passage(episode)
        own = self._covered(said)
        if _ASKING.search(before):
            own |= self._covered(self._stems(before))
        if facts:
            own |= self._covered(self._stems(facts))
        values, has_date = self._values(shown)
        new_words = len({word for word in said if word not in self._weights} - title)
        score = (
            COVERAGE * self._share(own)
            + TITLE * self._share((title & self._weights.keys()) - own)
            + COSINE_TITLED * place.cosine_titled
            + COSINE * place.cosine
            + RANK * place.rank
            + self._kind(values, has_date)
            + NOVELTY * min(new_words, MANY_NEW) / MANY_NEW
            + LENGTH * min(len(said), MANY_WORDS) / MANY_WORDS
            + NEWNESS * place.newness
            + SHORT * (len(said) < FEW_WORDS)
            + HEADING * title.issuperset(said)
            + HEADER * bool(_HEADER.match(shown))
            + ASKS * bool(_ASKING.search(shown))
        )
        covered = own | passage
        at = to_ms(episode.at) if episode.at else 0
        return AnswerCandidate(
            episode, thesis.id, thesis.span_from or 0, thesis.text, shown, frozenset(said), values, covered,
            self._share(covered), place.cosine_titled, score, at,
        )  # fmt: skip

    def coverage(self, words: str) -> float:
        """The share of the question's weight that some words hold."""
        return self._share(self._covered(self._stems(words)))

    @property
    def stems(self) -> tuple[str, ...]:
        """(n,) the question's stems."""
        return self._keys

    @property
    def shares(self) -> Floats:
        """(n,) the share of the question's weight that each of its stems has."""
        return self._shares

    def stemmed(self, text: str) -> list[str]:
        """The stems of a text's content words, those of the question where full text takes one for the other."""
        return self._stems(text)

    def asks_with(self, word: str) -> bool:
        """Whether the question is asked with this word."""
        return not set(self._stems(word)).isdisjoint(self._weights)

    def read(self, texts: Iterable[str]) -> None:
        """Compare all words of these at once with those of the question."""
        self._likeness.read(word for text in texts for word in self._content(text))

    def near(self, text: str) -> Floats:
        """(n,) in [0, 1]: how near a text comes to each of the question's stems; 1 to those that it holds."""
        held = self._covered(self._stems(text))
        return np.maximum(self._likeness.nearest(self._content(text)), [key in held for key in self._keys])

    def _content(self, text: str) -> list[str]:
        return [word for word in words(text) if word not in self._little]

    def values(self, text: str) -> frozenset[str]:
        """A text's names, dates and numbers that the question does not hold."""
        return self._values(text)[0]

    def kind(self, words: str) -> float:
        """The bonus of some words for holding what was asked for."""
        return self._kind(*self._values(words))

    def _passage(self, episode: Episode) -> tuple[frozenset[str], frozenset[str]]:
        """Stems of the title and speaker, and the question's stems that stand anywhere in the passage."""
        if episode.id not in self._passages:
            title = frozenset(self._stems(f"{episode.title} {episode.speaker or ''}"))
            self._passages[episode.id] = (title, self._covered([*title, *self._stems(episode.text)]))
        return self._passages[episode.id]

    def _stems(self, text: str) -> list[str]:
        if not self._begun:
            return stems(text, self._language)
        little = stop_words(self._language)
        return [self._stem(word) for word in WORD.findall(index_form(text).lower()) if word not in little]

    def _stem(self, word: str) -> str:
        """The stem of a word; the question's, if full text would find the word by it."""
        if word not in self._stem_of:
            plain = strip_accents(word)
            begun = (key for begin, key in self._begun if plain.startswith(begin))
            self._stem_of[word] = next(begun, None) or stem(word, self._language)
        return self._stem_of[word]

    def _covered(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(word for word in words if word in self._weights)

    def _share(self, covered: frozenset[str]) -> float:
        return sum(self._weights[word] for word in covered) / self._total

    def _values(self, shown: str) -> tuple[frozenset[str], bool]:
        """Names, dates and numbers the question does not hold; and whether there is a date at all."""
        found = mentions(shown)
        names = {m.norm for m in found if not set(self._stems(m.surface)) & self._weights.keys()}
        numbers = {word for word in _NUMBER.findall(shown) if self._stem(word) not in self._weights}
        return frozenset(names | numbers), any(m.kind == "date" for m in found)

    def _kind(self, values: frozenset[str], has_date: bool) -> float:
        """The bonus for holding what was asked for."""
        bonus = DATE_ASKED * ("date" in self._asks and has_date)
        bonus += NUMBER_ASKED * ("number" in self._asks and any(value[0].isdigit() for value in values))
        return bonus + NAME_ASKED * ("name" in self._asks and any(not value[0].isdigit() for value in values))


def same_statement(a: AnswerCandidate, b: AnswerCandidate) -> bool:
    """Both say the same of the same subject at different times, with other values of the same kind.

    Apart from their values they share their words, two at least: "Hourly rate 48" and "Hourly rate 52". A name that one
    begins with is its subject: "Flights cost 210" is no past of "The press costs 400". Who says it does not count.
    """
    if a.newness == b.newness or not same_kind(a.values - b.values, b.values - a.values):
        return False
    if _of_another(a, b) or _of_another(b, a):
        return False
    left, right = a.words - _stems_of(a.values), b.words - _stems_of(b.values)
    shared = left & right
    beside = shared.difference(stems(a.episode.speaker or ""), stems(b.episode.speaker or ""))
    return bool(beside) and len(shared) >= 2 and len(shared) / len(left | right) >= SAME_STATEMENT


def _of_another(line: AnswerCandidate, other: AnswerCandidate) -> bool:
    """Whether it begins with a name that the other does not hold."""
    first = next(iter(stems(line.shown)), "")
    return first not in other.words and first in _stems_of(frozenset(v for v in line.values if not v[0].isdigit()))


def same_kind(left: frozenset[str], right: frozenset[str]) -> bool:
    """Some number stands against a number, or some name against a name."""
    return bool({value[0].isdigit() for value in left} & {value[0].isdigit() for value in right})


def _stems_of(values: frozenset[str]) -> frozenset[str]:
    return frozenset(word for value in values for word in stems(value))
