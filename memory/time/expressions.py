"""Temporal expressions (TIMEX) of questions, resolved against the day of asking.

A signal word (TimeML) before a time selects a side of it: "since", "before", "as of". Two unrelated times are ambiguous
and resolve to None."""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from functools import cache
from typing import Literal

from memory.text.languages import alternatives, languages, stop_words, tables, word_numbers, word_set
from memory.text.words import strip_accents
from memory.time.dates import Span, month_span, months_alone, part_of_span, shift
from memory.time.timex import (
    Tense,
    Timex,
    article_pattern,
    find_timexes,
    fold,
    is_relative,
    may_name_time,
    one_of,
    parse_number,
    text_language,
    time_numbers,
    time_units,
)


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """The time of a question. `as_of`: the state at the end of the span, just before `until`. `range`: events in
    [since, until), each side optional. `now`: today. `words` are those of the question that name the time."""

    kind: Literal["as_of", "range", "now"]
    since: datetime | None
    until: datetime | None
    words: str


# Questions ------------------------------------------------------------------------------------


def resolve_time(question: str, now: datetime, zone: tzinfo | None = None) -> TimeExpression | None:
    """Returns the time of `question`, resolved against `now`; None without a time, for several and for an ambiguous
    one. Days are those of `zone`, by default the local one. A question for a time ("When did ...") only has a time with
    "as of"."""
    text = fold(question)
    if not may_name_time(text):
        return None
    try:
        return _add_zone(_resolve(text, question, now.astimezone(zone).replace(tzinfo=None)), zone)
    except (ValueError, OverflowError):  # 31 February; limits of datetime
        return None


def parse_span(text: str, now: datetime) -> Span | None:
    """Returns the span of a text that only names a time: "2026-03", "9 March", "last week". Raises like
    `find_timexes`."""
    folded = fold(text)
    times = [narrow(folded, base) for base in find_timexes(folded, now, "past", short_names=True)]
    whole = len(times) == 1 and not folded[: times[0].start].strip() and not folded[times[0].end :].strip()
    return times[0].span if whole else None


def name_day(moment: datetime, words: str, at: datetime | None) -> str:
    """Returns the local day of a moment at the precision of words written `at`: "2021", "2021-03" or "2021-03-01"; the
    full day if the words do not name it."""
    local = moment.astimezone()
    day = local.date()
    text = fold(words)
    if day.day != 1 or not may_name_time(text):
        return day.isoformat()
    now = (at or moment).astimezone().replace(tzinfo=None)
    units = set[str]()
    try:
        for tense in _TENSES_OF_NOTES:
            for base in find_timexes(text, now, tense, short_names=True):
                part = narrow(text, base)
                if base.span[0].date() == day:
                    units.add(base.unit)
                elif part.span[0].date() == day:  # "since mid 2021"
                    units.add("month" if base.unit in _UNITS else "day")
    except (ValueError, OverflowError):  # 31 February; limits of datetime
        return day.isoformat()
    if not units or not units.issubset(_UNITS):
        return day.isoformat()
    return f"{day:%Y}" if units == {"year"} and day.month == 1 else f"{day:%Y-%m}"


_UNITS = ("year", "quarter", "season", "month")  # longer than a day, and starting with a month
_TENSES_OF_NOTES: tuple[Tense, ...] = ("past", "", "present")


def asks_time(question: str) -> bool:
    """Whether a question asks when something was, how long or how often."""
    return _compile_asks().search(strip_accents(question.lower())) is not None


def contains_time(text: str) -> bool:
    """Whether a text says when: a date, a weekday, "next week", "at noon". Ambiguous names ("may") count."""
    folded = fold(text)
    named = not time_numbers("weekdays").keys().isdisjoint(_WORD.findall(folded)) or bool(_find_past(folded))
    return named or bool(find_clock_words(text))


def is_relative_to_day(text: str) -> bool:
    """Whether a text names a time by the day on which it was written: "from today", "last week", "two years ago"."""
    folded = fold(text)
    return any(
        is_relative(folded, base) or not time_units().keys().isdisjoint(_WORD.findall(folded[base.start : base.end]))
        for base in _find_past(folded)
    )


def find_clock_words(text: str) -> str:
    """Returns the time of day that a text names in words: "noon", "at ten", "at half past two"; "" if it names none."""
    match = _compile_clock_words().search(fold(text))
    return text[match.start() : match.end()] if match else ""


@cache
def _compile_clock_words() -> re.Pattern[str]:
    """Compiles for each language a name of midday or midnight; or the word for "at" and a number that counts nothing:
    before a mark, the word for the hour or one without content."""
    forms = [f"(?:{alternatives('time', 'noon')})(?!\\w)"]
    for code in languages():
        if at := alternatives("time", "at", language=code):
            number = one_of(word_numbers("time", "numbers", language=code))
            part = rf"(?:{alternatives('time', 'half', language=code) or 'half'})\s+(?:\w+\s+)?"
            after = f"{alternatives('time', 'oclock', language=code)}|{one_of(stop_words(code))}"
            forms.append(rf"(?:{at})\s+(?:{part})?(?:{number})(?=\s*(?:$|[^\w\s'’-])|\s+(?:{after})(?!\w))")
    return re.compile(rf"(?<!\w)(?:{'|'.join(forms)})")


