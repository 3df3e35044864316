"""Calendars: each event, task and journal entry becomes a section with when, where, who and what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

from memory.nouns import Document
from memory.time.dates import with_local_zone
from memory.time.recurrence import Recurrence
from plugins.hookspecs import hookimpl
from plugins.readers import Reader, Unreadable
from plugins.readers.content_lines import Property, parse_property, unescape, unfold
from plugins.readers.decode import text_of

_ENTRIES = ("VEVENT", "VTODO", "VJOURNAL")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$")
_DURATION = re.compile(r"P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$")

MAX_OCCURRENCES = 104  # of an entry that comes again: two years of weeks
MAX_SPAN_DAYS = 732


_Entry = list[Property]
"""An event, task or journal entry: its BEGIN, whose value is its kind, and its properties."""


def _all(entry: _Entry, name: str) -> list[Property]:
    return [one for one in entry if one.name == name]


def _get(entry: _Entry, name: str) -> Property | None:
    return next(iter(_all(entry, name)), None)


def read(path: Path, data: bytes) -> list[Document]:
    calendar, entries = _parse(text_of(data))
    if not entries:
        raise Unreadable("a calendar without events")
    lines: list[tuple[str, int]] = []
    parts: list[tuple[int, datetime | None]] = []
    moved = _moved(entries)
    for entry in entries:
        parts.append((len(lines) + 1, _told_on(entry)))
        lines += [_heading(entry), *_in_order([*_section(entry, moved)])]
        lines.append(("", lines[-1][1]))
    starts = [moment for entry in entries if (moment := _start(entry)) is not None]
    return [
        Document(
            uri="",
            text="\n".join(text for text, _ in lines[:-1]),
            title=calendar.get("X-WR-CALNAME") or calendar.get("NAME"),
            at=min(starts, default=None),
            lines=tuple(number for _, number in lines[:-1]),
            parts=tuple(parts),
        )
    ]


def _parse(text: str) -> tuple[dict[str, str], list[_Entry]]:
    """The calendar's own properties, and its entries without what is nested in them (alarms)."""
    calendar: dict[str, str] = {}
    entries: list[_Entry] = []
    open_entry: _Entry | None = None
    inner = 0
    for number, content in unfold(text):
        found = parse_property(content, number)
        if found is None:
            continue
        if found.name == "BEGIN":
            kind = found.value.strip().upper()
            if open_entry is None and kind in _ENTRIES:
                open_entry, inner = [found._replace(value=kind)], 0
                entries.append(open_entry)
            else:
                inner += 1
        elif found.name == "END":
            if open_entry is not None and found.value.strip().upper() == open_entry[0].value:
                open_entry = None
            inner = max(0, inner - 1)
        elif open_entry is None:
            calendar.setdefault(found.name, unescape(found.value))
        elif inner == 0:
            open_entry.append(found)
    return calendar, entries


def _heading(entry: _Entry) -> tuple[str, int]:
    summary = _get(entry, "SUMMARY")
    name = " ".join(unescape(summary.value).split()) if summary else ""
    return f"## {name or {'VTODO': 'Task', 'VJOURNAL': 'Entry'}.get(entry[0].value, 'Event')}", entry[0].line


