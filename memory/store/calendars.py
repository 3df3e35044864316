"""Passages of a day, and the versions of calendar entries: of an event in several files the newest one counts (RFC
5545: SEQUENCE)."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from types import MappingProxyType
from typing import NamedTuple

from memory.nouns import ENTRY_VERSIONS
from memory.store import text
from memory.store.connect import LISTED, Connection, id_list, is_live, read_column
from memory.time.recurrence import list_event_days, move_day

MAX_RECURRING = 500  # passages with recurring events
MAX_EVENT_DAYS = 100  # maximum days of an event before or after a requested day
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SEVERAL_DAYS = "*When: ????-??-??* to ????-??-??*"


def find_on_days(conn: Connection, since: date, until: date) -> list[int]:
    """Returns ids of the live episodes that name a day in [since, until), or with a recurring or earlier event then."""
    named = text.naming_dates(conn, since, until)
    near = text.naming_dates(conn, move_day(since, -MAX_EVENT_DAYS), move_day(until, MAX_EVENT_DAYS))
    query = f"SELECT node_id, text FROM episode WHERE node_id IN {LISTED}"
    rows = [
        *conn.execute(f"{query} AND text GLOB ?", (id_list([*{*near} - {*named}]), _SEVERAL_DAYS)),
        *conn.execute(query, (id_list(text.search(conn, ("repeats freq",), MAX_RECURRING)[0]),)),
    ]
    return [*dict.fromkeys((*named, *(id for id, event in rows if list_event_days(event, since, until))))]


class EntryVersions(NamedTuple):
    """Episodes of entries with a newer version in another file; and, per episode, the days of its series that another
    file describes."""

    outdated: frozenset[int] = frozenset()
    elsewhere: Mapping[int, frozenset[date]] = MappingProxyType({})


class _Entry(NamedTuple):
    source: int
    line: int
    uid: str
    occurrence: str
    version: tuple[int, str, str]


def find_entry_versions(conn: Connection) -> EntryVersions:
    """Returns the versions of all entries of live calendars and invitations."""
    entries = _list_entries(conn)
    if len({entry.source for entry in entries}) < 2:
        return EntryVersions()
    newest: dict[tuple[str, str], _Entry] = {}
    for entry in entries:
        key = entry.uid, entry.occurrence
        newest[key] = max(newest.get(key, entry), entry, key=lambda version: version.version)
    have = {(entry.source, entry.uid, entry.occurrence) for entry in entries}
    outdated = [entry for entry in entries if _is_outdated(entry, newest, have)]
    changed: dict[str, set[str]] = defaultdict(set)
    for entry in set(entries) - set(outdated):
        if _DAY.fullmatch(entry.occurrence):
            changed[entry.uid].add(entry.occurrence)
    series = [entry for entry in entries if not entry.occurrence and entry.uid in changed and entry not in outdated]
    episodes = _find_episodes(conn, entries, [*outdated, *series])
    elsewhere = {
        episode: frozenset(map(date.fromisoformat, days))
        for entry in series
        if (days := {day for day in changed[entry.uid] if (entry.source, entry.uid, day) not in have})
        for episode in episodes[entry]
    }
    return EntryVersions(frozenset(id for entry in outdated for id in episodes[entry]), elsewhere)


def _list_entries(conn: Connection) -> list[_Entry]:
    """Returns the entries of all live calendars and invitations."""
    path = f'$."{ENTRY_VERSIONS}"'
    query = "SELECT id, properties -> ? FROM source WHERE t_deleted IS NULL AND instr(properties, ?) ORDER BY id"
    return [
        _Entry(source, line, uid, occurrence, (sequence, *stamps))
        for source, listed in conn.execute(query, (path, f'"{ENTRY_VERSIONS}"'))
        for line, uid, occurrence, sequence, *stamps in json.loads(listed)
    ]


def _is_outdated(entry: _Entry, newest: dict[tuple[str, str], _Entry], have: set[tuple[int, str, str]]) -> bool:
    """Whether a newer version of the entry exists, or of its series, if the entry's own file has the series."""
    if entry.version < newest[entry.uid, entry.occurrence].version:
        return True
    series = newest.get((entry.uid, ""))
    has_series = (entry.source, entry.uid, "") in have
    return series is not None and has_series and series.source != entry.source and entry.version < series.version


def _find_episodes(conn: Connection, entries: Iterable[_Entry], selected: Iterable[_Entry]) -> dict[_Entry, list[int]]:
    """Returns the live episodes of each wanted entry; an entry ends where the next one of its file begins."""
    begins: dict[int, list[int]] = defaultdict(list)
    for entry in sorted(entries, key=lambda item: item.line):
        begins[entry.source].append(entry.line)
    query = (
        "SELECT e.node_id FROM episode e JOIN node n ON n.id = e.node_id"
        f" WHERE e.source_id = ? AND e.line_from >= ? AND e.line_from < ? AND {is_live('n')}"
    )
    episodes = {}
    for entry in selected:
        end = next((line for line in begins[entry.source] if line > entry.line), 1 << 40)
        episodes[entry] = read_column(conn, query, entry.source, entry.line, end)
    return episodes
