"""The hypergraph in memory: what a question walks instead of SQL.

A `Graph` never changes once it is built: a write makes a new one out of the old one's arrays and what was
added, and a question keeps the one it started with. Rows are episodes and theses, columns are objects; all only grow,
so that a row or column number stays what it is from one Graph to the next. A retired episode keeps its row
with `alive` false, and so do its theses, which live as long as it does.

Node ids are below 2^30 and edge ids below 2^31, so 32 bits hold them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]
Codes = NDArray[np.int8]
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

Scalar = TypeVar("Scalar", bound=np.generic)

TITLE_BONUS = 2  # a mention in a title counts as so many more (SPEC 7.4 S3f)
NO_TIME = np.iinfo(np.int64).min
NO_END = np.iinfo(np.int64).max

LinkKind = Literal["next", "rel", "syn"]
LINK_KINDS: tuple[LinkKind, ...] = ("next", "rel", "syn")


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode to be put into the graph. `event_from` in ms UTC or None. `mentions`: object node id -> count;
    `titles`: the objects that give it its title; `edges`: object node id -> the mention's edge id."""

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
class ThesisRow:
    """One thesis of an episode: `asserts` is the edge from there, `members` object node id -> the member's edge id.
    Validity in ms UTC or None."""

    node_id: int
    episode_id: int
    asserts: int
    members: Mapping[int, int]
    valid_from: int | None = None
    valid_to: int | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two episodes (`next`) or two objects (`rel`, `syn`), by node ids. `told`: the episodes that tell
    of it; without any it is seen wherever both its ends are. Validity in ms UTC or None."""

    id: int
    kind: LinkKind
    src: int
    dst: int
    valid_from: int | None = None
    valid_to: int | None = None
    told: tuple[int, ...] = ()


@dataclass(frozen=True)
class Theses:
    """t theses. `ids` (t,) node ids, `rows` (t,) their episodes' rows, `asserts` (t,) edge ids; `valid_from` and
    `valid_to` (t,) ms UTC, NO_TIME and NO_END where open; `members` (t, m) sparse: the edge id of thesis -> object."""

    ids: Ids
    rows: Ids
    asserts: Ids
    valid_from: Ints
    valid_to: Ints
    members: sparse.csr_matrix

    @classmethod
    def empty(cls) -> Theses:
        """No theses."""
        ids, times = np.empty(0, np.int32), np.empty(0, np.int64)
        return cls(ids, ids, ids, times, times, sparse.csr_matrix((0, 0), dtype=np.int32))

    def added(self, theses: Sequence[ThesisRow], rows: Ids, columns: Mapping[int, int], width: int) -> Theses:
        """These and some more; `rows` their episodes' rows, `columns` object node id -> column, `width` columns."""
        order = [sorted(thesis.members) for thesis in theses]
        edges = [thesis.members[node] for thesis, nodes in zip(theses, order, strict=True) for node in nodes]
        indices = [columns[node] for nodes in order for node in nodes]
        ends = np.cumsum([0, *map(len, order)])
        members = sparse.csr_matrix((np.array(edges, np.int32), indices, ends), shape=(len(theses), width))
        starts = [NO_TIME if thesis.valid_from is None else thesis.valid_from for thesis in theses]
        stops = [NO_END if thesis.valid_to is None else thesis.valid_to for thesis in theses]
        return Theses(
            _longer(self.ids, [thesis.node_id for thesis in theses]),
            _longer(self.rows, rows),
            _longer(self.asserts, [thesis.asserts for thesis in theses]),
            _longer(self.valid_from, starts),
            _longer(self.valid_to, stops),
            _stacked(self.members, members, width),
        )


