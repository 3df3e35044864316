"""Calendars: each event, task and journal entry becomes a section with when, where, who and what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

from memory.nouns import ENTRY_VERSIONS, Document
from memory.time.dates import with_local_zone
from memory.time.recurrence import Recurrence
from plugins.readers import Unreadable
from plugins.readers.common import Property, parse_property, unescape, unfold
from plugins.readers.common.recurring import SERIES, Entry, repetitions

_KINDS = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Entry"}
_TIMES = frozenset(("DTSTART", "DTEND", "DUE", "RECURRENCE-ID", "RDATE", "EXDATE"))
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$")
_DURATION = re.compile(r"P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$")
_UID_CHARS = 16


def convert(text: str) -> Document:
    """Returns the document of a calendar with the entries that take place or were cancelled. Raises Unreadable."""
    calendar, entries, zones = _parse(text)
    if not entries:
        raise Unreadable("a calendar without events")
    lines: list[tuple[str, int]] = []
    parts: list[tuple[int, datetime | None]] = []
    recurring = repetitions(entries, zones)
    entries = [entry for entry in entries if entry.line in recurring]
    if not entries:
        raise Unreadable("a calendar whose events never take place")
    is_cancelled = calendar.get("METHOD", "").strip().upper() == "CANCEL"
    for entry in entries:
        parts.append((len(lines) + 1, _find_change_date(entry)))
        name = " ".join(unescape(entry.value("SUMMARY")).split()) or _KINDS[entry.kind]
        lines += [(f"## {name}", entry.line), *_sort_lines([*_list_lines(entry, recurring[entry.line], is_cancelled)])]
        lines.append(("", lines[-1][1]))
    return Document(
        uri="",
        text="\n".join(text for text, _ in lines[:-1]),
        title=calendar.get("X-WR-CALNAME") or calendar.get("NAME"),
        lines=tuple(number for _, number in lines[:-1]),
        parts=tuple(parts),
        properties={ENTRY_VERSIONS: versions} if (versions := [*_list_versions(entries)]) else {},
    )


def _list_versions(entries: Sequence[Entry]) -> Iterator[list[Any]]:
    """Yields [line, hash of the UID, occurrence, sequence, time stamps] of each entry, to compare versions."""
    for entry in entries:
        kind, uid, _ = entry.identity
        occurrence = _find_occurrence(entry)
        if uid:
            uid_hash = sha256(f"{kind}\0{uid}".encode("utf-8", "replace")).hexdigest()[:_UID_CHARS]
            yield [entry.line, uid_hash, occurrence, *entry.version]


def _find_occurrence(entry: Entry) -> str:
    """Returns the day of the series that an entry replaces, in its own zone; "" for a series."""
    moment, own = (_parse_moment(entry.get(name)) for name in ("RECURRENCE-ID", "DTSTART"))
    zone = own.tzinfo if isinstance(own, datetime) else None
    if isinstance(moment, datetime) and moment.tzinfo and zone:
        moment = moment.astimezone(zone)
    return f"{moment:%Y-%m-%d}" if moment else entry.value("RECURRENCE-ID")


def _parse(text: str) -> tuple[dict[str, str], list[Entry], str]:
    """Returns (properties of the calendar, entries without nested components such as alarms, time zones as written)."""
    calendar: dict[str, str] = {}
    entries: list[Entry] = []
    zones: list[str] = []
    open_entry: Entry | None = None
    inner = 0
    for number, content in unfold(text):
        property = parse_property(content, number)
        if property is None:
            continue
        kind = property.value.strip().upper()
        in_zone = bool(zones) and not zones[-1].upper().startswith("END:VTIMEZONE")
        if in_zone or (property.name, kind) == ("BEGIN", "VTIMEZONE"):
            zones.append(content.strip())
        if property.name == "BEGIN":
            if open_entry is None and kind in _KINDS:
                open_entry, inner = Entry(kind, number), 0
                entries.append(open_entry)
            else:
                inner += 1
        elif property.name == "END":
            if open_entry is not None and kind == open_entry.kind:
                open_entry = None
            inner = max(0, inner - 1)
        elif open_entry is None:
            calendar.setdefault(property.name, unescape(property.value))
        elif inner == 0:
            open_entry.properties.append(property)
    zone = calendar.get("X-WR-TIMEZONE", "").strip()
    if _find_time_zone(zone):
        for entry in entries:
            entry.properties = [_localize(item, zone) if item.name in _TIMES else item for item in entry.properties]
    return calendar, entries, "\n".join(zones)


def _localize(property: Property, zone: str) -> Property:
    """Returns a property with its UTC times in the zone of its calendar, as the calendar displays them."""
    moments = [_parse_moment(property._replace(value=value)) for value in property.value.split(",")]
    local = [moment.astimezone(_find_time_zone(zone)) for moment in moments if isinstance(moment, datetime)]
    if len(local) < len(moments) or "TZID" in property.parameters or not property.value.strip().endswith("Z"):
        return property
    value = ",".join(f"{moment:%Y%m%dT%H%M%S}" for moment in local)
    return property._replace(value=value, parameters={**property.parameters, "TZID": zone})


def _sort_lines(section: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Returns the lines of a section in the order of the file, so that a passage is a range of lines; only the time of
    the entry comes first."""
    timed = section[:1] if section[:1] and section[0][0].startswith(("When: ", "Due: ")) else []
    others = sorted(section[len(timed) :], key=lambda line: line[1])
    return [*((text, min([number, *(line for _, line in others)])) for text, number in timed), *others]


