"""The dates of a document and its parts: sections and items that begin with a date are as of that date.

    Deadline: 30 April                      unknown date, not newer than what follows
    ## 2026-03-02                           a section, to the next heading of its level or above
    The deadline moved to 14 May.
    - 2026-04-10: Builder is Casa Nova.     an item, to the next item or the end of the list

Only a full date at the start counts ("Update 2026-03-02:" too), or after words that several headings or lines share
("## Meeting 2026-03-02", "as on Tue 20/2/24:"), and only up to the time of the file: "## Trip 2027-05-01" and
"## 30 April" are plans.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path

from memory.nouns import Document
from memory.time.dates import CalendarDate, with_local_zone
from plugins.readers.common import frontmatter
from plugins.readers.common.dates import (
    begun_date,
    find_day,
    find_month,
    find_period,
    find_weekdays,
    find_written_date,
    holds_no_word,
    labelled_date,
    leading_date,
    trailing_date,
)

Parts = tuple[tuple[int, datetime | None], ...]

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)])[ \t]+(?!\[.\])|(?:x|\([A-Z]\)) (?=\d{4}-\d\d-\d\d )")  # also of todo.txt
_TITLE = re.compile(r"(\*\*|__)[^*_]+\1:?\s*$")  # a line in bold titles what follows
_APART = re.compile(r"[*_\])>]*(?:\s*$|\s*[:|–—]|\s+-{1,2}\s|\t| {2,}|[*_\])>]+\s)")  # separates a date from its text
_LOOKED_AT = 200  # characters of a line
_DIGIT = re.compile(r"\d")  # required for any date
_ISO = re.compile(r"[*_\[(]*\d{4}-\d\d-\d\d")
_DAY_LINE = re.compile(
    r"(?P<marks>(?:#{1,6} |[-*+•] )?)(?P<lead>(?:[^\W\d_]+[.,]? ){0,4})"
    r"(?P<a>\d{1,2})(?P<mark>[/.-])(?P<b>\d{1,2})(?P=mark)(?P<y>(?:19|20)?\d\d)(?P<colon>:?)(?=\s|$)"
)


def date_document(document: Document, path: Path, file_time: datetime | None, has_parts: bool) -> Document:
    """Returns the document with its time of writing (docs/times.md): the date that its reader found, or that its head,
    title or name states, else the time of its file if reliable (`file_time`), else the month in its name or its start
    date, else None. No date in the future counts.

    With `has_parts` it also gets the times of its parts, unless its reader set them; their first date is then neither
    the date nor the title of the whole. Part dates after the time of the file are plans."""
    now = datetime.now().astimezone()
    latest = file_time or now
    lines = document.text.split("\n")
    _, before = frontmatter.split(document.text)  # its dates are properties
    period = find_period(path, document.title or "")
    parts = dated_parts(lines, before, latest, period) if has_parts and not document.turns else ()
    title, end = document.title, len(lines)
    if parts:
        leading = leading_date(title or "")
        title = None if leading and leading[0] else title
        end = next(line for line, at in parts if at is not None) - 1
    own = document.at if document.at is not None and document.at <= now else None
    prose = [] if "columns" in document.properties else lines[before:end]  # dates in a table belong to its rows
    own = own or find_written_date(path, title or "", "\n".join(prose), file_time, now)
    begun = _drop_after(now, begun_date(document.properties))
    at = own or (max(file_time, begun or file_time) if file_time else _drop_after(now, find_month(path)) or begun)
    undated = undated_time(own, parts)
    given = tuple((line, _drop_after(latest, part) or at) for line, part in document.parts)
    parts = given or tuple((line, part or undated) for line, part in parts)
    return replace(document, title=title, at=at and with_local_zone(at), parts=parts)


def _drop_after(latest: datetime, at: datetime | None) -> datetime | None:
    return at if at is not None and at <= latest else None


def dated_parts(lines: Sequence[str], before: int, latest: datetime, period: CalendarDate | None = None) -> Parts:
    """Returns (line, time) of each part of a text with dated parts; () without any, or with one date above the whole
    text.

    The first `before` lines are frontmatter. Dates after `latest` do not count. Headings and lines with only a day are
    in the year of the `period`; so are items that begin with a day, if the period is a month."""
    lines = _resolve_days(lines)
    parts = _Parts(before, period, _find_logs(lines, period))
    series = _find_series(lines[before:])
    fence = None
    previous = ""
    for number, whole in enumerate(lines[before:], before + 1):
        line = whole[:_LOOKED_AT]
        if (mark := _FENCE.match(line)) is not None and fence in (None, mark[1]):
            fence = None if fence else mark[1]
            parts.other()
        elif fence is not None:
            parts.other()
        elif (heading := _HEADING.match(line)) is not None:
            parts.heading(number, len(heading[1]), _find_date(heading, series, latest, period))
        elif line.strip() and not parts.item(number, line, previous, latest):
            parts.text(number, line, previous)
        previous = line
    starts = tuple(parts.starts)
    first = next((number for number, line in enumerate(lines[before:], before + 1) if line.strip()), 0)
    return starts if parts.has_dated_bullet or any(at is not None and line > first for line, at in starts) else ()


def undated_time(own: datetime | None, parts: Parts) -> datetime | None:
    """Returns the time of the parts without a date: the date of the note, or None if it is between the dates of its
    parts; then it only states when the note was begun or changed last."""
    days = [at.date() for _, at in parts if at is not None]
    return own if own is not None and days and not min(days) <= own.date() <= max(days) else None


def _resolve_days(lines: Sequence[str]) -> list[str]:
    """Returns the lines with an ISO date in place of the day in digits with which they begin, with its weekday and the
    words before it, if several lines share these: "as on Tue 20/2/24:"."""
    heads = {number: head for number, line in enumerate(lines) if (head := _DAY_LINE.match(line[:_LOOKED_AT]))}
    named: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, head in heads.items():
        named[tuple(head["lead"].casefold().split()[:-1])].append(number)
    resolved = [*lines]
    for numbers in named.values():
        for number, day in zip(numbers, _order_days([heads[number] for number in numbers]), strict=False):
            resolved[number] = f"{heads[number]['marks']}{day}{lines[number][heads[number].start('colon') :]}"
    return resolved


def _order_days(heads: Sequence[re.Match[str]]) -> list[date]:
    """Returns the days of lines with the same words; empty if both orders of day and month, or neither, fit the
    weekdays and the sequence."""
    leads = [head["lead"].split() for head in heads]
    last = [(lead or [""])[-1].strip(".,") for lead in leads]
    is_shared = len({*last}) == 1 and (len(last) > 1 or not find_weekdays(last[0]))  # it is no weekday
    is_led = bool(leads[0][: None if is_shared else -1])
    if is_led and (len(heads) < 2 or not all(head["colon"] for head in heads)):
        return []
    if heads[0]["mark"] == "." and not all(last):  # "1.2.10" may be a version
        return []
    orders = []
    for order in ("ab",) if heads[0]["mark"] == "." else ("ab", "ba"):
        days = [day for head in heads if (day := _read_day(head, order)) is not None]
        is_sorted = len(days) == len(heads) and days in (sorted(days), sorted(days, reverse=True))
        if is_sorted and (is_shared or all(map(_is_on, days, last))):
            orders.append(days)
    return orders[0] if orders and orders[0] == orders[-1] else []


def _is_on(day: date, weekday: str) -> bool:
    """Whether a word may abbreviate the weekday of a day; true for ""."""
    return day.weekday() in find_weekdays(weekday)


def _read_day(head: re.Match[str], order: str) -> date | None:
    """Returns the day of a line, None for an invalid one. `order`: the names of the groups of day and month."""
    year = int(head["y"]) + (2000 if len(head["y"]) == 2 else 0)
    try:
        return date(year, int(head[order[1]]), int(head[order[0]]))
    except ValueError:
        return None


def _find_series(lines: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Returns (marks, words) of headings that several dated ones share: "## Meeting 2026-03-02"."""
    headings = (_HEADING.match(line[:_LOOKED_AT]) for line in lines if line.lstrip()[:1] == "#")
    named = Counter(name for heading in headings if heading and (name := _find_name(heading)) is not None)
    return frozenset(name for name, times in named.items() if times > 1)


