"""What a person finds who comes back: what is new, what waits, what is planned, what could be asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.nouns import Fact, ListedSource, PlannedEntry, Revision


@dataclass(frozen=True, slots=True)
class Home:
    """GET /home?since=&day=: the newest of what changed and of what was read `since` (nothing without it), the newest
    revision that waits for review, and what is planned in the next days or overdue; each with how many there are. With
    a `day` as it was on that day, or will be: what changed up to its end, what is planned from it on."""

    since: datetime | None = None
    changed: tuple[Revision, ...] = ()
    changed_total: int = 0
    read: tuple[ListedSource, ...] = ()
    read_total: int = 0
    review: Revision | None = None
    review_total: int = 0
    planned: tuple[PlannedEntry, ...] = ()
    planned_total: int = 0
    day: str = ""


@dataclass(frozen=True, slots=True)
class ChangedSource:
    """A note that was added | edited | deleted, the last time `at`: so many passages `came` and `went`."""

    uri: str
    title: str
    change: str
    came: int
    went: int
    at: datetime


@dataclass(frozen=True, slots=True)
class DiffReply:
    """GET /diff?since=&until=&limit=: what changed in the memory after a time and up to another, by default now. Facts
    that it knows since then, `begun`; replacements that were made; facts that were said to have `ended`; those that no
    note says any more, `untold`; and notes. The newest first, at most `limit` of each; `totals`: how many there are, in
    this order."""

    since: datetime
    until: datetime
    begun: tuple[Fact, ...]
    replaced: tuple[Revision, ...]
    ended: tuple[Revision, ...]
    untold: tuple[Fact, ...]
    sources: tuple[ChangedSource, ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SuggestionsReply:
    """GET /suggestions: questions worth asking of this memory, each of which has an answer; the notes that were read
    last, the newest first, and the names that stand in most of them."""

    questions: tuple[str, ...] = ()
    notes: tuple[ListedSource, ...] = ()
    names: tuple[str, ...] = ()
