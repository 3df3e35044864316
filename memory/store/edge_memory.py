"""Edge memory as rows: what edges learned from questions, derived from the traces, per embedder.

An edge has up to eight slots, each a float16 vector of norm 1 at most. Rows are deleted when their edge is retired,
merged or forgotten. `memory.edge_memory.edges` defines the vectors, `memory.edge_memory.rebuild` recomputes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.store.connect import LISTED, LIVE, Connection, group_rows, id_list, is_live, read_column
from memory.store.graph import EDGE_KINDS, EdgeRow, allocate, insert_edges

FORGOTTEN = 0.15  # norm below which a slot is dropped

Halves = NDArray[np.float16]
Ids = NDArray[np.int32]
# Written like the index `trace_edge_learnt`; otherwise all rows are scanned.
_LEARNT = "role IN ('cited', 'enhanced', 'penalised')"
Role = Literal["replayed", "expanded", "shown", "cited", "enhanced", "penalised"]


class Slots(NamedTuple):
    """The slots of one edge. `vectors` (s, d) float16 or wider; `positives`, `negatives` and `times` (s,): counts of
    enhancements and penalties, and the last time (ms UTC)."""

    vectors: NDArray[np.floating]
    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    times: NDArray[np.int64]

    @classmethod
    def none(cls, dimension: int) -> Slots:
        """Returns no slots."""
        numbers = np.empty(0, np.int64)
        return cls(np.empty((0, dimension), np.float16), numbers, numbers, numbers)

    def select(self, chosen: NDArray[np.bool_]) -> Slots:
        """Returns the chosen slots."""
        return Slots._make(column[chosen] for column in self)

    def plus(self, vector: NDArray[np.floating], now: int) -> Slots:
        """Returns these slots and one that was enhanced once."""
        return Slots(
            np.concatenate([self.vectors, vector[None]]),
            np.append(self.positives, 1),
            np.append(self.negatives, 0),
            np.append(self.times, now),
        )

    def with_slot(self, place: int, vector: NDArray[np.floating], positives: int, now: int) -> Slots:
        """Returns these slots with one replaced, which was enhanced `positives` times."""
        vectors, counted, times = self.vectors.astype(np.float64), self.positives.copy(), self.times.copy()
        vectors[place], counted[place], times[place] = vector, positives, now
        return Slots(vectors, counted, self.negatives, times)


Ends = tuple[int, int, int]
"""What an edge is and where it ends: an index of graph.EDGE_KINDS, and the node ids of source and destination."""


def load(
    conn: Connection, embedder_id: int, dimension: int
) -> tuple[Ids, NDArray[np.int8], Ids, Ids, NDArray[np.int64], Halves]:
    """Returns the memory of all edges: (e,) edge ids, kinds (index of graph.EDGE_KINDS), node ids of both ends and the
    start of each edge's slots; (s, d) vectors."""
    code = " ".join(f"WHEN '{kind}' THEN {number}" for number, kind in enumerate(EDGE_KINDS))
    rows = conn.execute(
        f"SELECT m.edge_id, CASE e.kind {code} END, e.src, e.dst, m.data FROM edge_memory m"
        " JOIN edge e ON e.id = m.edge_id WHERE m.embedder_id = ? ORDER BY m.edge_id, m.slot",
        (embedder_id,),
    ).fetchall()
    numbers = np.array([row[:4] for row in rows], np.int64).reshape(-1, 4)
    vectors = np.frombuffer(b"".join([row[4] for row in rows]), np.float16).reshape(-1, dimension)
    edges, starts = np.unique(numbers[:, 0], return_index=True)
    first = numbers[starts]
    kinds, (src, dst) = first[:, 1].astype(np.int8), first[:, 2:].T.astype(np.int32)
    return edges.astype(np.int32), kinds, src, dst, starts.astype(np.int64), vectors


def slots(conn: Connection, embedder_id: int, dimension: int, edges: Iterable[SupportsInt]) -> dict[int, Slots]:
    """Returns {edge: its slots} of these edges; edges without memory are missing."""
    rows = conn.execute(
        f"SELECT edge_id, data, n_pos, n_neg, t_last FROM edge_memory WHERE edge_id IN {LISTED}"
        " AND embedder_id = ? ORDER BY edge_id, slot",
        (id_list(edges), embedder_id),
    )
    slots_of = {}
    for edge, parts in group_rows((edge, row) for edge, *row in rows).items():
        data, positives, negatives, times = zip(*parts, strict=True)
        vectors = np.frombuffer(b"".join(data), np.float16).reshape(-1, dimension)
        slots_of[edge] = Slots(vectors, *(np.array(column, np.int64) for column in (positives, negatives, times)))
    return slots_of


