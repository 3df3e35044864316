"""The clauses of a text, with their comparable values: numbers, dates, weekdays, codes and names.

Numbers in words are read as digits, a day gets the year and month of its note, and a heading or title is the topic of
all lines below it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from memory.text.content import (
    CODE,
    DENYING,
    ENDED,
    ORDINAL,
    SAME_WORD,
    WORD,
    TextContent,
    blank,
    content_of,
    find_numbers,
    fold,
    is_stated,
    put_digits,
)
from memory.text.languages import (
    ENGLISH,
    alternatives,
    guess_language,
    stem,
    stop_words,
    tables,
    word_numbers,
    word_set,
)
from memory.text.mentions import Mention, is_date, mentions
from memory.text.sentences import ASKS, sentences
from memory.text.words import words

ValueKind = Literal["number", "date", "day", "weekday", "code", "name"]

FIRST_YEAR, LAST_YEAR = 1900, 2100  # a number between them may be a year
CLAUSE_END = re.compile(rf"[,;]\s|\b(?:{alternatives('claims', 'joins')})\b", re.IGNORECASE)
SUPPOSES = re.compile(alternatives("facts", "modality", "supposes"), re.IGNORECASE)
_SIMPLE_PAST = alternatives("time", "tense", "simple_past")
_PAST = re.compile(rf"\b(?:{alternatives('time', 'tense', 'past')}|{_SIMPLE_PAST})\b", re.IGNORECASE)
_PASSIVE = re.compile(rf"\b(?:{alternatives('claims', 'passive')})\s(?:\w+\s)?(?:{_SIMPLE_PAST})\b", re.IGNORECASE)
_PRESENT = re.compile(rf"\b(?:{alternatives('time', 'tense', 'present')})\b", re.IGNORECASE)
_AHEAD = re.compile(
    rf"{alternatives('facts', 'modality', 'plans')}|\b(?:{alternatives('time', 'tense', 'future')})\b", re.IGNORECASE
)
_OPEN = "[ ]"  # the box of a task
_ROW = re.compile(r"\s\|\s|;\s[\w ]+:\s")
HEADING = re.compile(r"[ \t]*(#{1,6}|\*+)[ \t]+\S")  # the marks are its level
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_UNIT = re.compile(r"\s?([£$€%°]|[^\W\d_]+)")
_STOPS, MARKS = ".!?…", " *_\"'“(#-|"
_IDENTIFIER = re.compile(rf"{CODE.pattern}|\b[a-z]+[A-Z]\w*")
_LETTERS = re.compile(r"[^\W\d_]+")
Units = frozenset[str]  # more than one for an ambiguous word: "pound"; none where none is written
NO_UNITS: Units = frozenset()
_UNITS: dict[str, Units] = {}
for _line in (line for key in ("money", "measures") for listed in tables("claims", key) for line in listed):
    _UNITS |= {form: _UNITS.get(form, NO_UNITS) | {_line} for form in _line.split()}
MONEY = frozenset(line for listed in tables("claims", "money") for line in listed)
SHARE = _UNITS["%"]
_PER = word_set("claims", "per")
_MEASURED = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+|[£$€¥%°/]")
_ARTICLES = word_set("facts", "articles")
_WEEKDAYS = {
    form: str(number)
    for day, number in word_numbers("time", "weekdays").items()
    for form in {day, f"{day}s", *SAME_WORD.get(day, ())}
}


class Value(NamedTuple):
    """A value of a text: its normal form, its `surface`, and `unit`: the word or sign for what a number counts, ""
    without one; for a word of a name the whole name."""

    kind: ValueKind
    norm: str
    surface: str
    unit: str = ""

    def is_same(self, other: Value) -> bool:
        """Whether both are equal at the precision of each."""
        short, long = sorted((self.norm, other.norm), key=len)
        begins = self.kind == "date" and (long.startswith(short) or long.endswith(short))
        return self.kind == other.kind and (short == long or begins)

    def is_of_other(self, other: Value) -> bool:
        """Whether a word belongs to another person's full name: "Marta" of "Marta R." and of "Marta S."."""
        mine, theirs = (set(WORD.findall(name.unit.casefold())) for name in (self, other))
        return min(len(mine), len(theirs)) > 1 and not mine <= theirs and not theirs <= mine


