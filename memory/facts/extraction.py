"""Extractions: the relations, theses and objects of an episode's words, with names not yet resolved to objects.

Rules and models both make an `Extraction`; all that follows (resolution, assertion, supersession) is the same for both.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from memory.nouns import Modality
from memory.text.content import (
    COUNTS,
    MAX_DAYS_OFF,
    WORD,
    TextContent,
    blank,
    content_of,
    find_numbers,
    fold,
    is_dated,
    max_days_off,
    unheard_words,
)
from memory.text.languages import alternatives, languages, tables, word_numbers, word_set
from memory.text.mentions import is_date, mentions
from memory.text.sentences import sentences
from memory.time.timestamps import to_wall

_IRREGULAR = frozenset(word for lines in tables("claims", "irregular") for line in lines for word in line.split()[1:])
_DAY = re.compile(r"-\d\d-\d\d$")
_ARTICLE = re.compile(rf"^(?i:{'|'.join(word_set('facts', 'articles') - word_set('facts', 'pronouns'))})\s+")
_MARKS = "|*> -"
ASKS = re.compile(r"\?[\"'”’)*_\s]*$")
MAX_UNHEARD, MAX_UNHEARD_OF_THESIS = 0.5, 0.6  # share of the words of an object, or a thesis, that are not in the text
OWNER = "owner"  # as a subject or object: the person whose memory this is, who wrote the note in the first person


@dataclass(frozen=True, slots=True)
class ExtractedObject:
    """An object that a passage mentions. `kind`: person | place | organisation | product | event | concept | ..."""

    name: str
    kind: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedRelation:
    """One typed relation. `subject` and `object` are names as written, or `OWNER`; a value ("0.13", "4 mg") is an
    object too. `predicate` is in words: "lives in".

    [start, end) is the quote in the episode's text, -1 where it is in the source's properties. Valid times are of the
    world; None is open. `past`: was so once and is no longer, at the time of its episode; `negated`: is not so.
    `by_place`: the subject is what the words are a part of (a note, a record, a row, a task), and not everything that
    is called the same. `single`: the form of the statement shows that the subject has one value at a time.
    """

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    modality: Modality = "asserted"
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    by_place: bool = False
    single: bool = False
    conf: float = 1.0

    def valid_time(self, said: int | None) -> tuple[int | None, int | None]:
        """Its begin and end, ms UTC: as it says, else from when it was `said` on, or until then."""
        start, end = to_wall(self.valid_from), to_wall(self.valid_to)
        holds = self.modality in ("asserted", "negated", "plan")
        if start is None and holds and (end is None or said is None or said < end):
            start = said
        if self.modality == "past" and end is None:
            end = said
        if start is not None and end is not None and end < start:
            end = None if self.modality != "past" else start
        return start, end


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedThesis:
    """A self-contained statement about `objects`, with the quote it was made from."""

    text: str
    objects: tuple[str, ...]
    start: int
    end: int
    modality: Modality = "asserted"
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that was extracted from one episode."""

    relations: tuple[ExtractedRelation, ...] = ()
    theses: tuple[ExtractedThesis, ...] = ()
    objects: tuple[ExtractedObject, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.relations or self.theses or self.objects)


NOTHING_EXTRACTED = Extraction()


