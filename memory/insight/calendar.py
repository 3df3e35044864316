"""Everything in a memory that has a day, for a calendar elsewhere: events, tasks, entries of lists, birthdays."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any, Literal

from memory.answering.entries import read_entries
from memory.answering.lists import NO_DAYS, Found, key_of, strip_days
from memory.facts.attributes import attribute_of
from memory.insight.agenda import NOTHING, split_clock
from memory.nouns import Fact
from memory.store import calendars, episodes, facts, relations, text
from memory.store.connect import Connection
from memory.store.predicates import list_labels
from memory.time.dates import CalendarDate, find_dates
from memory.time.recurrence import read_event_time
from memory.time.timestamps import from_ms, now_ms, to_wall, wall_of

AT_ONCE = 500  # passages
LEAP_YEAR = 1972  # of a birthday of which nobody says the year: it has all days

_WHERE = re.compile(r"^Where: (.+)", re.MULTILINE)

DatedKind = Literal["event", "task", "birthday", "entry"]


@dataclass(frozen=True, slots=True)
class DatedEntry:
    """Something on a `day` ("2026-04-24"), until the day `last`, from `begins` ("14:00") until `ends`, at a `place`; ""
    where nothing says so. `rules` are how it recurs (RFC 5545), on days `also`, but for those `left_out`. `key`
    tells it from all others of its note, whatever its day; `number` counts those that have one. `recorded`: when the
    memory came to know."""

    kind: DatedKind
    day: str
    text: str
    key: str
    uri: str
    title: str
    line: int | None
    quote: str
    recorded: datetime
    begins: str = ""
    ends: str = ""
    last: str = ""
    rules: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    number: int = 1
    place: str = ""


def list_dated(conn: Connection) -> Iterator[DatedEntry]:
    """All of it once, of what says the same that in the newest note; open tasks alone. By note and place."""
    newest: dict[str, tuple[int, list[DatedEntry]]] = {}
    named = {*text.naming_dates(conn, date.min, date.max), *calendars.list_recurring(conn)}
    versions = calendars.find_entry_versions(conn)
    ids = iter(sorted(episodes.alive(conn, sorted(named)) - versions.outdated))
    while piece := list(islice(ids, AT_ONCE)):
        read = episodes.read_at(conn, piece)
        for episode in episodes.by_ids(conn, piece):
            at = to_wall(episode.at) or 0
            for entry in read_entries(episode.text):
                found = Found(episode, entry, NOTHING, NOTHING, versions.elsewhere.get(episode.id, NO_DAYS))
                key = key_of(found)
                if entry.state in ("", "open") and (key not in newest or newest[key][0] < at):
                    newest[key] = at, list(_days_of(found, from_ms(read[episode.id])))
    yield from _numbered([one for _, entries in newest.values() for one in entries])
    yield from _birthdays(conn)


def _days_of(found: Found, recorded: datetime) -> Iterator[DatedEntry]:
    """An entry on each of its days; an event once."""
    if found.entry.kind == "event":
        if entry := _event(found, recorded):
            yield entry
        return
    for day, at in found.days().items():
        clock, said = split_clock(found, day, at, only_time=True)
        begins, _, ends = clock.partition(" to ")
        kind: DatedKind = "task" if found.entry.kind == "task" else "entry"
        yield _entry(found, kind, day, said, recorded, begins=begins, ends=ends)


def _event(found: Found, recorded: datetime) -> DatedEntry | None:
    when, again = read_event_time(found.quote), found.again
    if when is None:
        return None
    day = when.first
    clock = {"begins": when.begins, "ends": when.ends, "last": when.last.isoformat() if when.last > day else ""}
    _, said = split_clock(found, day, when.begins, only_time=True)
    if again is None:
        return _entry(found, "event", day, said, recorded, **clock)
    behind = max(again.listed, default=day) + timedelta(days=1)
    by_rule = {*replace(again, listed=frozenset()).days(day, behind)}
    also = tuple(one.isoformat() for one in sorted(again.listed - by_rule))
    left_out = tuple(one.isoformat() for one in sorted(again.left_out | found.elsewhere))
    return _entry(found, "event", day, said, recorded, **clock, rules=again.rules, also=also, left_out=left_out)


def _entry(found: Found, kind: DatedKind, day: date, said: str, recorded: datetime, **more: Any) -> DatedEntry:
    episode = found.episode
    line, key = episode.line_at(found.entry.start), strip_days(found)
    uri, title = episode.source.uri, episode.title
    place = ", ".join(_WHERE.findall(found.quote)) if kind != "entry" else ""
    return DatedEntry(kind, day.isoformat(), said, key, uri, title, line, found.quote, recorded, place=place, **more)


def _numbered(entries: list[DatedEntry]) -> Iterator[DatedEntry]:
    """Those of one key in one note in the order of their days."""
    seen: dict[tuple[str, str, str], int] = {}
    for one in sorted(entries, key=lambda one: (one.uri, one.line or 0, one.day, one.begins, one.text)):
        key = one.kind, one.uri, one.key
        seen[key] = seen.get(key, 0) + 1
        yield replace(one, number=seen[key])


def _birthdays(conn: Connection) -> Iterator[DatedEntry]:
    """What is told to be somebody's birthday, today: each person once."""
    labels = [label for label in list_labels(conn) if attribute_of(label) == "birthday"]
    now = wall_of(now_ms())
    ids = relations.list_labelled(conn, sorted(labels))
    seen: set[str] = set()
    for start in range(0, len(ids), AT_ONCE):
        for fact in facts.by_id(conn, ids[start : start + AT_ONCE]):
            who = fact.objects[0]
            if who.casefold() not in seen and (entry := _birthday(fact, now)):
                seen.add(who.casefold())
                yield entry


def _birthday(fact: Fact, now: int) -> DatedEntry | None:
    ended = fact.valid_to is not None and (to_wall(fact.valid_to) or 0) <= now
    if fact.superseded_by is not None or fact.retired is not None or ended or fact.modality != "asserted":
        return None
    found = next(find_dates(fact.objects[-1]), None)
    day = _day_of_year(found) if found else None
    if day is None:
        return None
    who = fact.objects[0]
    return DatedEntry(
        "birthday", day, who, who.casefold(), fact.uri, fact.title, fact.line, fact.quote, fact.recorded,
        rules=("FREQ=YEARLY",),
    )  # fmt: skip


def _day_of_year(found: CalendarDate) -> str | None:
    """The day of a birthday; in LEAP_YEAR where its year is not said."""
    if found.month is None or found.day is None:
        return None
    try:
        return date(found.year or LEAP_YEAR, found.month, found.day).isoformat()
    except ValueError:
        return None