@dataclass(frozen=True)
class Clause:
    """A sentence, a row or a clause, with numbers in digits. `at`: when it was written. `head`: its topic, by the
    titles and headings above. `begins`: its first word has a capital only because of its position. `joins`: it
    continues the sentence before. `is_open`: it is a task with an empty box."""

    text: str
    language: str
    at: datetime | None = None
    head: str = ""
    is_row: bool = False
    begins: bool = True
    joins: bool = False
    is_open: bool = False

    @cached_property
    def content(self) -> TextContent:
        return content_of(self.text)

    @cached_property
    def is_denied(self) -> bool:
        return not DENYING.isdisjoint(words(self.text))

    @cached_property
    def is_supposed(self) -> bool:
        """Whether it is a question or a supposition, and proves nothing."""
        return bool(ASKS.search(self.text) or SUPPOSES.search(self.text))

    @cached_property
    def is_past(self) -> bool:
        """Whether it has a verb in the past, or a participle that looks like one."""
        return _PAST.search(self.text) is not None

    @cached_property
    def is_ahead(self) -> bool:
        """Whether it is an open task, or speaks of what will be."""
        return self.is_open or _AHEAD.search(self.text) is not None

    @cached_property
    def is_present(self) -> bool:
        """Whether it speaks of what is or will be."""
        return self.is_ahead or _PRESENT.search(self.text) is not None

    @cached_property
    def is_done(self) -> bool:
        """Whether it speaks of what was or has been done, and of nothing to come."""
        return not self.is_ahead and _PAST.search(_PASSIVE.sub(" ", self.text)) is not None

    @cached_property
    def ended(self) -> tuple[Clause, ...]:
        """Returns the parts that it says are not true, or no longer."""
        parts = [part for match in ENDED.findall(self.text) for part in match if part]
        return tuple(Clause(part, self.language, self.at) for part in parts)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Returns its clauses; a row is one."""
        if self.is_row:
            return (self,)
        parts = [part for part in CLAUSE_END.split(self.text) if any(map(str.isalnum, part))]
        return tuple(
            Clause(part, self.language, self.at, self.head, begins=not place, is_open=self.is_open)
            for place, part in enumerate(parts)
        )

    @cached_property
    def _dates(self) -> list[Mention]:
        return [
            mention
            for mention in mentions(self.text)
            if is_date(mention.norm) and mention.start >= 0
            and not (mention.norm.isdigit() and not FIRST_YEAR <= int(mention.norm) <= LAST_YEAR)
        ]  # fmt: skip

    @cached_property
    def undated(self) -> str:
        """Returns its text with blanks in place of dates."""
        return blank(self.text, self._dates)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Returns its values in no order, each once."""
        values = [Value("date", date.norm, date.surface) for date in self._dates]
        rest = self.undated
        values += [Value("code", fold(match[0]), match[0]) for match in _IDENTIFIER.finditer(rest)]
        rest = _IDENTIFIER.sub(lambda match: " " * len(match[0]), rest)
        for surface, number in find_numbers(rest):
            kind: ValueKind = "day" if ORDINAL.match(surface) else "number"
            values.append(Value(kind, number, surface, self._unit(rest, surface)))
        for word in _LETTERS.findall(rest):
            if (day := _WEEKDAYS.get(word.lower())) and (word[0].isupper() or len(word) > 3):
                values.append(Value("weekday", day, word))
        values += [Value("name", fold(word), word, name) for word, name in _names(rest)]
        return tuple(dict.fromkeys(values))

    def _unit(self, text: str, number: str) -> str:
        place = text.find(number)
        sign = text[max(0, place - 1) : max(0, place)]
        behind = _UNIT.match(text, place + len(number)) if place >= 0 else None
        word = sign if sign and sign in "£$€" else behind[1].lower() if behind else ""
        return "" if word in stop_words(self.language) else min(SAME_WORD.get(word, {word}))

    @cached_property
    def roots(self) -> frozenset[str]:
        """Returns the roots of its words without dates, numbers and stop words."""
        little = stop_words(self.language) | stop_words(ENGLISH) | DENYING | _WEEKDAYS.keys()
        return frozenset(
            root(word, self.language)
            for word in words(self.undated)
            if len(word) > 1 and word not in little and word.isalpha()
        )

    @cached_property
    def head_roots(self) -> frozenset[str]:
        return frozenset(root(word, self.language) for word in words(self.head))

    @cached_property
    def plain_roots(self) -> frozenset[str]:
        """Returns the roots of its words that are not names."""
        names = " ".join(value.surface.lower() for value in self.values if value.kind == "name")
        return self.roots - {root(word, self.language) for word in words(names)}

    @cached_property
    def roles(self) -> list[tuple[Value, str]]:
        """Returns the values in order, each with the preposition before it, as "from", "to" or "by"."""
        roles = stop_words(self.language) - _ARTICLES
        placed = sorted((self.text.find(value.surface), value) for value in self.values)
        before = ((value, WORD.findall(self.text[:place])[-1:]) for place, value in placed)
        return [(value, word[0].lower() if word and word[0].lower() in roles else "") for value, word in before]

    @cached_property
    def _pair(self) -> tuple[str, str, frozenset[str]] | None:
        """Returns its first two names without a preposition before the second, and the roots between them."""
        names = [(value, role) for value, role in self.roles if value.kind == "name"]
        if len(names) < 2 or names[1][1]:
            return None
        first, second = names[0][0], names[1][0]
        begin, end = self.text.find(first.surface) + len(first.surface), self.text.find(second.surface)
        return first.norm, second.norm, Clause(self.text[begin:end], self.language).plain_roots

    def reverses(self, other: Clause) -> bool:
        """Whether both have two names around the same verb, in reverse order: "Jonas paid Mira"."""
        mine, theirs = self._pair, other._pair
        return bool(mine and theirs and mine[:2] == theirs[1::-1] and mine[2] & theirs[2])

    def holds(self, value: Value, with_head: bool = True) -> bool:
        """Whether it contains a value; `with_head`: or its topic or time does."""
        head = self.head if with_head else ""
        match value.kind:
            case "name":
                names = [name for name in self.values if name.kind == "name" and name.norm == value.norm]
                if names and all(map(value.is_of_other, names)):
                    return False
                return self.content.names(value.norm) or content_of(head).names(value.norm)
            case "number":
                return value.norm in self.content.numbers
            case "date":
                return is_stated(
                    value.norm, [self.content], self.at.date() if self.at and with_head else None, self.text
                )
            case "code":
                return value.norm in map(fold, _IDENTIFIER.findall(f"{self.text} {head}"))
            case "day":
                return value.norm in self.content.days
            case _:
                return any(value.is_same(other) for other in self.values)

    def speaks_of(self, value: Value) -> bool:
        """Whether it contains a value, or any part of that name."""
        parts = WORD.findall(value.unit) if value.kind == "name" else ()
        return self.holds(value) or any(self.content.names(fold(part)) for part in parts)

    def is_heading_word(self, name: Value) -> bool:
        """Whether a word has its capital only as the first of a sentence, or names the topic."""
        first = self.begins and not self.is_row and self.text.lstrip(MARKS).startswith(name.surface)
        return first or content_of(self.head).names(name.norm)


