"""Days of calendar events, from the lines that the calendar reader writes, and their recurrence.

The lines contain local times of the event's zone, so days need no zone. "Repeats:" holds a rule (RFC 5545); "Also on:"
and "Not on:" list the days that differ from the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from heapq import merge
from itertools import groupby, islice

MAX_AHEAD_DAYS = 2922  # search limit for the next day: 29 February
MAX_DAYS = 366  # of one event
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_STEP_DAYS = {"DAILY": 1, "WEEKLY": 7}
_FREQUENCIES = (*_UNITS, "HOURLY")  # others take too long to expand
_LEAP_YEARS, _LAST_LEAP_YEAR = 4, 9956  # after which 29 February has been on each weekday
_DAY = r"\d{4}-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d"
_WHEN = re.compile(  # the first line of an event, below its heading
    rf"^(?:When|Due): (?P<day>{_DAY})(?: (?P<begins>{_CLOCK}))?(?: to (?P<last>{_DAY})?[ ]?(?P<ends>{_CLOCK})?)?.*",
    re.MULTILINE,
)
_RULE = re.compile(r"^Repeats: (FREQ=\S+)", re.MULTILINE)
_ALSO_ON, _NOT_ON = (re.compile(rf"^{label}: ((?:{_DAY}(?:, )?)+)", re.MULTILINE) for label in ("Also on", "Not on"))


@dataclass(frozen=True, slots=True)
class EventTime:
    """The first time of an event: from day `first` at `begins` ("14:00") to day `last` at `ends`; "" without a time."""

    first: date
    begins: str
    last: date
    ends: str

    @property
    def more_days(self) -> int:
        """Days after the first on which it takes place; 0 if it only ends after midnight."""
        days = min((self.last - self.first).days, MAX_DAYS)
        if self.begins and self.ends and (self.ends == "00:00" or (days == 1 and self.ends <= self.begins)):
            days -= 1
        return max(0, days)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The recurrence of an event that begins at `first`: by `rules` and on `listed` days, except those `left_out`."""

    rules: tuple[str, ...]
    first: datetime
    listed: frozenset[date] = frozenset()
    left_out: frozenset[date] = frozenset()

    def days(self, since: date, until: date) -> Iterator[date]:
        """Yields its days in [since, until), in order. An invalid rule yields no days."""
        listed = sorted(day for day in {self.first.date(), *self.listed} if since <= day < until)
        by_rule = (self._list_days_by_rule(rule, since, until) for rule in self.rules)
        for day, _ in groupby(merge(listed, *by_rule)):
            if day not in self.left_out:
                yield day

    def _list_days_by_rule(self, rule: str, since: date, until: date) -> Iterator[date]:
        try:
            for moment in expand_rule(rule, self.first, since, datetime.combine(until, time())):
                if since <= moment.date() < until:
                    yield moment.date()
        except (ValueError, OverflowError, TypeError):
            return

    def next_day(self, today: date) -> date | None:
        """Returns its first day from `today` on."""
        since = max(today, self.first.date())
        return next(self.days(since, move_day(since, MAX_AHEAD_DAYS)), None)

    def describe(self) -> str:
        """Describes the rule: "every year since 2017"; "" without one."""
        part = read_rule(self.rules[0]) if self.rules else {}
        unit, interval = _UNITS.get(part.get("FREQ", "")), part.get("INTERVAL", "1")
        first = self.next_day(self.first.date()) or self.first.date()
        since = f"{first.year}" if unit == "year" else f"{first}"
        return f"every {unit if interval == '1' else f'{interval} {unit}s'} since {since}" if unit else ""


def move_day(day: date, days: int) -> date:
    """Returns the day plus `days`, limited to the range of date."""
    return date.fromordinal(min(max(day.toordinal() + days, 1), date.max.toordinal()))


def read_rule(rule: str) -> dict[str, str]:
    """Returns the parts of a rule by name."""
    return dict(pair.split("=", 1) for pair in rule.upper().split(";") if "=" in pair)


def write_rule(part: Mapping[str, str]) -> str:
    """Returns the rule with these parts."""
    return ";".join(f"{name}={value}" for name, value in part.items())


