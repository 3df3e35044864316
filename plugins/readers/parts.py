"""When a document is from, and which of its parts: sections and items that begin with a date speak as of that date.

    Deadline: 30 April                      from nobody knows when, but not newer than what follows
    ## 2026-03-02                           a section, to the next heading of its level or above
    The deadline moved to 14 May.
    - 2026-04-10: Builder is Casa Nova.     an item, to the next item or whatever does not belong to it

Only a full date at the very begin counts ("Update 2026-03-02:" too), or behind a name that several headings have
("## Meeting 2026-03-02"), and only up to the time at which the file was written: "## Trip 2027-05-01" and "## 30 April"
say nothing of when they were written, and what lies ahead is a plan.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from memory.nouns import Document
from memory.time.dates import with_local_zone
from plugins.readers import frontmatter
from plugins.readers.dates import (
    Period,
    begun_date,
    find_day,
    find_month,
    find_period,
    find_written_date,
    holds_no_word,
    labelled_date,
    leading_date,
    trailing_date,
)

Parts = tuple[tuple[int, datetime | None], ...]

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)])[ \t]+(?!\[.\])|(?:x|\([A-Z]\)) (?=\d{4}-\d\d-\d\d )")  # or of todo.txt
_TITLE = re.compile(r"(\*\*|__)[^*_]+\1:?\s*$")  # a line in bold stands above what follows it
_APART = re.compile(r"[*_\])>]*(?:\s*$|\s*[:|–—]|\s+-{1,2}\s|\t| {2,}|[*_\])>]+\s)")  # between a date and what it is of
_LOOKED_AT = 200  # characters of a line
_DIGIT = re.compile(r"\d")  # every date has some
_ISO = re.compile(r"[*_\[(]*\d{4}-\d\d-\d\d")


def date_document(
    document: Document, path: Path, file_time: datetime | None, has_parts: bool, now: datetime | None = None
) -> Document:
    """The document with the time at which it was written (docs/times.md): the one that its reader found, or that its
    head, title or name says, else the time of its file, where that tells (`file_time`), else the month in its name or
    the day on which it was begun; None if nothing tells. Nothing was written after `now`.

    With `has_parts` it gets the times of its parts as well, if its reader did not give them; then the first of their
    dates is not that of the whole, and no title. Of the dates in it, those after the time of its file are plans."""
    now = now or datetime.now().astimezone()
    latest = file_time or now
    lines = document.text.split("\n")
    _, before = frontmatter.split(document.text)  # its dates are properties
    period = find_period(path, document.title or "")
    parts = dated_parts(lines, before, latest, period) if has_parts and not document.turns else ()
    title, end = document.title, len(lines)
    if parts:
        title = None if begins_with_date(title or "") else title
        end = next(line for line, at in parts if at is not None) - 1
    own = document.at if document.at is not None and document.at <= now else None
    prose = [] if "columns" in document.properties else lines[before:end]  # the days in a table are those of its rows
    own = own or find_written_date(path, title or "", "\n".join(prose), file_time, now)
    begun = _not_after(now, begun_date(document.properties))
    at = own or (max(file_time, begun or file_time) if file_time else _not_after(now, find_month(path)) or begun)
    undated = undated_time(own, parts)
    given = tuple((line, _not_after(latest, part) or at) for line, part in document.parts)
    parts = given or tuple((line, part or undated) for line, part in parts)
    return replace(document, title=title, at=at and with_local_zone(at), parts=parts)


def _not_after(latest: datetime, at: datetime | None) -> datetime | None:
    return at if at is not None and at <= latest else None


def dated_parts(lines: Sequence[str], before: int, latest: datetime, period: Period | None = None) -> Parts:
    """(line, time) of each part of a text that has dated ones; empty if it has none, or one date that stands above all.
    The first `before` of the lines are frontmatter, and no date behind `latest` counts. Headings and lines that consist
    of a day are of the year of the `period`, in that of a month also items that begin with one."""
    found = _Parts(before, period, _find_logs(lines, period))
    series = _series(lines[before:])
    fence = None
    previous = ""
    for number, whole in enumerate(lines[before:], before + 1):
        line = whole[:_LOOKED_AT]
        if (mark := _FENCE.match(line)) is not None and fence in (None, mark[1]):
            fence = None if fence else mark[1]
            found.other()
        elif fence is not None:
            found.other()
        elif (heading := _HEADING.match(line)) is not None:
            found.heading(number, len(heading[1]), _date(heading, series, latest, period))
        elif line.strip() and not found.item(number, line, previous, latest):
            found.text(number, line, previous)
        previous = line
    starts = tuple(found.starts)
    first = next((number for number, line in enumerate(lines[before:], before + 1) if line.strip()), 0)
    return starts if any(at is not None and line > first for line, at in starts) else ()


def undated_time(own: datetime | None, found: Parts) -> datetime | None:
    """When the parts without a date were written, if the note's own date tells: one that lies among those of its parts
    only says when it was begun, or changed last."""
    days = [at.date() for _, at in found if at is not None]
    return own if own is not None and days and not min(days) <= own.date() <= max(days) else None


def begins_with_date(text: str) -> bool:
    """Whether it begins with a full date."""
    found = leading_date(text)
    return found is not None and found[0] is not None


def _series(lines: Sequence[str]) -> frozenset[tuple[str, str]]:
    """(marks, words) of headings that several have, each with its date behind: "## Meeting 2026-03-02"."""
    headings = (_HEADING.match(line[:_LOOKED_AT]) for line in lines if line.lstrip()[:1] == "#")
    named = Counter(name for heading in headings if heading and (name := _name(heading)) is not None)
    return frozenset(name for name, times in named.items() if times > 1)


def _name(heading: re.Match[str]) -> tuple[str, str] | None:
    found = trailing_date(heading[2])
    return (heading[1], found[1].casefold()) if found else None


def _find_logs(lines: Sequence[str], period: Period | None) -> frozenset[int]:
    """The numbers of the lines that begin with a date, behind the same bullet as the item or paragraph before or after
    them does."""
    begins: list[tuple[int, str | None]] = []
    previous = ""
    for number, line in enumerate(lines, 1):
        if line[:1].strip():
            mark = _BULLET.match(line)
            said = line[mark.end() if mark else 0 : _LOOKED_AT]
            found = (leading_date(said) or _day_of(said, period)) if _DIGIT.search(said, 0, 60) else None
            is_dated = found is not None and found[0] is not None
            if is_dated or mark or not previous.strip():
                begins.append((number, (mark[0] if mark else "") if is_dated else None))
        previous = line
    pairs = ((a, b) for (a, one), (b, other) in pairwise(begins) if one is not None and one == other)
    return frozenset(number for pair in pairs for number in pair)


def _day_of(text: str, period: Period | None) -> tuple[datetime, str] | None:
    """The day of a period that a heading or line consists of; of a month also one that it begins with."""
    found = find_day(text, period)
    is_of_month = found is not None and period is not None and found[0].month == period.month
    return found if found and (is_of_month or holds_no_word(found[1])) else None


def _date(
    heading: re.Match[str], series: frozenset[tuple[str, str]], latest: datetime, period: Period | None
) -> datetime | None:
    found = leading_date(heading[2]) or _day_of(heading[2], period)
    at = found[0] if found else None
    if found is None and series and _name(heading) in series:
        last = trailing_date(heading[2])
        at = last[0] if last else None
    return at if at is not None and at <= latest else None


class _Parts:
    """The parts of the lines that it was told of, one after the other."""

    def __init__(self, before: int, period: Period | None, logs: frozenset[int]) -> None:
        self._period = period
        self._logs = logs  # the lines of lists whose items begin with a date
        self.starts: list[tuple[int, datetime | None]] = [(1, None)]
        self._dated: list[tuple[int, datetime]] = []  # level and time of the dated sections that a line stands in
        self._bare: int | None = 1 if not before else None  # where the headings begin that nothing stands under yet
        self._level = 0  # of the undated heading right above; 0: there is none, or it is the title
        self._item = ""  # how the item begins that a line may belong to: "-", or "." without a bullet
        self._below = 0  # the level of the section that a date below its heading dates; 0: none does
        self._titled = False

    def heading(self, number: int, level: int, at: datetime | None) -> None:
        self._item, self._level = "", 0
        if level <= self._below:
            self._below = 0
        while self._dated and self._dated[-1][0] >= level:
            self._dated.pop()
            self._bare = None
        if at is not None:
            self._section(number, level, at)
            return
        self._begin(number, self._dated[-1][1] if self._dated else None)
        self._bare = self._bare or number
        self._level = level if self._titled else 0
        self._titled = True

    def _section(self, number: int, level: int, at: datetime) -> None:
        self._dated.append((level, at))
        self._begin(number, at, anew=True)
        self._titled = True

    def item(self, number: int, line: str, previous: str, latest: datetime) -> bool:
        """Whether the line begins with a date, which makes it an item; under a heading, alone, it dates the section."""
        level, self._level = self._level, 0
        if not _DIGIT.search(line, 0, 60):
            return False
        found = leading_date(line) or _day_of(line, self._period)
        alone = labelled_date(line) if found is None else found[0] if holds_no_word(found[1]) else None
        if self._below and self._dated and self._dated[-1][0] == self._below and alone is not None:
            level = self._dated.pop()[0]  # the next day of a journal below one heading
        if level and alone is not None and alone <= latest:
            self._section(number, level, alone)
            self._below = level
            return True
        if self._dated or line[:1] in " \t>":
            return False
        bullet = ""
        if found is None and (mark := _BULLET.match(line)) is not None:
            found, bullet = leading_date(line[mark.end() :]) or _day_of(line[mark.end() :], self._period), "-"
        if found is None:
            return False
        is_logged = number in self._logs or self._logged(line, bullet, previous)
        if not (_APART.match(found[1]) or (found[1][:1].isspace() and is_logged)):
            return False
        at = found[0] if found[0] and found[0] <= latest else None
        self._item = (bullet or ".") if at else ""
        self._begin(number, at)
        self.other()
        return True

    def _logged(self, line: str, bullet: str, previous: str) -> bool:
        """Whether an ISO date is an item's without a mark behind it: not where prose only goes on with it."""
        fresh = bullet or not previous.strip() or _HEADING.match(previous) or (self._item and leading_date(previous))
        mark = _BULLET.match(line) if bullet else None
        return bool(fresh) and _ISO.match(line, mark.end() if mark else 0) is not None

    def other(self) -> None:
        """A line that is no heading and no item, whatever it looks like."""
        self._level, self._bare, self._titled = 0, None, True

    def text(self, number: int, line: str, previous: str) -> None:
        """A line that is no heading and begins no item."""
        outside = line[:1] not in " \t" and (not previous.strip() or _BULLET.match(line))
        if (self._item == "-" and outside) or (self._item and _TITLE.match(line)):
            self._item = ""
            self._begin(number, None)
        self.other()

    def _begin(self, number: int, at: datetime | None, anew: bool = False) -> None:
        """From here on it is from `at`; so are the headings right above that nothing else stands under."""
        if at is not None:
            number, self._bare = self._bare or number, None
        start, before = self.starts[-1]
        same = before == at if at is None or before is None else before.date() == at.date()
        if start == number:
            self.starts[-1] = (number, at)
            if len(self.starts) > 1 and self.starts[-2][1] is None and at is None:
                self.starts.pop()
        elif anew or not same:
            self.starts.append((number, at))