class Support:
    """Checks that a passage supports what a model extracted from it. `head`: the text shown above it, such as its
    title; `at`: when it was written; `names`: those of the owner."""

    def __init__(self, text: str, head: str, at: datetime | None, names: Iterable[str] = ()) -> None:
        self._text = text
        self._spans = sentences(text)
        self._off = max_days_off(text)
        self._written = [at.date()] if at else []
        self._head = content_of(head)
        self._passage = (content_of(text), self._head)
        self._owner = {fold(word) for name in names for word in WORD.findall(name)}

    def problem(self, item: ExtractedRelation | ExtractedThesis) -> str:
        """Why it is not supported, without its words; "" if it is. Its numbers and days must be in the sentences of its
        quote, or in adjacent ones if those have no numbers; most of its words and its subject must be in the passage. A
        question or a doubt asserts no relation."""
        if isinstance(item, ExtractedThesis):
            known = [day.date().isoformat() for day in (item.valid_from, item.valid_to) if day]
            return self._missing(item.text, self._passage, known)
        if item.object != OWNER:
            own = (content_of(self._sentences(item, 0)), self._head)
            near = own if own[0].numbers else (content_of(self._sentences(item, 1)), self._head)
            if reason := self._missing(item.object, near):
                return reason
        return self._wrong_subject(item) or (self._doubted(item) if item.modality == "asserted" else "")

    def _doubted(self, item: ExtractedRelation) -> str:
        """Why the sentences of its quote do not assert anything; "" if they may."""
        words = self._sentences(item, 0).strip(_MARKS)
        if ASKS.search(words):
            return "its sentence is a question"
        return "its sentence supposes it" if _doubt().match(words) else ""

    def _sentences(self, item: ExtractedRelation | ExtractedThesis, beside: int) -> str:
        """The sentences of the quote, with as many before and after them as given."""
        found = [place for place, (start, end) in enumerate(self._spans) if start < item.end and item.start < end]
        if not found:
            return self._text[item.start : item.end]
        first, last = max(0, found[0] - beside), min(len(self._spans) - 1, found[-1] + beside)
        return self._text[min(self._spans[first][0], item.start) : max(self._spans[last][1], item.end)]

    def _missing(self, told: str, near: Sequence[TextContent], known: Sequence[str] | None = None) -> str:
        """What is missing of these words: dates and numbers must be `near`, words in the passage. `known`: days that
        are stated elsewhere; what has any is a thesis."""
        dates = [one for one in mentions(told) if is_date(one.norm) and one.start >= 0]
        if any(
            not (self._is_dated(one.norm, near) or any(day.startswith(one.norm) for day in known or ()))
            for one in dates
        ):
            return "its date is not in the text"
        rest = blank(told, dates)
        numbers = {number for said, number in find_numbers(rest) if not (known is not None and said.lower() in COUNTS)}
        if any(not any(number in one.numbers | one.days for one in near) for number in numbers):
            return "its number is not in the text"
        unheard, said = unheard_words(rest, self._passage, {OWNER})
        names = [word for word in WORD.findall(rest) if word[0].isupper() and known is None]
        strange = [word for word in names if word.lower() in unheard]
        share = MAX_UNHEARD if known is None else MAX_UNHEARD_OF_THESIS
        if len(unheard) > share * (said + (0 if strange else len(numbers))) or 2 * len(strange) > len(names):
            return "its words are not in the text"
        return ""

    def _is_dated(self, norm: str, near: Sequence[TextContent]) -> bool:
        """Whether a day is written in the text or follows from it: the text has its number and its month, or was
        written near that day."""
        off = min(self._off, MAX_DAYS_OFF if len(norm) == len("2024-05-03") else 1_000)
        if is_dated(norm, near, [(day, off) for day in self._written]):
            return True
        year, month, day = ([*norm.split("-"), "", ""])[:3]
        numbers = frozenset[str]().union(*(one.numbers | one.days for one in near))
        if day and str(int(day)) not in numbers:
            return False
        months = {date[-6:-3] if _DAY.search(date) else date[-3:] for one in near for date in one.dates} | {
            f"-{n:02}" for one in near for n in _months(one)
        }
        if month and not (f"-{month}" in months or (not day and str(int(month)) in numbers)):
            return bool(day) and self._is_near(int(month))
        known = {date[:4] for one in self._passage for date in one.dates}
        years = known | {str(one.year + n) for one in self._written for n in (-1, 0, 1)}
        return not year or year in years or year in numbers or year[2:] in numbers

    def _is_near(self, month: int) -> bool:
        return any((month - day.month) % 12 in (0, 1, 11) for day in self._written)

    def _wrong_subject(self, item: ExtractedRelation) -> str:
        """Why its subject is wrong: the passage has neither its name nor a pronoun for something without a name, or a
        claim about the owner has a sentence about somebody else."""
        if item.subject == OWNER:
            return "its sentence is about somebody else" if self._is_of_another(item) else ""
        if fold(item.subject) in _pronouns():
            return "its subject is a pronoun"
        if _is_date(item.subject):
            return "its subject is a date"
        unheard, said = unheard_words(item.subject, self._passage, {OWNER})
        heard = sum(any(number in one.numbers for one in self._passage) for _, number in find_numbers(item.subject))
        near = {fold(word) for word in WORD.findall(self._sentences(item, 1))}
        if 2 * len(unheard) <= said + heard:
            return "its row is of another" if self._is_row_of_another(item) else ""
        if item.subject.islower() and near & _pronouns():
            return ""
        return "its subject is not in the text"

    def _is_row_of_another(self, item: ExtractedRelation) -> bool:
        """Whether its words are a row of a table that begins with a whole name, and has no word of its subject."""
        row = self._sentences(item, 0)
        first = row.lstrip(_MARKS).partition("|")[0].strip()
        names = [one.surface for one in mentions(first) if one.kind == "name"]
        if not row.lstrip().startswith("|") or " " not in first or names != [first]:
            return False
        unheard, said = unheard_words(item.subject, [content_of(row)], {OWNER})
        return len(unheard) == said > 0

    def _is_of_another(self, item: ExtractedRelation) -> bool:
        """Whether the sentence begins with another person as its subject and has no "I": "Mira lives in Porto", "She
        pays 740 euros", "| Mira Okafor | 740 |". Text after a colon is the writer's."""
        whole = self._sentences(item, 0).lstrip(_MARKS)
        sentence = _ARTICLE.sub("", whole)
        if _first_person().search(self._sentences(item, 1)) or ":" in sentence:
            return False
        if _third_person().match(sentence):
            return True
        first = next((one for one in mentions(sentence) if one.start == 0 and one.kind in ("name", "link")), None)
        if first is None or first.surface.endswith(("ing", "ed")) or first.norm in COUNTS:
            return False
        name = {fold(word) for word in WORD.findall(first.surface)}
        if name & self._owner or name & {fold(word) for word in WORD.findall(item.object)}:
            return False
        behind = sentence[first.end :].lstrip()
        verb = WORD.match(behind)
        return (behind[:1] == "|" and " " in first.surface) or (
            verb is not None and (_is_verb(verb[0]) or sentence != whole)
        )


