"""Names and values in the form that rules compare: without marks, by the kind of value, and with the valid time that
their words state: "640 a month since March", "735 until 3 May"."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache, lru_cache
from typing import NamedTuple

from memory.text.words import show_links
from memory.time.dates import find_dates, month_names, with_local_zone
from memory.time.expressions import narrow, signal
from memory.time.timex import Tense, Timex, find_timexes, fold, is_relative, may_name_time, one_of, time_numbers

Span = tuple[int, int]

_EDGES = " \t\n*_`\"'“”„«»,;:.!?()[]–—-"
_MAX_VALUE_CHARS = 60  # a longer one is a phrase

_NUMBER = re.compile(  # with up to three words: "640 crowns a month"
    r"[~≈<>±+-]?\s?(?:[$€£¥]|[A-Z]{1,3}\$?)?\s?-?\d\S*(?:\s\S+){0,3}"
)
_TIME = re.compile(r"\d{1,2}[:.]\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m", re.IGNORECASE)
_VERSION = re.compile(r"v?\d+\.\d+(?:\.\d+)+[\w.-]*|v\d+(?:\.\d+)*", re.IGNORECASE)
_ANY_VERSION = re.compile(r"\bv?\d+\.\d+[\w.+-]*|\bv\d+\b", re.IGNORECASE)
_CONTACT = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w|https?://\S+|\+?\(?\d[\d ()/.-]{5,18}\d")


def clean(value: str) -> str:
    """Returns a name or value without marks, links and doubled spaces."""
    value = " ".join(show_links(value).replace("**", "").replace("__", "").replace("`", "").split())
    return value.strip(' *_,;:.!?"“”„«»')


def trim(text: str, start: int, end: int) -> Span:
    """Returns the span without white space, punctuation and marks at its edges; a bracket that belongs to it stays."""
    while start < end and text[start] in _EDGES and not (text[start] == "-" and text[start + 1 : start + 2].isdigit()):
        start += 1
    while start < end and text[end - 1] in _EDGES:
        if text[end - 1] == ")" and "(" in text[start:end]:
            break
        end -= 1
    return start, end


@lru_cache(maxsize=4096)
def value_kind(value: str) -> str:
    """Returns the kind of a value by its form: date | time | weekday | version | contact | number | word. A contact is
    a mail or web address, or a phone number."""
    value = value.strip()
    if len(value) > _MAX_VALUE_CHARS:
        return "word"
    if _TIME.fullmatch(value):
        return "time"
    if value.lower() in month_names() or _is_date(value):
        return "date"
    if _weekday().fullmatch(value):
        return "weekday"
    for kind, pattern in (("version", _VERSION), ("contact", _CONTACT), ("number", _NUMBER)):
        if pattern.fullmatch(value):
            return kind
    return "word"


def names_log_entry(heading: str) -> bool:
    """Whether a heading consists of dates, weekdays and versions, as of an entry in a log or a changelog."""
    rest = heading
    for date in reversed([*find_dates(heading, short_years=True, compact=True)]):
        rest = f"{rest[: date.start]} {rest[date.end :]}"
    rest = _ANY_VERSION.sub(" ", rest)
    if rest == heading:  # without them only a weekday in full: "Me" is no Mercredi
        return heading.strip(" .").lower() in time_numbers("weekdays")
    return not any(letter.isalpha() for letter in _weekday().sub(" ", rest))


def _is_date(value: str) -> bool:
    """Whether a value is a date, perhaps with its weekday and a time of day."""
    date = next(find_dates(value, short_years=True), None)
    if date is None or not (date.month or date.day):
        return False
    rest = f"{value[: date.start]} {value[date.end :]}"
    return not re.sub(r"\d{1,2}[:.]\d\d|[\W_]", "", _weekday().sub("", rest))


@cache
def _weekday() -> re.Pattern[str]:
    """Returns a pattern of a weekday in any language, in full or in its first two to four letters."""
    names = set(time_numbers("weekdays"))
    short = {name[:length] for name in names for length in (2, 3, 4)}
    return re.compile(rf"\b(?:{one_of(names | short)})\b\.?", re.IGNORECASE)


# Valid times ------------------------------------------------------------------------------------

_Looks = Iterable[tuple[str, Tense]]
_BEGINS: _Looks = (("begun", "past"), ("begin", ""), ("begin", "present"))


class ValidValue(NamedTuple):
    """A value at [start, end) of a text, with the begin and end of its validity; None if not stated."""

    start: int
    end: int
    valid_from: datetime | None = None
    valid_to: datetime | None = None


def read_value(text: str, start: int, end: int, written: datetime | None) -> ValidValue:
    """Returns the value of a line's [start, end), without the time at its end."""
    words = fold(text[start:end])
    for kind, begin, base in _find_times(words, written, (("end", ""), *_BEGINS)):
        value = trim(text, start, start + begin)
        if value[0] < value[1] and not any(map(str.isalnum, words[base.end :])):
            if kind != "end":
                return ValidValue(*value, valid_from=with_local_zone(base.span[0]))
            last = base.span[1 if base.unit == "day" else 0]  # "until 3 May" includes that day
            return ValidValue(*value, valid_to=with_local_zone(last))
    return ValidValue(*trim(text, start, end))


def read_begin(sentence: str, written: datetime | None) -> datetime | None:
    """Returns the stated begin of a sentence: "since March", "from 1 May", "on Friday"; None without one."""
    words = fold(sentence)
    times = _find_times(words, written, (*_BEGINS, ("on", ""), ("on", "past")))
    return next((with_local_zone(base.span[0]) for *_, base in times), None)


def _find_times(words: str, written: datetime | None, looks: _Looks) -> Iterator[tuple[str, int, Timex]]:
    """Yields (kind of the signal word, its start, time) of the times in folded words that have such a word before them,
    or are "on" a day without one: "last Friday"."""
    if written is None or not may_name_time(words):
        return
    try:
        for kind, tense in looks:
            before = signal(kind)[1]
            for timex in find_timexes(words, written.replace(tzinfo=None), tense, short_names=True):
                base = narrow(words, timex)
                if introduced := before.search(words, 0, base.start):
                    yield kind, introduced.start(), base
                elif kind == "on" and is_relative(words, base):
                    yield kind, base.start, base
    except (ValueError, OverflowError):  # 31 February; the ends of time
        return
