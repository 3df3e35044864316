"""Temporal expressions (TIMEX): the time that a question speaks of, seen from the day on which it is asked.

A signal (TimeML) before a time says which side of it is meant: "since", "before", "as of". Nothing is guessed: of two
times that have nothing to do with each other neither is meant.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from functools import cache
from typing import Literal

from memory.text.languages import alternatives, stop_words, tables, word_set
from memory.text.words import strip_accents
from memory.time.dates import months_alone
from memory.time.spans import Span, month_span, part_of_span, shift
from memory.time.timex import (
    Tense,
    Timex,
    article_pattern,
    find_timexes,
    fold,
    may_name_time,
    one_of,
    parse_number,
    text_language,
    time_numbers,
    time_units,
)


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """The time a question speaks of. `as_of`: the world as it stood at the end of the span, just before `until`.
    `range`: what happened from `since` on and before `until`; either may be open. `now`: today. `words` are those of
    the question that say so."""

    kind: Literal["as_of", "range", "now"]
    since: datetime | None
    until: datetime | None
    words: str


# Questions ------------------------------------------------------------------------------------


def resolve_time(question: str, now: datetime, zone: tzinfo | None = None) -> TimeExpression | None:
    """The time `question` speaks of, seen from `now`; None if it speaks of none, of several, or unclearly. Days are
    those of `zone`, by default of this machine. A question that asks for a time ("When did ...") has one only if it
    says "as of"."""
    text = fold(question)
    if not may_name_time(text):
        return None
    try:
        return _in_zone(_resolve(text, question, now.astimezone(zone).replace(tzinfo=None)), zone)
    except (ValueError, OverflowError):  # 31 February; the ends of time
        return None


def parse_span(text: str, now: datetime) -> Span | None:
    """The span that a text names which says nothing else: "2026-03", "9 March", "last week". Raises as `find_timexes`
    does."""
    folded = fold(text)
    found = [narrow(folded, base) for base in find_timexes(folded, now, "past", short_names=True)]
    whole = len(found) == 1 and not folded[: found[0].start].strip() and not folded[found[0].end :].strip()
    return found[0].span if whole else None


def told_day(moment: datetime, said: str, at: datetime | None) -> str:
    """The local day of a moment as precisely as words that were written `at` name it: "2021", "2021-03" or
    "2021-03-01"; the day where they name it not at all."""
    local = moment.astimezone()
    day = local.date()
    text = fold(said)
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
    except (ValueError, OverflowError):  # 31 February; the ends of time
        return day.isoformat()
    if not units or not units.issubset(_UNITS):
        return day.isoformat()
    return f"{day:%Y}" if units == {"year"} and day.month == 1 else f"{day:%Y-%m}"


_UNITS = ("year", "quarter", "season", "month")  # that are longer than a day, and begin with a month
_TENSES_OF_NOTES: tuple[Tense, ...] = ("past", "", "present")


def apply_signal(
    side: str, span: Span, rest: str, words: str, now: datetime, zone: tzinfo | None
) -> TimeExpression | None:
    """What a question means by one side of a span ("before", "since", "in" ...); `rest` is the question without it,
    `words` are those that name it. `span` and `now` are local times of `zone`."""
    return _in_zone(_meant(side, span, rest, words, now), zone)


def asks_time(question: str) -> bool:
    """Whether a question asks when something was, how long or how often."""
    return _asks().search(strip_accents(question.lower())) is not None


def names_time(text: str) -> bool:
    """Whether a few words name a time and hardly anything else: "March 2024", not "room 2014"."""
    folded = fold(text)
    try:
        found = find_timexes(folded, datetime(2000, 1, 1), "past")
    except (ValueError, OverflowError):
        return False
    return any(not one.weak and one.start == 0 and one.end == len(folded) for one in found)


def is_state(question: str) -> bool:
    """Whether a question asks how things stood ("where did I live") rather than what happened."""
    said = _WORD.findall(question.lower())
    if not word_set("time", "verbs", "events").isdisjoint(said):
        return False
    if "did" not in said:
        return True
    behind = said[said.index("did") + 1 :]
    return word_set("time", "verbs", "events_after_did").isdisjoint(behind) and not word_set(
        "time", "verbs", "states"
    ).isdisjoint(behind)


def generic_verbs() -> frozenset[str]:
    """Verbs that ask for all of a time, whatever happened: "What did I do on 5 March?"."""
    return word_set("time", "verbs", "any")


def tense(text: str) -> Tense:
    """The tense of a text in lower case, by the verbs of its language; a question without any is in the present."""
    language = text_language(text)
    if not tables("time", "tense", language=language):
        return "past"  # as most questions to a memory are
    for kind, meaning in _TENSES:
        if (pattern := _tense(language, kind)) is not None and pattern.search(text):
            return meaning
    return "present" if text.rstrip().endswith("?") else ""


_TENSES: tuple[tuple[str, Tense], ...] = (
    ("past", "past"),
    ("future", "future"),
    ("perfect", "past"),
    ("present", "present"),
    ("simple_past", "past"),
)


# What stands before a time ---------------------------------------------------------------------


def narrow(text: str, base: Timex) -> Timex:
    """The base with what narrows it: "early", "the end of", "the week before", "two days after"; else the same."""
    for which, pattern in _parts() if base.unit not in ("day", "span") else ():
        if (match := pattern.search(text, 0, base.start)) is not None:
            return Timex(match.start(), base.end, part_of_span(base.span, base.unit, which))
    match = _beside_pattern().search(text, 0, base.start)
    return base if match is None else Timex(match.start(), base.end, _beside(base.span, match))


def _beside(span: Span, match: re.Match[str]) -> Span:
    """The week, the Sunday, the two days before or after a span."""
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
        one, two = edge, shift(edge, unit, -1 if earlier else 1)
        return (two, one) if earlier else (one, two)
    middle = shift(edge, unit, -parse_number(match["n"]) if earlier else parse_number(match["n"]))
    slack = timedelta(days={"day": 0, "week": 3, "month": 15}.get(unit, 180))
    return middle - slack, middle + slack + timedelta(days=1)


@cache
def _beside_pattern() -> re.Pattern[str]:
    before, after = (alternatives("time", "signals", side) for side in ("before", "after"))
    return re.compile(
        rf"(?<!\w)(?:(?:last|{alternatives('time', 'article')}|am)\s+)*"
        rf"(?:(?P<n>\d{{1,3}}|{one_of(time_numbers('numbers'))})\s+)?"
        rf"(?P<word>{one_of([*time_units(), *time_numbers('weekdays')])})"
        rf"\s+(?:(?P<before>{before})|{after})\s+{article_pattern()}\Z"
    )


@cache
def _parts() -> tuple[tuple[str, re.Pattern[str]], ...]:
    behind = rf"[\s-]+(?:(?:{alternatives('time', 'article')}|year|month)\s+)*\Z"
    return tuple(
        (which, re.compile(rf"(?<!\w)(?:{alternatives('time', 'parts', which)}){behind}"))
        for which in ("start", "end", "early", "mid", "late")
    )


@cache
def signal(kind: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The words that say how a time relates to what is said, anywhere in a text, and right behind them a time."""
    words = rf"(?<!\w)(?:{alternatives('time', 'signals', kind)})"
    weekday = rf"(?:(?:{one_of(time_numbers('weekdays'))}),?\s+(?:the\s+)?)?"
    return re.compile(rf"{words}(?!\w)"), re.compile(rf"{words}[\s:]\s*{article_pattern()}{weekday}\Z")


