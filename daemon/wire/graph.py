"""A part of the graph, to be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.nouns import Fact


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
    """An object, so many `steps` from the one in the middle. `kind` as in FoundObject."""

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
    """GET /neighbourhood?about=&depth=&limit=&as_of=: what stands around an object, which is the first of `nodes`:
    facts that hold, or held at a time, and what is mentioned beside it. `left_out`: how many more there are, about."""

    name: str
    names: tuple[str, ...]
    nodes: tuple[NearNode, ...]
    edges: tuple[NearEdge, ...]
    left_out: int = 0
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class GraphReply:
    """GET /graph?about=&limit=: what is best joined, or what stands around one thing, by any of its names, or around
    one note, by its uri; `center` are the ids of that. Also relations that ended."""

    center: tuple[int, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