def put(conn: Connection, embedder_id: int, changed: Mapping[int, Slots]) -> None:
    """Replaces the slots of these edges; retired edges get none. Vectors are float16."""
    listed = id_list(changed)
    conn.execute(f"DELETE FROM edge_memory WHERE embedder_id = ? AND edge_id IN {LISTED}", (embedder_id, listed))
    live = read_column(conn, f"SELECT id FROM edge WHERE id IN {LISTED} AND {LIVE} ORDER BY id", listed)
    conn.executemany(
        "INSERT INTO edge_memory(edge_id, slot, embedder_id, data, norm, n_pos, n_neg, t_last)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (edge, number, embedder_id, vector.tobytes(), norm(vector), positive, negative, time)
            for edge in live
            for number, (vector, positive, negative, time) in enumerate(
                zip(changed[edge].vectors, *(column.tolist() for column in changed[edge][1:]), strict=True)
            )
        ],
    )


def norm(vector: NDArray[np.floating]) -> float:
    """Returns the length of a stored vector in double precision."""
    return float(np.linalg.norm(vector.astype(np.float64)))


def clear(conn: Connection, embedder_id: int) -> None:
    """Deletes the memory of all edges for this embedder."""
    conn.execute("DELETE FROM edge_memory WHERE embedder_id = ?", (embedder_id,))


def counts(conn: Connection, embedder_id: int) -> tuple[int, int, int]:
    """Returns (edges with memory, slots, bytes of their vectors)."""
    row: tuple[int, int, int] = conn.execute(
        "SELECT count(DISTINCT edge_id), count(*), ifnull(sum(length(data)), 0) FROM edge_memory WHERE embedder_id = ?",
        (embedder_id,),
    ).fetchone()
    return row


def ends(conn: Connection, edges: Iterable[SupportsInt]) -> dict[int, Ends]:
    """Returns {edge: (kind, source, target)} of the live ones."""
    rows = conn.execute(f"SELECT id, kind, src, dst FROM edge WHERE id IN {LISTED} AND {LIVE}", (id_list(edges),))
    return {id: (EDGE_KINDS.index(kind), src, dst) for id, kind, src, dst in rows}


# Edges from an episode to itself, "reading this helped", created when first learned ----------------------------


def openings(conn: Connection, episodes: Iterable[SupportsInt]) -> dict[int, int]:
    """Returns {episode: its `open` edge} of those with one."""
    rows = conn.execute(
        f"SELECT src, id FROM edge WHERE src IN {LISTED} AND kind = 'open' AND {LIVE}", (id_list(episodes),)
    )
    return dict(rows.fetchall())


def open_edges(conn: Connection, episodes: Iterable[int], now: int) -> dict[int, int]:
    """Returns {episode: its `open` edge, created if missing}, of the live episodes."""
    live = f"SELECT id FROM node WHERE id IN {LISTED} AND kind = 'E' AND {LIVE} ORDER BY id"
    episode_ids = read_column(conn, live, id_list(episodes))
    opened = openings(conn, episode_ids)
    new = [episode for episode in episode_ids if episode not in opened]
    if new:
        first = allocate(conn, "edge", len(new))
        made = {episode: first + place for place, episode in enumerate(new)}
        insert_edges(conn, [EdgeRow(id, "open", episode, episode) for episode, id in made.items()], now)
        opened |= made
    return opened


# What a question did to edges ----------------------------------------------------------------------------------


def note(conn: Connection, trace_id: int, rows: Iterable[tuple[int, Role, float | None]]) -> None:
    """Records the effects of a question: (edge, role, delta), each pair of edge and role once. `delta` suffices to
    learn it again: the maximum number of slots of an enhanced edge, the loss of a penalised one, else the activation or
    None."""
    conn.executemany(
        "INSERT OR IGNORE INTO trace_edge(trace_id, edge_id, role, delta) VALUES (?, ?, ?, ?)",
        [(trace_id, *row) for row in rows],
    )


class Signal(NamedTuple):
    """A learning signal from a trace for an edge. `feedback`: the verdict on the answer, 1, -1 or None; `t` ms UTC."""

    trace_id: int
    t: int
    edge: int
    role: Role
    delta: float
    feedback: int | None