def _is_date(name: str) -> bool:
    """Whether a name is a date or a weekday and nothing else."""
    if fold(name) in word_numbers("time", "weekdays"):
        return True
    dates = [mention for mention in mentions(name) if is_date(mention.norm) and mention.start >= 0]
    return bool(dates) and not any(map(str.isalnum, blank(name, dates)))


@cache
def _doubt() -> re.Pattern[str]:
    return re.compile(alternatives("facts", "modality", "supposes"), re.IGNORECASE)


@cache
def _third_person() -> re.Pattern[str]:
    forms = "|".join((alternatives("owner", "they"), alternatives("owner", "their")))
    return re.compile(rf"(?:{forms})\b", re.IGNORECASE)


def _months(text: TextContent) -> set[int]:
    """The months that are named there."""
    numbers = word_numbers("time", "months")
    return {numbers[word] for word in text.words & numbers.keys()}


def _is_verb(word: str) -> bool:
    """Whether a word after a name is a verb of that person: "lives", "moved", "took"."""
    return word in word_set("facts", "third_person") or (
        word.islower() and ((word.endswith(("s", "ed")) and len(word) > 3) or word in _IRREGULAR)
    )


@cache
def _pronouns() -> frozenset[str]:
    return word_set("facts", "pronouns")


@cache
def _first_person() -> re.Pattern[str]:
    patterns = (alternatives("analysis", "first_person", language=code) for code in languages())
    return re.compile("|".join(filter(None, patterns)), re.IGNORECASE)
