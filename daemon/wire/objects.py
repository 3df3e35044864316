"""The contents of the memory: objects, facts, notes, news, plans, and corrections by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from daemon.wire.facts import Strand
from memory.nouns import Fact, Passage
from memory.revisions import Revision
from memory.views import FoundObject, ListedSource, MentionedIn, Neighbour, PlannedEntry


@dataclass(frozen=True, slots=True)
class FoundObjects:
    """The objects; `total` is how many there are."""

    objects: tuple[FoundObject, ...]
    total: int


@dataclass(frozen=True, slots=True)
class FoundFacts:
    """The facts, the newest first; `total` is how many there are."""

    facts: tuple[Fact, ...]
    total: int


@dataclass(frozen=True, slots=True)
class FoundNotes:
    """The notes; `total` is how many there are."""

    notes: tuple[ListedSource, ...]
    total: int


@dataclass(frozen=True, slots=True)
class ObjectReply:
    """One object: the facts that hold, how each changed, the newest notes that mention it (`notes_total` in all), and
    its neighbours."""

    name: str
    names: tuple[str, ...]
    facts: tuple[Fact, ...]
    strands: tuple[Strand, ...]
    notes: tuple[MentionedIn, ...]
    notes_total: int
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class NoteReply:
    """What was read of one source, and when. `models` have read facts from it, as rules have; `facts` are those;
    `passages` are the first of the source's `episodes`."""

    source: ListedSource
    read: datetime | None
    tags: tuple[str, ...]
    models: tuple[str, ...]
    passages: tuple[Passage, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class PlansReply:
    """The plans from today on, or overdue; and the tasks of all notes, each a fact whose value is open, done or
    dropped."""

    planned: tuple[PlannedEntry, ...]
    tasks: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Corrected:
    """The fact before the correction, and after it."""

    old: Fact
    new: Fact | None = None


@dataclass(frozen=True, slots=True)
class Home:
    """The newest changes and the newest sources read `since` (nothing without it), the newest revision to review, and
    the plans for the next days or overdue; each with how many there are. With a `day`: the changes up to its end, and
    the plans from it on."""

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
class SuggestionsReply:
    """Questions that have an answer in this memory; the notes that were read last, the newest first, and the names that
    most of them mention."""

    questions: tuple[str, ...] = ()
    notes: tuple[ListedSource, ...] = ()
    names: tuple[str, ...] = ()
