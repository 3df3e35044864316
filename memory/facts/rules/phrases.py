"""Noun phrases and values, as far as rules can find them, what a note is about, and from when on a sentence holds.

All is done by looking a bounded number of words to one side of a place, never by a pattern over a whole text.
"""

import re
from datetime import datetime
from functools import lru_cache

from memory.text.languages import alternatives, word_set
from memory.text.words import show_links
from memory.time.dates import date_at, month_names, with_local_zone
from memory.time.expressions import narrow, signal
from memory.time.timex import Tense, find_timexes, fold, is_relative, may_name_time

Span = tuple[int, int]

PHRASE_WORDS = 8
_PHRASE_CHARS = 90

_WORD = re.compile(r"\S+")
_EMPHASIS = re.compile(r"(\*\*|__|\*|_|`|\"|“|„|«)(?=\S)")
_CLOSERS = {"“": "”", "„": "“", "«": "»"}
_EDGES = " \t\n*_`\"'“”„«»,;:.!?()[]–—-"
_BOUND = re.compile(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bProf)(?<!\bSt)(?<!\bNo)(?<!\b[A-Z])\.(?=\s|$)|"
    r"(?!, \d{4}\b)[,;:!?](?=\s|$)|[()\n;]|\s[–—-]{1,2}\s|\s?(?:->|→|=>)|…"
)

# A phrase ends before one of these.
STOPS = word_set("facts", "stops")
_ARTICLES = word_set("facts", "articles")
PRONOUNS = word_set("facts", "pronouns")

_UNIT = alternatives("facts", "fields", "unit")
_MONTH = "|".join(sorted((re.escape(name) for name in month_names() if len(name) > 2), key=len, reverse=True))
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "date",
        re.compile(
            rf"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?(?:the )?(?:\d{{4}}-\d\d(?:-\d\d)?|"
            rf"\d{{1,2}}(?:st|nd|rd|th)?\.? (?:of )?(?:{_MONTH})\.?(?:,? \d{{4}})?|"
            rf"(?:{_MONTH})\.?(?: \d{{1,2}}(?:st|nd|rd|th)?)?(?:,? \d{{4}})?|\d{{1,2}}(?:st|nd|rd|th))",
            re.IGNORECASE,
        ),
    ),
    ("time", re.compile(r"(?:\d{1,2}[:.]\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m)", re.IGNORECASE)),
    (
        "weekday",
        re.compile(r"(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?: (?:at )?\d{1,2}[:.]\d\d)?", re.IGNORECASE),
    ),
    ("version", re.compile(r"v?\d+\.\d+(?:\.\d+)+|v\d+(?:\.\d+)*", re.IGNORECASE)),
    (
        "number",
        re.compile(
            rf"(?:about |around |approx\.? |ca\.? |~)?[€$£¥]?\s?-?\d[\d.,]{{0,14}}(?:\s?(?:{_UNIT}))?"
            rf"(?:[ /-](?:a |an |per |each )?(?:{_UNIT}|word|day|week|month|year|quarter|night|hour))?",
            re.IGNORECASE,
        ),
    ),
)
_NUMBER_WORDS = word_set("facts", "numbers")


@lru_cache(maxsize=4096)
def value_kind(value: str) -> str:
    """What sort of value it is: date | time | weekday | version | number | word."""
    value = value.strip()
    if len(value) > 60:
        return "word"
    for name, pattern in _KINDS:
        if pattern.fullmatch(value):
            return name
    first = value.split(" ", 1)[0].lower() if value else ""
    return "number" if first in _NUMBER_WORDS or (first[:1].isdigit() and len(value.split()) <= 4) else "word"


def is_plain(value: str) -> bool:
    """Whether it is a value and nothing else: "3 May" or "45 euros", not "3 shops"."""
    return any(pattern.fullmatch(value.strip()) for _, pattern in _KINDS)


def trim(text: str, start: int, end: int) -> Span:
    """The span without white space, punctuation and marks at its edges; a bracket or quote that belongs to it stays."""
    while start < end and text[start] in _EDGES and not (text[start] == "-" and text[start + 1 : start + 2].isdigit()):
        start += 1
    while start < end and text[end - 1] in _EDGES:
        if text[end - 1] == ")" and "(" in text[start:end]:
            break
        end -= 1
    return start, end


