"""The changes of a write to the graph in memory, by node ids. Times are ms UTC, None if unbounded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

LinkKind = Literal["next", "rel"]
LINK_KINDS: tuple[LinkKind, ...] = ("next", "rel")  # those of EDGE_KINDS that connect two episodes or two objects


@dataclass(frozen=True, slots=True)
class EpisodeVertex:
    """An episode. `mentions`: object node id -> count; `titles`: its title objects; `edges`: object node id -> edge id
    of the mention."""

    node_id: int
    source_id: int
    seq: int
    event_from: int | None
    is_chat: bool
    words: int
    mentions: dict[int, int]
    titles: frozenset[int]
    edges: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ThesisVertex:
    """A thesis of an episode: `asserts` is the edge to it, `members` object node id -> edge id."""

    node_id: int
    episode_id: int
    asserts: int
    members: Mapping[int, int]
    valid_from: int | None = None
    valid_to: int | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two episodes (`next`) or two objects (`rel`). `evidence`: the episodes that assert it; without
    any it is visible if both ends are."""

    id: int
    kind: LinkKind
    src: int
    dst: int
    valid_from: int | None = None
    valid_to: int | None = None
    evidence: tuple[int, ...] = ()


@dataclass(slots=True)
class GraphChange:
    """The changes of a batch for the snapshot in memory. All ids are node ids, except edge ids in `unlinked`, the
    removed edges. `objects`: the new ones, and whether they lead nowhere. `remade`: kept episodes with other mentions;
    `retimed`: new validity of theses (id -> begin, end)."""

    added: list[EpisodeVertex] = field(default_factory=list)
    remade: list[EpisodeVertex] = field(default_factory=list)
    retired: list[int] = field(default_factory=list)
    moved: dict[int, int] = field(default_factory=dict)
    objects: list[tuple[int, bool]] = field(default_factory=list)
    theses: list[ThesisVertex] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    unlinked: list[int] = field(default_factory=list)
    retimed: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
