"""The snapshot for questions: one graph and the vectors of its episodes, replaced as a whole on each write.

A write costs its own rows only: they are appended to the arrays of the old snapshot. Many vectors take little memory:
their signs find near ones, one byte per value ranks them. Comparing signs counts bits, 32 bytes for 256 values; the
best are compared again by values rounded to a byte, with an error of the cosine below 0.01. Nothing is trained, so
results are independent of the order of insertion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.graph.arrays import NO_END, NO_TIME, TITLE_BONUS, Bools, Floats, Graph, Ints, Links, Theses
from memory.graph.change import LINK_KINDS, GraphChange
from memory.graph.postings import IdIndex, SparseRows
from memory.protocols import Vectors
from memory.store import arrays, vectors
from memory.store import graph as stored
from memory.store.arrays import append_rows, with_room
from memory.store.calendars import EntryVersions, find_entry_versions
from memory.store.connect import Connection

LEAST_NEAR, SHARE_NEAR = 4000, 100  # minimum, and share, of vectors compared by values
BLOCK = 1 << 15  # rows whose signs are compared at once, to fit the cache
PIECE = 1 << 13  # rows rounded at once


@dataclass(frozen=True, slots=True)
class QuantizedVectors:
    """n vectors of d values. `words`: an array (n,) per 64 signs; `codes` (n, d) and `scales` (n,): the values are
    `codes * scales`, zero without a vector."""

    words: tuple[NDArray[np.uint64], ...]
    codes: NDArray[np.int8]
    scales: Floats

    @classmethod
    def zeros(cls, n: int, d: int) -> QuantizedVectors:
        """n empty rows; `put` them before the first search."""
        words = tuple(with_room(np.zeros(n, np.uint64)) for _ in range(-(-d // 64)))
        return cls(words, with_room(np.zeros((n, d), np.int8)), with_room(np.zeros(n, np.float32)))

    @classmethod
    def build(cls, matrix: Vectors) -> QuantizedVectors:
        """Returns the rows of `matrix` (n, d)."""
        made = cls.zeros(*matrix.shape)
        for start in range(0, len(matrix), PIECE):
            rows = np.arange(start, min(start + PIECE, len(matrix)))
            made.put(rows, matrix[rows])
        return made

    def put(self, rows: NDArray[np.integer[Any]], matrix: Vectors) -> None:
        """Writes vectors (r, d) into rows (r,)."""
        words, codes, scales = _quantize(matrix)
        for old, new in zip(self.words, words, strict=True):
            old[rows] = new
        self.codes[rows], self.scales[rows] = codes, scales

    def with_rows(self, matrix: Vectors) -> QuantizedVectors:
        """These rows followed by `matrix` (k, d)."""
        words, codes, scales = _quantize(matrix)
        return QuantizedVectors(
            tuple(append_rows(old, new) for old, new in zip(self.words, words, strict=True)),
            append_rows(self.codes, codes),
            append_rows(self.scales, scales),
        )

    def vectors(self, rows: NDArray[np.integer[Any]]) -> Vectors:
        """(r,) -> (r, d), rounded."""
        rounded: Vectors = self.codes[rows] * self.scales[rows, None]
        return rounded

    def nearest(self, query: Floats, allowed: Bools, others: NDArray[np.integer[Any]]) -> tuple[Ints, Floats]:
        """Returns (rows (r,) sorted, cosines (r,)) of the allowed rows nearest to a vector (d,), and of `others` (o,).
        A zero vector has no neighbours."""
        if not query.any():
            rows = np.unique(others).astype(np.int64)
            return rows, np.zeros(len(rows), np.float32)
        asked = _pack_signs(query[None])[:, 0]
        distances = np.empty(len(self.scales), np.uint16)
        for start in range(0, len(distances), BLOCK):
            part = distances[start : start + BLOCK]
            part[:] = 0
            for words, word in zip(self.words, asked, strict=True):
                part += np.bitwise_count(words[start : start + BLOCK] ^ word)
        if not allowed.all():
            distances[~allowed] = 64 * len(asked) + 1
        most = max(LEAST_NEAR, len(distances) // SHARE_NEAR)
        nearer = np.cumsum(np.bincount(distances, minlength=64 * len(asked) + 2)[:-1])
        limit = min(int(np.searchsorted(nearer, most)), 64 * len(asked))
        chosen = distances <= limit
        chosen[others] = True
        rows = np.flatnonzero(chosen)
        cosines: Floats = (self.codes[rows].astype(np.float32) @ query) * self.scales[rows]
        return rows, cosines


def _quantize(matrix: Vectors) -> tuple[NDArray[np.uint64], NDArray[np.int8], Floats]:
    scales = (np.abs(matrix).max(axis=1, initial=0) / 127).astype(np.float32)
    codes = np.rint(matrix / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    return _pack_signs(matrix), codes, scales


def _pack_signs(matrix: Vectors) -> NDArray[np.uint64]:
    """(n, d) -> (d / 64 rounded up, n) the signs of each vector, 64 per word."""
    missing = -matrix.shape[1] % 64
    packed = np.packbits(np.pad(matrix > 0, ((0, 0), (0, missing))), axis=1)
    words: NDArray[np.uint64] = np.ascontiguousarray(packed.view(np.uint64).T)
    return words


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`vectors` (n, d) has a row per row of `graph`, zeros for episodes without one. Above `limit` rows it is None and
    `quantized` is used. `frequencies` caches the number of episodes per word, `known_versions` the versions of calendar
    entries."""

    graph: Graph
    vectors: Vectors | None
    limit: int
    quantized: QuantizedVectors | None = None
    frequencies: dict[str, int] = field(default_factory=dict)
    known_versions: list[EntryVersions] = field(default_factory=list)

    def entry_versions(self, conn: Connection) -> EntryVersions:
        """Returns the outdated calendar entries, read once."""
        if not self.known_versions:
            self.known_versions.append(find_entry_versions(conn))
        return self.known_versions[0]

    def without_episodes(self, nodes: Sequence[int]) -> Snapshot:
        """Returns the snapshot without these retired episodes; other nodes are ignored."""
        return replace(self, graph=self.graph.without_episodes(nodes), frequencies={}, known_versions=[])

    def apply(self, change: GraphChange, added_vectors: Vectors) -> Snapshot:
        """Returns the snapshot after a write; `added_vectors` (len(change.added), d)."""
        graph = self.graph
        if change.retired:
            graph = graph.without_episodes(change.retired)
        if change.added or change.objects or change.theses or change.links:
            graph = graph.with_episodes(change.added, change.objects, change.theses, change.links)
        if change.unlinked:
            graph = graph.without_links(change.unlinked)
        if change.retimed:
            graph = graph.with_times(change.retimed)
        if change.moved:
            graph = graph.with_positions(change.moved)
        remade = [graph.row_of[row.node_id] for row in change.remade]
        if remade:
            graph = graph.with_mentions(change.remade)
        rows = np.concatenate([added_vectors, self.read_vectors(np.array(remade))]) if remade else added_vectors
        if self.quantized is not None:
            return Snapshot(graph, None, self.limit, self.quantized.with_rows(rows))
        assert self.vectors is not None
        vectors = append_rows(self.vectors, rows)
        if len(vectors) > self.limit:
            return Snapshot(graph, None, self.limit, QuantizedVectors.build(vectors))
        return Snapshot(graph, vectors, self.limit)

    def read_vectors(self, rows: Ints) -> Vectors:
        """Returns (len(rows), d) of these episode rows."""
        if self.quantized is not None:
            return self.quantized.vectors(rows)
        assert self.vectors is not None
        chosen: Vectors = self.vectors[rows]
        return chosen


