"""Facts, their changes, and a person's verdicts on them."""

from __future__ import annotations

from dataclasses import dataclass

from memory.events import Event
from memory.nouns import Fact, Profile
from memory.revisions import Revision
from memory.views import AliasSuspect


@dataclass(frozen=True, slots=True)
class FactsReply:
    """The facts. `disputes` are the open revisions of kind "contradicts" between two of them."""

    about: str
    facts: tuple[Fact, ...]
    disputes: tuple[Revision, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """A decision about two names. `replaced`: how many facts replaced others because of it, or no longer do."""

    one: str
    other: str
    same: bool
    replaced: int


@dataclass(frozen=True, slots=True)
class RevisionsReply:
    """The revisions. `open` counts all that are undecided; `told_as_one`: names that may mean one object, since facts
    of one replaced or repeated facts of the other."""

    revisions: tuple[Revision, ...]
    open: int
    told_as_one: tuple[AliasSuspect, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldValue:
    """One value of a strand: its fact, and the revision that ended it."""

    fact: Fact
    ended: Revision | None = None


@dataclass(frozen=True, slots=True)
class Strand:
    """What one subject had with one predicate, in order of time; or what a note said in place of what it had said: then
    `subject` is its name, and there is no predicate."""

    subject: str
    predicate: str
    values: tuple[HeldValue, ...]


@dataclass(frozen=True, slots=True)
class HistoryReply:
    """The timelines of an object; what changed last comes first."""

    about: str
    strands: tuple[Strand, ...]


@dataclass(frozen=True, slots=True)
class ProfileReply:
    """The owner's profile, and the revisions that a new entry made."""

    profile: Profile
    revisions: tuple[Revision, ...] = ()


@dataclass(frozen=True, slots=True)
class FactChanged(Event):
    """A fact was replaced, or somebody settled or undid that."""

    revision: Revision
