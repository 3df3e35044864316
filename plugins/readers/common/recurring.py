"""The entries of a calendar that take place and their days: versions, series and their changed occurrences.

recurring-ical-events computes the days: exceptions in any zone, moved occurrences, THISANDFUTURE, periods. Of a series
only the rules and the days that differ from them are stored, so that any later day can be computed; of one with a
lasting change (THISANDFUTURE) the first MAX_LISTED days. Files without series do not import the library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import groupby, islice
from typing import Any

from memory.time.recurrence import Recurrence, expand_rule, read_rule, write_rule
from plugins.readers.common import Property, write_property

SERIES = frozenset(("RRULE", "RDATE", "EXDATE", "RECURRENCE-ID"))
MAX_LISTED, MAX_LISTED_YEARS = 120, 10  # days of a series with a lasting change
_USED = SERIES | {"UID", "DTSTART", "DTEND", "DUE", "DURATION", "SEQUENCE"}
_LINE = "X-LINE"
_DAY = timedelta(days=1)
_NAMED_DAY = re.compile(r"\d{8}")


@dataclass
class Entry:
    """An event, task or journal entry of a calendar."""

    kind: str
    line: int
    properties: list[Property] = field(default_factory=list)

    def all(self, name: str) -> list[Property]:
        return [property for property in self.properties if property.name == name]

    def get(self, name: str) -> Property | None:
        return next((property for property in self.properties if property.name == name), None)

    def value(self, name: str) -> str:
        """Returns the value of a property, or ""."""
        property = self.get(name)
        return property.value.strip() if property else ""

    @property
    def version(self) -> tuple[int, str, str]:
        """Returns the sort key: a newer version of an entry has a larger one."""
        sequence = self.value("SEQUENCE")
        return int(sequence) if sequence.isdecimal() else 0, self.value("DTSTAMP"), self.value("LAST-MODIFIED")

    @property
    def identity(self) -> tuple[str, str, str]:
        """Returns what is shared by all versions of an entry; occurrences have their own."""
        return self.kind, self.value("UID"), self.value("RECURRENCE-ID")


_ONCE = Recurrence((), datetime.min)


def repetitions(entries: Iterable[Entry], zones: str) -> dict[int, Recurrence]:
    """Returns the recurrence of each entry that takes place, by its line; that of a single event is empty. `zones`: the
    VTIMEZONEs of the calendar."""
    results: dict[int, Recurrence] = {}
    by_id: dict[tuple[str, str], list[Entry]] = {}
    for number, entry in enumerate(entries):
        by_id.setdefault((entry.kind, entry.value("UID") or f"\0{number}"), []).append(entry)
    for versions in by_id.values():
        newest = _keep_newest(versions)
        if any(rule.name in SERIES for entry in newest for rule in entry.properties):
            try:
                for group in _split_cores(newest):
                    results |= _Series(group, zones).repetitions()
                continue
            except Exception:  # many kinds of errors for invalid dates and rules; then only the named days count
                rules = {entry.line: tuple(_drop_zone(rule.value) for rule in entry.all("RRULE")) for entry in newest}
                results |= {line: Recurrence(group, datetime.min) for line, group in rules.items()}
        results |= {entry.line: results.get(entry.line, _ONCE) for entry in newest}
    return results


def _keep_newest(versions: Sequence[Entry]) -> list[Entry]:
    """Returns the newest version of each entry; several of equal version if their times differ."""
    newest: list[Entry] = []
    for _, some in groupby(sorted(versions, key=lambda entry: entry.identity), key=lambda entry: entry.identity):
        same = list(some)
        best = max(entry.version for entry in same)
        newest += {entry.value("DTSTART"): entry for entry in reversed(same) if entry.version == best}.values()
    return sorted(newest, key=lambda entry: entry.line)


def _split_cores(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Yields the entries as one series; further series of the same UID, which some programs write, separately."""
    cores = [entry for entry in entries if entry.get("RECURRENCE-ID") is None]
    yield [entry for entry in entries if entry not in cores[1:]]
    yield from ([core] for core in cores[1:])


def _drop_zone(rule: str) -> str:
    return re.sub(r"(UNTIL=\d{8}T\d{6})Z", r"\1", rule.strip().upper())


