"""Facts, how they changed, and what a person says of that."""

from __future__ import annotations

from dataclasses import dataclass

from memory.events import Event
from memory.insight.diagnosis import AliasSuspect
from memory.nouns import Fact, Profile, Revision


@dataclass(frozen=True, slots=True)
class FactsReply:
    """GET /facts: what held on a day (`as_of`), as the memory knew it on a day (`known_on`); with `history` what was
    replaced as well. `disputes` are the open revisions of kind "contradicts" between two of the facts."""

    about: str
    facts: tuple[Fact, ...]
    disputes: tuple[Revision, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """What was decided of two names. `replaced` facts took the place of others by it, or did so no longer."""

    one: str
    other: str
    same: bool
    replaced: int


@dataclass(frozen=True, slots=True)
class RevisionsReply:
    """GET /revisions?state=open|kept|undone|settled|all (default: open), newest first. `open` counts all that wait;
    `told_as_one`: names of which facts of the one took the place of the other's, or were told again of it."""

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
    """GET /history?about=NAME: how each thing known of it changed; what changed last comes first."""

    about: str
    strands: tuple[Strand, ...]


@dataclass(frozen=True, slots=True)
class ProfileReply:
    """GET /profile, POST /profile and /profile/remove: the owner's profile, and the revisions made by what was set."""

    profile: Profile
    revisions: tuple[Revision, ...] = ()


@dataclass(frozen=True, slots=True)
class FactChanged(Event):
    """A fact was replaced, or somebody settled or undid that."""

    revision: Revision