def _meant(side: str, span: Span, rest: str, words: str, now: datetime) -> TimeExpression | None:
    first, after = span
    state = is_state(rest)
    if side in ("since", "after"):  # how things have stood since then may have been told before
        return None if state else TimeExpression("range", first if side == "since" else after, None, words)
    kind: Literal["as_of", "range"] = "as_of" if side == "as_of" or (state and first <= now) else "range"
    if side in ("before", "until"):
        return TimeExpression(kind, None, first if side == "before" else after, words)
    return TimeExpression(kind, first, after, words)


def _in_zone(local: TimeExpression | None, zone: tzinfo | None) -> TimeExpression | None:
    def aware(moment: datetime | None) -> datetime | None:
        return moment and (moment.astimezone() if zone is None else moment.replace(tzinfo=zone))

    return local and replace(local, since=aware(local.since), until=aware(local.until))


def _resolve(text: str, said: str, now: datetime) -> TimeExpression | None:
    """The time of a question: `text` in lower case, `said` as it is, `now` in local time."""
    asks = asks_time(text)
    other = _WORD.sub(lambda word: "" if word[0] in months_alone() else word[0], text)  # "may" is a verb elsewhere
    is_overview = not generic_verbs().isdisjoint(_WORD.findall(other))  # what happened is over, if no verb says when
    bases = find_timexes(text, now, tense(other) or ("past" if is_overview else ""))
    if len(bases) == 2 and (between := _between(text, said, *bases)) is not None:
        return None if asks else between
    bases = [base for base in bases if not base.weak or _is_named(text, base)]
    if len(bases) > 1:
        return None
    if not bases:
        found = None if asks else _now().search(text)
        return found and TimeExpression("now", None, None, found[0])
    base = narrow(text, bases[0])
    side, start = signal_before(text, base.start)
    rest = text[:start] + text[base.end :]
    if asks and side != "as_of" and not (side == "in" and base.span[0] <= now and _asks_how_it_was(rest)):
        return None
    return _meant(side, base.span, rest, said[start : base.end], now)