def _list_lines(entry: Entry, recurring: Recurrence, is_cancelled: bool) -> Iterator[tuple[str, int]]:
    start, due = entry.get("DTSTART"), entry.get("DUE")
    if start is not None:
        yield f"When: {_show_span(entry, start)}", start.line
    if due is not None:
        yield f"Due: {_show_moment(due)}", due.line
    if is_cancelled and not entry.get("STATUS"):
        yield "Status: CANCELLED", entry.line
    for label, key in (
        ("Where", "LOCATION"),
        ("Status", "STATUS"),
        ("Tags", "CATEGORIES"),
        ("Link", "URL"),
        ("Contact", "CONTACT"),
    ):
        for field in entry.all(key):
            if value := " ".join(unescape(field.value).split()):
                yield f"{label}: {value}", field.line
    again = next((item for item in entry.properties if item.name in SERIES), start or due)
    if again is not None:
        yield from ((f"Repeats: {rule}", again.line) for rule in recurring.rules if rule)
        for label, days in (("Also on", sorted(recurring.listed)), ("Not on", sorted(recurring.left_out))):
            if days:
                yield f"{label}: {', '.join(map(str, days))}", again.line
    people = [*entry.all("ORGANIZER"), *entry.all("ATTENDEE")]
    if people:
        yield f"Who: {', '.join(dict.fromkeys(_show_person(person) for person in people))}", people[0].line
    for key in ("DESCRIPTION", "COMMENT"):
        for field in entry.all(key):
            for text in unescape(field.value).split("\n"):
                if text.strip():
                    yield text.strip(), field.line


def _show_span(entry: Entry, start: Property) -> str:
    first, last = _parse_moment(start), _parse_moment(entry.get("DTEND"))
    if last is None and first is not None and (length := entry.get("DURATION")) is not None:
        last = _add_duration(first, length.value)
    if first is None or last is None:
        return _show_moment(start)
    if not isinstance(first, datetime):
        last = (last.date() if isinstance(last, datetime) else last) - timedelta(days=1)  # the end is exclusive
        return f"{first} to {last} (all day)" if last > first else f"{first} (all day)"
    if not isinstance(last, datetime):
        return _show_moment(start)
    until = f"{last:%H:%M}" if last.date() == first.date() else f"{last:%Y-%m-%d %H:%M}"
    return f"{first:%Y-%m-%d %H:%M} to {until}{_show_zone(start)}"


def _show_moment(property: Property) -> str:
    moment = _parse_moment(property)
    if moment is None:
        return property.value.strip()
    if isinstance(moment, datetime):
        return f"{moment:%Y-%m-%d %H:%M}{_show_zone(property)}"
    return f"{moment} (all day)"


def _show_zone(field: Property) -> str:
    """Returns the zone as named in the file; times are not converted, so that they match the source."""
    if field.value.strip().endswith("Z"):
        return " UTC"
    return f" {field.parameters['TZID']}" if "TZID" in field.parameters else ""


def _parse_moment(property: Property | None) -> datetime | date | None:
    """Returns a day, or a time in its named zone; None for a missing or invalid value."""
    if property is None or (match := _MOMENT.match(property.value.strip())) is None:
        return None
    year, month, day = (int(part) for part in match.group(1, 2, 3))
    try:
        if match[4] is None:
            return date(year, month, day)
        zone = UTC if match[7] else _find_time_zone(property.parameters.get("TZID"))
        return datetime(year, month, day, int(match[4]), int(match[5]), min(59, int(match[6])), tzinfo=zone)
    except ValueError:
        return None


def _find_time_zone(name: str | None) -> tzinfo | None:
    try:
        return ZoneInfo(name.lstrip("/")) if name else None
    except (KeyError, ValueError, OSError):  # a zone that only this calendar defines
        return None


def _add_duration(start: datetime | date, length: str) -> datetime | date | None:
    match = _DURATION.match(length.strip().lstrip("+"))
    if match is None:
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    try:
        return start + timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        return None


def _find_change_date(entry: Entry) -> datetime | None:
    """Returns the date of the last change; the day of a journal entry, never that of an event or task."""
    names = (*(["DTSTART"] if entry.kind == "VJOURNAL" else []), "LAST-MODIFIED", "DTSTAMP")
    return next((at for name in names if (at := _make_local(_parse_moment(entry.get(name)))) is not None), None)


def _make_local(moment: datetime | date | None) -> datetime | None:
    try:
        at = moment if moment is None or isinstance(moment, datetime) else datetime.combine(moment, time())
        return with_local_zone(at) if at is not None else None
    except (ValueError, OverflowError):
        return None


def _show_person(property: Property) -> str:
    address = property.value.strip()
    if address[:7].lower() == "mailto:":
        address = address[7:]
    name = property.parameters.get("CN", "").strip()
    return f"{name} <{address}>" if name and address and name != address else name or address