def with_vectors(conn: Connection, graph: Graph, embedder_id: int, dimension: int, limit: int) -> Snapshot:
    """Returns the graph with the vectors of this embedder, quantized above `limit` episodes."""
    n = len(graph.episode_ids)
    quantized = QuantizedVectors.zeros(n, dimension) if n > limit else None
    exact = np.zeros((0 if quantized else n, dimension), np.float32)
    for ids, matrix in vectors.pieces_of(conn, embedder_id):
        rows = graph.row_of.find(ids)
        present = rows >= 0
        if quantized is not None:
            quantized.put(rows[present], matrix[present])
        else:
            exact[rows[present]] = matrix[present]
    return Snapshot(graph, None if quantized else exact, limit, quantized)


def without_vectors(graph: Graph, dimension: int, limit: int) -> Snapshot:
    """Returns the graph with zero vectors."""
    n = len(graph.episode_ids)
    if n > limit:
        return Snapshot(graph, None, limit, QuantizedVectors.zeros(n, dimension))
    return Snapshot(graph, np.zeros((n, dimension), np.float32), limit)


def load_passages(conn: Connection) -> Graph:
    """Returns the graph without objects and edges: enough for full text if the rest cannot be read."""
    columns = _read_episodes(conn)
    nothing = SparseRows.empty(len(columns["alive"]))
    return replace(Graph.empty(), **columns, counts=nothing.with_room(), titled=nothing.with_room())


