"""Timexes: times in a text, found by one grammar and resolved against a reference time.

"March 2024", "last spring", "the 26th"; `expressions` reads the words before them. A recurring time is the last one in
the past tense, else the next one. Ambiguous times such as 3/4/2024 are skipped. Seasons are those of the northern
hemisphere. The words come from all known languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache
from typing import Literal, NamedTuple

from memory.text.languages import alternatives, guess_language, languages, stop_words, tables, word_numbers, word_set
from memory.text.words import LETTER, ascii_digits
from memory.time.dates import (
    WRITTEN_YEARS,
    CalendarDate,
    Span,
    day_span,
    find_dates,
    month_names,
    month_span,
    months_alone,
    shift,
    unit_span,
)

Tense = Literal["past", "present", "future", ""]


class Timex(NamedTuple):
    """A time without context, at characters [start, end). `unit` is its granularity. `weak`: only a time after certain
    words ("in March", "since 2020"). `month`: a month that may take its year from another time ("between March and May
    2024")."""

    start: int
    end: int
    span: Span
    unit: str = "day"
    weak: bool = False
    month: int | None = None


def fold(text: str) -> str:
    """Returns `text` in lower case and with ASCII digits; no character moves."""
    plain = ascii_digits(text)
    lower = plain.lower()
    return lower if len(lower) == len(text) else plain  # a few letters get longer in lower case


def may_name_time(text: str) -> bool:
    """Whether a folded text can contain a time; a quick test that most texts fail."""
    return not text.isascii() or _DIGIT.search(text) is not None or not _read_cues().isdisjoint(_WORD.findall(text))


def text_language(text: str) -> str:
    """Returns the language of a folded text, first by the names of months and weekdays."""
    guessed = guess_language(text)
    named = [language for word in _WORD.findall(text) for language in _read_languages_of_names().get(word, ())]
    return named[0] if named and guessed not in named else guessed


def is_relative(text: str, base: Timex) -> bool:
    """Whether a time is relative to now: "yesterday", "last week"."""
    return not base.weak and _compile_relative().match(text, base.start) is not None


def find_timexes(text: str, now: datetime, tense: Tense, short_names: bool = False) -> list[Timex]:
    """Returns the times in a folded text, in order; of overlapping ones the longer. `short_names`: also months without
    a year by ambiguous names, "since Jan". Raises ValueError or OverflowError for an invalid day."""
    return _Finder(text, now, tense, month_names() if short_names else months_alone()).find()


class _Finder:
    """Finds the times of one text, relative to the local time `now`."""

    def __init__(self, text: str, now: datetime, tense: Tense, months: dict[str, int]) -> None:
        self.text = text
        self.months = months
        self.now = now
        self.today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        self.tense = tense
        self._taken: list[tuple[int, int]] = []

    def find(self) -> list[Timex]:
        times: list[Timex] = []
        tokens = frozenset(_WORD.findall(self.text))
        for needed, pattern, meaning in _read_patterns():
            if pattern is None:
                times += self._find_dates()
            elif needed is None or not self.text.isascii() or not needed.isdisjoint(tokens):
                times += self._read_matches(pattern, meaning)
        return sorted(times)

    def _read_matches(self, pattern: re.Pattern[str], meaning: _Meaning) -> Iterator[Timex]:
        for match in pattern.finditer(self.text):
            if not self._is_free(match.span()):
                continue
            try:
                base = meaning(self, match)
            except KeyError:  # it contains a word without a meaning
                continue
            # A match without a meaning blocks the other patterns, too.
            self._taken.append(match.span() if base is None else (base.start, base.end))
            if base is not None:
                yield base

    def _is_free(self, span: tuple[int, int]) -> bool:
        return not any(start < span[1] and span[0] < end for start, end in self._taken)

    # Calendar dates -------------------------------------------------------------------------------

    def _find_dates(self) -> Iterator[Timex]:
        for match in find_dates(self.text, short_years=True):
            if self._is_free((match.start, match.end)) and (base := self._read_date(match)) is not None:
                self._taken.append((match.start, match.end))
                yield base

    def _read_date(self, match: CalendarDate) -> Timex | None:
        place = match.start, match.end
        year, month, day = match.year, match.month, match.day
        if year is not None and year not in WRITTEN_YEARS:
            return None
        if year is None or month is None:
            if year is not None:  # "2023-24" is no year
                is_range = _YEARS_RANGE.match(self.text, match.end) is not None
                return None if is_range else Timex(*place, month_span(year, 1, 12), "year", weak=True)
            if match.name and match.name not in self.months:
                return None
            return Timex(*place, self._pick(_list_days(month or 0, day or 0, self.now.year)))
        if day is None:
            return Timex(*place, month_span(year, month), "month", month=month)
        return Timex(*place, day_span(datetime(year, month, day)))

    def part_of_year(self, match: re.Match[str]) -> Timex | None:
        length = 6 if match["half"] else 3
        last = length * (int(match["q"]) if match["q"] else time_numbers("ordinals")[match["nth"]])
        return Timex(*match.span(), month_span(int(match["y"]), last - length + 1, length)) if last <= 12 else None

    # What comes again -----------------------------------------------------------------------------

    def season(self, match: re.Match[str]) -> Timex | None:
        month = 3 * time_numbers("seasons")[match["season"]]
        if not match["y"]:
            return self._resolve_yearly(match, lambda year: month_span(year, month, 3), "season")
        if month == 12 and not match["y2"]:
            return None  # ambiguous: the winter that begins or the one that ends in that year
        return Timex(*match.span(), month_span(int(match["y"]), month, 3), "season")

    def feast(self, match: re.Match[str]) -> Timex:
        first, days = (
            ((12, 24), 3) if re.fullmatch(alternatives("time", "christmas"), match["feast"]) else ((12, 31), 2)
        )

        def make_span(year: int) -> Span:
            return datetime(year, *first), datetime(year, *first) + timedelta(days=days)

        if match["y"]:
            return Timex(*match.span(), make_span(int(match["y"])))
        return self._resolve_yearly(match, make_span, "day")._replace(weak=False)

    def month(self, match: re.Match[str]) -> Timex:
        month = self.months[match["mon"]]
        return self._resolve_yearly(match, lambda year: month_span(year, month), "month", month)

    def _resolve_yearly(
        self, match: re.Match[str], make_span: Callable[[int], Span], unit: str, month: int | None = None
    ) -> Timex:
        """Returns a yearly time: the one selected by "last", "this" or "next", else by the tense."""
        years = [make_span(self.now.year + step) for step in range(-2, 3)]
        span = years[2] if match["this"] else self._pick(years, match["last"], match["next"])
        return Timex(*match.span(), span, unit, not (match["last"] or match["next"] or match["this"]), month)

    def weekday(self, match: re.Match[str]) -> Timex | None:
        if not (match["last"] or match["next"] or self.tense):
            return None
        first = self.today + timedelta(days=time_numbers("weekdays")[match["weekday"]] - self.today.weekday())
        weeks = [day_span(first + timedelta(days=7 * step)) for step in range(-2, 3)]
        span = self._pick(weeks, match["last"], match["next"])
        return Timex(*match.span(), span, weak=not (match["last"] or match["next"] or match["this"]))

    def day_of_month(self, match: re.Match[str]) -> Timex | None:
        """Reads "the 26th", but not of a floor or another numbered thing."""
        following = _NEXT_WORD.match(self.text, match.end())
        if following is not None and following[1] not in stop_words(text_language(self.text)) | _read_verbs():
            return None
        number = int(match["d"])
        months = (month_span(self.now.year, self.now.month + step) for step in range(-2, 4))
        days = [
            day_span(first + timedelta(days=number - 1)) for first, after in months if number <= (after - first).days
        ]
        return Timex(*match.span(), self._pick(days), weak=True) if 0 < number <= 31 else None

    def _pick(self, spans: list[Span], last: str | None = None, following: str | None = None) -> Span:
        """Selects one of several spans in order. ValueError if all are out of range."""
        if last:
            return max(span for span in spans if span[1] <= self.now)
        if following:
            return min(span for span in spans if span[0] > self.now)
        if self.tense == "past":
            return max(span for span in spans if span[0] <= self.now)
        if self.tense:
            return min(span for span in spans if span[1] > self.now)
        return min(spans, key=lambda span: abs(span[0] - self.today))

    # Seen from today ------------------------------------------------------------------------------

    def day_word(self, match: re.Match[str]) -> Timex:
        return Timex(*match.span(), day_span(self.today + timedelta(days=_read_day_words()[match["day"]])))

    def count_back(self, match: re.Match[str]) -> Timex:
        return self._step(match, -1)

    def count_forward(self, match: re.Match[str]) -> Timex | None:
        """Reads "in two weeks", unless it is a duration: in the past tense, or "in a week" in a habit."""
        count = parse_number(match["n"])
        return self._step(match, 1) if self.tense != "past" and (count > 1 or self.tense == "future") else None

    def _step(self, match: re.Match[str], step: int) -> Timex:
        """Returns the day, month or year at a distance from today; for weeks that day and three on either side."""
        unit = time_units()[match["unit"]]
        then = shift(self.today, unit, step * parse_number(match["n"]))
        if unit == "day":
            return Timex(*match.span(), day_span(then))
        if unit in ("week", "weekend"):
            return Timex(*match.span(), (then - timedelta(days=3), then + timedelta(days=4)), "week")
        return Timex(*match.span(), unit_span(then, unit), unit)

    def last_units(self, match: re.Match[str]) -> Timex:
        """Reads "in the last two weeks": up to today."""
        first = shift(self.today, time_units()[match["unit"]], -parse_number(match["n"]))
        return Timex(*match.span(), (first, self.today + timedelta(days=1)), "span")

    def next_units(self, match: re.Match[str]) -> Timex:
        after = shift(self.today, time_units()[match["unit"]], parse_number(match["n"]))
        return Timex(*match.span(), (self.today, after + timedelta(days=1)), "span")

    def unit(self, match: re.Match[str]) -> Timex | None:
        unit = time_units()[match["unit"]]
        if unit == "day":
            return None  # "the next day" of a story
        step = -1 if match["last"] else 1 if match["next"] else 0
        return Timex(*match.span(), unit_span(shift(self.today, unit, step), unit), unit)


def _list_days(month: int, day: int, year: int) -> list[Span]:
    """Returns that day in the years around `year`, without years that have no 29 February."""
    months = (month_span(year_nearby, month) for year_nearby in range(year - 8, year + 9))
    return [day_span(first + timedelta(days=day - 1)) for first, after in months if day <= (after - first).days]


# Words and patterns ---------------------------------------------------------------------------


@cache
def time_numbers(key: str) -> dict[str, int]:
    """Returns {word: 1, 2, 3 ...} of a list of time, such as the seasons; weekdays from 0."""
    return word_numbers("time", key, first={"weekdays": 0}.get(key, 1))


def parse_number(text: str) -> int:
    """Returns the number in digits or words. Raises KeyError."""
    return int(text) if text.isdecimal() else time_numbers("numbers")[text]


@cache
def time_units() -> dict[str, str]:
    """Returns {word, singular or plural: unit}."""
    return {word: unit for table in tables("time", "units") for unit, words in table.items() for word in words.split()}


@cache
def _read_day_words() -> dict[str, int]:
    """Returns {day or part of a day without a date: days from today}."""
    return {
        words: int(days)
        for table in tables("time", "days")
        for days, listed in table.items()
        for words in listed.split("|")
    }


@cache
def _read_languages_of_names() -> dict[str, list[str]]:
    """Returns {name of a month, weekday or season: its languages}."""
    languages_of: dict[str, list[str]] = {}
    for language, data in languages().items():
        named = (data.get("time", {}).get(key, ()) for key in ("months", "weekdays", "seasons"))
        for word in (word for lists in named for listed in lists for word in listed.split()):
            languages_of.setdefault(word, []).append(language)
    return languages_of


@cache
def _read_verbs() -> frozenset[str]:
    return word_set("time", "verbs", "events") | word_set("time", "verbs", "states") | word_set("time", "verbs", "any")


@cache
def _read_cues() -> frozenset[str]:
    """Returns cues: any ASCII text with a time contains a digit or one of them, the longest word of each name."""
    names = [*month_names(), *time_numbers("seasons"), *time_numbers("weekdays"), *time_units(), *_read_day_words()]
    names += "|".join(alternatives("time", key) for key in ("now", "christmas", "new_year")).split("|")
    return frozenset(max(_WORD.findall(name), key=len) for name in names)


def one_of(words: Iterable[str]) -> str:
    """Returns words as a regular expression, longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


@cache
def article_pattern() -> str:
    """Returns pattern of what may come between a signal and a time."""
    return rf"(?:(?:{alternatives('time', 'article')})\s+)*"


@cache
def _compile_relative() -> re.Pattern[str]:
    words = "|".join([*(alternatives("time", key) for key in ("last", "next", "this")), one_of(_read_day_words())])
    return re.compile(rf"(?:{words})(?!\w)")


_Meaning = Callable[[_Finder, re.Match[str]], Timex | None]


@cache
def _read_patterns() -> tuple[tuple[frozenset[str] | None, re.Pattern[str] | None, _Meaning], ...]:
    """Returns (required words if any, pattern or None for calendar dates, meaning). Longer patterns come first because
    a match blocks later ones. Long word lists are looked up in tables: compiling them into patterns takes 0.1 s."""
    last, following, this = (alternatives("time", key) for key in ("last", "next", "this"))
    which = rf"(?:(?P<last>{last})|(?P<next>{following})|(?P<this>{this}))\s+"
    particles = rf"(?:,?\s+(?:(?:{alternatives('time', 'of')}|{alternatives('time', 'of_year')})\s+)?)"
    year = r"(?P<y>(?:19|20)\d\d)"
    nth, half = rf"(?P<nth>{one_of(time_numbers('ordinals'))})", alternatives("time", "half")
    before, after = (alternatives("time", "signals", side) for side in ("before", "after"))
    no_date_after = rf"(?!\s+(?:{before}|{after})\s+{article_pattern()}(?:\d|[^\W\d_]{{3,12}}\s+\d))"
    quarters = [word for word, unit in time_units().items() if unit == "quarter"]
    feast = f"{alternatives('time', 'christmas')}|{alternatives('time', 'new_year')}"
    n, unit = r"(?P<n>\d{1,3}|[^\W\d_]{1,7})", r"(?P<unit>[^\W\d_]{2,12})(?!\w)"
    seasons, weekdays = (frozenset(time_numbers(key)) for key in ("seasons", "weekdays"))
    units = frozenset(time_units())

    def counted(key: str, meaning: _Meaning) -> Iterator[tuple[frozenset[str] | None, str, _Meaning]]:
        for phrase in (phrase for phrases in tables("time", key) for phrase in phrases):
            yield units, rf"(?<!\w){phrase.replace('{unit}', unit).replace('{n}', n)}(?!\w)", meaning

    rows: list[tuple[frozenset[str] | None, str, _Meaning]] = [
        (frozenset((*half.split("|"), *quarters, "q1", "q2", "q3", "q4")),
         rf"(?<!\w)(?:q(?P<q>[1-4])|{nth} (?:(?P<half>{half})|{one_of(quarters)}))"
         rf"\s+(?:(?:{alternatives('time', 'of')})\s+)?{year}(?![\d%/]|[.,]\d|-\d)", _Finder.part_of_year),
        (seasons, rf"(?<!\w)(?:{which})?(?P<season>{one_of(seasons)})(?!\w)"
         rf"(?:{particles}{year}(?:\s?[/-]\s?(?P<y2>(?:\d\d)?\d\d))?(?!\d))?", _Finder.season),
        (frozenset(max(_WORD.findall(name), key=len) for name in feast.split("|")),
         rf"(?<!\w)(?:{which})?(?P<feast>{feast})(?!\w)(?:{particles}{year}(?![\d%/]|[.,]\d|-\d))?", _Finder.feast),
        (None, "", _Finder.day_of_month),
        *counted("ago", _Finder.count_back),
        *counted("ahead", _Finder.count_forward),
        (units, rf"(?<!\w)(?:{last})\s+{n}\s+{unit}", _Finder.last_units),
        *counted("last_units", _Finder.last_units),
        (units, rf"(?<!\w)(?:{following})\s+{n}\s+{unit}", _Finder.next_units),
        (units, rf"(?<!\w){which}{unit}{no_date_after}", _Finder.unit),
        (units, rf"(?<!\w)(?:la |le |l['’]|el ){unit}\s+(?:(?P<last>{alternatives('time', 'last_after')})"
         rf"|(?P<next>{alternatives('time', 'next_after')}))(?!\w)", _Finder.unit),
        (weekdays, rf"(?<!\w)(?:{which})?(?P<weekday>{one_of(weekdays)})(?!\w){no_date_after}", _Finder.weekday),
        (frozenset(month_names()), rf"(?<!\w)(?:{which})?(?P<mon>{LETTER}{{3,12}})(?!\w)", _Finder.month),
        (frozenset(max(_WORD.findall(name), key=len) for name in _read_day_words()),
         rf"(?<!\w)(?P<day>{one_of(_read_day_words())})(?!\w)", _Finder.day_word),
        *(
            (None, rf"(?<!\w){phrase.replace('{d}', r'(?P<d>[0-3]?[0-9])')}(?!\w)", _Finder.day_of_month)
            for phrases in tables("time", "day_of_month")
            for phrase in phrases
        ),
    ]  # fmt: skip
    return tuple((needed, re.compile(pattern) if pattern else None, meaning) for needed, pattern, meaning in rows)


_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\w+")
_YEARS_RANGE = re.compile(r"-\d")
_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")