def _find_past(folded: str) -> list[Timex]:
    try:
        return find_timexes(folded, datetime(2000, 1, 1), "past")
    except (ValueError, OverflowError):
        return []


def is_state(question: str) -> bool:
    """Whether a question asks for a state ("where did I live") rather than an event."""
    tokens = _WORD.findall(question.lower())
    if not word_set("time", "verbs", "events").isdisjoint(tokens):
        return False
    if "did" not in tokens:
        return True
    following = tokens[tokens.index("did") + 1 :]
    return word_set("time", "verbs", "events_after_did").isdisjoint(following) and not word_set(
        "time", "verbs", "states"
    ).isdisjoint(following)


def generic_verbs() -> frozenset[str]:
    """Returns verbs that ask for everything in a time: "What did I do on 5 March?"."""
    return word_set("time", "verbs", "any")


def tense(text: str) -> Tense:
    """Returns the tense of a lower-case text, by the verbs of its language; present for a question without any."""
    language = text_language(text)
    if not tables("time", "tense", language=language):
        return "past"  # like most questions to a memory
    for kind, meaning in _TENSES:
        if (pattern := _compile_tense(language, kind)) is not None and pattern.search(text):
            return meaning
    return "present" if text.rstrip().endswith("?") else ""


_TENSES: tuple[tuple[str, Tense], ...] = (
    ("past", "past"),
    ("future", "future"),
    ("perfect", "past"),
    ("present", "present"),
    ("simple_past", "past"),
)


# What precedes a time ----------------------------------------------------------------------------


def narrow(text: str, base: Timex) -> Timex:
    """Returns the base extended by "early", "the end of", "the week before", "two days after", if any."""
    for which, pattern in _compile_parts() if base.unit not in ("day", "span") else ():
        if (match := pattern.search(text, 0, base.start)) is not None:
            return Timex(match.start(), base.end, part_of_span(base.span, base.unit, which))
    match = _compile_adjacent().search(text, 0, base.start)
    return base if match is None else Timex(match.start(), base.end, _find_adjacent(base.span, match))


def _find_adjacent(span: Span, match: re.Match[str]) -> Span:
    """Returns the week, the Sunday, the two days before or after a span."""
    earlier = match["before"] is not None
    edge = span[0] if earlier else span[1]
    word = match["word"]
    unit = time_units().get(word, "weekday")
    if unit in ("weekday", "weekend"):
        weekday = time_numbers("weekdays").get(word, 5)
        days = -((edge.weekday() - weekday - 1) % 7 + 1) if earlier else (weekday - edge.weekday()) % 7
        first = edge + timedelta(days=days)
        return first, first + timedelta(days=1 if unit == "weekday" else 2)
    if not match["n"]:
        other_edge = shift(edge, unit, -1 if earlier else 1)
        return (other_edge, edge) if earlier else (edge, other_edge)
    middle = shift(edge, unit, -parse_number(match["n"]) if earlier else parse_number(match["n"]))
    slack = timedelta(days={"day": 0, "week": 3, "month": 15}.get(unit, 180))
    return middle - slack, middle + slack + timedelta(days=1)


@cache
def _compile_adjacent() -> re.Pattern[str]:
    before, after = (alternatives("time", "signals", side) for side in ("before", "after"))
    return re.compile(
        rf"(?<!\w)(?:(?:last|{alternatives('time', 'article')}|am)\s+)*"
        rf"(?:(?P<n>\d{{1,3}}|{one_of(time_numbers('numbers'))})\s+)?"
        rf"(?P<word>{one_of([*time_units(), *time_numbers('weekdays')])})"
        rf"\s+(?:(?P<before>{before})|{after})\s+{article_pattern()}\Z"
    )


@cache
def _compile_parts() -> tuple[tuple[str, re.Pattern[str]], ...]:
    suffix = rf"[\s-]+(?:(?:{alternatives('time', 'article')}|year|month)\s+)*\Z"
    return tuple(
        (which, re.compile(rf"(?<!\w)(?:{alternatives('time', 'parts', which)}){suffix}"))
        for which in ("start", "end", "early", "mid", "late")
    )


