"""The contents of the memory: objects, facts, notes, the graph, news, plans, and corrections by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from daemon.wire.facts import Strand
from daemon.wire.questions import Passage
from memory.nouns import Fact, ListedSource, PlannedEntry, Revision


@dataclass(frozen=True, slots=True)
class FoundObject:
    """A person, place or thing, with the number of `facts` about it and of `notes` that mention it. `kind` is the type
    of thing, "" if unknown."""

    name: str
    kind: str = ""
    facts: int = 0
    notes: int = 0


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
class MentionedIn:
    """A note that mentions an object in this number of `passages`; `quote` is the line of the first."""

    uri: str
    title: str
    line: int | None
    quote: str
    passages: int
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A neighbour of an object: by a `relation`, which leads to the neighbour if `forward`; without one, both occur in
    this number of `passages`."""

    name: str
    relation: str = ""
    forward: bool = True
    passages: int = 0


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
class GraphNode:
    """A vertex of the graph: a person, place or thing, or a note, which has a `uri`. `kind` as in FoundObject, or
    "note"; `at`: of a note; `degree`: how many edges it has in the whole memory."""

    id: int
    name: str
    kind: str = ""
    uri: str = ""
    at: datetime | None = None
    degree: int = 0


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge of the graph, by the ids of its ends: a `relation`, or, without one, that a note mentions a thing. It
    holds from `since` on, and until `until`."""

    id: int
    source: int
    target: int
    relation: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class NearNode:
    """An object, `steps` edges from the one in the middle. `kind` as in FoundObject."""

    id: int
    name: str
    kind: str
    steps: int


@dataclass(frozen=True, slots=True)
class NearEdge:
    """What joins two objects, by their ids: a fact from `source` to `target`, or `passages` that mention both."""

    source: int
    target: int
    relation: str = ""
    fact: Fact | None = None
    passages: int = 0


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The surroundings of an object, which is the first of `nodes`: facts that hold (with `as_of`: at that time), and
    joint mentions. `left_out`: about how many more there are."""

    name: str
    names: tuple[str, ...]
    nodes: tuple[NearNode, ...]
    edges: tuple[NearEdge, ...]
    left_out: int = 0
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class GraphReply:
    """A part of the graph, with relations that ended; `center` are the ids of the requested object."""

    center: tuple[int, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


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