def _in_order(section: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The lines of a section in the order of the file, so that a passage of it is a range of lines there, but for the
    time of the entry, which stands first: that makes it one."""
    timed = section[:1] if section[:1] and section[0][0].startswith(("When: ", "Due: ")) else []
    others = sorted(section[len(timed) :], key=lambda line: line[1])
    return [*((text, min([number, *(line for _, line in others)])) for text, number in timed), *others]


def _section(entry: _Entry, moved: set[tuple[str, date]]) -> Iterator[tuple[str, int]]:
    start, due = _get(entry, "DTSTART"), _get(entry, "DUE")
    if start is not None:
        yield f"When: {_when(entry, start)}", start.line
    if due is not None:
        yield f"Due: {_shown(due)}", due.line
    for label, key in (("Where", "LOCATION"), ("Repeats", "RRULE"), ("Status", "STATUS"), ("Tags", "CATEGORIES")):
        for found in _all(entry, key):
            if value := " ".join(unescape(found.value).split()):
                yield f"{label}: {value}", found.line
    if (again := _get(entry, "RRULE") or _get(entry, "RDATE")) is not None:
        left_out = _left_out(entry, moved)
        for label, days in (("Also on", _occurrences(entry, left_out)), ("Not on", sorted(map(str, left_out)))):
            if days:
                yield f"{label}: {', '.join(days)}", again.line
    people = [*_all(entry, "ORGANIZER"), *_all(entry, "ATTENDEE")]
    if people:
        yield f"Who: {', '.join(dict.fromkeys(_person(one) for one in people))}", people[0].line
    for key in ("DESCRIPTION", "COMMENT"):
        for found in _all(entry, key):
            for text in unescape(found.value).split("\n"):
                if text.strip():
                    yield text.strip(), found.line


def _when(entry: _Entry, start: Property) -> str:
    first, last = _moment(start), _moment(_get(entry, "DTEND"))
    if last is None and first is not None and (length := _get(entry, "DURATION")) is not None:
        last = _after(first, length.value)
    if first is None or last is None:
        return _shown(start)
    if not isinstance(first, datetime):
        last = (last.date() if isinstance(last, datetime) else last) - timedelta(days=1)  # the end is not included
        return f"{first} to {last} (all day)" if last > first else f"{first} (all day)"
    if not isinstance(last, datetime):
        return _shown(start)
    until = f"{last:%H:%M}" if last.date() == first.date() else f"{last:%Y-%m-%d %H:%M}"
    return f"{first:%Y-%m-%d %H:%M} to {until}{_zone(start)}"


def _moved(entries: list[_Entry]) -> set[tuple[str, date]]:
    """(id, day) of the occurrences that an entry of their own replaces."""
    named = ((_get(entry, "UID"), _moment(_get(entry, "RECURRENCE-ID"))) for entry in entries)
    return {(uid.value, _day(replaced)) for uid, replaced in named if uid is not None and replaced is not None}


def _occurrences(entry: _Entry, left_out: set[date]) -> list[str]:
    """The days behind the first on which an entry comes again: MAX_OCCURRENCES by its rule at most, within
    MAX_SPAN_DAYS, and those that are listed."""
    start, rule = _moment(_get(entry, "DTSTART")), _get(entry, "RRULE")
    if start is None:
        return []
    first = _day(start)
    last = date.fromordinal(min(first.toordinal() + MAX_SPAN_DAYS, date.max.toordinal()))
    again = Recurrence(rule.value if rule else "", first)
    days = {*islice(again.days(first, last), MAX_OCCURRENCES), *_listed_days(entry, "RDATE")}
    return [f"{day}" for day in sorted(days) if day > first and day not in left_out]


def _left_out(entry: _Entry, moved: set[tuple[str, date]]) -> set[date]:
    """The days of an entry that comes again on which it does not, or is an entry of its own."""
    uid = _get(entry, "UID")
    elsewhere = {day for of, day in moved if uid is not None and of == uid.value}
    return {*_listed_days(entry, "EXDATE"), *elsewhere} if _get(entry, "RECURRENCE-ID") is None else set()


def _listed_days(entry: _Entry, name: str) -> set[date]:
    """The days in the lists of a property; of a period the first."""
    moments = (
        _moment(one._replace(value=value.partition("/")[0]))
        for one in _all(entry, name)
        for value in one.value.split(",")
    )
    return {_day(moment) for moment in moments if moment is not None}


def _day(moment: datetime | date) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def _shown(one: Property) -> str:
    moment = _moment(one)
    if moment is None:
        return one.value.strip()
    if isinstance(moment, datetime):
        return f"{moment:%Y-%m-%d %H:%M}{_zone(one)}"
    return f"{moment} (all day)"


def _zone(one: Property) -> str:
    """The zone as the file names it; times stay as they were written, so that they match the source."""
    return (
        " UTC" if one.value.strip().endswith("Z") else f" {one.parameters['TZID']}" if "TZID" in one.parameters else ""
    )


def _moment(one: Property | None) -> datetime | date | None:
    """A day, or a moment with the zone that it names; None if it is no date, or not there."""
    if one is None or (match := _MOMENT.match(one.value.strip())) is None:
        return None
    year, month, day = (int(part) for part in match.group(1, 2, 3))
    try:
        if match[4] is None:
            return date(year, month, day)
        zone = UTC if match[7] else _time_zone(one.parameters.get("TZID"))
        return datetime(year, month, day, int(match[4]), int(match[5]), min(59, int(match[6])), tzinfo=zone)
    except ValueError:
        return None


def _time_zone(name: str | None) -> tzinfo | None:
    try:
        return ZoneInfo(name.lstrip("/")) if name else None
    except (KeyError, ValueError, OSError):  # a zone that only this calendar defines
        return None


def _after(start: datetime | date, length: str) -> datetime | date | None:
    match = _DURATION.match(length.strip().lstrip("+"))
    if match is None:
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    try:
        return start + timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        return None


def _told_on(entry: _Entry) -> datetime | None:
    """When what an entry says was so: on its day, or as long as it comes again; None if that has no end."""
    rule = _get(entry, "RRULE")
    if rule is None:
        return _start(entry)
    until = re.search(r"UNTIL=([^;]+)", rule.value.upper())
    return _local(_moment(rule._replace(value=until[1]))) if until else None


def _start(entry: _Entry) -> datetime | None:
    return _local(_moment(_get(entry, "DTSTART") or _get(entry, "DUE")))


def _local(moment: datetime | date | None) -> datetime | None:
    try:
        at = moment if moment is None or isinstance(moment, datetime) else datetime.combine(moment, time())
        return with_local_zone(at) if at is not None else None
    except (ValueError, OverflowError):
        return None


def _person(one: Property) -> str:
    address = one.value.strip()
    if address[:7].lower() == "mailto:":
        address = address[7:]
    name = one.parameters.get("CN", "").strip()
    return f"{name} <{address}>" if name and address and name != address else name or address


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("ics", (".ics", ".ical", ".ifb"), "Calendars", read, version=5))