def _find_name(heading: re.Match[str]) -> tuple[str, str] | None:
    day = trailing_date(heading[2])
    return (heading[1], day[1].casefold()) if day else None


def _find_logs(lines: Sequence[str], period: CalendarDate | None) -> frozenset[int]:
    """Returns the numbers of the lines that begin with a date after the same bullet as the item or paragraph before or
    after them."""
    begins: list[tuple[int, str | None]] = []
    previous = ""
    for number, line in enumerate(lines, 1):
        if line[:1].strip():
            mark = _BULLET.match(line)
            text = line[mark.end() if mark else 0 : _LOOKED_AT]
            day = (leading_date(text) or _find_day_of(text, period)) if _DIGIT.search(text, 0, 60) else None
            is_dated = day is not None and day[0] is not None
            if is_dated or mark or not previous.strip():
                begins.append((number, (mark[0] if mark else "") if is_dated else None))
        previous = line
    pairs = ((a, b) for (a, head), (b, other) in pairwise(begins) if head is not None and head == other)
    return frozenset(number for pair in pairs for number in pair)


def _find_day_of(text: str, period: CalendarDate | None) -> tuple[datetime, str] | None:
    """Returns the day of a period in a heading or line with nothing else; in a month also at the start of one."""
    day = find_day(text, period)
    is_of_month = day is not None and period is not None and day[0].month == period.month
    return day if day and (is_of_month or holds_no_word(day[1])) else None


