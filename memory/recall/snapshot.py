"""What questions are answered from: one graph and the vectors of its episodes, replaced as a whole on each write.

The vectors stand in a buffer with room to spare: a new snapshot writes behind the rows of the older ones, which
never look there, so that a write costs its own rows and not a copy of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sparse

from memory.graph import TITLE_BONUS, Floats, Graph
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
        if change.added or change.objects:
            graph = graph.added(change.added, change.objects)
        if change.moved:
            graph = graph.moved(change.moved)
        if self.vectors is None or len(graph.episode_ids) > self.limit:
            return Snapshot(graph, None, self.limit)
        rows = added_vectors
        if change.remade:  # a row is never written again: the episode gets a new one
            kept = self.vectors[[self.graph.row_of[row.node_id] for row in change.remade]]
            graph = graph.retired([row.node_id for row in change.remade]).added(change.remade, [])
            rows = np.concatenate([added_vectors, kept])
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
    rows = episodes.live(conn)
    objects = stored.live_objects(conn)
    edges = stored.live_edges(conn, ["mention"])
    place = np.searchsorted(rows.id, edges.src)
    column = np.searchsorted(objects.id, edges.dst)
    shape = (len(rows.id), len(objects.id))
    counts = edges.support + TITLE_BONUS * edges.title
    graph = Graph(
        episode_ids=rows.id,
        source_ids=rows.source_id,
        seqs=rows.seq,
        event_from=rows.event_from,
        is_chat=rows.is_chat,
        words=rows.words,
        alive=np.ones(len(rows.id), np.bool_),
        object_ids=objects.id,
        is_date=objects.is_date,
        counts=sparse.csr_matrix((counts.astype(np.float32), (place, column)), shape=shape),
        titled=sparse.csr_matrix(
            (np.ones(int(edges.title.sum()), np.float32), (place[edges.title], column[edges.title])), shape=shape
        ),
    )
    if len(rows.id) > limit:
        return Snapshot(graph, None, limit)
    ids, matrix = vectors.all_of(conn, embedder_id, "episode")
    known = np.isin(ids, rows.id)
    aligned = np.zeros((len(rows.id), dimension), np.float32)
    aligned[np.searchsorted(rows.id, ids[known])] = matrix[known]
    return Snapshot(graph, aligned, limit)
