"""Planned and due entries: of calendars, tasks, lists and tables that name a day near today."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from memory.answering.entries import NO_DAYS, Entry, keep_newest, read_entries
from memory.store import calendars, episodes
from memory.store.connect import Connection
from memory.views import PlannedEntry

OVERDUE = timedelta(days=14)  # how long an open task is still listed
MAX_PASSAGES = 200  # the newest, which are read for it
_CLOCK = re.compile(r", (\d\d:\d\d(?: to \d\d:\d\d)?)(?=,|$)")


def list_planned(conn: Connection, today: date, days: int) -> list[PlannedEntry]:
    """The planned entries of the next `days` days and the open tasks of the last OVERDUE days, by day and time."""
    end = today + timedelta(days=days)
    named = calendars.on_days(conn, today - OVERDUE, end)
    versions = calendars.find_entry_versions(conn)
    newest = sorted(episodes.alive(conn, named) - versions.outdated, reverse=True)[:MAX_PASSAGES]
    entries = keep_newest(_read_passages(conn, newest, versions.elsewhere))
    planned = [plan for entry in entries for plan in _list_days(entry, today, end)]
    return sorted(planned, key=lambda plan: (plan.day, plan.time, plan.episode_id, plan.line or 0))


def _read_passages(conn: Connection, passages: list[int], elsewhere: Mapping[int, frozenset[date]]) -> Iterator[Entry]:
    for episode in episodes.by_ids(conn, passages):
        entries = read_entries(episode, elsewhere.get(episode.id, NO_DAYS))
        yield from (entry for entry in entries if entry.state in ("", "open"))


def _list_days(entry: Entry, today: date, end: date) -> Iterator[PlannedEntry]:
    is_task, episode = entry.kind == "task", entry.episode
    for day, at in entry.days_within(today - OVERDUE if is_task else today, end).items():
        head, _, text = entry.show(day, at).partition(": ")
        time = head.removeprefix(day.isoformat()).strip()
        if not time and (match := _CLOCK.search(text)):  # of a recurring event, after its name
            time, text = match[1], text[: match.start()] + text[match.end() :]
        line = episode.line_at(entry.start)
        yield PlannedEntry(day.isoformat(), time, text, is_task, episode.source.uri, episode.title, line, episode.id)
