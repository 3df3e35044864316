"""Which entries of a calendar take place, and on which days: versions, series, and their changed occurrences.

The days of an entry are those of recurring-ical-events: exceptions in any zone, moved occurrences, THISANDFUTURE,
periods. Of a series only the rules are kept, and the days on which they differ from the library, so that any later day
can be worked out. Files without series do not import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import groupby
from typing import Any

from memory.time.recurrence import Recurrence, expand_rule, read_rule, write_rule
from plugins.readers.content_lines import Property, write_property

SERIES = frozenset(("RRULE", "RDATE", "EXDATE", "RECURRENCE-ID"))
MAX_LISTED, MAX_LISTED_YEARS = 120, 10  # days of a moved series that no rule describes
_USED = SERIES | {"UID", "DTSTART", "DTEND", "DUE", "DURATION", "SEQUENCE"}
_LINE = "X-LINE"
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_DAY = timedelta(days=1)
_NAMED_DAY = re.compile(r"\d{8}")


@dataclass
class Entry:
    """An event, task or journal entry of a calendar."""

    kind: str
    line: int
    properties: list[Property] = field(default_factory=list)

    def all(self, name: str) -> list[Property]:
        return [one for one in self.properties if one.name == name]

    def get(self, name: str) -> Property | None:
        return next((one for one in self.properties if one.name == name), None)

    def value(self, name: str) -> str:
        """The value of a property, "" if it is not there."""
        found = self.get(name)
        return found.value.strip() if found else ""

    @property
    def version(self) -> tuple[int, str, str]:
        """Of two versions of an entry the newer one has the larger one."""
        sequence = self.value("SEQUENCE")
        return int(sequence) if sequence.isdecimal() else 0, self.value("DTSTAMP"), self.value("LAST-MODIFIED")

    @property
    def identity(self) -> tuple[str, str, str]:
        """What all versions of an entry have in common: an occurrence has one of its own."""
        return self.kind, self.value("UID"), self.value("RECURRENCE-ID")


@dataclass(frozen=True)
class Repetition:
    """When an entry recurs: by `rules` in its local time, also on some days, and not on others."""

    rules: tuple[str, ...] = ()
    also: tuple[date, ...] = ()
    left_out: tuple[date, ...] = ()


ONCE = Repetition()


def repetitions(entries: Iterable[Entry], zones: str) -> dict[int, Repetition]:
    """Of each entry that takes place its line, and when it recurs. `zones`: the VTIMEZONEs of the calendar."""
    found: dict[int, Repetition] = {}
    by_id: dict[tuple[str, str], list[Entry]] = {}
    for number, entry in enumerate(entries):
        by_id.setdefault((entry.kind, entry.value("UID") or f"\0{number}"), []).append(entry)
    for versions in by_id.values():
        newest = _newest(versions)
        if any(one.name in SERIES for entry in newest for one in entry.properties):
            try:
                for some in _split_cores(newest):
                    found |= _Series(some, zones).repetitions()
                continue
            except Exception:  # of many kinds, for what is no date or no rule: then only the days that it names count
                rules = {entry.line: tuple(_plain(one.value) for one in entry.all("RRULE")) for entry in newest}
                found |= {line: Repetition(some) for line, some in rules.items()}
        found |= {entry.line: found.get(entry.line, ONCE) for entry in newest}
    return found


def _newest(versions: Sequence[Entry]) -> list[Entry]:
    """Of each entry its newest version; those of which nothing says which is newer if they differ in their time."""
    newest: list[Entry] = []
    for _, some in groupby(sorted(versions, key=lambda entry: entry.identity), key=lambda entry: entry.identity):
        same = list(some)
        best = max(entry.version for entry in same)
        newest += {entry.value("DTSTART"): entry for entry in reversed(same) if entry.version == best}.values()
    return sorted(newest, key=lambda entry: entry.line)


def _split_cores(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """The entries as one series; further series of the same UID, as some programs write them, by themselves."""
    cores = [entry for entry in entries if entry.get("RECURRENCE-ID") is None]
    yield [entry for entry in entries if entry not in cores[1:]]
    yield from ([core] for core in cores[1:])


def _plain(rule: str) -> str:
    return re.sub(r"(UNTIL=\d{8}T\d{6})Z", r"\1", rule.strip().upper())


class _Series:
    """The entries of one UID: the series, and its changed occurrences."""

    def __init__(self, entries: Sequence[Entry], zones: str) -> None:
        from icalendar import Calendar  # with the next one 110 ms
        from recurring_ical_events import of

        self._entries = {entry.line: entry for entry in entries}
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", *zones.splitlines()]
        for entry in entries:
            used = [write_property(one) for one in entry.properties if one.name in _USED]
            lines += [f"BEGIN:{entry.kind}", f"{_LINE}:{entry.line}", *used, f"END:{entry.kind}"]
        calendar = Calendar.from_ical("\r\n".join([*lines, "END:VCALENDAR", ""]))
        self._components: dict[int, Any] = {int(str(one[_LINE])): one for one in calendar.walk(entries[0].kind)}
        self._query = of(calendar, components=(entries[0].kind,))
        self._cores = [entry for entry in entries if entry.get("RECURRENCE-ID") is None]

    def repetitions(self) -> dict[int, Repetition]:
        """Of each of its entries that takes place its line, and when it recurs. Raises ValueError for a rule that has
        no day, which the library would follow until the year 9999."""
        for entry in self._entries.values():
            for one in entry.all("RRULE"):
                next(expand_rule(_plain(one.value), self._start(entry.line), date.min, datetime.max), None)
        ruled = {entry.line: Repetition(self._rules(entry)) for entry in self._cores}
        if len(self._cores) == 1:
            ruled |= self._cut(self._cores[0])
        starts = {line: self._start(line) for line in self._entries}
        spans = [(day - 2 * _DAY, day + 3 * _DAY) for day in self._named_days()]
        days: dict[int, set[date]] = {}
        for line, day in ((line, day) for since, until in spans for line, day in self._days(since, until)):
            days.setdefault(line, set()).add(day)
        found: dict[int, Repetition] = {}
        for line, first in starts.items():
            there, rules = days.get(line, set()), ruled.get(line, ONCE)
            by_rule = Recurrence(rules.rules, first, frozenset(rules.also))
            expected = {day for since, until in spans for day in by_rule.days(since, until)}
            also = {*rules.also, *(there - expected)}
            left_out = expected - there
            if Recurrence(rules.rules, first, frozenset(also), frozenset(left_out)).next_day(first.date()):
                found[line] = Repetition(rules.rules, tuple(sorted(also)), tuple(sorted(left_out)))
        return found

    def _named_days(self) -> set[date]:
        """The days that its entries name, in whatever zone: elsewhere it is as its rules say."""
        return {
            datetime.strptime(day, "%Y%m%d").date()
            for entry in self._entries.values()
            for one in entry.properties
            if one.name in SERIES | {"DTSTART", "DUE"}
            for day in _NAMED_DAY.findall(one.value)
        }

    def _days(self, since: date, until: date) -> Iterable[tuple[int, date]]:
        """(line of the entry, day) of what takes place from `since` on and before `until`."""
        for one in self._query.between(since, until):
            day = _local(one["DTSTART"].dt, self._zone(int(one[_LINE]))).date()
            if since <= day < until:
                yield int(one[_LINE]), day

    def _time(self, line: int) -> date | datetime:
        component = self._components[line]
        moment: date | datetime = (component.get("DTSTART") or component["DUE"]).dt
        return moment

    def _zone(self, line: int) -> tzinfo | None:
        moment = self._time(line)
        return moment.tzinfo if isinstance(moment, datetime) else None

    def _start(self, line: int) -> datetime:
        return _local(self._time(line), None)

    def _rules(self, entry: Entry) -> tuple[str, ...]:
        """The rules of an entry in its local time."""
        moment = self._time(entry.line)
        return tuple(dict.fromkeys(_local_rule(one.value, moment) for one in entry.all("RRULE")))

    def _cut(self, core: Entry) -> dict[int, Repetition]:
        """The rules of a series up to where it was changed for good (THISANDFUTURE), and from each such change on."""
        changes = [
            (_local(self._components[entry.line]["RECURRENCE-ID"].dt, self._zone(core.line)), entry.line)
            for entry in self._entries.values()
            if (at := entry.get("RECURRENCE-ID")) and at.parameters.get("RANGE", "").upper() == "THISANDFUTURE"
        ]
        if not changes:
            return {}
        first, rules = self._start(core.line), self._rules(core)
        parts = [(first, core.line), *sorted(changes)]
        ends = [at for at, _ in parts[1:]]
        found = {}
        for (begin, line), end in zip(parts, [*ends, None], strict=True):
            moved = self._start(line) - begin
            cut = [_cut_rule(rule, first, begin, end, moved) for rule in rules]
            if all(one is not None for one in cut):
                found[line] = Repetition(tuple(one for one in cut if one))
            else:
                days = (day for rule in rules for day in self._moved_days(rule, first, begin, end, moved))
                found[line] = Repetition((), tuple(sorted(days)[:MAX_LISTED]))
        return found

    def _moved_days(
        self, rule: str, first: datetime, begin: datetime, end: datetime | None, moved: timedelta
    ) -> Iterable[date]:
        before = end or begin.replace(year=begin.year + MAX_LISTED_YEARS, day=28)
        return ((at + moved).date() for at in expand_rule(rule, first, begin.date(), before) if at >= begin)


def _local(moment: date | datetime, zone: tzinfo | None) -> datetime:
    """A time as a clock in that zone shows it, by default in its own."""
    if not isinstance(moment, datetime):
        return datetime.combine(moment, time())
    return (moment.astimezone(zone) if zone and moment.tzinfo else moment).replace(tzinfo=None)


def _local_rule(rule: str, start: date | datetime) -> str:
    """A rule whose end is in the local time of its start, as the lines of an event tell it."""
    part = read_rule(rule)
    if until := part.get("UNTIL", ""):
        if not isinstance(start, datetime):
            part["UNTIL"] = until[:8]
        elif until.endswith("Z"):
            end = datetime.fromisoformat(until)
            part["UNTIL"] = f"{_local(end, start.tzinfo):%Y%m%dT%H%M%S}"
    return write_rule({"FREQ": part.pop("FREQ", ""), **part})


def _cut_rule(rule: str, first: datetime, begin: datetime, end: datetime | None, moved: timedelta) -> str | None:
    """The part of a rule from `begin` on and before `end`, moved; "" if nothing is left, None if no rule says it."""
    part = read_rule(rule)
    days = ((begin + moved).date() - begin.date()).days
    has_days = any(name.startswith("BY") for name in part)
    *_, at = first, *expand_rule(rule, first, begin.date(), begin + timedelta(seconds=1))
    if at != begin or (days and not has_days and part.get("FREQ") in ("MONTHLY", "YEARLY")):
        return None
    if days and has_days:
        if part.get("FREQ") != "WEEKLY" or not set(part["BYDAY"].split(",")) <= {*_WEEKDAYS}:
            return None
        shifted = (_WEEKDAYS[(_WEEKDAYS.index(day) + days) % 7] for day in part["BYDAY"].split(","))
        part["BYDAY"] = ",".join(shifted)
    if (count := int(part.get("COUNT", "0"))) > 0:
        before = sum(1 for _ in expand_rule(rule, first, first.date(), begin)) if begin > first else 0
        until = min(count, sum(1 for _ in expand_rule(rule, first, first.date(), end))) if end else count
        part["COUNT"] = str(until - before)
        return write_rule(part) if until > before else ""
    ends = [end - timedelta(seconds=1)] if end else []
    if "UNTIL" in part:
        ends.append(datetime.fromisoformat(part["UNTIL"]))
    if ends:
        part["UNTIL"] = f"{min(ends) + moved:%Y%m%dT%H%M%S}"
    return write_rule(part)
