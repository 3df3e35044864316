"""When a file is from: the dates of its opening lines and in its name.

Only what a person wrote as a date counts, and nothing is guessed. A time without a zone is the machine's local time, a
day is its midnight.
"""

import re
from datetime import datetime
from pathlib import Path

from memory.text.languages import alternatives
from memory.time.dates import (
    STAMP,
    WRITTEN_YEARS,
    CalendarDate,
    date_at,
    find_dates,
    full_dates,
    local_day,
    moment_of,
    parse_stamp,
    parse_week_or_month,
)

OPENING_LINES = 3  # lines with text that may carry the date of the whole
_LINE_CHARS = 300  # of each of them

_I = re.IGNORECASE
_LABEL = re.compile(rf"^\W*(?:{alternatives('file_dates', 'label')})\b[^:\d\n]{{0,24}}:?\s*\W*", _I)
_WEEKDAY = rf"(?:{alternatives('file_dates', 'weekday')})\w{{0,6}}\.?,?\s+(?:the\s+|den\s+|le\s+)?"
_TOLD = re.compile(
    rf"\b(?:{alternatives('file_dates', 'told_by')})\s+(?:the\s+)?(?:{_WEEKDAY})?$"
    rf"|\b(?:{alternatives('file_dates', 'told')})\b",
    _I,
)
_WRAPPED = 60  # a line at least this long goes on in the next one
_START = re.compile(rf"(?! )[\s#*_>\[(-]*(?:{_WEEKDAY})?[*_]*", _I)
_ADDED = rf"(?:{alternatives('file_dates', 'added')})\b(?:\s+(?:from|of|on|vom))?[\s:(\[]*"
_BEGIN = re.compile(rf"[*_\[(<]*(?:{_ADDED})?(?:{_WEEKDAY})?[*_]*", _I)
_PLACE = re.compile(rf"[^\W\d_][\w .()'/-]{{1,40}},\s+(?:{_WEEKDAY}|den\s+|le\s+|the\s+)", _I)
_DAY_NAME = re.compile(rf"[\s,(]*(?:{alternatives('file_dates', 'weekday_behind')})\b", _I)
_LIKE_A_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}(?!\d)")


def event_date(path: Path, title: str, text: str) -> datetime | None:
    """The date of a text whose header has none: what its opening lines and its name say; None if they do not. A date
    that stands as one (after "Date:", in a heading, at the start of a line) comes before the file's name, the name
    before a date inside a line, and a day without a year, completed by the only year near it, last. A date that a
    sentence only tells of ("closed on 3 May 1994") does not count."""
    opening = [title[:_LINE_CHARS], *_opening(text)]
    return (
        _standing(opening)
        or _in_name(path)
        or next(
            (
                at
                for line in opening
                for found, at in full_dates(line)
                if _heads(line, found) or not _told(line, found.start)
            ),
            None,
        )
        or _completed(path, opening)
        or _in_folders(path)
    )


def leading_date(text: str) -> tuple[datetime | None, str] | None:
    """The full date that a text begins with, behind "Update", a weekday and marks at most, and what stands behind it;
    None if it begins with none. The date is None where it looks like one, and nobody can say which."""
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
    """The date of a line that says nothing else, behind a label: "Date: 5 March 2024"."""
    label = _LABEL.match(line)
    found = leading_date(line[label.end() :]) if label else None
    return found[0] if found and holds_no_word(found[1]) else None


def holds_no_word(behind: str) -> bool:
    """Whether nothing is said behind a date."""
    return re.search(r"\w", behind) is None


def _opening(text: str) -> list[str]:
    """The first lines that hold something. One that goes on with a long line before it begins with a space."""
    lines: list[str] = []
    before = ""
    for line in text[: 20 * _LINE_CHARS].split("\n"):
        if line.strip():
            goes_on = len(before) >= _WRAPPED and not before.startswith("#")
            lines.append((" " if goes_on else "") + line[:_LINE_CHARS].strip())
        before = line
        if len(lines) == OPENING_LINES:
            break
    return lines


def _standing(lines: list[str]) -> datetime | None:
    for line in lines[1:]:
        if (label := _LABEL.match(line)) is not None and (found := next(full_dates(line[label.end() :]), None)):
            return found[1]
    for number, line in enumerate(lines):
        start = _START.match(line)
        limit = len(line) if number == 0 or line.startswith("#") else start.end() if start else -1
        if (found := next(full_dates(line), None)) is not None and found[0].start <= limit:
            return found[1]
    return None


def _heads(line: str, found: CalendarDate) -> bool:
    """Whether a line says nothing but where and when a letter was written: "Leipzig, den 5. Februar 2025"."""
    return _PLACE.fullmatch(line, 0, found.start) is not None and holds_no_word(line[found.end :])


def _told(line: str, start: int) -> bool:
    return line[:start].isspace() or _TOLD.search(line[:start]) is not None


def _in_name(path: Path) -> datetime | None:
    stem = path.stem
    if (stamp := STAMP.search(stem)) is not None and (at := parse_stamp(stamp[0])) is not None:
        return at
    if (found := next(full_dates(stem, compact=True), None)) is not None:
        return found[1]
    return parse_week_or_month(stem, whole=False)


def _in_folders(path: Path) -> datetime | None:
    """2024/03/05.md and 2024/03-05 standup.md."""
    found = re.search(r"(?:^|\D)((?:19|20)\d\d)[-_/](\d\d)[-_/](\d\d)(?!\d)[^/]*$", path.with_suffix("").as_posix())
    return local_day(int(found[1]), int(found[2]), int(found[3])) if found else None


def _completed(path: Path, opening: list[str]) -> datetime | None:
    """A day without a year, in the only year that is named near it."""
    named = [found for place in (path.stem, *opening) for found in find_dates(place.replace("_", " "))]
    years = {found.year for found in named if found.year in WRITTEN_YEARS and found.month is None}
    if not years:
        years = {int(part) for part in path.parts if re.fullmatch(r"(?:19|20)\d\d", part)}
    if len(years) != 1:
        return None
    year = years.pop() or 0
    for line in opening:
        for found in find_dates(line):
            at = local_day(year, found.month or 0, found.day or 0) if found.year is None and found.name else None
            if at is not None and not _told(line, found.start):
                return at
    return None
