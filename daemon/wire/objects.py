"""What there is in the memory, to look around in: objects, facts, notes, and what a person says of them by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from daemon.wire.facts import Strand
from daemon.wire.questions import Passage
from memory.nouns import Fact, ListedSource, PlannedEntry


@dataclass(frozen=True, slots=True)
class FoundObject:
    """A person, place or thing, with how many `facts` are told of it and in how many `notes` it is mentioned. `kind` is
    what it is, "" if nothing says it."""

    name: str
    kind: str = ""
    facts: int = 0
    notes: int = 0


@dataclass(frozen=True, slots=True)
class FoundObjects:
    """GET /search/objects?words=&limit=&offset=: those with all the words in a name; `total` is how many there are."""

    objects: tuple[FoundObject, ...]
    total: int


@dataclass(frozen=True, slots=True)
class FoundFacts:
    """GET /search/facts?words=&limit=&offset=: what was read as facts and has all the words, the newest first."""

    facts: tuple[Fact, ...]
    total: int


@dataclass(frozen=True, slots=True)
class FoundNotes:
    """GET /search/notes?words=&limit=&offset=: notes with all the words in their title or in a passage."""

    notes: tuple[ListedSource, ...]
    total: int


@dataclass(frozen=True, slots=True)
class MentionedIn:
    """A note in which an object is mentioned, in so many `passages`; `quote` is the line of the first."""

    uri: str
    title: str
    line: int | None
    quote: str
    passages: int
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """What an object is joined to: by a `relation`, from it on if `forward`; without one, both stand in so many
    `passages`."""

    name: str
    relation: str = ""
    forward: bool = True
    passages: int = 0


@dataclass(frozen=True, slots=True)
class ObjectReply:
    """GET /object?name=: what is known of one object, by any of its names: the facts that hold, how each changed, the
    newest notes that mention it (of so many), and what it is joined to."""

    name: str
    names: tuple[str, ...]
    facts: tuple[Fact, ...]
    strands: tuple[Strand, ...]
    notes: tuple[MentionedIn, ...]
    notes_total: int
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class NoteReply:
    """GET /note?uri=: what was read of one source. `read` is when; `models`: which have read facts out of it, beside
    rules; `facts` are those; `passages` are the first of the source's `episodes`."""

    source: ListedSource
    read: datetime | None
    tags: tuple[str, ...]
    models: tuple[str, ...]
    passages: tuple[Passage, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class PlansReply:
    """GET /plans?days=: what is planned from today on for so many days, or overdue; and the tasks of all notes, each a
    fact whose value is open, done or dropped."""

    planned: tuple[PlannedEntry, ...]
    tasks: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Corrected:
    """POST /correct, /correct/remove: the fact as it was and, corrected, as it is now."""

    old: Fact
    new: Fact | None = None