def phrase_after(text: str, start: int, end: int, stops: frozenset[str] = STOPS) -> Span | None:
    """The phrase that begins at `start`: what is marked as one, else the words up to a mark or a word that ends it."""
    while start < end and text[start] in " \t\n":
        start += 1
    opening = _EMPHASIS.match(text, start, end)
    if opening is not None:
        mark = opening[1]
        close = text.find(_CLOSERS.get(mark, mark), opening.end(), min(end, start + 120))
        if close > 0:
            return _phrase(text, opening.end(), close)
    limit = min(end, start + _PHRASE_CHARS)
    bound = _BOUND.search(text, start, limit)
    limit = bound.start() if bound else limit
    last = start
    opens = text[max(0, start - 4) : start].rstrip(" *_\"'")[-1:] in ("", ".", "!", "?", "\n", ":", "-")
    for count, word in enumerate(_WORD.finditer(text, start, limit)):
        bare = word.group().strip(_EDGES)
        name = bare[:1].isupper() and not bare.startswith("I") and (count or not opens)  # "to Per", "3 May"
        stops_here = bare.lower() in stops and not name
        if count >= PHRASE_WORDS or (stops_here and (count or bare.lower() not in _ARTICLES)):
            break
        last = word.end()
    return _phrase(text, start, last)


def phrase_before(text: str, start: int, end: int, stops: frozenset[str] = STOPS) -> Span | None:
    """The phrase that ends at `end`, not before `start`."""
    while end > start and text[end - 1] in " \t\n":
        end -= 1
    first = max(start, end - _PHRASE_CHARS)
    bounds = [match.end() for match in _BOUND.finditer(text, first, end) if match.end() < end]
    first = bounds[-1] if bounds else first
    begin = end
    for count, word in enumerate(reversed(list(_WORD.finditer(text, first, end)))):
        if count >= PHRASE_WORDS or word.group().strip(_EDGES).lower() in stops:
            break
        begin = word.start()
    return _phrase(text, begin, end)


def _phrase(text: str, start: int, end: int) -> Span | None:
    """The span without articles before it; None if no word is left."""
    start, end = trim(text, start, end)
    while True:
        word = _WORD.match(text, start, end)
        if word is None or word.group().lower() not in _ARTICLES or word.end() >= end:
            break
        start = word.end() + 1
    start, end = trim(text, start, end)
    return (start, end) if any(c.isalnum() for c in text[start:end]) else None


def clean(value: str) -> str:
    """A name or value as it is kept: without marks, links and doubled spaces."""
    value = " ".join(show_links(value).replace("**", "").replace("__", "").replace("`", "").split())
    return value.strip(' *_,;:.!?"“”„«»')


# What a note is about -------------------------------------------------------------------------

_DAY = re.compile(
    rf"\b(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}|(?:(?:(?:mon|tues?|wednes|wed|thurs?|thu|fri|satur|sat|sun)(?:day)?"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend)\.?,? )?"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\.? (?:{_MONTH})\.?(?:,? \d{{4}})?|"
    rf"(?:{_MONTH})\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?))(?!\w)",
    re.IGNORECASE,
)
LOGGED = re.compile(  # the day at the head of a line of a log
    r"\W{0,4}(?:\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\.? (?:{_MONTH})\.? \d{{4}})"
    r"\W{1,4}(?=\w)",
    re.IGNORECASE,
)
_MONTHLY = re.compile(
    rf"\b(?:{_MONTH}|spring|summer|autumn|winter|q[1-4])\.? (?:of )?(?:19|20)\d\d\b"
    r"|\b(?:19|20)\d\d[-/]?(?:0[1-9]|1[0-2]|q[1-4])\b|\bq[1-4]\b",
    re.IGNORECASE,
)
_PERIOD = re.compile(r"\b(?:19|20)\d\d(?:[-/](?:\d\d|(?:19|20)\d\d))?\b|\bv\.?\d+(?:\.\d+)*\b", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]{0,80}\)")
_PREFIX = re.compile(r"^(?:(?:re|fw|fwd|aw|antw|wg):\s*+)++", re.IGNORECASE)
_SPLIT = re.compile(r"\s[-–—|:›]\s|:\s|,\s")
_DOCUMENT = word_set("facts", "documents")
_SHORT_WEEKDAY = re.compile(
    "|".join(alternatives("file_dates", key) for key in ("weekday", "weekday_behind")), re.IGNORECASE
)
_WEEKDAY_ONLY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)


