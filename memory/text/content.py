"""What a text holds, for comparing it with what somebody says of it in words of their own.

Words stand in a text in any form of them; its numbers, dates, codes and names do as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from memory.text.languages import ENGLISH, guess_language, stem, stop_words, tables, word_numbers, word_set
from memory.text.mentions import Mention, is_date, mentions
from memory.text.words import ascii_digits, strip_accents, words
from memory.time.dates import find_dates

MAX_DAYS_OFF = 62  # by which a day may be worked out from words like "three weeks ago"
LEAST_NAME_LETTERS = 4  # letters that both have then in common
LEAST_ROOT_LETTERS, MAX_DERIVED_LETTERS = 5, 3  # of two words of one family: in common, and at the end of each

MAX_ENDING_LETTERS = 2  # letters by which two forms of a name may differ at their end
_ANY_NUMBER = re.compile(r"(?<![^\W_])\d+(?:st|nd|rd|th)\b|(?<![^\W_])\d+(?:[.,:/ ’']\d+)*")
ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)$")
_RANGE_BEFORE = re.compile(r"\b(\d{1,2})\.?\s?(?:[-–/]|to|and|until)\s?$")
_RANGE_BEHIND = re.compile(r"^\s?(?:[-–/]|to|and|until)\s?(\d{1,2})\b(?![.:,]?\d)")
_WITH_DAY = re.compile(r"-\d\d-\d\d$")
CODE = re.compile(r"(?<!\w)[^\W\d_]+\d\w*")
_ACRONYM = re.compile(r"\b[A-Z]{2,5}\b")
_DOTTED = re.compile(r"(?<!\w)(?:[^\W\d_]\.){2,}")
_GROUPED = re.compile(r"\d{1,3}(?:[,.’' ]\d{3})+")
WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
COUNTS = {word: str(number) for word, number in word_numbers("claims", "numbers").items()} | {
    word: str(10 * number) for word, number in word_numbers("claims", "tens", first=1).items()
}
RARELY_NUMBERS = word_set("claims", "rarely_numbers")
SAME_WORD: dict[str, frozenset[str]] = {}  # form -> all forms and signs of the same word
for _listed in [*tables("claims", "irregular"), *tables("claims", "units"), *tables("time", "months")]:
    for _line in _listed:
        for _form in _line.split():
            SAME_WORD[_form] = SAME_WORD.get(_form, frozenset()).union(_line.split())
# What a passage says of time by the day on which it was written: (words, days by which it may be another).
_RELATIVE = [
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), int(days))
    for table in tables("claims", "days_off")
    for days, words in table.items()
]


@dataclass(frozen=True, slots=True)
class TextContent:
    """What is in a text: its folded words, their stems, its numbers, its dates as exactly as they are said."""

    words: frozenset[str]
    stems: frozenset[str]
    numbers: frozenset[str]
    days: frozenset[str]
    codes: frozenset[str]
    dates: frozenset[str]
    acronyms: frozenset[str]
    joined: str

    def tells(self, word: str, stemmed: str) -> bool:
        """Whether a word stands there in any form, as a unit's sign, or as another word of its family."""
        if stemmed in self.stems or self.names(fold(word)):
            return True
        for form in SAME_WORD.get(word, ()):
            if form in self.words or stem(form, ENGLISH) in self.stems or (not form.isalnum() and form in self.joined):
                return True
        kin = stemmed[:LEAST_ROOT_LETTERS]
        return len(kin) == LEAST_ROOT_LETTERS and any(
            other.startswith(kin) and max(len(root) for root in _endings(stemmed, other)) <= MAX_DERIVED_LETTERS
            for other in self.stems
        )

    def names(self, word: str) -> bool:
        """Whether a word stands there, in some form of it."""
        if word in self.words or stem(word, ENGLISH) in self.stems:
            return True
        if "-" in word:
            return all(self.names(part) for part in word.split("-") if part)
        if not word.isascii() and word in self.joined:  # scripts that do not tell words apart
            return True
        short = word[: max(LEAST_NAME_LETTERS, len(word) - MAX_ENDING_LETTERS)]
        return len(word) >= LEAST_NAME_LETTERS and any(
            other.startswith(short) and abs(len(other) - len(word)) <= MAX_ENDING_LETTERS and _same_start(other, word)
            for other in self.words
        )


def _endings(one: str, other: str) -> tuple[str, str]:
    """What is left of two words behind the letters that both begin with."""
    shared = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    shared = min(len(one), len(other)) if shared is None else shared
    return one[shared:], other[shared:]


def _same_start(one: str, other: str) -> bool:
    least = min(len(one), len(other))
    return (
        one[:least] == other[:least]
        if abs(len(one) - len(other))
        else one[:-1] == other[:-1] and least > LEAST_NAME_LETTERS
    )


@lru_cache(maxsize=256)
def content_of(text: str) -> TextContent:
    text = undot(text)
    found = [word for run in WORD.findall(text) for word in {run, *re.split(r"['’\-]", run)} if word]
    little, language = stop_words(guess_language(text)), guess_language(text)
    told = [mention for mention in mentions(text) if is_date(mention.norm)]
    dates = frozenset(mention.norm for mention in told) | _more_dates(text, told)
    rest = blank(text, [one for one in told if one.start >= 0 and not one.norm.isdigit()])
    numbers = {number for _, number in find_numbers(rest, every=True)}
    return TextContent(
        frozenset(map(fold, found)),
        frozenset(stem(word, language) for word in words(text) if word not in little)
        | frozenset(stem(word, ENGLISH) for word in words(text)),
        frozenset(numbers),
        frozenset(str(int(one[-2:])) for one in dates if _WITH_DAY.search(one)),
        frozenset(map(fold, CODE.findall(text))),
        dates,
        frozenset(one.lower() for one in _ACRONYM.findall(text)),
        fold(text),
    )


