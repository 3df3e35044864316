"""Exact names: numbers, codes, accented spellings and places in a question must match exactly.

"Bus 14" is not bus 41, "2026-114" is not "2026-141", "Müller" is not "Muller", though their vectors and spellings are
nearly equal; the rent of the Mill flat is not in "Harbour flat/Lease.md". Lines that name a different one are dropped
if some line names the right one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from memory.answering.candidates import AnswerCandidate
from memory.answering.places import read_cells
from memory.retrieval.state import QuestionState
from memory.text.languages import stop_words
from memory.text.mentions import norm
from memory.text.words import WORD, ascii_digits, strip_accents

_TOKEN = re.compile(r"\w+(?:[-/.:,]\w+)*")
_NUMBER = re.compile(r"\d[\d.,:]*[^\W\d_]{0,2}")  # "14", "3a"; other words with digits are codes


class NumberedName(NamedTuple):
    """A number or code of a question in lower case, and its noun ("bus" in "bus 14") as a stem, "" for a code. `text`:
    both as in the question. `is_sure`: it is a name and not a count."""

    number: str
    noun: str
    text: str
    is_sure: bool = True


class _Token(NamedTuple):
    """A word or number of a text with its neighbouring words, "" at an edge."""

    text: str
    before: str
    after: str


class ExactNames:
    """The names of a question that must match exactly."""

    def __init__(
        self, question: QuestionState, stems: Collection[str], stem_words: Callable[[str], Sequence[str]]
    ) -> None:
        """`stems`: of the question; `stem_words` returns the stems of a text."""
        self._question, self._stems, self._stem_words = question, stems, stem_words

    @cached_property
    def numbered(self) -> tuple[NumberedName, ...]:
        """Returns the numbers of the question that belong to a name, without counts, times and dates."""
        question = self._question
        times = [mention.surface for mention in question.mentions if mention.kind == "date"]
        times += [question.when.words] if question.when else []
        text = question.text
        for time in times:
            text = re.sub(rf"(?<![\w-]){re.escape(time)}(?![\w-])", " ; ", text)
        return tuple(filter(None, map(self._read_name, _read_tokens(text))))

    def _read_name(self, token: _Token) -> NumberedName | None:
        if not any(character.isdigit() for character in token.text):
            return None
        if not _NUMBER.fullmatch(token.text.lower()):
            is_sure = not token.text[0].isdigit() or self._is_noun(token.before)
            return NumberedName(token.text.lower(), "", token.text, is_sure)
        noun = next(filter(self._is_noun, (token.before, token.after)), "")
        label = f"{noun} {token.text}"
        if not noun:
            return None
        is_sure = noun == token.before and not (noun.islower() and self._is_noun(token.after))  # "read 5 books"
        return NumberedName(token.text.lower(), self._stem(noun), label, is_sure)

    def _is_noun(self, word: str) -> bool:
        return len(word) > 1 and word.isalpha() and word.lower() not in stop_words(self._question.language)

    def _stem(self, word: str) -> str:
        return next(iter(self._stem_words(word)), word.lower())

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """Returns {form without accents: word} for each word of the names in the question."""
        names = (norm(mention.surface) for mention in self._question.mentions if mention.kind != "date")
        return {strip_accents(word): word for name in names for word in WORD.findall(name) if word.isalpha()}

    def select(self, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
        """Returns the candidates without those that name a different number, spelling or place."""
        kept = self._drop_unnamed(candidates)
        for name in self.numbered:
            kept = _drop_others(kept, [self._fit_number(candidate, name) for candidate in kept])
        if self._spellings:
            kept = _drop_others(kept, [self._fit_spelling(candidate) for candidate in kept])
        return kept

    def _drop_unnamed(self, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
        """Drops the fields ("Rent: 640") and rows of notes and sections that the question does not name, if it names
        another one with the same field or row."""
        fields: dict[str, list[tuple[AnswerCandidate, frozenset[str]]]] = defaultdict(list)
        for line in candidates:
            is_row = line.place.kind == "row"
            stated = f"{read_cells(line.quote)[0]}: " if is_row else line.source.text.lstrip("-*+ ")
            key, colon, _ = stated.partition(": ")
            if colon and not line.episode.turns:
                named = f"{line.context} {line.episode.title} {line.episode.source.place}"
                fields[key.casefold()].append((line, self._keep_asked(named)))
        unnamed = {
            line.thesis_id
            for lines in fields.values()
            for line, named in lines
            for other, fully in lines
            if named < fully
            and (fully - named).isdisjoint(
                self._keep_asked(line.shown if line.episode.id == other.episode.id else line.episode.text)
            )
        }
        return [line for line in candidates if line.thesis_id not in unnamed]

    def _keep_asked(self, text: str) -> frozenset[str]:
        """Returns the words of the question in a text, as stems."""
        return frozenset(self._stem_words(text)).intersection(self._stem_words(self._question.text))

    def is_named(self, candidate: AnswerCandidate, name: NumberedName) -> bool:
        """Whether a line or its headings contain the number and its passage the noun."""
        has_noun = name.noun not in self._stems or name.noun in candidate.features.covered
        return has_noun and self._fit_number(candidate, name) > 0

    def are_of_line(self, line: AnswerCandidate) -> bool:
        """Whether the question has such numbers, and the line itself contains all of them."""
        levels = [*islice(_list_levels(line), 2)]
        return bool(self.numbered) and all(self._fit_number(line, name, levels) > 0 for name in self.numbered)

    def _fit_number(self, candidate: AnswerCandidate, name: NumberedName, levels: Iterable[str] = ()) -> int:
        """Returns 1 if the line, or else its nearest heading with a number, has this number; -1 for another one; 0
        without any."""
        for text in levels or _list_levels(candidate):
            tokens = [token for token in _read_tokens(text) if any(character.isdigit() for character in token.text)]
            same = [token for token in tokens if token.text.lower() == name.number]
            others = [token for token in tokens if self._is_different(token, name)]
            if any(self._has_noun(token, name) for token in same) or (same and not others):
                return 1
            if others:
                return -1
        return 0

    def _is_different(self, token: _Token, name: NumberedName) -> bool:
        written = token.text.lower()
        if written == name.number:
            return False
        if not name.noun:
            return _mask_digits(written) == _mask_digits(name.number)
        return _NUMBER.fullmatch(written) is not None and self._has_noun(token, name)

    def _has_noun(self, token: _Token, name: NumberedName) -> bool:
        return not name.noun or any(side and self._stem(side) == name.noun for side in (token.before, token.after))

    def _fit_spelling(self, candidate: AnswerCandidate) -> int:
        """Returns 1 if the line, or else its nearest heading with such a word, spells a name likewise; -1 if not; 0
        without any."""
        for text in _list_levels(candidate):
            written = norm(text)
            if shared := self._spellings.keys() & WORD.findall(strip_accents(written)):
                return 1 if {self._spellings[word] for word in shared}.issubset(WORD.findall(written)) else -1
        return 0


def _drop_others(candidates: Sequence[AnswerCandidate], fits: Sequence[int]) -> list[AnswerCandidate]:
    """Drops the candidates with another name (-1), if any has the right one (1)."""
    return [candidate for candidate, fit in zip(candidates, fits, strict=True) if fit >= 0 or 1 not in fits]


def _list_levels(candidate: AnswerCandidate) -> Iterator[str]:
    """Yields the sentence, its line, then its headings, nearest first. In a row each cell follows the name of its
    column."""
    place = candidate.place
    cells = read_cells(candidate.quote) if place.kind == "row" else ()
    heads = place.head if len(place.head) == len(cells) else [""] * len(cells)
    yield ". ".join(f"{head} {cell}" for head, cell in zip(heads, cells, strict=True)) if cells else candidate.claim
    yield candidate.shown
    yield from reversed(place.above)
    yield candidate.episode.title
    yield from reversed(PurePosixPath(candidate.episode.source.place).parts)


def _read_tokens(text: str) -> Iterator[_Token]:
    text = ascii_digits(text)
    matches = list(_TOKEN.finditer(text))
    for place, match in enumerate(matches):
        before, after = matches[place - 1] if place else None, matches[place + 1] if place + 1 < len(matches) else None
        follows = before is not None and text[before.end() : match.start()].isspace()
        precedes = after is not None and text[match.end() : after.start()].isspace()
        yield _Token(match[0], before[0] if follows and before else "", after[0] if precedes and after else "")


def _mask_digits(code: str) -> str:
    """Returns the code with "9" for each number ("kiln53" is like "kiln7"), or for each digit if it has no letters."""
    return re.sub(r"\d+" if re.search(r"[^\W\d_]", code) else r"\d", "9", code)