@cache
def signal(kind: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Returns (pattern of the signal words of a kind anywhere, pattern directly before a time)."""
    words = rf"(?<!\w)(?:{alternatives('time', 'signals', kind)})"
    weekday = rf"(?:(?:{one_of(time_numbers('weekdays'))}),?\s+(?:the\s+)?)?"
    return re.compile(rf"{words}(?!\w)"), re.compile(rf"{words}[\s:]\s*{article_pattern()}{weekday}\Z")


def _make_expression(side: str, span: Span, rest: str, words: str, now: datetime) -> TimeExpression | None:
    first, after = span
    state = is_state(rest)
    if side in ("since", "after"):  # the state since then may be written earlier
        return None if state else TimeExpression("range", first if side == "since" else after, None, words)
    kind: Literal["as_of", "range"] = "as_of" if side == "as_of" or (state and first <= now) else "range"
    if side in ("before", "until"):
        return TimeExpression(kind, None, first if side == "before" else after, words)
    return TimeExpression(kind, first, after, words)


def _add_zone(local: TimeExpression | None, zone: tzinfo | None) -> TimeExpression | None:
    def aware(moment: datetime | None) -> datetime | None:
        return moment and (moment.astimezone() if zone is None else moment.replace(tzinfo=zone))

    return local and replace(local, since=aware(local.since), until=aware(local.until))


def _resolve(text: str, original: str, now: datetime) -> TimeExpression | None:
    """Returns the time of a question: `text` in lower case, `original` as typed, `now` in local time."""
    asks = asks_time(text)
    other = _WORD.sub(lambda word: "" if word[0] in months_alone() else word[0], text)  # "may" is a verb here
    is_overview = not generic_verbs().isdisjoint(_WORD.findall(other))  # without a tense, an overview is about the past
    bases = find_timexes(text, now, tense(other) or ("past" if is_overview else ""))
    if len(bases) == 2 and (between := _resolve_between(text, original, *bases)) is not None:
        return None if asks else between
    bases = [base for base in bases if not base.weak or _is_named(text, base)]
    if len(bases) > 1:
        return None
    if not bases:
        match = None if asks else _compile_now().search(text)
        return match and TimeExpression("now", None, None, match[0])
    base = narrow(text, bases[0])
    side, start = signal_before(text, base.start)
    rest = text[:start] + text[base.end :]
    if asks and side != "as_of" and not (side == "in" and base.span[0] <= now and _asks_for_state(rest)):
        return None
    return _make_expression(side, base.span, rest, original[start : base.end], now)


def _asks_for_state(question: str) -> bool:
    """Whether a question for a time is about a state, "when was the gate opened in 2024", not about an event, "when did
    I move in 2024"."""
    return not word_set("time", "verbs", "been").isdisjoint(_WORD.findall(question)) and is_state(question)


def _is_named(text: str, base: Timex) -> bool:
    """Whether the words before a year, month or weekday make it a time. A year may also end the question, and any of
    them may be its only topic: "Summarise March"."""
    if narrow(text, base) is not base or signal_before(text, base.start)[0]:
        return True
    others = [*_WORD.findall(text[: base.start]), *_WORD.findall(text[base.end :])]
    if not generic_verbs().isdisjoint(others) and generic_verbs() | stop_words(text_language(text)) >= {*others}:
        return True
    return base.unit == "year" and not text[base.end :].strip(" ?.!")


def _resolve_between(text: str, original: str, base: Timex, other: Timex) -> TimeExpression | None:
    """Returns the range between two times, after "between" or "from"."""
    opened = signal("between")[1].search(text, 0, base.start)
    if opened is None or not _compile_and().fullmatch(text, base.end, other.start):
        return None
    first, after = base.span[0], other.span[1]
    if base.weak and base.month and other.month and not other.weak:  # "between March and May 2024"
        first, _ = month_span(other.span[0].year - (base.month > other.month), base.month)
    return TimeExpression("range", first, after, original[opened.start() : other.end]) if first < after else None


def signal_before(text: str, start: int) -> tuple[str, int]:
    """Returns (side of the time at `start` selected by the words before it, start of these words)."""
    for side in ("as_of", "before", "after", "since", "until", "in"):
        if (match := signal(side)[1].search(text, 0, start)) is not None:
            return side, match.start()
    return "", start


@cache
def _compile_tense(language: str, kind: str) -> re.Pattern[str] | None:
    verbs = alternatives("time", "tense", kind, language=language)
    return re.compile(rf"(?<!\w)(?:{verbs})(?!\w)") if verbs else None


@cache
def _compile_now() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{alternatives('time', 'now')})(?!\w)")


@cache
def _compile_and() -> re.Pattern[str]:
    conjunctions = alternatives("time", "signals", "and")
    return re.compile(rf"\s*(?:{conjunctions}|-|–|—)\s*(?:(?:{alternatives('time', 'article')})\s+)*")


@cache
def _compile_asks() -> re.Pattern[str]:
    """Returns pattern of the words that ask for a time in any language, without accents."""
    asks = [(data["asks"], "unspaced" in data) for data in tables() if "asks" in data]
    spaced = "|".join(
        table[kind] for table, unspaced in asks if not unspaced for kind in ("date", "duration") if kind in table
    )
    unspaced = "|".join(table["date"] for table, unspaced in asks if unspaced)
    return re.compile(strip_accents(rf"(?<!\w)(?:{spaced})(?!\w)|{unspaced}"))


_WORD = re.compile(r"\w+")