@lru_cache(maxsize=1024)
def find_units(text: str, is_alone: bool = False) -> Units:
    """Returns the units that are written in a text; `is_alone`: without those that have a number before them."""
    tokens = _MEASURED.findall(text.lower())
    pairs = [pair for pair in pairwise(["", *tokens]) if not (is_alone and pair[0][:1].isdigit())]
    return NO_UNITS.union(*(_UNITS.get(token, NO_UNITS) for _, token in pairs))


@lru_cache(maxsize=1024)
def find_measures(text: str) -> tuple[tuple[str, Units, Units], ...]:
    """Returns each number of a text in digits, in order, with what it counts and by what: "£5 a month"."""
    tokens = ["", *_MEASURED.findall(text.lower()), *[""] * 4]
    measures = []
    for place, token in enumerate(tokens):
        if token[:1].isdigit():
            unit, per = _UNITS.get(tokens[place - 1], NO_UNITS) & MONEY, place + 1
            if not unit and tokens[per].isalpha() and tokens[per] not in _UNITS.keys() | _PER:  # "5 square metres"
                per += tokens[per + 1] in _UNITS
            if not unit and (unit := _UNITS.get(tokens[per], NO_UNITS)):
                per += 1
                if closer := unit & _UNITS.get(tokens[per], NO_UNITS):  # "degrees Celsius"
                    unit, per = closer, per + 1
            by = _UNITS.get(tokens[per], NO_UNITS) if unit else NO_UNITS  # "£5 monthly"
            if word := next((tokens[at + 1] for at in (per, per + 1) if tokens[at] in _PER), ""):
                by = _UNITS.get(word, frozenset({word}))
            measures += [(norm, unit, by) for _, norm in find_numbers(token)]
    return tuple(measures)