def _find_date(
    heading: re.Match[str], series: frozenset[tuple[str, str]], latest: datetime, period: CalendarDate | None
) -> datetime | None:
    day = leading_date(heading[2]) or _find_day_of(heading[2], period)
    at = day[0] if day else None
    if day is None and series and _find_name(heading) in series:
        last = trailing_date(heading[2])
        at = last[0] if last else None
    return at if at is not None and at <= latest else None


class _Parts:
    """Collects the parts of the lines passed to it in order."""

    def __init__(self, before: int, period: CalendarDate | None, logs: frozenset[int]) -> None:
        self._period = period
        self._logs = logs  # lines of lists whose items begin with a date
        self.starts: list[tuple[int, datetime | None]] = [(1, None)]
        self._dated: list[tuple[int, datetime]] = []  # (level, time) of the dated sections around the current line
        self._bare: int | None = 1 if not before else None  # first of the headings above that have no text yet
        self._level = 0  # level of the undated heading directly above; 0: none, or the title
        self._item = ""  # start of the open item: "-", or "." without a bullet
        self._below = 0  # level of the section dated by a line below its heading; 0: none
        self._titled = False
        self.has_dated_bullet = False  # which dates itself, even if no other text comes before it

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
        self._begin(number, at, is_new=True)
        self._titled = True

    def item(self, number: int, line: str, previous: str, latest: datetime) -> bool:
        """Whether the line begins with a date and so is an item; a lone date below a heading dates the section."""
        level, self._level = self._level, 0
        if not _DIGIT.search(line, 0, 60):
            return False
        day = leading_date(line) or _find_day_of(line, self._period)
        alone = labelled_date(line) if day is None else day[0] if holds_no_word(day[1]) else None
        if self._below and self._dated and self._dated[-1][0] == self._below and alone is not None:
            level = self._dated.pop()[0]  # the next day of a journal below one heading
        if level and alone is not None and alone <= latest:
            self._section(number, level, alone)
            self._below = level
            return True
        if self._dated or line[:1] in " \t>":
            return False
        bullet = ""
        if day is None and (mark := _BULLET.match(line)) is not None:
            day, bullet = leading_date(line[mark.end() :]) or _find_day_of(line[mark.end() :], self._period), "-"
        if day is None:
            return False
        is_logged = number in self._logs or self._is_logged(line, bullet, previous)
        if not (_APART.match(day[1]) or (day[1][:1].isspace() and is_logged)):
            return False
        at = day[0] if day[0] and day[0] <= latest else None
        self._item = (bullet or ".") if at else ""
        self.has_dated_bullet = self.has_dated_bullet or (at is not None and bullet == "-")
        self._begin(number, at)
        self.other()
        return True

    def _is_logged(self, line: str, bullet: str, previous: str) -> bool:
        """Whether a line with an ISO date and no separator begins an item, rather than continuing prose."""
        ended = previous.rstrip()[-1:] in ("", *".!?:…")
        fresh = bullet or ended or _HEADING.match(previous) or (self._item and leading_date(previous))
        mark = _BULLET.match(line) if bullet else None
        return bool(fresh) and _ISO.match(line, mark.end() if mark else 0) is not None

    def other(self) -> None:
        """Adds a line that is neither heading nor item, whatever it looks like."""
        self._level, self._bare, self._titled = 0, None, True

    def text(self, number: int, line: str, previous: str) -> None:
        """Adds a line that is no heading and begins no item."""
        outside = line[:1] not in " \t" and (not previous.strip() or _BULLET.match(line))
        if (self._item == "-" and outside) or (self._item and _TITLE.match(line)):
            self._item = ""
            self._begin(number, None)
        self.other()

    def _begin(self, number: int, at: datetime | None, is_new: bool = False) -> None:
        """Begins a part of time `at`, including the headings directly above without text."""
        if at is not None:
            number, self._bare = self._bare or number, None
        start, before = self.starts[-1]
        same = before == at if at is None or before is None else before.date() == at.date()
        if start == number:
            self.starts[-1] = (number, at)
            if len(self.starts) > 1 and self.starts[-2][1] is None and at is None:
                self.starts.pop()
        elif is_new or not same:
            self.starts.append((number, at))
