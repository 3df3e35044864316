"""Recurrence rules of calendars (RFC 5545): the days on which something comes again, and how often in words."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from heapq import merge
from itertools import groupby

MAX_COUNTED_DAYS = 7320  # that a rule is followed for which says how many times
MAX_AHEAD_DAYS = 2922  # that the next day is looked for in: 29 February
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_BYDAY = re.compile(rf"([+-]?[1-5])?({'|'.join(_WEEKDAYS)})")
_UNTIL = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T\d{6}Z?)?$")
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_STEPS: dict[str, Callable[[date, date], int]] = {  # how many of them lie between two days
    "DAILY": lambda first, day: (day - first).days,
    "WEEKLY": lambda first, day: ((day - first).days + first.weekday()) // 7,
    "MONTHLY": lambda first, day: 12 * (day.year - first.year) + day.month - first.month,
    "YEARLY": lambda first, day: day.year - first.year,
}
_DAY = r"\d{4}-\d\d-\d\d"
_WHEN = re.compile(rf"^(?:When|Due): ({_DAY}).*", re.MULTILINE)  # in the first line of an event, below its heading
_RULE = re.compile(r"^Repeats: (FREQ=\S+)", re.MULTILINE)
_ALSO_ON, _NOT_ON = (re.compile(rf"^{label}: ((?:{_DAY}(?:, )?)+)", re.MULTILINE) for label in ("Also on", "Not on"))


@dataclass(frozen=True, slots=True)
class Recurrence:
    """That something comes again from its `first` day on: by a `rule`, if it has one, and on `listed` days, but for
    those `left_out`."""

    rule: str
    first: date
    listed: frozenset[date] = frozenset()
    left_out: frozenset[date] = frozenset()

    def days(self, since: date, until: date) -> Iterator[date]:
        """Its days from `since` on and before `until`, in order; only the listed ones where the rule cannot be read."""
        listed = sorted(day for day in {self.first, *self.listed} if since <= day < until)
        for day, _ in groupby(merge(listed, self._days_by_rule(since, until))):
            if day not in self.left_out:
                yield day

    def _days_by_rule(self, since: date, until: date) -> Iterator[date]:
        try:
            yield from _days_of(self.rule.upper(), self.first, since, until)
        except (ValueError, OverflowError):
            return

    def next_day(self, today: date) -> date | None:
        """The first of its days from today on."""
        since = max(today, self.first)
        until = date.fromordinal(min(since.toordinal() + MAX_AHEAD_DAYS, date.max.toordinal()))
        return next(self.days(since, until), None)

    def describe(self) -> str:
        """How often it comes, and since when: "every year since 2017"; "" where no rule says it."""
        part = _parts_of(self.rule.upper())
        unit, interval = _UNITS.get(part.get("FREQ", "")), part.get("INTERVAL", "1")
        since = f"{self.first.year}" if unit == "year" else f"{self.first}"
        return f"every {unit if interval == '1' else f'{interval} {unit}s'} since {since}" if unit else ""


def read_recurrence(event: str) -> Recurrence | None:
    """When an event comes again, from its lines as the reader of calendars writes them; None if it does not."""
    first, rule = _WHEN.search(event), _RULE.search(event)
    also, left_out = (_listed(found[1]) if (found := one.search(event)) else frozenset() for one in (_ALSO_ON, _NOT_ON))
    if first is None or not (rule or also):
        return None
    return next((Recurrence(rule[1] if rule else "", day, also, left_out) for day in _listed(first[1])), None)


def show_next(event: str, today: date) -> str:
    """The line of an event that comes again which says when, as of the next time: "When: 2027-08-09 (all day), every
    year since 2017". "" if it comes no more."""
    again, line = read_recurrence(event), _WHEN.search(event)
    day = again.next_day(today) if again else None
    if again is None or day is None or line is None:
        return ""
    later = day - again.first
    try:
        moved = re.sub(_DAY, lambda found: f"{date.fromisoformat(found[0]) + later}", line[0])
    except (ValueError, OverflowError):  # its end is no date; the end of time
        return ""
    return ", ".join(filter(None, (moved, again.describe())))


def _listed(days: str) -> frozenset[date]:
    found = set()
    for day in re.findall(_DAY, days):
        try:
            found.add(date.fromisoformat(day))
        except ValueError:
            continue
    return frozenset(found)


def _parts_of(rule: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in rule.split(";") if "=" in pair)


def _days_of(rule: str, first: date, since: date, until: date) -> Iterator[date]:
    """The days of a rule; none where it names more than days, weeks, months and years. Day by day, so that no rule
    however odd takes long. Raises ValueError for a rule that cannot be read."""
    part = _parts_of(rule)
    frequency, interval = part.pop("FREQ", ""), int(part.pop("INTERVAL", "1"))
    count, last = int(part.pop("COUNT", "0")), _UNTIL.match(part.pop("UNTIL", "99991231"))
    months, days = ({int(n) for n in part.pop(key, "").split(",") if n} for key in ("BYMONTH", "BYMONTHDAY"))
    weekdays = [_BYDAY.fullmatch(one) for one in part.pop("BYDAY", "").split(",") if one]
    part.pop("WKST", None)
    yearly_weekdays = frequency == "YEARLY" and weekdays and not months
    if part or yearly_weekdays or frequency not in _STEPS or interval < 1 or last is None or not all(weekdays):
        return
    nth = {(int(one[1] or 0), _WEEKDAYS.index(one[2])) for one in weekdays if one}
    fits = _day_filter(frequency, first, months, days, nth)
    until = min(until, date(*map(int, last.groups())) + timedelta(days=1) if last[1] < "9999" else until)
    begin = first if count else max(first, since)
    found = 0
    for day in (begin + timedelta(days=step) for step in range((until - begin).days)):
        if count and (found == count or (day - first).days > MAX_COUNTED_DAYS):
            return
        if fits(day) and _STEPS[frequency](first, day) % interval == 0:
            found += 1
            if day >= since:
                yield day


def _day_filter(
    frequency: str, first: date, months: set[int], days: set[int], nth: set[tuple[int, int]]
) -> Callable[[date], bool]:
    """Whether a day is one of a rule's: what the rule leaves out is as on the first day. `nth`: the how manieth of its
    month a weekday is, from its end if negative, 0 for each."""
    months = months or ({first.month} if frequency == "YEARLY" and not days else set())
    days = days or ({first.day} if frequency in ("MONTHLY", "YEARLY") and not nth else set())
    nth = nth or ({(0, first.weekday())} if frequency == "WEEKLY" else set())

    def fits(day: date) -> bool:
        length, weekday = monthrange(day.year, day.month)[1], day.weekday()
        own = {(0, weekday), ((day.day + 6) // 7, weekday), (-((length - day.day) // 7) - 1, weekday)}
        in_month = not days or not days.isdisjoint((day.day, day.day - length - 1))
        return in_month and (not months or day.month in months) and (not nth or not nth.isdisjoint(own))

    return fits