def _asks_how_it_was(question: str) -> bool:
    """Whether a question for a time is one for how things stood, "when was the gate opened in 2024", and not for when
    something happened, "when did I move in 2024"."""
    return not word_set("time", "verbs", "been").isdisjoint(_WORD.findall(question)) and is_state(question)


def _is_named(text: str, base: Timex) -> bool:
    """Whether words before a year, a month or a weekday make it a time; a year may also end the question, and any
    of them be all that it is asked of: "Summarise March"."""
    if narrow(text, base) is not base or signal_before(text, base.start)[0]:
        return True
    beside = [*_WORD.findall(text[: base.start]), *_WORD.findall(text[base.end :])]
    if not generic_verbs().isdisjoint(beside) and generic_verbs() | stop_words(text_language(text)) >= {*beside}:
        return True
    return base.unit == "year" and not text[base.end :].strip(" ?.!")


def _between(text: str, said: str, one: Timex, two: Timex) -> TimeExpression | None:
    """What lies between two times, if the question says "between" or "from" them."""
    opened = signal("between")[1].search(text, 0, one.start)
    if opened is None or not _and().fullmatch(text, one.end, two.start):
        return None
    first, after = one.span[0], two.span[1]
    if one.weak and one.month and two.month and not two.weak:  # "between March and May 2024"
        first, _ = month_span(two.span[0].year - (one.month > two.month), one.month)
    return TimeExpression("range", first, after, said[opened.start() : two.end]) if first < after else None


def signal_before(text: str, start: int) -> tuple[str, int]:
    """Which side of the time that begins at `start` is meant, by the words before it, and where these begin."""
    for side in ("as_of", "before", "after", "since", "until", "in"):
        if (match := signal(side)[1].search(text, 0, start)) is not None:
            return side, match.start()
    return "", start


@cache
def _tense(language: str, kind: str) -> re.Pattern[str] | None:
    said = alternatives("time", "tense", kind, language=language)
    return re.compile(rf"(?<!\w)(?:{said})(?!\w)") if said else None


@cache
def _now() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{alternatives('time', 'now')})(?!\w)")


def says_now(text: str) -> bool:
    """Whether a word of a text says that something is so now."""
    return _now().search(fold(text)) is not None


@cache
def _and() -> re.Pattern[str]:
    said = alternatives("time", "signals", "and")
    return re.compile(rf"\s*(?:{said}|-|–|—)\s*(?:(?:{alternatives('time', 'article')})\s+)*")


@cache
def _asks() -> re.Pattern[str]:
    """What asks for a time in any language, without accents."""
    asks = [(data["asks"], "unspaced" in data) for data in tables() if "asks" in data]
    spaced = "|".join(
        one[kind] for one, unspaced in asks if not unspaced for kind in ("date", "duration") if kind in one
    )
    unspaced = "|".join(one["date"] for one, unspaced in asks if unspaced)
    return re.compile(strip_accents(rf"(?<!\w)(?:{spaced})(?!\w)|{unspaced}"))


_WORD = re.compile(r"\w+")