class _Series:
    """The entries of one UID: the series and its changed occurrences."""

    def __init__(self, entries: Sequence[Entry], zones: str) -> None:
        from icalendar import Calendar  # 110 ms for both imports
        from recurring_ical_events import of

        self._entries = {entry.line: entry for entry in entries}
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", *zones.splitlines()]
        for entry in entries:
            used = [write_property(item) for item in entry.properties if item.name in _USED]
            lines += [f"BEGIN:{entry.kind}", f"{_LINE}:{entry.line}", *used, f"END:{entry.kind}"]
        calendar = Calendar.from_ical("\r\n".join([*lines, "END:VCALENDAR", ""]))
        self._components: dict[int, Any] = {int(str(item[_LINE])): item for item in calendar.walk(entries[0].kind)}
        self._query = of(calendar, components=(entries[0].kind,))
        self._cores = [entry for entry in entries if entry.get("RECURRENCE-ID") is None]

    def repetitions(self) -> dict[int, Recurrence]:
        """Returns the recurrence of each entry that takes place, by its line. Raises ValueError for a rule without
        days, which the library would follow to the year 9999."""
        for entry in self._entries.values():
            for rule in entry.all("RRULE"):
                next(expand_rule(_drop_zone(rule.value), self._get_start(entry.line), date.min, datetime.max), None)
        starts = {line: self._get_start(line) for line in self._entries}
        if any(item.parameters.get("RANGE", "").upper() == "THISANDFUTURE" for item in self._list_properties()):
            return self._list_days(starts)
        ruled = {entry.line: Recurrence(self._make_rules(entry), datetime.min) for entry in self._cores}
        spans = [(day - 2 * _DAY, day + 3 * _DAY) for day in self._find_named_days()]
        days: dict[int, set[date]] = {}
        for line, day in ((line, day) for since, until in spans for line, day in self._walk_days(since, until)):
            days.setdefault(line, set()).add(day)
        results: dict[int, Recurrence] = {}
        for line, first in starts.items():
            actual, by_rule = days.get(line, set()), replace(ruled.get(line, _ONCE), first=first)
            expected = {day for since, until in spans for day in by_rule.days(since, until)}
            recurrence = replace(by_rule, listed=frozenset(actual - expected), left_out=frozenset(expected - actual))
            if recurrence.next_day(first.date()):
                results[line] = recurrence
        return results

    def _list_days(self, starts: Mapping[int, datetime]) -> dict[int, Recurrence]:
        """Returns the first days of each entry of a series with a lasting change, which no rule describes."""
        first = min(starts.values()).date()
        days: dict[int, set[date]] = {}
        for line, day in islice(self._walk_days(first, first + MAX_LISTED_YEARS * 365 * _DAY), MAX_LISTED):
            days.setdefault(line, set()).add(day)
        return {
            line: Recurrence((), starts[line], frozenset(listed), frozenset({starts[line].date()} - listed))
            for line, listed in days.items()
        }

    def _list_properties(self) -> Iterator[Property]:
        return (item for entry in self._entries.values() for item in entry.properties)

    def _find_named_days(self) -> set[date]:
        """Returns the days that the entries name, in any zone; all others follow the rules."""
        return {
            datetime.strptime(day, "%Y%m%d").date()
            for property in self._list_properties()
            if property.name in SERIES | {"DTSTART", "DUE"}
            for day in _NAMED_DAY.findall(property.value)
        }

    def _walk_days(self, since: date, until: date) -> Iterable[tuple[int, date]]:
        """Yields (line of the entry, day) of all that takes place in [since, until)."""
        for event in self._query.between(since, until):
            line = int(event[_LINE])
            day = _make_local(event["DTSTART"].dt, getattr(self._get_time(line), "tzinfo", None)).date()
            if since <= day < until:
                yield line, day

    def _get_time(self, line: int) -> date | datetime:
        component = self._components[line]
        moment: date | datetime = (component.get("DTSTART") or component["DUE"]).dt
        return moment

    def _get_start(self, line: int) -> datetime:
        return _make_local(self._get_time(line), None)

    def _make_rules(self, entry: Entry) -> tuple[str, ...]:
        """Returns the rules of an entry in its local time."""
        moment = self._get_time(entry.line)
        return tuple(dict.fromkeys(_localize_rule(rule.value, moment) for rule in entry.all("RRULE")))


def _make_local(moment: date | datetime, zone: tzinfo | None) -> datetime:
    """Returns a time on the clock of a zone, by default its own."""
    if not isinstance(moment, datetime):
        return datetime.combine(moment, time())
    return (moment.astimezone(zone) if zone and moment.tzinfo else moment).replace(tzinfo=None)


def _localize_rule(rule: str, start: date | datetime) -> str:
    """Returns a rule whose UNTIL is in the local time of its start, as the lines of an event write it."""
    part = read_rule(rule)
    if until := part.get("UNTIL", ""):
        if not isinstance(start, datetime):
            part["UNTIL"] = until[:8]
        elif until.endswith("Z"):
            end = datetime.fromisoformat(until)
            part["UNTIL"] = f"{_make_local(end, start.tzinfo):%Y%m%dT%H%M%S}"
    return write_rule({"FREQ": part.pop("FREQ", ""), **part})