def _more_dates(text: str, told: Iterable[Mention]) -> frozenset[str]:
    """Days that are written shortly: "28.05.24", and both ends of "16-17 October"."""
    found = {one.iso() for one in find_dates(text, short_years=True)}
    for one in told:
        if one.start >= 0 and _WITH_DAY.search(one.norm):
            days = [
                *_RANGE_BEFORE.findall(text[: one.start][-12:]),
                *_RANGE_BEHIND.findall(text[one.end : one.end + 12]),
            ]
            found |= {f"{one.norm[:-2]}{int(day):02}" for day in days if 0 < int(day) < 32}
    return frozenset(found)


def unheard_words(text: str, there: Sequence[TextContent], without: Collection[str] = ()) -> tuple[list[str], int]:
    """The content words of a text that stand nowhere there, numbers apart, and how many content words it has. An
    abbreviation in capitals is heard as the words that begin with its letters."""
    language = guess_language(text)
    little = stop_words(language)
    told = [word for word in words(text) if word not in little and word not in without and not word.isdigit()]
    unheard = [word for word in told if not any(one.tells(word, stem(word, language)) for one in there)]
    if unheard and len(told) > 1:
        initials = "".join(word[0] for word in told)
        short = [one for content in there for one in content.acronyms if one in initials]
        unheard = [word for word in unheard if not any(word[0] in one for one in short)]
    return unheard, len(told)


def undot(text: str) -> str:
    """ "U.S." as "US"."""
    return _DOTTED.sub(lambda match: match[0].replace(".", ""), text)


def fold(word: str) -> str:
    return strip_accents(word.casefold()).replace("ß", "ss").removesuffix("'s").removesuffix("’s").strip("'’-")


def find_numbers(text: str, *, every: bool = False) -> Iterable[tuple[str, str]]:
    """(as it stands, normal form) of the numbers of a text, also in English words. `every`: their parts as well."""
    for match in _ANY_NUMBER.finditer(ascii_digits(text)):
        surface = match[0]
        if ORDINAL.match(surface):
            yield surface, plain_number(surface[:-2])
            continue
        if _GROUPED.fullmatch(surface):
            yield surface, re.sub(r"\D", "", surface)
            if not every:
                continue
        if " " in surface or "/" in surface:
            yield from ((part, plain_number(part)) for part in re.split(r"[ /]", surface))
        if " " not in surface and "/" not in surface:
            yield surface, plain_number(surface)
    for word in WORD.findall(text):
        for part in word.lower().split("-"):
            if part in COUNTS and (every or part not in RARELY_NUMBERS):
                yield word, COUNTS[part]


def plain_number(number: str) -> str:
    """ "0,130" and "0.13" are one number, and so are "07:40" and "7:40", "17:00" and "17"."""
    number = number.replace(",", ".").removesuffix(":00")
    if re.fullmatch(r"\d+\.\d+", number):
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0"


def max_days_off(text: str) -> int:
    return max((days for pattern, days in _RELATIVE if pattern.search(text)), default=0)


def is_dated(norm: str, there: Sequence[TextContent], written: Sequence[tuple[date, int]]) -> bool:
    """Whether a date is said there: as it is or more exactly, or the other way round without its year; or whether it
    lies where words like "last week" may lead from the day on which they were written. `written`: that day of each
    piece, and by how many days what it says of time may be another."""
    known = {date for one in there for date in one.dates} | {day.isoformat() for day, _ in written}
    if any(one == norm or one.startswith(f"{norm}-") for one in known):
        return True
    year_less = norm if norm.startswith("-") else norm[4:] if len(norm) > 4 else ""
    if norm.startswith("-"):
        return any(one.endswith(norm) or (len(norm) == 3 and one[4:].startswith(norm)) for one in known)
    years = {one[:4] for one in known if not one.startswith("-")}
    if year_less and norm[:4] in years and any(one == year_less or one.startswith(f"{year_less}-") for one in known):
        return True
    first, last = _span(norm)
    if _WITH_DAY.search(norm):  # a month that is named leads to no day
        written = [(day, off) for day, off in written if off <= MAX_DAYS_OFF]
    return any(first <= day + timedelta(days=off) and last >= day - timedelta(days=off) for day, off in written if off)


def _span(norm: str) -> tuple[date, date]:
    """First and last day of a date with a year."""
    parts = [int(part) for part in norm.split("-")]
    try:
        first = date(parts[0], parts[1] if len(parts) > 1 else 1, parts[2] if len(parts) > 2 else 1)
    except ValueError:  # the 31st of a month that has none
        return date.max, date.min
    length = (366, 31, 1)[len(parts) - 1]
    return first, min(first + timedelta(days=length - 1), date.max) if first.year < 9998 else first


def blank(text: str, found: Sequence[Mention]) -> str:
    """The text with blanks in the place of these mentions."""
    for one in found:
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text
