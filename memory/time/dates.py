"""Calendar dates in text: in digits, or with a month name of any known language.

"2024-03-05", "05.03.24", "5. März 2024", "March 5", "2024年3月5日", "March 2024", "2024". Ambiguous dates are skipped:
half of the readers would misread 3/4/2024."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import cache
from typing import NamedTuple

from memory.text.languages import alternatives, word_numbers, word_set
from memory.text.words import LETTER, ascii_digits, strip_accents

MAX_VALUE_CHARS = 100  # a longer value is prose
WRITTEN_YEARS = range(1900, 2100)  # accepted years of a date
_NAME_CHARS = 24  # between the start of a month name and the day or year after it


class CalendarDate(NamedTuple):
    """A date in a text; missing parts are None. `name`: the month name as written, "" in digits."""

    start: int
    end: int
    year: int | None
    month: int | None = None
    day: int | None = None
    name: str = ""

    def iso(self) -> str:
        """Returns the date in ISO 8601 at its precision; "-03-05" without a year."""
        return "-".join([str(self.year or ""), *(f"{part:02}" for part in (self.month, self.day) if part)])


# Names of months ------------------------------------------------------------------------------


@cache
def month_names() -> dict[str, int]:
    """Returns {name of a month in lower case, also without accents: 1 to 12}."""
    named = word_numbers("time", "months", first=1)
    return named | {strip_accents(name): number for name, number in named.items()}


@cache
def months_alone() -> dict[str, int]:
    """Returns the month names that are clear even without a day or year: long names, "May", "mars"."""
    short = word_set("time", "months_alone")
    return {name: month for name, month in month_names().items() if len(name) > 4 or name in short}


def month_of(name: str) -> int | None:
    """Returns 1 to 12 for a month name, also with letters that match others regardless of case: ſ, ı."""
    lower = name.lower()
    return month_names().get(lower) or month_names().get(strip_accents(unicodedata.normalize("NFKC", lower)))


# Dates in a text ------------------------------------------------------------------------------


def find_dates(text: str, short_years: bool = False, compact: bool = False, start: int = 0) -> Iterator[CalendarDate]:
    """Yields the dates in `text`, in order, without overlaps, with the digits of any script. `short_years`: also
    two-digit years, 05.03.24; `compact`: also 20240305."""
    text, end = ascii_digits(text), start
    for run in _DIGITS.finditer(text, start):
        if run.start() < end or len(run[0]) not in _IN_DIGITS:
            continue
        day = _match_digits(text, run, short_years, compact) or _match_name(text, run, end)
        if day is None and _BARE_YEAR.match(text, run.start()):
            day = CalendarDate(*run.span(), int(run[0]))
        if day is not None:
            end = day.end
            if day.year is not None or day.day is not None:
                yield day


def date_at(text: str, start: int) -> CalendarDate | None:
    """Returns the full date that begins at `start`."""
    day = next(find_dates(text[: start + MAX_VALUE_CHARS], short_years=True, start=start), None)
    return day if day is not None and day.start == start and day.year and day.day else None


def _match_digits(text: str, run: re.Match[str], short_years: bool, compact: bool) -> CalendarDate | None:
    """Returns the date in digits that begins with `run`; without year and day if it is ambiguous."""
    for kind, pattern in _IN_DIGITS.get(len(run[0]), ()):
        if (kind == "short" and not short_years) or (kind == "compact" and not compact):
            continue
        match = pattern.match(text, run.start())
        if match is None:
            continue
        part = match.groupdict()
        month, day = int(part.get("m") or _ROMAN.get(part.get("r", ""), 0)), int(part.get("d") or 0)
        if kind == "slashed" and month <= 12 and day <= 12 and month != day:
            return CalendarDate(*match.span(), None)
        month, day = (day, month) if kind == "slashed" and month > 12 else (month, day)
        if (whole := _build(match.span(), part.get("y"), month, day)) is not None:
            return whole
    return None


def _match_name(text: str, run: re.Match[str], begin: int) -> CalendarDate | None:
    """Returns the date with a month name after or before `run`; the name begins at `begin` or later."""
    day_first, near, far, day_after, year_after = _compile_named_dates()
    if len(run[0]) <= 2:
        match = day_first.match(text, run.start())
        if match is not None and (month := month_of(match["name"])):
            return _build(match.span(), match["y"], month, int(match["d"]), match["name"])
    match = (day_after if len(run[0]) <= 2 else year_after).match(text, run.start())
    if match is None:  # checked first: searching for a name is slower
        return None
    name = (near if len(run[0]) <= 2 else far).search(text, max(begin, run.start() - _NAME_CHARS), run.start())
    month = month_of(name["name"]) if name is not None else None
    if name is None or month is None:
        return None
    return _build((name.start(), match.end()), match["y"], month, int(match.groupdict().get("d") or 0), name["name"])


def _build(span: tuple[int, int], year: str | None, month: int, day: int, name: str = "") -> CalendarDate | None:
    if month > 12 or day > 31 or not (month or year):
        return None
    number = int(year.strip("'’")) if year else None
    if number is not None and number < 100:
        number += 2000 if number < 70 else 1900
    return CalendarDate(*span, number, month or None, day or None, name)


_DIGITS = re.compile(r"\d+")
_ROMAN = {name: month for month, name in enumerate("i ii iii iv v vi vii viii ix x xi xii".split(), 1)}
_Y = r"(?P<y>(?:1\d|20)\d\d)"
_SOME_Y = r"(?P<y>(?:1\d|20)\d\d(?!\d|[.,]\d)|['’]\d\d(?!\d))"
_NAME = rf"(?P<name>{LETTER}{{3,14}})(?!{LETTER})"
_IN_DIGITS = {  # number of leading digits -> patterns
    length: tuple((kind, re.compile(pattern)) for kind, pattern in patterns)
    for lengths, patterns in (
        ((1, 2), (
            ("roman", r"(?<![\d.])(?P<d>\d{1,2})\.(?P<r>[ivx]{1,4})\.(?P<y>(?:1\d|20)?\d\d)(?![\w.])"),
            ("dotted", rf"(?<!\d\.)(?P<d>\d{{1,2}})\.\s?(?P<m>\d{{1,2}})\.\s?{_Y}(?!\.?\d)"),
            ("short", r"(?<!\d\.)(?P<d>\d\d)\.(?P<m>\d\d)\.(?P<y>\d\d)(?![\d.])"),
            ("slashed", rf"(?<!\d[/-])(?P<d>\d{{1,2}})(?P<mark>[/-])(?P<m>\d{{1,2}})(?P=mark){_Y}(?![\d/])"),
            ("characters", r"(?P<m>\d{1,2})\s?[月월]\s?(?P<d>\d{1,2})\s?[日號号일]"),
        )),
        ((4,), (
            ("iso", rf"(?<!\d[.-]){_Y}(?P<mark>[-/._])(?P<m>\d{{1,2}})(?P=mark)(?P<d>\d{{1,2}})(?!\.?\d)"),
            ("month", rf"(?<!\d[.-]){_Y}-(?P<m>0?[1-9]|1[0-2])(?!-?\d)"),
            ("characters",
             rf"{_Y}\s?[年년](?:\s?(?P<m>\d{{1,2}})\s?[月월](?:\s?(?P<d>\d{{1,2}})\s?[日號号일])?)?"),
        )),
        ((8,), (("compact", rf"{_Y}(?P<m>\d\d)(?P<d>\d\d)"),)),
    )
    for length in lengths
}  # fmt: skip
_BARE_YEAR = re.compile(r"(?<![\w$€£.,:/#])(?<!\d-)(?:1\d|20)\d\d(?![\w%/]|[.,:]\d)")


@cache
def _compile_named_dates() -> tuple[re.Pattern[str], ...]:
    particles = alternatives("time", "of")
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"(?<![^\W_])(?<!\d[.,:/])(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|e|\.|º|ª|-?го|η)?[\s-]*(?:(?:{particles})\s+)?"
            rf"{_NAME}(?:\.?[,\s-]{{0,3}}(?:(?:{particles}|{alternatives('time', 'of_year')})\s+)?{_SOME_Y})?",
            rf"(?<!\w){_NAME}(?:\.[^\S\n]*|\s*)\Z",
            rf"(?<!\w){_NAME}[.,]{{0,2}}\s{{0,3}}(?:(?:{particles}|{alternatives('time', 'of_year')})\s+)?\Z",
            rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:]|[.,]\d)(?:,?\s{{1,3}}{_SOME_Y})?",
            rf"{_Y}(?!\d|[.,]\d)",
        )
    )


# The date and time of one value ---------------------------------------------------------------


def parse_date(text: str) -> datetime | None:
    """Returns the date in a header or a property, or None; midnight and local time by default.

    Accepts ISO 8601 (also week dates, months, basic format), mail dates and all formats of `find_dates`, with or
    without a time: "2024-03-05", "5 March 2024", "March 5, 2024 at 2:30 pm", "05.03.2024"."""
    value = text.strip().strip("<>[]\"'")
    if not value or len(value) > MAX_VALUE_CHARS:
        return None
    moment = _parse_iso(value) or _parse_mail(value) or parse_stamp(value)
    if moment is not None:
        return moment
    if (first := next(full_dates(value, compact=True), None)) is not None:
        return first[1]
    return parse_week_or_month(value)


def full_dates(text: str, compact: bool = False) -> Iterator[tuple[CalendarDate, datetime]]:
    """Yields the full dates in `text`, each with its moment, including a time of day after it."""
    for day in find_dates(text, short_years=True, compact=compact):
        if day.day and (moment := moment_of(text, day)) is not None:
            yield day._replace(end=moment[1]), moment[0]


def moment_of(text: str, calendar_date: CalendarDate) -> tuple[datetime, int] | None:
    """Returns (moment of a full date in `text` with the time of day after it, end position); None for an invalid
    day."""
    day = local_day(calendar_date.year or 0, calendar_date.month or 0, calendar_date.day or 0)
    if day is None:
        return None
    match = _compile_clock().match(text, calendar_date.end)
    if match is None:
        return day, calendar_date.end
    hour = int(match["h"])
    if match["ap"]:
        hour = hour % 12 + (12 if match["ap"] in "pP" else 0)
    try:
        clock = time(hour, int(match["min"]), int(match["s"] or 0))
    except ValueError:
        return day, match.end()
    moment = _limit_years(datetime.combine(day.date(), clock, _parse_offset(match)))
    return (moment, match.end()) if moment is not None else None


def parse_stamp(value: str) -> datetime | None:
    """Returns the time in 20240305T143000Z, 20240305_1430: basic ISO 8601, as of cameras, scanners and calendars."""
    match = STAMP.fullmatch(value)
    if match is None:
        return None
    day, hour, minute, second, zulu = match.groups()
    try:
        moment = datetime(int(day[:4]), int(day[4:6]), int(day[6:]), int(hour), int(minute), int(second or 0))
    except ValueError:
        return None
    return _limit_years(moment.replace(tzinfo=UTC) if zulu else moment)


def parse_week_or_month(value: str, whole: bool = True) -> datetime | None:
    """Returns the first day of a week or month in digits, 2024-W10 or 2024-03; `whole`: if it is all of `value`."""
    look = re.fullmatch if whole else re.search
    if (week := look(_WEEK, value)) is not None:
        try:
            day = date.fromisocalendar(int(week[1]), int(week[2]), int(week[3] or 1))
        except ValueError:
            return None
        return local_day(day.year, day.month, day.day)
    month = look(_MONTH, value)
    return local_day(int(month[1]), int(month[2]), 1) if month is not None else None


def local_day(year: int, month: int, day: int) -> datetime | None:
    """Returns the local midnight of a day; None for 31 February and outside WRITTEN_YEARS."""
    try:
        return _limit_years(datetime(year, month, day))
    except ValueError:
        return None


def with_local_zone(moment: datetime) -> datetime:
    """Returns `moment` in its zone, by default the local one. ValueError or OverflowError at the limits of datetime."""
    return moment if moment.tzinfo is not None else moment.astimezone()


def _limit_years(moment: datetime) -> datetime | None:
    try:
        return with_local_zone(moment) if moment.year in WRITTEN_YEARS else None
    except (ValueError, OverflowError):
        return None


def _parse_iso(value: str) -> datetime | None:
    if not value[:4].isdecimal() or len(value) < 8 or " " in value:
        return None
    try:
        return _limit_years(datetime.fromisoformat(value))
    except ValueError:
        return None


def _parse_mail(value: str) -> datetime | None:
    if ":" not in value or value[:1].isdecimal() is value[:1].isalpha() or _HALF_DAY.search(value):
        return None  # mail dates have no am or pm, and the parser ignores it
    from email.utils import parsedate_to_datetime  # slower to import than this whole module

    try:
        return _limit_years(parsedate_to_datetime(value))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _parse_offset(match: re.Match[str]) -> timezone | None:
    """Returns the zone of a time of day. "10:15-11:00" after a plain date is a span; an offset follows a space, or the
    whole is ISO 8601."""
    zone = (match["z"] or "").strip()
    if not zone or zone.upper() in ("Z", "UTC", "GMT"):
        return UTC if zone else None
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    is_span = match["z"][0] in "+-" and match["s"] is None and match["sep"] not in ("T", "t")
    offset = timedelta(minutes=-minutes if zone[0] == "-" else minutes)
    return None if is_span or minutes >= 24 * 60 else timezone(offset)


@cache
def _compile_clock() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<sep>T|,?\s+(?:(?:{alternatives('time', 'at')})\s+)?)(?P<h>\d{{1,2}}):(?P<min>\d\d)"
        r"(?::(?P<s>\d\d)(?:[.,]\d{1,9})?)?(?!\d)(?:\s?(?P<ap>[ap])\.?m\b\.?)?"
        r"(?P<z>\s?Z\b|\s?UTC\b|\s?GMT\b|\s?[+-]\d\d:?\d\d(?!\d))?",
        re.IGNORECASE,
    )


_HALF_DAY = re.compile(r"\d\s?[ap]\.?m\b", re.IGNORECASE)
STAMP = re.compile(r"(?<!\d)(\d{8})[T_-]?(\d\d)(\d\d)(\d\d)?(Z?)(?!\d)")
_WEEK = re.compile(r"(?<!\d)((?:19|20)\d\d)-?W(\d\d)(?:-([1-7]))?(?!\d)", re.IGNORECASE)
_MONTH = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_. ]?(0[1-9]|1[0-2])(?!\d)")


Span = tuple[datetime, datetime]


def day_span(first: datetime) -> Span:
    """Returns the day that begins at `first`."""
    return first, first + timedelta(days=1)


def month_span(year: int, month: int, count: int = 1) -> Span:
    """Returns `count` months from the first of `month`, which may be outside 1 to 12."""

    def first(number: int) -> datetime:
        return datetime(year + (number - 1) // 12, (number - 1) % 12 + 1, 1)

    return first(month), first(month + count)


def shift(moment: datetime, unit: str, count: int) -> datetime:
    """Returns `moment` plus `count` units; the last day of a month that is too short."""
    if unit in ("day", "week", "weekend"):
        return moment + timedelta(days=count * (1 if unit == "day" else 7))
    first, after = month_span(moment.year, moment.month + count * {"month": 1, "quarter": 3, "year": 12}[unit])
    return min(first + timedelta(days=moment.day - 1), after - timedelta(days=1))


def unit_span(moment: datetime, unit: str) -> Span:
    """Returns the calendar unit around the day `moment`; weeks begin on Monday."""
    monday = moment - timedelta(days=moment.weekday())
    if unit == "week":
        return monday, monday + timedelta(days=7)
    if unit == "weekend":
        return monday + timedelta(days=5), monday + timedelta(days=7)
    if unit == "month":
        return month_span(moment.year, moment.month)
    if unit == "quarter":
        return month_span(moment.year, moment.month - (moment.month - 1) % 3, 3)
    return month_span(moment.year, 1, 12)


def part_of_span(span: Span, unit: str, which: str) -> Span:
    """Returns the "early", "start", "mid", "late" or "end" of a span. Of a month or week: ten days. Of a season: a
    month. Of a year: three months if early or late, one at the start or end, four in the middle."""
    first, after = span
    if unit not in ("season", "quarter", "year"):
        third = (after - first) / 3 if unit != "month" else timedelta(days=10)
        if which in ("early", "start"):
            return first, first + third
        return (first + third, first + 2 * third) if which == "mid" else (first + 2 * third, after)
    if which == "mid":
        aside = 4 if unit == "year" else 1
        return shift(first, "month", aside), shift(after, "month", -aside)
    length = 3 if unit == "year" and which in ("early", "late") else 1
    if which in ("early", "start"):
        return first, shift(first, "month", length)
    return shift(after, "month", -length), after
