"""What questions are answered from: one graph and the vectors of its episodes, replaced as a whole on each write.

The vectors stand in a buffer with room to spare: a new snapshot writes behind the rows of the older ones, which
never look there, so that a write costs its own rows and not a copy of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from memory.graph import LINK_KINDS, NO_END, NO_TIME, TITLE_BONUS, Bools, Floats, Graph, Ints, Links, Theses
from memory.protocols import Vectors
from memory.store import episodes, vectors
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.write.ingest import Change


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`vectors` (n, d) has a row for each row of `graph`, zeros where an episode has none; None when there are
    more than `limit` of them, and the store searches instead."""

    graph: Graph
    vectors: Vectors | None
    limit: int
    buffer: Vectors | None = None

    def without(self, nodes: Sequence[int]) -> Snapshot:
        """The snapshot after these episodes were retired; other nodes among them are passed over."""
        return replace(self, graph=self.graph.retired(nodes))

    def after(self, change: Change, added_vectors: Vectors) -> Snapshot:
        """The snapshot that follows a write; `added_vectors` (len(change.added), d)."""
        graph = self.graph
        if change.retired:
            graph = graph.retired(change.retired)
        if change.added or change.objects or change.links:
            graph = graph.added(change.added, change.objects, change.theses, change.links)
        if change.unlinked:
            graph = graph.unlinked(change.unlinked)
        if change.moved:
            graph = graph.moved(change.moved)
        remade = [graph.row_of[row.node_id] for row in change.remade]
        if remade:
            graph = graph.remade(change.remade)
        if self.vectors is None or len(graph.episode_ids) > self.limit:
            return Snapshot(graph, None, self.limit)
        rows = added_vectors
        if remade:
            rows = np.concatenate([added_vectors, self.vectors[remade]])
        if not len(rows):
            return replace(self, graph=graph)
        old, new = len(self.vectors), len(graph.episode_ids)
        buffer = self.buffer
        if buffer is None or len(buffer) < new:
            buffer = np.zeros((max(1024, new + new // 2), rows.shape[1]), np.float32)
            buffer[:old] = self.vectors
        buffer[old:new] = rows
        return Snapshot(graph, buffer[:new], self.limit, buffer)


def cosines(vectors: Vectors, query: Floats) -> Floats:
    """(n, d) unit rows, (d,) unit vector -> (n,) cosines."""
    scores: Floats = vectors @ query
    return scores


def load(conn: Connection, embedder_id: int, dimension: int, limit: int) -> Snapshot:
    """The snapshot of what is stored; without vectors if there are more than `limit` episodes."""
    return embedded(conn, load_graph(conn), embedder_id, dimension, limit)


def embedded(conn: Connection, graph: Graph, embedder_id: int, dimension: int, limit: int) -> Snapshot:
    """The graph with the vectors of this embedder, unless it has more than `limit` episodes."""
    if len(graph.episode_ids) > limit:
        return Snapshot(graph, None, limit)
    ids, matrix = vectors.all_of(conn, embedder_id, "episode")
    rows = np.array([graph.row_of.get(id, -1) for id in ids.tolist()], np.int64)
    aligned = np.zeros((len(graph.episode_ids), dimension), np.float32)
    aligned[rows[rows >= 0]] = matrix[rows >= 0]
    return Snapshot(graph, aligned, limit)


def load_graph(conn: Connection) -> Graph:
    """The graph of what is stored: rows, columns and edges by id."""
    rows = episodes.live(conn)
    objects = stored.live_objects(conn)
    edges = stored.live_edges(conn)
    kind = {name: edges.kind == code for code, name in enumerate(stored.EDGE_KINDS)}
    counts, mention_ids = _matrix(edges, kind["mention"], rows.id, objects.id)
    counts.data = (edges.support + TITLE_BONUS * edges.title)[counts.data].astype(np.float32)
    titled, _ = _matrix(edges, kind["mention"] & edges.title, rows.id, objects.id)
    titled.data = np.ones(titled.nnz, np.float32)
    return Graph(
        episode_ids=rows.id,
        source_ids=rows.source_id,
        seqs=rows.seq,
        event_from=rows.event_from,
        is_chat=rows.is_chat,
        words=rows.words,
        alive=np.ones(len(rows.id), np.bool_),
        object_ids=objects.id,
        is_date=objects.is_date,
        counts=counts,
        titled=titled,
        mention_ids=mention_ids,
        theses=_theses(conn, edges, kind["asserts"], kind["member"], rows.id, objects.id),
        links=_links(conn, edges),
    )


def _theses(
    conn: Connection, edges: stored.EdgeArrays, asserts: Bools, member: Bools, episode_ids: Ints, object_ids: Ints
) -> Theses:
    found = stored.live_theses(conn)
    asserted = np.zeros(len(found.id), np.int32)
    asserted[np.searchsorted(found.id, edges.dst[asserts])] = edges.id[asserts]
    members, ids = _matrix(edges, member, found.id, object_ids)
    members.data = ids
    return Theses(
        found.id.astype(np.int32),
        np.searchsorted(episode_ids, found.episode_id).astype(np.int32),
        asserted,
        found.valid_from,
        found.valid_to,
        members,
    )


def _links(conn: Connection, edges: stored.EdgeArrays) -> Links:
    code = np.full(len(stored.EDGE_KINDS), -1, np.int8)
    for place, name in enumerate(LINK_KINDS):
        code[stored.EDGE_KINDS.index(name)] = place
    chosen = code[edges.kind] >= 0
    ids = edges.id[chosen]
    start, end = np.full(len(ids), NO_TIME), np.full(len(ids), NO_END)
    for id, (valid_from, valid_to) in stored.validity(conn, edges.id[chosen & edges.timed].tolist()).items():
        place = int(np.searchsorted(ids, id))
        start[place] = NO_TIME if valid_from is None else valid_from
        end[place] = NO_END if valid_to is None else valid_to
    told = stored.told(conn)
    return Links(
        ids.astype(np.int32),
        code[edges.kind[chosen]],
        edges.src[chosen].astype(np.int32),
        edges.dst[chosen].astype(np.int32),
        start,
        end,
        told[np.isin(told[:, 0], ids)].astype(np.int32),
    )


def _matrix(
    edges: stored.EdgeArrays, chosen: Bools, row_ids: Ints, column_ids: Ints
) -> tuple[sparse.csr_matrix, NDArray[np.int32]]:
    """The chosen edges as a matrix, and their ids in the order of its entries: by row, then column. The entries are
    places in `edges`."""
    places = np.flatnonzero(chosen)
    row = np.searchsorted(row_ids, edges.src[places])
    column = np.searchsorted(column_ids, edges.dst[places])
    order = np.lexsort((column, row))
    starts = np.zeros(len(row_ids) + 1, np.int32)
    np.cumsum(np.bincount(row, minlength=len(row_ids)), out=starts[1:])
    shape = (len(row_ids), len(column_ids))
    matrix = sparse.csr_matrix((places[order].astype(np.int32), column[order].astype(np.int32), starts), shape=shape)
    return matrix, edges.id[places[order]].astype(np.int32)