@dataclass(frozen=True)
class Links:
    """l links. `ids` (l,) edge ids, `kinds` (l,) index LINK_KINDS, `src`, `dst` (l,) node ids; `valid_from`, `valid_to`
    (l,) ms UTC, NO_TIME and NO_END where open; `told` (p, 2) edge id, node id of an episode that tells of it."""

    ids: Ids
    kinds: Codes
    src: Ids
    dst: Ids
    valid_from: Ints
    valid_to: Ints
    told: Ids

    @classmethod
    def empty(cls) -> Links:
        """No links."""
        ids, times = np.empty(0, np.int32), np.empty(0, np.int64)
        return cls(ids, np.empty(0, np.int8), ids, ids, times, times, np.empty((0, 2), np.int32))

    def added(self, links: Sequence[Link]) -> Links:
        """These and some more."""
        starts = [NO_TIME if link.valid_from is None else link.valid_from for link in links]
        stops = [NO_END if link.valid_to is None else link.valid_to for link in links]
        told = [(link.id, episode) for link in links for episode in link.told]
        return Links(
            _longer(self.ids, [link.id for link in links]),
            _longer(self.kinds, [LINK_KINDS.index(link.kind) for link in links]),
            _longer(self.src, [link.src for link in links]),
            _longer(self.dst, [link.dst for link in links]),
            _longer(self.valid_from, starts),
            _longer(self.valid_to, stops),
            _longer(self.told, np.array(told, np.int32).reshape(-1, 2)),
        )

    def without(self, ids: Sequence[int]) -> Links:
        """These but for some; other ids among them are passed over."""
        keep = ~np.isin(self.ids, ids)
        return Links(
            self.ids[keep],
            self.kinds[keep],
            self.src[keep],
            self.dst[keep],
            self.valid_from[keep],
            self.valid_to[keep],
            self.told[~np.isin(self.told[:, 0], ids)],
        )


@dataclass(frozen=True)
class Graph:
    """Episodes x objects. n episodes, m objects, z mentions, t theses.

    `episode_ids` (n,), `source_ids` (n,), `seqs` (n,), `event_from` (n,) ms UTC or NO_TIME, `is_chat` (n,),
    `words` (n,), `alive` (n,); `object_ids` (m,), `is_date` (m,); `counts` (n, m) sparse: how often an episode
    mentions an object, a title counting more; `titled` (n, m) sparse 0/1: the object gives the episode its title;
    `mention_ids` (z,) edge ids, in the order of `counts`' entries, 0 where none was given.
    """

    episode_ids: Ints
    source_ids: Ints
    seqs: Ints
    event_from: Ints
    is_chat: Bools
    words: Ints
    alive: Bools
    object_ids: Ints
    is_date: Bools
    counts: sparse.csr_matrix
    titled: sparse.csr_matrix
    mention_ids: Ids
    theses: Theses
    links: Links

    @classmethod
    def empty(cls) -> Graph:
        """The graph of a memory that holds nothing."""
        ints, bools = np.empty(0, np.int64), np.empty(0, np.bool_)
        nothing = sparse.csr_matrix((0, 0), dtype=np.float32)
        ids = np.empty(0, np.int32)
        return cls(
            ints, ints, ints, ints, bools, ints, bools, ints, bools, nothing, nothing, ids,
            Theses.empty(), Links.empty(),
        )  # fmt: skip

    @property
    def n_alive(self) -> int:
        """How many episodes can be found."""
        return int(self.alive.sum())

    @cached_property
    def row_of(self) -> dict[int, int]:
        """Episode node id -> row, of the living."""
        return {int(node): row for row, node in enumerate(self.episode_ids) if self.alive[row]}

    @cached_property
    def column_of(self) -> dict[int, int]:
        """Object node id -> column."""
        return {int(node): column for column, node in enumerate(self.object_ids)}

    @cached_property
    def document_frequency(self) -> Ints:
        """(m,) in how many living episodes an object is mentioned."""
        weights = self.alive[np.repeat(np.arange(len(self.alive)), np.diff(self.counts.indptr))]
        return np.bincount(self.counts.indices, weights=weights, minlength=len(self.object_ids)).astype(np.int64)

    @cached_property
    def idf(self) -> Floats:
        """(m,) ln(N/df), 0 for an object that nothing mentions."""
        frequency = self.document_frequency
        with np.errstate(divide="ignore"):
            value = np.log(max(1, self.n_alive) / frequency, where=frequency > 0, out=np.zeros(len(frequency)))
        return value.astype(np.float32)

    def added(
        self,
        episodes: Sequence[EpisodeRow],
        new_objects: Sequence[tuple[int, bool]],
        theses: Sequence[ThesisRow] = (),
        links: Sequence[Link] = (),
    ) -> Graph:
        """This graph and some more episodes, the objects `(node id, is a date)` that they bring, theses of these or of
        older episodes, and links."""
        object_ids = np.concatenate([self.object_ids, np.array([o for o, _ in new_objects], np.int64)])
        is_date = np.concatenate([self.is_date, np.array([d for _, d in new_objects], np.bool_)])
        known = self.column_of
        first = len(self.object_ids)
        columns = {**known, **{node: first + i for i, (node, _) in enumerate(new_objects)}} if new_objects else known
        counts, titled, mention_ids = _rows(episodes, columns)
        rows = {episode.node_id: len(self.alive) + i for i, episode in enumerate(episodes)}
        of_theses = [rows[t.episode_id] if t.episode_id in rows else self.row_of[t.episode_id] for t in theses]
        grown = replace(
            self,
            episode_ids=_longer(self.episode_ids, [e.node_id for e in episodes]),
            source_ids=_longer(self.source_ids, [e.source_id for e in episodes]),
            seqs=_longer(self.seqs, [e.seq for e in episodes]),
            event_from=_longer(self.event_from, [NO_TIME if e.event_from is None else e.event_from for e in episodes]),
            is_chat=_longer(self.is_chat, [e.is_chat for e in episodes]),
            words=_longer(self.words, [e.words for e in episodes]),
            alive=np.concatenate([self.alive, np.ones(len(episodes), np.bool_)]),
            object_ids=object_ids,
            is_date=is_date,
            counts=_stacked(self.counts, counts, len(object_ids)),
            titled=_stacked(self.titled, titled, len(object_ids)),
            mention_ids=_longer(self.mention_ids, mention_ids),
            theses=self.theses.added(theses, np.array(of_theses, np.int32), columns, len(object_ids)),
            links=self.links.added(links) if links else self.links,
        )
        if new_objects:
            grown.__dict__["column_of"] = columns
        return grown

    def retired(self, episode_ids: Sequence[int]) -> Graph:
        """This graph without those episodes and what they assert."""
        rows = [self.row_of[node] for node in episode_ids if node in self.row_of]
        alive = self.alive.copy()
        alive[rows] = False
        return replace(self, alive=alive)

    def remade(self, episodes: Sequence[EpisodeRow]) -> Graph:
        """This graph with new mentions for some of its episodes. A row is never written again: each gets a new one,
        and its theses follow it."""
        nodes = [episode.node_id for episode in episodes]
        place = np.arange(len(self.alive) + len(nodes), dtype=np.int32)
        place[[self.row_of[node] for node in nodes]] = place[len(self.alive) :]
        grown = self.retired(nodes).added(episodes, [])
        return replace(grown, theses=replace(grown.theses, rows=place[grown.theses.rows]))

    def moved(self, seqs: dict[int, int]) -> Graph:
        """This graph with new positions in their source for some episodes (node id -> seq)."""
        changed = self.seqs.copy()
        for node, seq in seqs.items():
            if node in self.row_of:
                changed[self.row_of[node]] = seq
        return replace(self, seqs=changed)

    def unlinked(self, edge_ids: Sequence[int]) -> Graph:
        """This graph without those links; ids of other edges among them are passed over."""
        return replace(self, links=self.links.without(edge_ids))


