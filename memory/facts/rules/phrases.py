"""Names and values in the form that rules compare: without marks, and by the kind of value."""

import re
from functools import cache, lru_cache

from memory.text.words import show_links
from memory.time.dates import find_dates, month_names
from memory.time.timex import one_of, time_numbers

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
