"""The comparable content of a text, to check a paraphrase against it.

Words match in any form; numbers, dates, codes and names only as written."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from rapidfuzz.distance import Prefix

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
from memory.text.words import ascii_digits, strip_accents, words
from memory.time.dates import find_dates

MAX_DAYS_OFF = 62  # error of a day computed from words like "three weeks ago"
LEAST_NAME_LETTERS = 4  # letters that both names must share
LEAST_ROOT_LETTERS, MAX_DERIVED_LETTERS = (5, 3)  # of related words: shared at the start, other at the end

MAX_ENDING_LETTERS = 2  # letters by which two forms of a name may differ at the end
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
for _listed in [
    *(t for key in ("irregular", "units", "money", "measures") for t in tables("claims", key)),
    *tables("time", "months"),
]:
    for _line in _listed:
        for _form in _line.split():
            SAME_WORD[_form] = SAME_WORD.get(_form, frozenset()).union(_line.split())
# Relative times: (pattern, error in days of a day computed from them).
_RELATIVE = [
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), int(days))
    for table in tables("claims", "days_off")
    for days, words in table.items()
]

DENYING = word_set("claims", "denying")
_DENIED = rf"\b(?:{'|'.join(sorted(map(re.escape, DENYING)))})\s(\W*\w+(?:[^\w,;.]+\w+){{0,2}})"
# What a text says is not so, or no longer: "from A to B", "A -> B", "~~A~~", "instead of A", "not A".
ENDED = re.compile(
    r"\bfrom\s(.{1,40}?)\s(?:to|into)\s|(?<!\S)(\S{1,40})\s{0,3}(?:->|→)|~~(.+?)~~"
    rf"|\b(?:{alternatives('claims', 'instead')})\s(\W*\w+(?:[^\w,;.]+\w+){{0,2}})|{_DENIED}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TextContent:
    """The content of a text: folded words, stems, numbers, and dates at their precision."""

    words: frozenset[str]
    stems: frozenset[str]
    numbers: frozenset[str]
    days: frozenset[str]
    dates: frozenset[str]
    acronyms: frozenset[str]
    joined: str

    def tells(self, word: str, stemmed: str) -> bool:
        """Whether a word occurs in any form, as the sign of a unit, or as a related word."""
        if stemmed in self.stems or self.names(fold(word)):
            return True
        for form in SAME_WORD.get(word, ()):
            if form in self.words or stem(form, ENGLISH) in self.stems or (not form.isalnum() and form in self.joined):
                return True
        shared = ((Prefix.similarity(stemmed, other), max(len(stemmed), len(other))) for other in self.stems)
        return any(begin >= LEAST_ROOT_LETTERS and most - begin <= MAX_DERIVED_LETTERS for begin, most in shared)

    def names(self, word: str) -> bool:
        """Whether a word occurs in some form."""
        if word in self.words or stem(word, ENGLISH) in self.stems:
            return True
        if "-" in word:
            return all(self.names(part) for part in word.split("-") if part)
        if not word.isascii() and word in self.joined:  # scripts without spaces
            return True
        return len(word) >= LEAST_NAME_LETTERS and any(_are_forms(word, other) for other in self.words)


def _are_forms(name: str, other: str) -> bool:
    """Whether two names differ only in an ending: a longer one has a few letters more, one as long another last one."""
    shared, shorter, longer = Prefix.similarity(name, other), *sorted((len(name), len(other)))
    if shorter < longer:
        return shared == shorter >= LEAST_NAME_LETTERS and longer - shorter <= MAX_ENDING_LETTERS
    return shared >= longer - 1 and longer > LEAST_NAME_LETTERS


@lru_cache(maxsize=256)
def content_of(text: str) -> TextContent:
    text = undot(text)
    tokens = [word for run in WORD.findall(text) for word in {run, *re.split(r"['’\-]", run)} if word]
    little, language = stop_words(guess_language(text)), guess_language(text)
    date_mentions = [mention for mention in mentions(text) if is_date(mention.norm)]
    dates = frozenset(mention.norm for mention in date_mentions) | _find_short_dates(text, date_mentions)
    rest = blank(text, [item for item in date_mentions if item.start >= 0 and not item.norm.isdigit()])
    numbers = {number for _, number in find_numbers(rest, every=True)}
    ordinals = {plain_number(match[0][:-2]) for match in _ANY_NUMBER.finditer(rest) if ORDINAL.match(match[0])}
    return TextContent(
        frozenset(map(fold, tokens)),
        frozenset(stem(word, language) for word in words(text) if word not in little)
        | frozenset(stem(word, ENGLISH) for word in words(text)),
        frozenset(numbers),
        frozenset(str(int(item[-2:])) for item in dates if _WITH_DAY.search(item)) | ordinals,
        dates,
        frozenset(item.lower() for item in _ACRONYM.findall(text)),
        fold(text),
    )


def _find_short_dates(text: str, mentions: Iterable[Mention]) -> frozenset[str]:
    """Returns days in short forms: "28.05.24", and both ends of "16-17 October"."""
    dates = {day.iso() for day in find_dates(text, short_years=True)}
    for mention in mentions:
        if mention.start >= 0 and _WITH_DAY.search(mention.norm):
            days = [
                *_RANGE_BEFORE.findall(text[: mention.start][-12:]),
                *_RANGE_BEHIND.findall(text[mention.end : mention.end + 12]),
            ]
            dates |= {f"{mention.norm[:-2]}{int(day):02}" for day in days if 0 < int(day) < 32}
    return frozenset(dates)


def unheard_words(text: str, contents: Sequence[TextContent], without: Collection[str] = ()) -> tuple[list[str], int]:
    """Returns (content words of a text that occur in none of `contents`, numbers excluded; number of content words). An
    abbreviation in capitals matches the words that begin with its letters."""
    language = guess_language(text)
    little = stop_words(language)
    asked = [word for word in words(text) if word not in little and word not in without and not word.isdigit()]
    unheard = [word for word in asked if not any(content.tells(word, stem(word, language)) for content in contents)]
    if unheard and len(asked) > 1:
        initials = "".join(word[0] for word in asked)
        acronyms = [short for content in contents for short in content.acronyms if short in initials]
        unheard = [word for word in unheard if not any(word[0] in short for short in acronyms)]
    return unheard, len(asked)


def undot(text: str) -> str:
    """Returns "U.S." as "US"."""
    return _DOTTED.sub(lambda match: match[0].replace(".", ""), text)


def fold(word: str) -> str:
    return strip_accents(word.casefold()).replace("ß", "ss").removesuffix("'s").removesuffix("’s").strip("'’-")


def find_numbers(text: str, *, every: bool = False) -> Iterable[tuple[str, str]]:
    """Yields (as written, normal form) of the numbers of a text, also in English words. `every`: also their parts."""
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
    """Returns one form for equal numbers: "0,130" and "0.13", "07:40" and "7:40", "17:00" and "17"."""
    number = number.replace(",", ".").removesuffix(":00")
    if re.fullmatch(r"\d+\.\d+", number):
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0"


def is_dated(norm: str, contents: Sequence[TextContent], written: Sequence[tuple[date, int]]) -> bool:
    """Whether a date occurs in `contents`, exactly, more precisely or without its year; or within reach of words like
    "last week". `written`: (day, maximum error in days) of each piece."""
    dates = {date for text in contents for date in text.dates} | {day.isoformat() for day, _ in written}
    if any(text == norm or text.startswith(f"{norm}-") for text in dates):
        return True
    year_less = norm if norm.startswith("-") else norm[4:] if len(norm) > 4 else ""
    if norm.startswith("-"):
        return any(text.endswith(norm) or (len(norm) == 3 and text[4:].startswith(norm)) for text in dates)
    years = {text[:4] for text in dates if not text.startswith("-")}
    if year_less and norm[:4] in years and any(text == year_less or text.startswith(f"{year_less}-") for text in dates):
        return True
    first, last = _parse_span(norm)
    if _WITH_DAY.search(norm):  # only for days, not for named months
        written = [(day, off) for day, off in written if off <= MAX_DAYS_OFF]
    return any(first <= day + timedelta(days=off) and last >= day - timedelta(days=off) for day, off in written if off)


def is_stated(norm: str, near: Sequence[TextContent], at: date | None, text: str) -> bool:
    """Whether a day, month or year is stated `near`, in a `text` that was written `at` that day: it is there, follows
    from words like "last week", or has its number and month there ("the 7th" is in a month near `at`). Its year is in
    the text, or at most one from that of `at`."""
    off = max((days for pattern, days in _RELATIVE if pattern.search(text)), default=0)
    written = [(at, min(off, MAX_DAYS_OFF if len(norm) == len("2024-05-03") else 1_000))] if at else []
    if is_dated(norm, near, written):
        return True
    year, month, day = ([*norm.split("-"), "", ""])[:3]
    numbers = frozenset[str]().union(*(content.numbers | content.days for content in near))
    if day and str(int(day)) not in numbers:
        return False
    names = word_numbers("time", "months", first=1)
    months = {date[-6:-3] if _WITH_DAY.search(date) else date[-3:] for content in near for date in content.dates}
    months |= {f"-{names[word]:02}" for content in near for word in content.words & names.keys()}
    if month and not (f"-{month}" in months or (not day and str(int(month)) in numbers)):
        days = frozenset[str]().union(*(content.days for content in near))
        if not (day and at and str(int(day)) in days and (int(month) - at.month) % 12 in (0, 1, 11)):
            return False
    years = {date[:4] for content in near for date in content.dates}
    years |= {str(at.year + step) for step in (-1, 0, 1)} if at and month else set()
    return not year or year in years or year in numbers or year[2:] in numbers


def _parse_span(norm: str) -> tuple[date, date]:
    """Returns (first, last) day of a date with a year."""
    parts = [int(part) for part in norm.split("-")]
    try:
        first = date(parts[0], parts[1] if len(parts) > 1 else 1, parts[2] if len(parts) > 2 else 1)
    except ValueError:  # 31 February
        return date.max, date.min
    length = (366, 31, 1)[len(parts) - 1]
    return first, min(first + timedelta(days=length - 1), date.max) if first.year < 9998 else first


def blank(text: str, spans: Sequence[Mention]) -> str:
    """Returns the text with spaces in place of these mentions."""
    for span in spans:
        text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
    return text


_AND = re.compile(r"\b(hundred|thousand|million) and\b", re.IGNORECASE)
_HOUR = r"(?<![\d.,:])(\d{1,2})(?![\d.,:]\d)"
_ORDINALS = {"first": "1st", "second": "2nd", "third": "3rd"}
_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (r"\b(first|second|third)(?= of\b)", lambda match: _ORDINALS[match[1].lower()]),
        (r"\btwice\b", lambda match: "2 times"),
        (rf"\bhalf past {_HOUR}", lambda match: f"{match[1]}:30"),
        (rf"\b(?:a )?quarter past {_HOUR}", lambda match: f"{match[1]}:15"),
        (rf"\b(?:a )?quarter to {_HOUR}", lambda match: f"{int(match[1]) - 1 or 12}:45"),
        (rf"{_HOUR} and a half\b", lambda match: f"{match[1]}.5"),
        (r"\ban? (\w+) and a half\b", lambda match: f"1.5 {match[1]}"),
    )
)


@lru_cache(maxsize=2048)
def put_digits(text: str, language: str) -> str:
    """Returns the text with digits in place of numbers in words, in the languages of text2num. A lone "one" stays."""
    from text_to_num.lang import LANG  # 25 ms, which only the answer of a model pays
    from text_to_num.transforms import alpha2digit

    if language not in LANG:
        return text
    text = alpha2digit(_AND.sub(r"\1", text), language)
    for pattern, put in _RULES:
        text = pattern.sub(put, text)
    return text
