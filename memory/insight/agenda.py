"""What is planned or due: the entries of calendars, tasks, lists and tables that name a day near to today."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from memory.answering.entries import read_entries
from memory.answering.listed_entries import NO_DAYS, ListedEntry, keep_newest, show_entry
from memory.nouns import PlannedEntry
from memory.store import calendars, episodes
from memory.store.connect import Connection

OVERDUE = timedelta(days=14)  # for so long an open task is still told of
MAX_PASSAGES = 200  # that are read for it, the newest
_CLOCK = re.compile(r", (\d\d:\d\d(?: to \d\d:\d\d)?)(?=,|$)")
_NOTHING: frozenset[str] = frozenset()


def list_planned(conn: Connection, today: date, days: int) -> list[PlannedEntry]:
    """What is planned from today on for so many days, and the open tasks of the last OVERDUE days, by day and time."""
    end = today + timedelta(days=days)
    named = calendars.on_days(conn, today - OVERDUE, end)
    versions = calendars.find_entry_versions(conn)
    newest = sorted(episodes.alive(conn, named) - versions.outdated, reverse=True)[:MAX_PASSAGES]
    found = keep_newest(_read(conn, newest, versions.elsewhere))
    planned = [entry for one in found for entry in _on_days(one, today, end)]
    return sorted(planned, key=lambda one: (one.day, one.time, one.episode_id, one.line or 0))


def _read(conn: Connection, passages: list[int], elsewhere: Mapping[int, frozenset[date]]) -> Iterator[ListedEntry]:
    for episode in episodes.by_ids(conn, passages):
        for entry in read_entries(episode.text):
            if entry.state in ("", "open"):
                yield ListedEntry(episode, entry, _NOTHING, _NOTHING, elsewhere.get(episode.id, NO_DAYS))


def _split_clock(one: ListedEntry, day: date, at: str) -> tuple[str, str]:
    """The time of day of an entry on one of its days ("14:00 to 15:00" or ""), and its text as `show_entry` has it."""
    head, _, said = show_entry(one, day, at).partition(": ")
    time = head.removeprefix(day.isoformat()).strip()
    if not time and (found := _CLOCK.search(said)):  # of an event that comes again it follows its name
        return found[1], said[: found.start()] + said[found.end() :]
    return time, said


def _on_days(one: ListedEntry, today: date, end: date) -> Iterator[PlannedEntry]:
    is_task = one.entry.kind == "task"
    for day, at in one.days_within(today - OVERDUE if is_task else today, end).items():
        time, said = _split_clock(one, day, at)
        line = one.episode.line_at(one.entry.start)
        source = one.episode.source
        yield PlannedEntry(day.isoformat(), time, said, is_task, source.uri, one.episode.title, line, one.episode.id)