def list_signals(conn: Connection, edges: Sequence[SupportsInt]) -> list[Signal]:
    """Returns the learning signals for these edges in chronological order."""
    rows = conn.execute(
        "SELECT t.id, t.t, e.edge_id, e.role, ifnull(e.delta, 0), t.feedback FROM trace_edge e"
        f" JOIN trace t ON t.id = e.trace_id WHERE e.{_LEARNT}"
        f" AND e.edge_id IN {LISTED} ORDER BY t.id, e.edge_id, e.role",
        (id_list(edges),),
    )
    return [Signal(*row) for row in rows]


def list_verdicts(conn: Connection, edges: Iterable[SupportsInt]) -> dict[int, list[tuple[int, int]]]:
    """Returns {edge: [(trace, verdict)]} of the judged answers that used these edges, by question; 1 good, -1 bad."""
    rows = conn.execute(
        "SELECT e.edge_id, t.id, t.feedback FROM trace_edge e JOIN trace t ON t.id = e.trace_id WHERE e.role = 'cited'"
        f" AND e.{_LEARNT} AND e.edge_id IN {LISTED} AND t.feedback IS NOT NULL ORDER BY t.id",
        (id_list(edges),),
    )
    return group_rows((edge, (trace, feedback)) for edge, trace, feedback in rows)


def list_judgements(conn: Connection, embedder_id: int) -> dict[int, int | None]:
    """Returns {trace: verdict} of the traces with a vector of this embedder."""
    query = "SELECT t.id, t.feedback FROM trace t JOIN query q ON q.trace_id = t.id AND q.embedder_id = ?"
    return dict(conn.execute(query, (embedder_id,)).fetchall())


def find_touched(conn: Connection, traces: Iterable[SupportsInt]) -> list[int]:
    """Returns the live edges that learned from these traces, by id."""
    query = f"SELECT id FROM edge WHERE {LIVE} AND id IN ({_TOUCHED}) ORDER BY id"
    return read_column(conn, query, id_list(traces), "[]")


def list_without_credit(conn: Connection, embedder_id: int) -> list[int]:
    """Returns the live edges with signals but without memory for this embedder."""
    knows = "SELECT 1 FROM edge_memory m WHERE m.edge_id = edge.id AND m.embedder_id = ?"
    query = f"SELECT id FROM edge WHERE {LIVE} AND id IN ({_LEARNERS}) AND NOT EXISTS ({knows}) ORDER BY id"
    return read_column(conn, query, embedder_id)


def learners(conn: Connection, embedder_id: int) -> list[int]:
    """Returns the edges with signals or memory for this embedder, by id."""
    query = f"{_LEARNERS} UNION SELECT edge_id FROM edge_memory WHERE embedder_id = ? ORDER BY 1"
    return read_column(conn, query, embedder_id)


_LEARNERS = f"""SELECT edge_id FROM trace_edge WHERE role = 'enhanced' AND {_LEARNT}
 UNION SELECT e.edge_id FROM trace t JOIN trace_edge e ON e.trace_id = t.id AND e.role = 'cited'
  AND e.{_LEARNT} WHERE t.feedback = 1"""


def remove_credit(conn: Connection, traces: str, edges: str) -> None:
    """Removes the memory learned from traces and edges that will be forgotten (two id lists). Memory
    of the same edges from other traces goes, too, until `memory.edge_memory.rebuild.complete` restores it. Call before
    the deletion."""
    conn.execute(f"DELETE FROM edge_memory WHERE edge_id IN ({_TOUCHED})", (traces, edges))


# The edges that learned from traces, given ones (two id lists), and those that earlier versions gave memory of them.
_TOUCHED = f"""
WITH RECURSIVE touched(id) AS (
 SELECT edge_id FROM trace_edge WHERE role IN ('cited', 'enhanced', 'penalised')
  AND trace_id IN {LISTED}
 UNION SELECT value FROM json_each(?)
 UNION SELECT j.item_id FROM touched JOIN journal j ON j.field = 'memory' AND j.old = CAST(touched.id AS TEXT))
SELECT id FROM touched"""


def drop_stale(conn: Connection) -> int:
    """Deletes edge memory on retired edges; returns the number of rows."""
    holds = f"SELECT 1 FROM edge e WHERE e.id = edge_memory.edge_id AND {is_live('e')}"
    return conn.execute(f"DELETE FROM edge_memory WHERE NOT EXISTS ({holds})").rowcount
