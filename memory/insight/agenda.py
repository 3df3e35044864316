"""Planned and due entries: of calendars, tasks, lists and tables that name a day near today."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from memory.answering.entries import read_entries
from memory.answering.listed_entries import NO_DAYS, ListedEntry, keep_newest, show_entry
from memory.nouns import PlannedEntry
from memory.store import calendars, episodes
from memory.store.connect import Connection

OVERDUE = timedelta(days=14)  # how long an open task is still listed
MAX_PASSAGES = 200  # the newest, which are read for it
_CLOCK = re.compile(r", (\d\d:\d\d(?: to \d\d:\d\d)?)(?=,|$)")
_NOTHING: frozenset[str] = frozenset()


def list_planned(conn: Connection, today: date, days: int) -> list[PlannedEntry]:
    """The planned entries of the next `days` days and the open tasks of the last OVERDUE days, by day and time."""
    end = today + timedelta(days=days)
    named = calendars.on_days(conn, today - OVERDUE, end)
    versions = calendars.find_entry_versions(conn)
    newest = sorted(episodes.alive(conn, named) - versions.outdated, reverse=True)[:MAX_PASSAGES]
    entries = keep_newest(_read_passages(conn, newest, versions.elsewhere))
    planned = [plan for entry in entries for plan in _list_days(entry, today, end)]
    return sorted(planned, key=lambda plan: (plan.day, plan.time, plan.episode_id, plan.line or 0))


def _read_passages(
    conn: Connection, passages: list[int], elsewhere: Mapping[int, frozenset[date]]
) -> Iterator[ListedEntry]:
    for episode in episodes.by_ids(conn, passages):
        for entry in read_entries(episode.text):
            if entry.state in ("", "open"):
                yield ListedEntry(episode, entry, _NOTHING, _NOTHING, elsewhere.get(episode.id, NO_DAYS))


def _split_clock(entry: ListedEntry, day: date, at: str) -> tuple[str, str]:
    """(time of day of an entry on one of its days, "14:00 to 15:00" or "", its text as in `show_entry`)."""
    head, _, text = show_entry(entry, day, at).partition(": ")
    time = head.removeprefix(day.isoformat()).strip()
    if not time and (match := _CLOCK.search(text)):  # of a recurring event, after its name
        return match[1], text[: match.start()] + text[match.end() :]
    return time, text


def _list_days(listed: ListedEntry, today: date, end: date) -> Iterator[PlannedEntry]:
    is_task = listed.entry.kind == "task"
    for day, at in listed.days_within(today - OVERDUE if is_task else today, end).items():
        time, text = _split_clock(listed, day, at)
        episode = listed.episode
        line = episode.line_at(listed.entry.start)
        yield PlannedEntry(day.isoformat(), time, text, is_task, episode.source.uri, episode.title, line, episode.id)