def load_graph(conn: Connection) -> Graph:
    """Returns the stored graph, sorted by id."""
    columns = _read_episodes(conn)  # nothing is copied: a million episodes take 2 GB
    columns["object_ids"], columns["leads_nowhere"] = map(with_room, arrays.live_objects(conn))
    nodes = replace(Graph.empty(), **columns)
    edges = arrays.live_edges(conn)
    counts, titled, mention_ids = _take_mentions(edges, nodes.row_of, nodes.column_of)
    return replace(
        nodes,
        counts=counts.with_room(),
        titled=titled.with_room(),
        mention_ids=with_room(mention_ids),
        theses=_take_theses(conn, edges, nodes.row_of, nodes.column_of),
        links=_read_links(conn, edges),
    )


def _read_episodes(conn: Connection) -> dict[str, Any]:
    return {name: with_room(column) for name, column in arrays.live_episodes(conn).items()}


def _take_mentions(
    edges: dict[stored.EdgeKind, arrays.EdgeArrays], row_of: IdIndex, columns: IdIndex
) -> tuple[SparseRows, SparseRows, NDArray[np.int32]]:
    """`counts`, `titled` and `mention_ids` of a Graph; removes these edges from `edges`."""
    mentions = edges.pop("mention")
    matrix = _make_matrix(mentions, row_of, columns)
    weights = mentions.support + TITLE_BONUS * mentions.title
    counts = replace(matrix, data=weights[matrix.data].astype(np.float32))
    titled = _make_matrix(mentions.select(mentions.title), row_of, columns)
    return counts, replace(titled, data=np.ones(titled.size, np.float32)), mentions.id[matrix.data]


def _take_theses(
    conn: Connection, edges: dict[stored.EdgeKind, arrays.EdgeArrays], row_of: IdIndex, columns: IdIndex
) -> Theses:
    """Removes the edges of theses from `edges` as soon as possible: they are many."""
    ids, episode_ids, valid_from, valid_to = arrays.live_theses(conn)
    thesis_of = IdIndex.build(ids)
    asserted = np.zeros(len(ids), np.int32)
    asserted[thesis_of.find(edges["asserts"].dst)] = edges["asserts"].id
    del edges["asserts"]
    matrix = _make_matrix(edges["member"], thesis_of, columns)
    members = replace(matrix, data=edges.pop("member").id[matrix.data])
    del matrix
    columns_of_theses = (ids.astype(np.int32), row_of.find(episode_ids), asserted, valid_from, valid_to)
    return Theses._make([*map(with_room, columns_of_theses), members.with_room()])


def _read_links(conn: Connection, edges: Mapping[stored.EdgeKind, arrays.EdgeArrays]) -> Links:
    parts = [edges[name] for name in LINK_KINDS]
    joined = arrays.EdgeArrays._make(np.concatenate(columns) for columns in zip(*parts, strict=True))
    kinds = np.array([stored.EDGE_KINDS.index(name) for name in LINK_KINDS], np.int8)
    codes = np.repeat(kinds, [len(part.id) for part in parts])
    order = np.argsort(joined.id)
    ids, src, dst, *_, timed = joined.select(order)
    start, end = np.full(len(ids), NO_TIME), np.full(len(ids), NO_END)
    for id, (valid_from, valid_to) in arrays.validity(conn, ids[timed].tolist()).items():
        place = int(np.searchsorted(ids, id))
        start[place] = NO_TIME if valid_from is None else valid_from
        end[place] = NO_END if valid_to is None else valid_to
    evidence = arrays.evidence_of_edges(conn)
    return Links(ids, codes[order], src, dst, start, end, evidence[np.isin(evidence[:, 0], ids)].astype(np.int32))


def _make_matrix(edges: arrays.EdgeArrays, row_of: IdIndex, column_of: IdIndex) -> SparseRows:
    """Returns the edges as a matrix sorted by row, then column, with indexes of edges as entries. ValueError for an
    edge of a missing node."""
    shape = (len(row_of), len(column_of))
    return SparseRows.from_pairs(row_of.find(edges.src), column_of.find(edges.dst), shape)