def _rows(episodes: Sequence[EpisodeRow], columns: dict[int, int]) -> tuple[sparse.csr_matrix, sparse.csr_matrix, Ids]:
    count_values: list[float] = []
    count_columns: list[int] = []
    count_ends = [0]
    edge_ids: list[int] = []
    title_columns: list[int] = []
    title_ends = [0]
    for episode in episodes:
        for node in sorted(episode.mentions):
            bonus = TITLE_BONUS if node in episode.titles else 0
            count_values.append(episode.mentions[node] + bonus)
            count_columns.append(columns[node])
            edge_ids.append(episode.edges.get(node, 0))
        count_ends.append(len(count_columns))
        title_columns.extend(columns[node] for node in sorted(episode.titles))
        title_ends.append(len(title_columns))
    shape = (len(episodes), len(columns))
    counts = sparse.csr_matrix((np.array(count_values, np.float32), count_columns, count_ends), shape=shape)
    titled = sparse.csr_matrix((np.ones(len(title_columns), np.float32), title_columns, title_ends), shape=shape)
    return counts, titled, np.array(edge_ids, np.int32)


def _longer(old: NDArray[Scalar], values: Sequence[int] | NDArray[Any]) -> NDArray[Scalar]:
    return np.concatenate([old, np.asarray(values, old.dtype)]) if len(values) else old


def _stacked(top: sparse.csr_matrix, bottom: sparse.csr_matrix, width: int) -> sparse.csr_matrix:
    """Rows of `bottom` under those of `top`, `width` columns; cheaper than scipy's general vstack."""
    return sparse.csr_matrix(
        (
            np.concatenate([top.data, bottom.data]),
            np.concatenate([top.indices, bottom.indices]),
            np.concatenate([top.indptr, bottom.indptr[1:] + top.indptr[-1]]),
        ),
        shape=(top.shape[0] + bottom.shape[0], width),
    )