def expand_rule(rule: str, first: datetime, since: date, before: datetime) -> Iterator[datetime]:
    """Yields the times of a rule before `before`, in order: all from `since` on, and perhaps earlier ones. Raises
    ValueError, OverflowError or TypeError for an invalid rule and one without days."""
    from dateutil.rrule import rrulestr  # takes 20 ms

    part = read_rule(rule)
    interval, count = int(part.get("INTERVAL", "1")), int(part.pop("COUNT", "0"))
    if part.get("FREQ") not in _FREQUENCIES or interval < 1:
        raise ValueError(f"a rule that cannot be followed: {rule}")
    last = before - timedelta(seconds=1)
    until = part.pop("UNTIL", "")
    if not _has_days(write_rule(part), first):
        raise ValueError(f"a rule without days: {rule}")
    if until:
        last = min(last, datetime.fromisoformat(until.removesuffix("Z")))
    if count <= 0:
        first = _skip_to(first, since, part["FREQ"], interval)
    if last < first:
        return
    text = write_rule({**part, "UNTIL": f"{last:%Y%m%dT%H%M%S}"})
    yield from islice(rrulestr(text, dtstart=first), count if count > 0 else None)


@lru_cache(maxsize=1024)
def _has_days(rule: str, first: datetime) -> bool:
    """Whether a rule without an end ever has a day. Starts in the last years of datetime, because dateutil searches to
    their end."""
    from dateutil.rrule import rrulestr

    return next(iter(rrulestr(rule, dtstart=first.replace(year=_LAST_LEAP_YEAR))), None) is not None


def _skip_to(first: datetime, since: date, frequency: str, interval: int) -> datetime:
    """Returns a later start with the same days from `since` on, for a rule without a count."""
    if frequency in _STEP_DAYS:
        step = interval * _STEP_DAYS[frequency]
        return first + timedelta(days=max(0, (since - first.date()).days // step - 1) * step)
    if frequency == "HOURLY" or (first.month, first.day) == (2, 29):
        return first
    years = _LEAP_YEARS * interval
    return first.replace(year=first.year + max(0, (since.year - first.year - 1) // years) * years)


def read_event_time(event: str) -> EventTime | None:
    """Returns the first time of an event, from its lines, or None."""
    match = _WHEN.search(event)
    try:
        if match is None:
            return None
        first = date.fromisoformat(match["day"])
        last = date.fromisoformat(match["last"]) if match["last"] else first
    except ValueError:
        return None
    return EventTime(first, match["begins"] or "", last, match["ends"] or "")


def read_recurrence(event: str) -> Recurrence | None:
    """Returns the recurrence of an event, from its lines, or None."""
    when, rules = read_event_time(event), tuple(_RULE.findall(event))
    also, left_out = (_read_days(match[1] if (match := line.search(event)) else "") for line in (_ALSO_ON, _NOT_ON))
    if when is None or not (rules or also or left_out):
        return None
    try:
        begins = time.fromisoformat(when.begins) if when.begins else time()
    except ValueError:  # "24:30"
        begins = time()
    return Recurrence(rules, datetime.combine(when.first, begins), also, left_out)


def list_event_days(event: str, since: date, until: date, elsewhere: frozenset[date] = frozenset()) -> dict[date, str]:
    """Returns the days of an event in [since, until), each with its time of day for a single event, else "". Days in
    `elsewhere`, which another text describes, are left out."""
    when, recurrence = read_event_time(event), read_recurrence(event)
    if when is None:
        return {}
    more = timedelta(days=when.more_days)
    earliest = move_day(since, -more.days)
    starts = [when.first] if recurrence is None else [*recurrence.days(earliest, until)]
    days: dict[date, str] = {}
    for start in starts:
        if start not in elsewhere:
            days |= {start + timedelta(days=n): "" for n in range(1, min(more.days, (date.max - start).days) + 1)}
            days[start] = when.begins if recurrence is None else ""
    return {day: at for day, at in sorted(days.items()) if since <= day < until}


def show_next(event: str, today: date) -> str:
    """Returns the line for the next time of an event: "When: 2027-08-09 (all day), every year since 2017"; "" if it
    does not recur any more."""
    recurrence, line = read_recurrence(event), _WHEN.search(event)
    day = recurrence.next_day(today) if recurrence else None
    if recurrence is None or day is None or line is None:
        return ""
    later = day - recurrence.first.date()
    try:
        moved = re.sub(_DAY, lambda match: f"{date.fromisoformat(match[0]) + later}", line[0])
    except (ValueError, OverflowError):  # an invalid end; limits of datetime
        return ""
    return ", ".join(filter(None, (moved, recurrence.describe())))


def _read_days(days: str) -> frozenset[date]:
    read = set()
    for day in re.findall(_DAY, days):
        try:
            read.add(date.fromisoformat(day))
        except ValueError:
            continue
    return frozenset(read)
