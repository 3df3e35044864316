"""What screens show: objects with their mentions, parts of the graph, plug-ins. Clients get them unchanged.

Standard library only; times are timezone-aware datetimes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memory.nouns import Fact


@dataclass(frozen=True, slots=True)
class FoundObject:
    """A person, place or thing, with the number of `facts` about it and of `notes` that mention it. `kind` is the type
    of thing, "" if unknown."""

    name: str
    kind: str = ""
    facts: int = 0
    notes: int = 0


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
class GraphReply:
    """A part of the graph, with relations that ended; `center` are the ids of the requested object."""

    center: tuple[int, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


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
class Plugin:
    """An installed plug-in, the package that brought it with its version, and what it `adds`: kind ("readers") to
    names. `problem` says why it was left out; `is_off`: a person has turned it off. Then it adds nothing."""

    name: str
    package: str
    adds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problem: str = ""
    is_off: bool = False


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """The place of a secret: a source, with its line if it has lines, or a question ("trace 12")."""

    uri: str
    line: int | None
    kind: str
