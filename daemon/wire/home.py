"""What a person finds who comes back: what is new, what waits, what is planned, what could be asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.nouns import ListedSource, PlannedEntry, Revision


@dataclass(frozen=True, slots=True)
class Home:
    """GET /home?since=: the newest of what changed and of what was read `since` (nothing without it), the newest
    revision that waits for review, and what is planned in the next days or overdue; each with how many there are."""

    since: datetime | None = None
    changed: tuple[Revision, ...] = ()
    changed_total: int = 0
    read: tuple[ListedSource, ...] = ()
    read_total: int = 0
    review: Revision | None = None
    review_total: int = 0
    planned: tuple[PlannedEntry, ...] = ()
    planned_total: int = 0


@dataclass(frozen=True, slots=True)
class SuggestionsReply:
    """GET /suggestions: questions worth asking of this memory, each of which has an answer."""

    questions: tuple[str, ...]
