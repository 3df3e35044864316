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
from typing import Any

from memory.text.languages import alternatives
from memory.time.dates import (
    STAMP,
    date_at,
    full_dates,
    local_day,
    moment_of,
    parse_date,
    parse_stamp,
    parse_week_or_month,
)

WRITTEN_KEYS = ("date", "published", "updated", "modified", "last-modified", "lastmod")  # the first date wins
BEGUN_KEYS = ("created", "date-created", "created-at")
OPENING_LINES = 3  # lines with text that may carry the date of the whole
_HEAD_LINES = 12  # of a head of fields, "From: ..."
_LINE_CHARS = 300  # of each of them
_TITLE_WORDS = 12  # a first line with more of them before its date is a sentence

_I = re.IGNORECASE
_LABEL = re.compile(rf"^\W*(?:{alternatives('file_dates', 'label')})\b\W*", _I)
_FIELD = re.compile(r"[^\W\d_][\w -]{0,30}:(?!/)")
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
_SET_OFF = re.compile(r"(?:^|[,;:|/–—·(\[]|\s-|\s\s|\t)[\s*_]*$")  # before a date at the end of a title
_BETWEEN_MARKS = re.compile(r"(?:[|/–—·]|\s-)[\s*_]*$")
_SET_OFF_INSIDE = re.compile(r"(?:[|/–—·(\[]|\s-)[\s*_]*$|^\S+(?: \S+){0,2}, $")  # before one in the middle of it
_APART = re.compile(r"[*_\])>]*(?:\s*$|\.?\s*[:|/–—·,(]|\.\s|\s+-{1,2}\s|\t| {2,}|[*_\])>]+\s)")  # after a date


def find_written_date(path: Path, title: str, text: str, file_time: datetime | None, now: datetime) -> datetime | None:
    """The day that a text names as the one on which it was written, in its head, its title or its name; None if it
    names none. A day after `now` is a plan, and so is one among other words that is after the time of the file."""
    opening, latest = _opening(text), file_time or now
    head = (at for line in _head(text) if (at := labelled_date(line, alone=False)) is not None)
    lines = chain.from_iterable(map(_date_of_line, (title, *opening)))
    titles = chain.from_iterable(map(_date_of_title, (f"# {title[:_LINE_CHARS]}", *opening[:1])))
    below = chain.from_iterable(map(_date_between_marks, opening[1:2]))
    found = chain(
        ((at, now) for at in head),
        ((at, now) for at in lines),
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
    by_key = {key.lower().replace("_", "-").replace(" ", "-"): value for key, value in properties.items()}
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


def labelled_date(line: str, alone: bool = True) -> datetime | None:
    """The date of a line that begins with a label and a date: "Date: 5 March 2024"; where it is `alone` on its line."""
    label = _LABEL.match(line)
    found = leading_date(line[label.end() :]) if label else None
    return found[0] if found and (not alone or holds_no_word(found[1])) else None


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


def _head(text: str) -> Iterator[str]:
    """The lines that may be labelled: the first ones, and those of a head of fields."""
    lines = [line for line in text[: 20 * _LINE_CHARS].split("\n") if line.strip()][:_HEAD_LINES]
    for number, line in enumerate(lines):
        if number >= OPENING_LINES and not _FIELD.match(line):
            return
        yield line[:_LINE_CHARS]


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
    else:
        fits = _SET_OFF_INSIDE.search(before) is not None and _APART.match(after) is not None
    if fits:
        yield at


def _date_between_marks(line: str) -> Iterator[datetime]:
    """The only date of a line below the title, which marks set off on both sides: "page 4 | 5 March 2024 | draft"."""
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
