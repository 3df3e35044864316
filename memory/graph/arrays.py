"""The hypergraph in memory, which questions walk instead of SQL.

A `Graph` is immutable: a write makes a new one that shares arrays with the old, and a question keeps the one it started
with. Rows are episodes and theses, columns are objects; numbers stay the same from one Graph to the next. A retired
episode keeps its row with `alive` false, and so do its theses.

Node ids are below 2^30 and edge ids below 2^31, so 32 bits suffice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory.graph.change import EpisodeVertex, Link, ThesisVertex
from memory.graph.postings import IdIndex, Postings, SparseRows, flatten_slices
from memory.store.arrays import append_rows
from memory.store.graph import EDGE_KINDS

Ints = NDArray[np.int64]
Ids = NDArray[np.int32]
Codes = NDArray[np.int8]
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

Derived = TypeVar("Derived")

TITLE_BONUS = 2  # extra weight of a mention in a title
NO_TIME = np.iinfo(np.int64).min
NO_END = np.iinfo(np.int64).max

_OF_MENTIONS = ("row_of", "column_of", "mentioned", "titles", "degrees", "n_alive", "idf")  # created on first use


class Degrees(NamedTuple):
    """Mentions of each object (m,) in live episodes: number of episodes; sum of 1 + ln(count); number of episodes it
    titles."""

    mentions: Ids
    weights: NDArray[np.float64]
    titles: Ids

    def plus(self, more: Degrees) -> Degrees:
        """Returns the sum; `more` may have more objects."""
        more.mentions[: len(self.mentions)] += self.mentions
        more.weights[: len(self.weights)] += self.weights
        more.titles[: len(self.titles)] += self.titles
        return more

    def minus(self, less: Degrees) -> Degrees:
        """Returns the difference."""
        return Degrees(self.mentions - less.mentions, self.weights - less.weights, self.titles - less.titles)


class Theses(NamedTuple):
    """t theses. `ids` (t,) node ids, `rows` (t,) rows of their episodes, `asserts` (t,) edge ids; `valid_from` and
    `valid_to` (t,) ms UTC, NO_TIME and NO_END if unbounded; `members` (t, m) sparse: the edge id of thesis ->
    object."""

    ids: Ids
    rows: Ids
    asserts: Ids
    valid_from: Ints
    valid_to: Ints
    members: SparseRows

    @classmethod
    def empty(cls) -> Theses:
        """No theses."""
        ids, times = np.empty(0, np.int32), np.empty(0, np.int64)
        return cls(ids, ids, ids, times, times, SparseRows.empty(dtype=np.int32))

    def with_theses(self, theses: Sequence[ThesisVertex], rows: Ids, columns: Mapping[int, int], width: int) -> Theses:
        """These and further theses; `rows` of their episodes, `columns` object node id -> column, `width` columns."""
        order = [sorted(thesis.members) for thesis in theses]
        edges = [thesis.members[node] for thesis, nodes in zip(theses, order, strict=True) for node in nodes]
        indices = [columns[node] for nodes in order for node in nodes]
        ends = np.cumsum([0, *map(len, order)])
        members = SparseRows.build(np.array(edges, np.int32), indices, ends, width)
        starts = [NO_TIME if thesis.valid_from is None else thesis.valid_from for thesis in theses]
        stops = [NO_END if thesis.valid_to is None else thesis.valid_to for thesis in theses]
        more = ([row.node_id for row in theses], rows, [row.asserts for row in theses], starts, stops)
        pairs: zip[Any] = zip(self[:-1], more, strict=True)
        return Theses._make([*(append_rows(*pair) for pair in pairs), self.members.stack(members, width)])

    def with_times(self, times: Mapping[int, tuple[int | None, int | None]]) -> Theses:
        """These with other times for some (id -> begin, end); unknown ids are ignored."""
        valid_from, valid_to = self.valid_from.copy(), self.valid_to.copy()
        for place in np.flatnonzero(np.isin(self.ids, [*times])):
            start, stop = times[int(self.ids[place])]
            valid_from[place] = NO_TIME if start is None else start
            valid_to[place] = NO_END if stop is None else stop
        return self._replace(valid_from=valid_from, valid_to=valid_to)


class Links(NamedTuple):
    """l links. `ids` (l,) edge ids, `kinds` (l,) index EDGE_KINDS, `src`, `dst` (l,) node ids; `valid_from`, `valid_to`
    (l,) ms UTC, NO_TIME and NO_END if unbounded; `evidence` (p, 2) edge id, node id of an episode that asserts it."""

    ids: Ids
    kinds: Codes
    src: Ids
    dst: Ids
    valid_from: Ints
    valid_to: Ints
    evidence: Ids

    @classmethod
    def empty(cls) -> Links:
        """No links."""
        ids, times = np.empty(0, np.int32), np.empty(0, np.int64)
        return cls(ids, np.empty(0, np.int8), ids, ids, times, times, np.empty((0, 2), np.int32))

    def with_links(self, links: Sequence[Link]) -> Links:
        """These and further links."""
        starts = [NO_TIME if link.valid_from is None else link.valid_from for link in links]
        stops = [NO_END if link.valid_to is None else link.valid_to for link in links]
        asserted = [(link.id, episode) for link in links for episode in link.evidence]
        codes = [EDGE_KINDS.index(link.kind) for link in links]
        ids, src, dst = ([getattr(link, name) for link in links] for name in ("id", "src", "dst"))
        evidence = np.array(asserted, np.int32).reshape(-1, 2)
        pairs: zip[Any] = zip(self, (ids, codes, src, dst, starts, stops, evidence), strict=True)
        longest = Links._make(append_rows(*pair) for pair in pairs)
        if not len(self.ids) or not ids or min(ids) > self.ids[-1]:
            return longest
        # A changed link returns with the same id.
        order = np.argsort(longest.ids, kind="stable")
        return longest._select(order, np.argsort(longest.evidence[:, 0], kind="stable"))

    def _select(self, places: Ints | Bools, evidence: Ints | Bools) -> Links:
        return Links._make([*(column[places] for column in self[:-1]), self.evidence[evidence]])

    def ends(self, id: int) -> tuple[int, int] | None:
        """Returns the node ids of both ends of a link, or None."""
        place = int(np.searchsorted(self.ids, id))
        if place == len(self.ids) or self.ids[place] != id:
            return None
        return int(self.src[place]), int(self.dst[place])

    def evidence_of(self, id: int) -> Ids:
        """Returns (e,) the node ids of the episodes that assert a link."""
        return self.evidence[slice(*np.searchsorted(self.evidence[:, 0], [id, id + 1])), 1]

    def without_links(self, ids: Sequence[int]) -> Links:
        """These without some; unknown ids are ignored."""
        keep = ~np.isin(self.ids, ids)
        return self if keep.all() else self._select(keep, ~np.isin(self.evidence[:, 0], ids))


@dataclass(frozen=True)
class Graph:
    """Episodes x objects. n episodes, m objects, z mentions, t theses.

    `episode_ids` (n,), `source_ids` (n,), `seqs` (n,), `event_from` (n,) ms UTC or NO_TIME, `is_chat` (n,), `words`
    (n,), `alive` (n,); `object_ids` (m,), `leads_nowhere` (m,): dates, states; `counts` (n, m) sparse: mentions
    of an object in an episode, more for a title; `titled` (n, m) sparse 0/1: the object titles the episode;
    `mention_ids` (z,) edge ids in the order of `counts`, 0 if unknown. `derived` caches results by name."""

    episode_ids: Ints
    source_ids: Ints
    seqs: Ints
    event_from: Ints
    is_chat: Bools
    words: Ints
    alive: Bools
    object_ids: Ints
    leads_nowhere: Bools
    counts: SparseRows
    titled: SparseRows
    mention_ids: Ids
    theses: Theses
    links: Links
    derived: dict[str, Any] = field(init=False, repr=False, compare=False, default_factory=dict)

    @classmethod
    def empty(cls) -> Graph:
        """Returns the graph of an empty memory."""
        ints, bools = np.empty(0, np.int64), np.empty(0, np.bool_)
        nothing = SparseRows.empty()
        ids = np.empty(0, np.int32)
        return cls(
            ints, ints, ints, ints, bools, ints, bools, ints, bools, nothing, nothing, ids,
            Theses.empty(), Links.empty(),
        )  # fmt: skip

    def derive(self, name: str, make: Callable[[Graph], Derived]) -> Derived:
        """Returns a result of the arrays, computed on first use."""
        cached: Derived | None = self.derived.get(name)
        if cached is None:
            cached = self.derived[name] = make(self)
        return cached

    @property
    def n_alive(self) -> int:
        """The number of live episodes."""
        return self.derive("n_alive", lambda graph: int(np.count_nonzero(graph.alive)))

    @property
    def row_of(self) -> IdIndex:
        """Live episode node id -> row."""
        return self.derive("row_of", lambda graph: IdIndex.build(graph.episode_ids, graph.alive))

    @property
    def column_of(self) -> IdIndex:
        """Object node id -> column."""
        return self.derive("column_of", lambda graph: IdIndex.build(graph.object_ids))

    @property
    def mentioned(self) -> Postings:
        """`counts` by column."""
        return self.derive("mentioned", lambda graph: Postings(graph.counts))

    @property
    def titles(self) -> Postings:
        """`titled` by column."""
        return self.derive("titles", lambda graph: Postings(graph.titled))

    @property
    def degrees(self) -> Degrees:
        """The mentions of live episodes."""
        return self.derive(
            "degrees", lambda graph: _count_degrees(graph, np.flatnonzero(graph.alive), len(graph.object_ids))
        )

    @property
    def document_frequency(self) -> Ids:
        """(m,) number of live episodes that mention each object."""
        return self.degrees.mentions

    @property
    def idf(self) -> Floats:
        """(m,) ln(N/df), 0 for an unmentioned object."""
        return self.derive("idf", lambda graph: graph.rarity(slice(None)))

    def rarity(self, columns: NDArray[np.integer[Any]] | slice) -> Floats:
        """`idf` of these columns (c,), at the cost of these only."""
        frequency = self.degrees.mentions[columns]
        value: Floats = np.log(max(1, self.n_alive) / np.maximum(frequency, 1)).astype(np.float32)
        value[frequency == 0] = 0
        return value

    @property
    def chat_order(self) -> Ints:
        """Rows of the live chat episodes by source and position."""
        return self.derive("chat_order", _sort_chats)

    def with_episodes(
        self,
        episodes: Sequence[EpisodeVertex],
        new_objects: Sequence[tuple[int, bool]],
        theses: Sequence[ThesisVertex] = (),
        links: Sequence[Link] = (),
    ) -> Graph:
        """This graph with more episodes, their new objects `(node id, leads nowhere)`, theses of these or older
        episodes, and links."""
        object_ids = append_rows(self.object_ids, [node for node, _ in new_objects])
        column_of = self.column_of.extend(object_ids)
        counts, titled, mention_ids = _make_rows(episodes, column_of, len(object_ids))
        episode_ids = append_rows(self.episode_ids, [e.node_id for e in episodes])
        alive = append_rows(self.alive, np.ones(len(episodes), np.bool_))
        row_of = self.row_of.extend(episode_ids, alive)
        grown = replace(
            self,
            episode_ids=episode_ids,
            source_ids=append_rows(self.source_ids, [e.source_id for e in episodes]),
            seqs=append_rows(self.seqs, [e.seq for e in episodes]),
            event_from=append_rows(
                self.event_from, [NO_TIME if e.event_from is None else e.event_from for e in episodes]
            ),
            is_chat=append_rows(self.is_chat, [e.is_chat for e in episodes]),
            words=append_rows(self.words, [e.words for e in episodes]),
            alive=alive,
            object_ids=object_ids,
            leads_nowhere=append_rows(self.leads_nowhere, [nowhere for _, nowhere in new_objects]),
            counts=self.counts.stack(counts, len(object_ids)),
            titled=self.titled.stack(titled, len(object_ids)),
            mention_ids=append_rows(self.mention_ids, mention_ids),
            theses=self.theses.with_theses(
                theses, row_of.find(np.array([t.episode_id for t in theses], np.int64)), column_of, len(object_ids)
            ),
            links=self.links.with_links(links) if links else self.links,
        )
        grown.derived.update(column_of=column_of, row_of=row_of)
        if not any(episode.is_chat for episode in episodes):
            grown._keep(self, "chat_order")
        if "mentioned" in self.derived:
            grown.derived["mentioned"] = Postings(grown.counts, self.mentioned)
        if "titles" in self.derived:
            grown.derived["titles"] = Postings(grown.titled, self.titles)
        if "degrees" in self.derived:
            more = _count_degrees(grown, np.arange(len(self.alive), len(alive)), len(object_ids))
            grown.derived["degrees"] = self.degrees.plus(more)
        return grown

    def without_episodes(self, episode_ids: Sequence[int]) -> Graph:
        """This graph without those episodes and their theses."""
        rows = self.row_of.find(np.array(episode_ids, np.int64))
        rows = np.unique(rows[rows >= 0])
        alive = self.alive.copy()
        alive[rows] = False
        rest = replace(self, alive=alive)
        rest._keep(self, "column_of", "mentioned", "titles", *(() if self.is_chat[rows].any() else ("chat_order",)))
        rest.derived["row_of"] = self.row_of.extend(self.episode_ids, alive)
        if "degrees" in self.derived:
            rest.derived["degrees"] = self.degrees.minus(_count_degrees(self, rows, len(self.object_ids)))
        return rest

    def with_mentions(self, episodes: Sequence[EpisodeVertex]) -> Graph:
        """This graph with new mentions for some episodes. Rows are immutable: each of these episodes and its theses get
        a new one."""
        nodes = [episode.node_id for episode in episodes]
        place = np.arange(len(self.alive) + len(nodes), dtype=np.int32)
        place[[self.row_of[node] for node in nodes]] = place[len(self.alive) :]
        grown = self.without_episodes(nodes).with_episodes(episodes, [])
        return grown._share_mentions(replace(grown, theses=grown.theses._replace(rows=place[grown.theses.rows])))

    def with_positions(self, seqs: dict[int, int]) -> Graph:
        """This graph with new positions in the source for some episodes (node id -> seq)."""
        changed = self.seqs.copy()
        for node, seq in seqs.items():
            if node in self.row_of:
                changed[self.row_of[node]] = seq
        return self._share_mentions(replace(self, seqs=changed))

    def with_times(self, times: Mapping[int, tuple[int | None, int | None]]) -> Graph:
        """This graph with new times for some theses."""
        return self._share_mentions(replace(self, theses=self.theses.with_times(times)))

    def without_links(self, edge_ids: Sequence[int]) -> Graph:
        """This graph without those links; ids of other edges are ignored."""
        return self._share_mentions(replace(self, links=self.links.without_links(edge_ids)))

    def _share_mentions(self, other: Graph) -> Graph:
        """`other`, which has the same mentions, with the cached results about these."""
        other._keep(self, *_OF_MENTIONS)
        return other

    def _keep(self, other: Graph, *names: str) -> None:
        """Copies cached results of another graph that are equal here."""
        self.derived.update((name, other.derived[name]) for name in names if name in other.derived)


def _sort_chats(graph: Graph) -> Ints:
    rows = np.flatnonzero(graph.alive & graph.is_chat)
    return rows[np.lexsort((graph.seqs[rows], graph.source_ids[rows]))]


def _count_degrees(graph: Graph, rows: NDArray[np.integer[Any]], width: int) -> Degrees:
    """Returns the degrees of these rows only, for `width` objects."""

    def entries_of(matrix: SparseRows) -> Ints | slice:
        if len(rows) == matrix.shape[0]:  # an index array would be larger than the mentions
            return slice(None)
        return flatten_slices(matrix.indptr[rows], matrix.indptr[rows + 1] - matrix.indptr[rows])[1]

    entries = entries_of(graph.counts)
    columns = graph.counts.indices[entries]
    titles = np.bincount(graph.titled.indices[entries_of(graph.titled)], minlength=width)
    log_counts = 1 + np.log(graph.counts.data[entries])
    weights: NDArray[np.float64] = np.bincount(columns, weights=log_counts, minlength=width).astype(np.float64)
    return Degrees(np.bincount(columns, minlength=width).astype(np.int32), weights, titles.astype(np.int32))


def _make_rows(
    episodes: Sequence[EpisodeVertex], columns: Mapping[int, int], width: int
) -> tuple[SparseRows, SparseRows, Ids]:
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
    counts = SparseRows.build(np.array(count_values, np.float32), count_columns, count_ends, width)
    titled = SparseRows.build(np.ones(len(title_columns), np.float32), title_columns, title_ends, width)
    return counts, titled, np.array(edge_ids, np.int32)