@lru_cache(maxsize=1024)
def topic(title: str) -> tuple[str, str]:
    """What a note with this title is about, and how precisely its title is dated: "day", "month", "period" or "".
    "Rates 2024" and "rates 2025" are both about "rates", "Acme - notes" about "Acme"; "" if nothing but a date is left,
    as of a diary's page, or if it says "I": "Things I need" are its writer's."""
    name = title.split(" › ")[0]
    name = _PREFIX.sub("", clean(name))
    name = _ASIDE.sub(" ", name)
    undated = _DAY.sub(" ", name)
    dated = "day" if undated != name else ""
    plain = undated.replace("_", " ")
    monthless = _MONTHLY.sub(" ", plain)
    bare = _PERIOD.sub(" ", monthless)
    dated = dated or ("month" if monthless != plain else "period" if bare != plain else "")
    parts = [part for piece in _SPLIT.split(f" {bare} ") if (part := _undocumented(piece))]
    if not parts or (_SHORT_WEEKDAY if dated == "day" else _WEEKDAY_ONLY).fullmatch(parts[0].strip("<>[]() ")):
        return "", dated or "day"
    return "" if _OF_WRITER.search(parts[0]) else parts[0], dated


_OF_WRITER = re.compile(r"\bI (?!of\b)(?=[a-z])|\b[Aa]bout me\b")


@lru_cache(maxsize=1024)
def acronym(title: str) -> str:
    """The short name that a title gives behind the long one: "Harbour Rowing Club (HRC)"; "" if it does not."""
    match = re.match(r"(?P<name>[^()]{3,80}?) \((?P<short>[A-ZÀ-Þ]{2,8})\)", title)
    if match is None:
        return ""
    letters = "".join(c for c in match["name"] if c.isupper())
    return match["short"] if match["short"][0] in letters else ""


def _undocumented(piece: str) -> str:
    words = piece.strip(" .,;:-–—|\"'").split()
    while words and words[-1].lower().strip(".,") in _DOCUMENT:
        words.pop()
    while len(words) > 1 and words[0].lower() in ("my", "our", "the"):
        words.pop(0)
    return " ".join(words).strip(" .,;:-–—|\"'")


# When it holds --------------------------------------------------------------------------------

_BEGINS_WITH_DAY = re.compile(r"\W{0,4}(?=\d{4}-\d\d-\d\d(?:\*{0,2}:| [–—-]+ ))")


def valid_from(sentence: str, at: datetime | None, happened: bool = False) -> datetime | None:
    """When what `sentence`, written at `at`, says began to hold ("from 1 November", "since March"), at this machine's
    midnight.

    Only what the sentence itself introduces as a beginning counts. A date without a year is the one nearest to when it
    was written, behind "since" the last one; a line of a log, which begins with its day, is from then. Without such
    words it is None: nothing is guessed. `happened`: it reports a change, so that also "on Friday" and "in May" are
    its time.
    """
    text = fold(sentence)
    if at is None or not may_name_time(text):
        return None
    looks: list[tuple[str, Tense]] = [("begun", "past"), ("begin", ""), ("begin", "present")]
    try:
        first = _first(text, at, looks)
        logged = _BEGINS_WITH_DAY.match(text)
        if first is None and logged is not None and (day := date_at(text, logged.end())):
            first = datetime(day.year or 0, day.month or 0, day.day or 0)
        if first is None and happened:
            first = _first(text, at, [("on", ""), ("on", "past")])
        return first and with_local_zone(first)
    except (ValueError, OverflowError):  # 31 February; the ends of time
        return None


def _first(text: str, at: datetime, looks: list[tuple[str, Tense]]) -> datetime | None:
    """The begin of the first time behind a signal, with the tense in which what comes again is meant there."""
    for kind, tense in looks:
        anywhere, right_behind = signal(kind)
        if anywhere.search(text) is None:
            continue
        for base in find_timexes(text, at.replace(tzinfo=None), tense, short_names=True):
            base = narrow(text, base)
            if right_behind.search(text, 0, base.start) or (kind == "on" and is_relative(text, base)):
                return base.span[0]
    return None
