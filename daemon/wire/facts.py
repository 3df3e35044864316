"""Facts, how they changed, and what a person says of that."""

from __future__ import annotations

from dataclasses import dataclass

from daemon.wire.codec import Event


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact, as clients see it: one row of GET /facts. `kind`: thesis | relation; `modality`: asserted | past |
    negated | plan | hypothesis | question; `origin`: sentence | rule | model | user. A relation's `objects` are its
    subject and its object; `quote` are the words of the source."""

    id: int
    kind: str
    text: str
    objects: tuple[str, ...]
    valid_from: str | None
    valid_to: str | None
    recorded: str
    retired: str | None
    superseded_by: int | None
    uri: str
    line: int | None
    modality: str = "asserted"
    origin: str = "sentence"
    predicate: str | None = None
    quote: str = ""
    episode_id: int = 0


@dataclass(frozen=True, slots=True)
class FactsReply:
    """GET /facts: what held on a day (`as_of`), as the memory knew it on a day (`known_on`); with `history` what was
    replaced as well. `disputes` are the open revisions of kind "contradicts" between two of the facts."""

    about: str
    facts: tuple[KnownFact, ...]
    disputes: tuple[FactRevision, ...] = ()


@dataclass(frozen=True, slots=True)
class FactRevision:
    """What a newer fact does to an older one. `relation`: supersedes | negates (the old one ended, nothing took its
    place) | contradicts (nothing tells which holds) | duplicates; `author`: rule | model | user; `state`: open (nobody
    has looked at it) | kept | undone | settled (both hold)."""

    id: int
    relation: str
    old: KnownFact
    new: KnownFact
    reason: str
    author: str
    confidence: float
    state: str
    at: str
    settled: str | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """What was decided of two names. `replaced` facts took the place of others by it, or did so no longer."""

    one: str
    other: str
    same: bool
    replaced: int


@dataclass(frozen=True, slots=True)
class RevisionsReply:
    """GET /revisions?state=open|kept|undone|settled|all (default: open), newest first. `open` counts all that wait."""

    revisions: tuple[FactRevision, ...]
    open: int


@dataclass(frozen=True, slots=True)
class HeldValue:
    """One value of a strand: its fact, and the revision that ended it."""

    fact: KnownFact
    ended: FactRevision | None = None


@dataclass(frozen=True, slots=True)
class Strand:
    """What one subject had with one predicate, in order of time."""

    subject: str
    predicate: str
    values: tuple[HeldValue, ...]


@dataclass(frozen=True, slots=True)
class HistoryReply:
    """GET /history?about=NAME: how each thing known of it changed; what changed last comes first."""

    about: str
    strands: tuple[Strand, ...]


@dataclass(frozen=True, slots=True)
class FactChanged(Event):
    """A fact was replaced, or somebody settled or undid that."""

    revision: FactRevision


@dataclass(frozen=True, slots=True)
class VerdictRequest:
    """POST /revisions/{id} -> FactRevision. `verdict`: keep (the new fact stands) | both (both hold) | old (the old one
    stands, the new one was never true) | undo (everything is as before the revision)."""

    verdict: str


@dataclass(frozen=True, slots=True)
class NamesRequest:
    """POST /names -> Names. Whether two names mean the same object (`same`) or two."""

    one: str
    other: str
    same: bool
