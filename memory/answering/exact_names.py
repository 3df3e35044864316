"""Exact names: what a question names by a number, a code or an accented spelling is another thing with another one.

"Bus 14" is not bus 41, "2026-114" not "2026-141", "Müller" not "Muller". A line that names another one of these is no
answer as long as a line names the one that is asked about; by their vectors and spelling they are all but the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

from memory.answering.candidates import AnswerCandidate
from memory.answering.places import read_cells
from memory.retrieval.state import QuestionState
from memory.text.languages import stop_words, word_set
from memory.text.mentions import norm
from memory.text.words import WORD, ascii_digits, strip_accents
from memory.time.expressions import names_time

_TOKEN = re.compile(r"\w+(?:[-/.:,]\w+)*")
_NUMBER = re.compile(r"\d[\d.,:]*[^\W\d_]{0,2}")  # "14", "3a"; other words with digits are codes
_MEASURE = re.compile(r"\d+-[^\W\d_]{2,}")  # "45-day"
_ABBREVIATED = re.compile(r"(?:no|nr)\.?\s(?=\d)|[#№]\s?(?=\d)", re.IGNORECASE)


class NumberedName(NamedTuple):
    """A number or code of a question, in lower case, with the word that says of what (`noun`, a stem; "" of a code).
    `text`: both as in the question. `is_sure`: it names something, and does not count it."""

    number: str
    noun: str
    text: str
    is_sure: bool = True


class _Token(NamedTuple):
    """A word or number of a text, and the words directly before and after it."""

    text: str
    before: str
    after: str


class ExactNames:
    """The names of a question that must match exactly."""

    def __init__(
        self, question: QuestionState, stems: Collection[str], stem_words: Callable[[str], Sequence[str]]
    ) -> None:
        """`stems`: those of the question; `stem_words` gives those of any text."""
        self._question, self._stems, self._stem_words = question, stems, stem_words

    @cached_property
    def numbered(self) -> tuple[NumberedName, ...]:
        """The numbers of the question that are part of a name: no counts, times and dates."""
        question = self._question
        times = [one.surface for one in question.mentions if one.kind == "date"]
        times += [question.when.words] if question.when else []
        text = question.text
        for time in times:
            text = re.sub(rf"(?<![\w-]){re.escape(time)}(?![\w-])", " ; ", text)
        return tuple(filter(None, map(self._named, _tokens(text))))

    def _named(self, token: _Token) -> NumberedName | None:
        if not any(character.isdigit() for character in token.text):
            return None
        if _MEASURE.fullmatch(token.text):
            return None
        if not _NUMBER.fullmatch(token.text.lower()):
            is_sure = not token.text[0].isdigit() or self._is_noun(token.before)
            return NumberedName(token.text.lower(), "", token.text, is_sure)
        noun = next(filter(self._is_noun, (token.before, token.after)), "")
        label = f"{noun} {token.text}"
        if not noun or token.before.lower() in word_set("asks", "no_labels") or names_time(label):
            return None
        is_sure = noun == token.before and not (noun.islower() and self._is_noun(token.after))  # "read 5 books"
        return NumberedName(token.text.lower(), self._stem(noun), label, is_sure)

    def _is_noun(self, word: str) -> bool:
        return len(word) > 1 and word.isalpha() and word.lower() not in stop_words(self._question.language)

    def _stem(self, word: str) -> str:
        return next(iter(self._stem_words(word)), word.lower())

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """The words of the names in the question, by their form without accents."""
        names = (one.surface for one in self._question.mentions if one.kind != "date")
        spelt = {word for name in names for word in WORD.findall(norm(name)) if word.isalpha()}
        return {strip_accents(word): word for word in spelt}

    def select(self, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
        """The candidates without those about something else that is called nearly the same."""
        kept = list(candidates)
        for name in self.numbered:
            kept = _drop_others(kept, [self._fit_number(one, name) for one in kept])
        if self._spellings:
            kept = _drop_others(kept, [self._fit_spelling(one) for one in kept])
        return kept

    def is_named(self, candidate: AnswerCandidate, name: NumberedName) -> bool:
        """Whether a line, or its heading, has that number, and its passage the noun."""
        has_noun = name.noun not in self._stems or name.noun in candidate.covered
        return has_noun and self._fit_number(candidate, name) > 0

    def are_of_line(self, line: AnswerCandidate) -> bool:
        """Whether the question has such numbers, and the line itself names all these things."""
        levels = [next(_levels(line))]
        return bool(self.numbered) and all(self._fit_number(line, name, levels) > 0 for name in self.numbered)

    def _fit_number(self, candidate: AnswerCandidate, name: NumberedName, levels: Iterable[str] = ()) -> int:
        """1 if the line, or else its heading, has the number; -1 if it has another one instead; 0 of none."""
        for text in levels or _levels(candidate):
            tokens = [token for token in _tokens(text) if any(character.isdigit() for character in token.text)]
            same = [token for token in tokens if token.text.lower() == name.number]
            others = [token for token in tokens if self._is_rival(token, name)]
            if any(self._has_noun(token, name) for token in same) or (same and not others):
                return 1
            if others:
                return -1
        return 0

    def _is_rival(self, token: _Token, name: NumberedName) -> bool:
        written = token.text.lower()
        if written == name.number:
            return False
        if not name.noun:
            return _shape(written) == _shape(name.number)
        return _NUMBER.fullmatch(written) is not None and self._has_noun(token, name)

    def _has_noun(self, token: _Token, name: NumberedName) -> bool:
        return not name.noun or any(side and self._stem(side) == name.noun for side in (token.before, token.after))

    def _fit_spelling(self, candidate: AnswerCandidate) -> int:
        """1 if the line, or else its heading, has a word of a name as it is asked for; -1 if it has one in
        another spelling only; 0 if it has none."""
        for text in _levels(candidate):
            there = set(WORD.findall(norm(text)))
            spelt = {strip_accents(word) for word in there} & self._spellings.keys()
            if spelt:
                return 1 if all(self._spellings[word] in there for word in spelt) else -1
        return 0


def _drop_others(candidates: Sequence[AnswerCandidate], fits: Sequence[int]) -> list[AnswerCandidate]:
    """Without the candidates that name another thing (-1), where some candidate names the right one (1)."""
    return [one for one, fit in zip(candidates, fits, strict=True) if fit >= 0 or 1 not in fits]


def _levels(candidate: AnswerCandidate) -> Iterator[str]:
    """The line, and its heading, the nearest first. Of a row each cell follows its column's name."""
    place = candidate.place
    cells = read_cells(candidate.quote) if place.kind == "row" else ()
    heads = place.head if len(place.head) == len(cells) else [""] * len(cells)
    yield ". ".join(f"{head} {cell}" for head, cell in zip(heads, cells, strict=True)) if cells else candidate.shown
    yield from reversed(place.above)
    yield candidate.episode.title
    yield from reversed(PurePosixPath(candidate.episode.source.place).parts)


def _tokens(text: str) -> Iterator[_Token]:
    text = _ABBREVIATED.sub("", ascii_digits(text))
    found = list(_TOKEN.finditer(text))
    for place, match in enumerate(found):
        before, after = found[place - 1] if place else None, found[place + 1] if place + 1 < len(found) else None
        joined = before is not None and text[before.end() : match.start()].isspace()
        goes_on = after is not None and text[match.end() : after.start()].isspace()
        yield _Token(match[0], before[0] if joined and before else "", after[0] if goes_on and after else "")


def _shape(code: str) -> str:
    """The letters of a code with one digit for each number, the same for "kiln53" and "kiln7"; without letters all
    digits count: "2026-114" is not like the month 2026-11."""
    return re.sub(r"\d+" if re.search(r"[^\W\d_]", code) else r"\d", "9", code)
