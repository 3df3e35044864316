"""The date on which a file was written, from its head, title and name.

Only a date that dates a whole text counts: a line "Date: ...", a line with nothing but a date or a place and a date, a
date at an edge of the title, the file name. Dates in sentences and fields do not count. A time without a zone is local,
a day is its midnight."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from memory.text.languages import alternatives, word_numbers
from memory.time.dates import (
    MAX_VALUE_CHARS,
    STAMP,
    CalendarDate,
    date_at,
    find_dates,
    full_dates,
    local_day,
    moment_of,
    parse_date,
    parse_stamp,
    parse_week_or_month,
)

WRITTEN_KEYS = (  # the first key wins
    "date", "published", "updated", "modified", "lastmodified", "lastmod", "lastupdated", "lastedited", "updatedat",
    "modifiedat", "dateupdated", "datemodified",
)  # fmt: skip
BEGUN_KEYS = ("created", "datecreated", "createdat")
OPENING_LINES = 3  # filled lines that may date the whole text
_HEAD_LINES = 12  # lines of a head of fields, "From: ..."
_LINE_CHARS = 300  # of each line
_TITLE_WORDS = 12  # with more words before the date a first line is a sentence

_I = re.IGNORECASE
_MARK = r"[,;:|/–—·(\[]|\s-|\s\s|\t"  # separates the date from what follows
_LABEL = re.compile(rf"(?:^|{_MARK})\W*(?:{alternatives('file_dates', 'label')})\b\W*", _I)
_FIELD = re.compile(r"[^\W\d_][\w -]{0,30}:(?!/)")
_OF_ONE = re.compile(rf"\s*[-*+•]\s|{_FIELD.pattern}")
_WEEKDAY = rf"(?:{alternatives('file_dates', 'weekday')})\w{{0,6}}\.?,?\s+(?:the\s+|den\s+|le\s+)?"
_WRAPPED = 60  # a line at least this long continues in the next one
_ADDED = rf"(?:{alternatives('file_dates', 'added')})\b(?:\s+(?:from|of|on|vom))?[\s:(\[]*"
_BEGIN = re.compile(rf"[*_\[(<]*(?:{_ADDED})?(?:{_WEEKDAY})?[*_]*", _I)
_ENDS_WITH_WEEKDAY = re.compile(rf"(?:^|[^\w])({_WEEKDAY})[*_]*$", _I)
_PLACE = re.compile(
    rf"[*_]*[^\W\d_a-z][\w.()'/-]*(?: [^\W\d_a-z(][\w.()'/-]*| \([^\W\d_a-z][\w.]*\)){{0,2}},\s+"
    rf"(?:(?i:{_WEEKDAY})(?:den\s+|le\s+|the\s+)?|den\s+|le\s+|the\s+)?"
)
_DAY_NAME = re.compile(rf"[\s,(]*(?:{alternatives('file_dates', 'weekday_behind')})\b", _I)
_LIKE_A_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}(?!\d)")
_SET_OFF = re.compile(rf"(?:^|{_MARK})[\s*_]*$")  # before a date at the end of a title
_BETWEEN_MARKS = re.compile(r"(?:[|/–—·]|\s-)[\s*_]*$")
_SET_OFF_INSIDE = re.compile(r"(?:[|/–—·(\[]|\s-)[\s*_]*$|^\S+(?: \S+){0,2}, $")  # before one inside a title
_SIGNED = re.compile(r"(?:\s+[^\W\d_a-z][\w.]*){1,2}[)\]]\W*$")  # initials after a date at the end of brackets
_ASIDE = re.compile(r"\([^()]+\)|\*[^*]+\*|_[^_]+_")  # a line entirely in brackets or italics
_DAY_NUMBER = re.compile(r"(\d{1,2})(?:/(\d{1,2})|st|nd|rd|th|\.)?(?!\w|[:/.,-]\d)")
_WORD = re.compile(r"[^\W\d_]+")
_YEARS = re.compile(r"\s?[-–/]\s?\d")  # a range of years: "2023-24"
_APART = re.compile(r"[*_\])>]*(?:\s*$|\.?\s*[:|/–—·,(]|\.\s|\s+-{1,2}\s|\t| {2,}|[*_\])>]+\s)")  # after a date


def find_written_date(path: Path, title: str, text: str, file_time: datetime | None, now: datetime) -> datetime | None:
    """Returns the date of writing that a text states in its head, title or name, or None. Dates after `now` are plans;
    so are dates among other words after the time of the file."""
    opening, latest, period = _list_opening_lines(text), file_time or now, find_period(path, title)
    head = (leading_date(part) or find_day(part, period) for part in _list_labelled(text))
    days = (find_day(line, period) for line in (title, *opening))
    lines = chain.from_iterable(map(_date_of_line, (title, *opening)))
    titles = chain.from_iterable(map(_date_of_title, (f"# {title[:_LINE_CHARS]}", *opening[:1])))
    below = chain.from_iterable(map(_date_below_title, opening[1:2]))
    candidates = chain(
        ((day[0], now) for day in head if day and day[0]),
        ((at, now) for at in lines),
        ((day[0], now) for day in days if day and holds_no_word(day[1])),
        ((at, latest) for at in chain(titles, below)),
        ((at, now if is_first else latest) for at, is_first in _find_in_name(path)),
        ((at, now) for at in _find_in_folders(path)),
    )
    return next((at for at, limit in candidates if at <= limit + timedelta(days=1) and at <= now), None)


def date_of(properties: Mapping[str, Any]) -> datetime | None:
    """Returns the date of writing in the properties of a note, or None."""
    return _find_first_date(properties, WRITTEN_KEYS)


def begun_date(properties: Mapping[str, Any]) -> datetime | None:
    """Returns the start date in the properties of a note, or None."""
    return _find_first_date(properties, BEGUN_KEYS)


def _find_first_date(properties: Mapping[str, Any], keys: Sequence[str]) -> datetime | None:
    by_key = {re.sub(r"[\s_-]", "", key.lower()): value for key, value in properties.items()}
    values = (by_key.get(key) for key in keys)
    return next((at for value in values if isinstance(value, str) and (at := parse_date(value))), None)


def find_month(path: Path) -> datetime | None:
    """Returns the first day of the week or month in the name of a file, or None."""
    return parse_week_or_month(path.stem, whole=False)


def leading_date(text: str) -> tuple[datetime | None, str] | None:
    """Returns the full date at the start of a text and the rest, or None. "Update", a weekday and marks may come first.
    The date is None if it is ambiguous."""
    begin = _BEGIN.match(text)
    start = begin.end() if begin else 0
    day = date_at(text, start)
    if day is not None and (moment := moment_of(text, day)) is not None:
        weekday = _DAY_NAME.match(text, moment[1])
        return moment[0], text[weekday.end() if weekday else moment[1] :]
    unclear = _LIKE_A_DATE.match(text, start)
    return (None, text[unclear.end() :]) if unclear else None


def trailing_date(text: str) -> tuple[datetime, str] | None:
    """Returns the full date at the end of a text and the text before it, or None."""
    for day, at in full_dates(text):
        before = text[: day.start].strip(" \t,:–—-([")
        if before and holds_no_word(text[day.end :]):
            return at, before
    return None


def labelled_date(line: str) -> datetime | None:
    """Returns the date of a line with only a label and a date: "Date: 5 March 2024"."""
    label = _LABEL.match(line)
    day = leading_date(line[label.end() :]) if label else None
    return day[0] if day and holds_no_word(day[1]) else None


def find_period(path: Path, title: str) -> CalendarDate | None:
    """Returns the year, and perhaps month, in the name of a file, its title or its folder; None for a day or several
    years."""
    folders = [folder for folder in path.parts[-2:-1] if folder.isdecimal()]
    for name in (day.replace("_", "-") for day in (path.stem, title, *folders)):
        dates = [day for day in find_dates(name, compact=True) if day.year]
        if any(day.day or (not day.month and _YEARS.match(name, day.end)) for day in dates):
            return None
        if dates:
            return dates[0] if len({day.year for day in dates}) == 1 else None
    return None


def find_day(text: str, period: CalendarDate | None) -> tuple[datetime, str] | None:
    """Returns the day of a `period` at the start of a text, and the rest: "6 March", in a month also "Tue 6", "6/3" and
    "3/6". A weekday next to it must match."""
    if period is None:
        return None
    start = begin.end() if (begin := _BEGIN.match(text)) else 0
    day = next(find_dates(text[: start + MAX_VALUE_CHARS], start=start), None)
    number = None
    if day is None or day.start != start:
        number = _DAY_NUMBER.match(text, start)
        day = _find_day_of_month(number, period.month) if number and period.month else None
    if day is None or day.year or not day.month:
        return None
    moment = moment_of(text, day._replace(year=period.year))
    if moment is None:
        return None
    end = weekday.end() if (weekday := _DAY_NAME.match(text, moment[1])) else moment[1]
    days = [*filter(None, map(find_weekdays, _WORD.findall(text[:start] + text[moment[1] : end])))]
    is_clear = bool(days) or number is None or number[2] is not None
    return (moment[0], text[end:]) if is_clear and all(moment[0].weekday() in numbers for numbers in days) else None


def _find_day_of_month(number: re.Match[str], month: int) -> CalendarDate | None:
    """Returns the day of the month in a number, or in two numbers, one of them the month."""
    first, second = int(number[1]), int(number[2] or month)
    day = first if second == month else second
    return CalendarDate(*number.span(), None, month, day) if month in (first, second) else None


def find_weekdays(word: str) -> set[int]:
    """Returns the weekdays (Monday is 0) that a word may abbreviate in any language; all for ""."""
    return {day for name, day in word_numbers("time", "weekdays").items() if name.startswith(word.lower())}


def holds_no_word(text: str) -> bool:
    """Whether a text consists of marks only."""
    return re.search(r"\w", text) is None


def _list_opening_lines(text: str) -> list[str]:
    """Returns the first filled lines, without continuations of a long line."""
    lines: list[str] = []
    before = ""
    for line in text[: 20 * _LINE_CHARS].split("\n"):
        if line.strip() and (len(before) < _WRAPPED or before.startswith("#")):
            lines.append(line[:_LINE_CHARS].strip())
        before = line
        if len(lines) == OPENING_LINES:
            break
    return lines


def _list_labelled(text: str) -> Iterator[str]:
    """Yields the texts after labels at the start of the first lines or of a head of fields; in the title and the line
    below it also after labels inside, unless the line is an item or a field: "rent: 780 (as of 2024-03-05)"."""
    lines = [line for line in text[: 20 * _LINE_CHARS].split("\n") if line.strip()][:_HEAD_LINES]
    for number, line in enumerate(lines):
        if number >= OPENING_LINES and not _FIELD.match(line):
            return
        inside = number < 2 and not _OF_ONE.match(line)
        labels = _LABEL.finditer(line[:_LINE_CHARS])
        yield from (line[label.end() :] for label in labels if inside or not label.start())


def _date_of_title(line: str) -> Iterator[datetime]:
    """Yields the only date of a heading or first line, at its start or end, or separated by marks."""
    is_heading = line.startswith("#")
    line = line.lstrip("# ").rstrip()
    at, before, after = _split_at_date(line)
    if at is None:
        leading = leading_date(line)
        if leading is not None and leading[0] is not None and _APART.match(leading[1]):
            yield leading[0]
        return
    is_last = holds_no_word(after) and not after.strip("*_)]> ")
    if holds_no_word(before):
        fits = is_heading or _APART.match(after) is not None
    elif is_last:
        is_set_off = _SET_OFF.search(before) is not None
        fits = is_set_off or (is_heading and before.endswith(" ") and ")" not in after)
        fits = fits and len(before.split()) <= _TITLE_WORDS
        fits = fits and (is_heading or not before.rstrip("*_[( ").endswith(":"))  # "created: ..." is a field
    else:
        fits = _SET_OFF_INSIDE.search(before) is not None and _APART.match(after) is not None
        fits = fits or (before.endswith(("(", "[")) and _SIGNED.match(after) is not None)
    if fits:
        yield at


def _date_below_title(line: str) -> Iterator[datetime]:
    """Yields the only date of a line below the title between marks, "page 4 | 5 March 2024 | draft", or at an edge of a
    line in brackets, "(second draft, 5 March 2024)"."""
    if _ASIDE.fullmatch(line):
        yield from _date_of_title(line[1:-1])
        return
    at, before, after = _split_at_date(line)
    if at is not None and _BETWEEN_MARKS.search(before) and _APART.match(after):
        yield at


def _split_at_date(line: str) -> tuple[datetime | None, str, str]:
    """Returns the only date of a line with the text before and after it and its weekday; None for none or several."""
    dates = [*full_dates(line)]
    if len(dates) != 1:
        return None, "", ""
    day, at = dates[0]
    before, after = line[: day.start], line[day.end :]
    if (weekday := _ENDS_WITH_WEEKDAY.search(before)) is not None:
        before = before[: weekday.start(1)]
    if (weekday := _DAY_NAME.match(after)) is not None:
        after = after[weekday.end() :]
    return at, before, after


def _date_of_line(line: str) -> Iterator[datetime]:
    """Yields the date of a line with only a date, or a place and a date: "Paris, le 5 mars 2024"."""
    place = _PLACE.match(line)
    for start in (0, place.end() if place else 0):
        day = leading_date(line[start:].lstrip("#> "))
        if day is None or day[0] is None:
            continue
        if holds_no_word(day[1]) or (start and _APART.match(day[1])):
            yield day[0]


def _find_in_name(path: Path) -> Iterator[tuple[datetime, bool]]:
    """Yields (date, whether the name begins with it) of the dates in a file name."""
    stem = path.stem
    if (stamp := STAMP.search(stem)) is not None and (at := parse_stamp(stamp[0])) is not None:
        yield at, not stamp.start()
    yield from ((at, not day.start) for day, at in full_dates(stem, compact=True))


def _find_in_folders(path: Path) -> Iterator[datetime]:
    """Yields the date of 2024/03/05.md and 2024/03-05 standup.md."""
    parts = re.search(r"(?:^|\D)((?:19|20)\d\d)[-_/](\d\d)[-_/](\d\d)(?!\d)[^/]*$", path.with_suffix("").as_posix())
    if parts is not None and (day := local_day(int(parts[1]), int(parts[2]), int(parts[3]))) is not None:
        yield day
