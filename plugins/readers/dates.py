"""When a file was written: what its head, its title and its name say.

Only a date in a place that dates a whole text counts: a line "Date: ...", a line that consists of a date or of a place
and a date, a date at an edge of the title, the name of the file. A date inside a sentence or of a field says something
else. A time without a zone is the machine's local time, a day is its midnight.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

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

WRITTEN_KEYS = (  # the first date wins
    "date", "published", "updated", "modified", "lastmodified", "lastmod", "lastupdated", "lastedited", "updatedat",
    "modifiedat", "dateupdated", "datemodified",
)  # fmt: skip
BEGUN_KEYS = ("created", "datecreated", "createdat")
OPENING_LINES = 3  # lines with text that may carry the date of the whole
_HEAD_LINES = 12  # of a head of fields, "From: ..."
_LINE_CHARS = 300  # of each of them
_TITLE_WORDS = 12  # a first line with more of them before its date is a sentence

_I = re.IGNORECASE
_MARK = r"[,;:|/–—·(\[]|\s-|\s\s|\t"  # sets off what stands behind it
_LABEL = re.compile(rf"(?:^|{_MARK})\W*(?:{alternatives('file_dates', 'label')})\b\W*", _I)
_FIELD = re.compile(r"[^\W\d_][\w -]{0,30}:(?!/)")
_OF_ONE = re.compile(rf"\s*[-*+•]\s|{_FIELD.pattern}")
_WEEKDAY = rf"(?:{alternatives('file_dates', 'weekday')})\w{{0,6}}\.?,?\s+(?:the\s+|den\s+|le\s+)?"
_WRAPPED = 60  # a line at least this long goes on in the next one
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
_SET_OFF_INSIDE = re.compile(r"(?:[|/–—·(\[]|\s-)[\s*_]*$|^\S+(?: \S+){0,2}, $")  # before one in the middle of it
_SIGNED = re.compile(r"(?:\s+[^\W\d_a-z][\w.]*){1,2}[)\]]\W*$")  # initials behind a date at the end of brackets
_ASIDE = re.compile(r"\([^()]+\)|\*[^*]+\*|_[^_]+_")  # a line that is all in brackets or italics
_DAY_NUMBER = re.compile(r"(\d{1,2})(?:/(\d{1,2})|st|nd|rd|th|\.)?(?!\w|[:/.,-]\d)")
_WORD = re.compile(r"[^\W\d_]+")
_YEARS = re.compile(r"\s?[-–/]\s?\d")  # goes on with a year: "2023-24"
_APART = re.compile(r"[*_\])>]*(?:\s*$|\.?\s*[:|/–—·,(]|\.\s|\s+-{1,2}\s|\t| {2,}|[*_\])>]+\s)")  # after a date


class Period(NamedTuple):
    """A year, or a month of it."""

    year: int
    month: int | None


def find_written_date(path: Path, title: str, text: str, file_time: datetime | None, now: datetime) -> datetime | None:
    """The day that a text names as the one on which it was written, in its head, its title or its name; None if it
    names none. A day after `now` is a plan, and so is one among other words that is after the time of the file."""
    opening, latest, period = _opening(text), file_time or now, find_period(path, title)
    head = (leading_date(said) or find_day(said, period) for said in _labelled(text))
    days = (find_day(line, period) for line in (title, *opening))
    lines = chain.from_iterable(map(_date_of_line, (title, *opening)))
    titles = chain.from_iterable(map(_date_of_title, (f"# {title[:_LINE_CHARS]}", *opening[:1])))
    below = chain.from_iterable(map(_date_below_title, opening[1:2]))
    found = chain(
        ((day[0], now) for day in head if day and day[0]),
        ((at, now) for at in lines),
        ((day[0], now) for day in days if day and holds_no_word(day[1])),
        ((at, latest) for at in chain(titles, below)),
        ((at, now if is_first else latest) for at, is_first in _in_name(path)),
        ((at, now) for at in _in_folders(path)),
    )
    return next((at for at, end in found if at <= end + timedelta(days=1) and at <= now), None)


def date_of(properties: Mapping[str, Any]) -> datetime | None:
    """When the properties of a note say that it was written."""
    return _first_date(properties, WRITTEN_KEYS)


def begun_date(properties: Mapping[str, Any]) -> datetime | None:
    """When the properties of a note say that it was begun."""
    return _first_date(properties, BEGUN_KEYS)


def _first_date(properties: Mapping[str, Any], keys: Sequence[str]) -> datetime | None:
    by_key = {re.sub(r"[\s_-]", "", key.lower()): value for key, value in properties.items()}
    values = (by_key.get(key) for key in keys)
    return next((at for value in values if isinstance(value, str) and (at := parse_date(value))), None)


def find_month(path: Path) -> datetime | None:
    """The first day of the week or month that a file is named after."""
    return parse_week_or_month(path.stem, whole=False)


def leading_date(text: str) -> tuple[datetime | None, str] | None:
    """The full date that a text begins with, after "Update", a weekday and marks at most, and what follows it; None
    if it begins with none. The date is None where it looks like one, and nobody can say which."""
    begin = _BEGIN.match(text)
    start = begin.end() if begin else 0
    found = date_at(text, start)
    if found is not None and (moment := moment_of(text, found)) is not None:
        day = _DAY_NAME.match(text, moment[1])
        return moment[0], text[day.end() if day else moment[1] :]
    unclear = _LIKE_A_DATE.match(text, start)
    return (None, text[unclear.end() :]) if unclear else None


def trailing_date(text: str) -> tuple[datetime, str] | None:
    """The full date that a text ends with, and what stands before it; None if it ends with none, or is one."""
    for found, at in full_dates(text):
        before = text[: found.start].strip(" \t,:–—-([")
        if before and holds_no_word(text[found.end :]):
            return at, before
    return None


def labelled_date(line: str) -> datetime | None:
    """The date of a line that consists of a label and a date: "Date: 5 March 2024"."""
    label = _LABEL.match(line)
    found = leading_date(line[label.end() :]) if label else None
    return found[0] if found and holds_no_word(found[1]) else None


def find_period(path: Path, title: str) -> Period | None:
    """The year that a file, its title or the folder around it is named after, and the month; None if it is named after
    a day, or several years."""
    folders = [folder for folder in path.parts[-2:-1] if folder.isdecimal()]
    for name in (one.replace("_", "-") for one in (path.stem, title, *folders)):
        told = [one for one in find_dates(name, compact=True) if one.year]
        if any(one.day or (not one.month and _YEARS.match(name, one.end)) for one in told):
            return None
        if told:
            return Period(told[0].year or 0, told[0].month) if len({one.year for one in told}) == 1 else None
    return None


def find_day(text: str, period: Period | None) -> tuple[datetime, str] | None:
    """The day of a `period` that a text begins with, and what follows it: "6 March", of a month also "Tue 6" and "6/3"
    or "3/6". A weekday beside it must be that of the day."""
    if period is None:
        return None
    start = begin.end() if (begin := _BEGIN.match(text)) else 0
    found = next(find_dates(text[: start + MAX_VALUE_CHARS], start=start), None)
    number = None
    if found is None or found.start != start:
        number = _DAY_NUMBER.match(text, start)
        found = _of_month(number, period.month) if number and period.month else None
    if found is None or found.year or not found.month:
        return None
    moment = moment_of(text, found._replace(year=period.year))
    if moment is None:
        return None
    end = behind.end() if (behind := _DAY_NAME.match(text, moment[1])) else moment[1]
    days = [day for word in _WORD.findall(text[:start] + text[moment[1] : end]) if (day := _weekdays(word))]
    is_told = bool(days) or number is None or number[2] is not None
    return (moment[0], text[end:]) if is_told and all(moment[0].weekday() in day for day in days) else None


def _of_month(number: re.Match[str], month: int) -> CalendarDate | None:
    """The day of a month that a number names, or two of which one is that month."""
    first, second = int(number[1]), int(number[2] or month)
    day = first if second == month else second
    return CalendarDate(*number.span(), None, month, day) if month in (first, second) else None


def _weekdays(word: str) -> set[int]:
    """Which weekdays a word may mean, in whatever language, counted from Monday as 0."""
    return {day for name, day in word_numbers("time", "weekdays").items() if name.startswith(word.lower())}


def holds_no_word(text: str) -> bool:
    """Whether a text consists of marks only."""
    return re.search(r"\w", text) is None


def _opening(text: str) -> list[str]:
    """The first lines with text. A line that only continues a long one before it is left out."""
    lines: list[str] = []
    before = ""
    for line in text[: 20 * _LINE_CHARS].split("\n"):
        if line.strip() and (len(before) < _WRAPPED or before.startswith("#")):
            lines.append(line[:_LINE_CHARS].strip())
        before = line
        if len(lines) == OPENING_LINES:
            break
    return lines


def _labelled(text: str) -> Iterator[str]:
    """What stands behind labels that begin one of the first lines or those of a head of fields; in the title and the
    line below it also where marks set them off, unless that line is an item or a field: "rent: 780 (as of 2024-03-05)".
    """
    lines = [line for line in text[: 20 * _LINE_CHARS].split("\n") if line.strip()][:_HEAD_LINES]
    for number, line in enumerate(lines):
        if number >= OPENING_LINES and not _FIELD.match(line):
            return
        inside = number < 2 and not _OF_ONE.match(line)
        labels = _LABEL.finditer(line[:_LINE_CHARS])
        yield from (line[label.end() :] for label in labels if inside or not label.start())


def _date_of_title(line: str) -> Iterator[datetime]:
    """The only date of a heading or first line, at its begin or end, or set off within it by marks."""
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
    """The only date of a line below the title, which marks set off on both sides: "page 4 | 5 March 2024 | draft"; or
    that is at an edge of a line in brackets: "(second draft, 5 March 2024)"."""
    if _ASIDE.fullmatch(line):
        yield from _date_of_title(line[1:-1])
        return
    at, before, after = _split_at_date(line)
    if at is not None and _BETWEEN_MARKS.search(before) and _APART.match(after):
        yield at


def _split_at_date(line: str) -> tuple[datetime | None, str, str]:
    """The only date of a line, and the text before and after it and its weekday; None if it has not just one."""
    dates = [*full_dates(line)]
    if len(dates) != 1:
        return None, "", ""
    found, at = dates[0]
    before, after = line[: found.start], line[found.end :]
    if (weekday := _ENDS_WITH_WEEKDAY.search(before)) is not None:
        before = before[: weekday.start(1)]
    if (weekday := _DAY_NAME.match(after)) is not None:
        after = after[weekday.end() :]
    return at, before, after


def _date_of_line(line: str) -> Iterator[datetime]:
    """The date of a line that says nothing but when, or where and when, a text was written: "Paris, le 5 mars 2024"."""
    place = _PLACE.match(line)
    for start in (0, place.end() if place else 0):
        found = leading_date(line[start:].lstrip("#> "))
        if found is None or found[0] is None:
            continue
        if holds_no_word(found[1]) or (start and _APART.match(found[1])):
            yield found[0]


def _in_name(path: Path) -> Iterator[tuple[datetime, bool]]:
    """The dates in a name, and whether it begins with them."""
    stem = path.stem
    if (stamp := STAMP.search(stem)) is not None and (at := parse_stamp(stamp[0])) is not None:
        yield at, not stamp.start()
    yield from ((at, not found.start) for found, at in full_dates(stem, compact=True))


def _in_folders(path: Path) -> Iterator[datetime]:
    """2024/03/05.md and 2024/03-05 standup.md."""
    found = re.search(r"(?:^|\D)((?:19|20)\d\d)[-_/](\d\d)[-_/](\d\d)(?!\d)[^/]*$", path.with_suffix("").as_posix())
    if found is not None and (day := local_day(int(found[1]), int(found[2]), int(found[3]))) is not None:
        yield day