def root(word: str, language: str) -> str:
    """Returns the shared form of a lower-case word's inflections, or of the sign of a unit."""
    forms = SAME_WORD.get(word) or SAME_WORD.get(stem(word, language)) or {word}
    return stem(min(forms), language)


def is_over(day: str, at: date | None) -> bool:
    """Whether a date is not after the day on which a text was written; one without a year is in the nearest."""
    if at is None:
        return False
    if not day.startswith("-"):
        return day <= at.isoformat()[: len(day)]
    return 0 <= (int(f"{at:%m%d}") - int(day[1:].replace("-", "").ljust(4, "0"))) % 1200 < 600


def _names(text: str) -> list[tuple[str, str]]:
    """Returns the capitalised words that name something, each with the whole name."""
    return [
        (word, mention.surface)
        for mention in mentions(text)
        if not is_date(mention.norm)
        for word in WORD.findall(mention.surface)
        if len(fold(word)) > 1 and word[0].isupper() and word.lower() not in _WEEKDAYS
    ]


@lru_cache(maxsize=64)
def read_passage(text: str, topic: str, at: datetime | None) -> tuple[Clause, ...]:
    """Returns the sentences and rows of a passage written `at` that day, with `topic` and the headings above each."""
    clauses: list[Clause] = []
    headings: dict[int, str] = {}  # by level
    language = guess_language(text)
    header = ""
    last = 0
    for start, end in sentences(text):
        sentence, between = text[start:end], text[last:start]
        line = text[text.rfind("\n", 0, start) + 1 : end]
        mark = HEADING.match(line) if "\n" not in sentence else None
        if mark:
            headings = {level: above for level, above in headings.items() if level < len(mark[1])}
            headings[len(mark[1])] = sentence
        is_row = _ROW.search(sentence) is not None
        header = header or sentence if is_row else ""
        is_item = is_row or mark is not None or _ITEM.match(line) is not None
        joins = bool(clauses) and ("\n" not in between or (not is_item and clauses[-1].text[-1] in _STOPS))
        head = "\n".join([topic, *headings.values(), header])
        clauses.append(
            Clause(put_digits(sentence, language), language, at, head, is_row, joins=joins, is_open=_OPEN in line)
        )
        last = end
    return tuple(clauses)
