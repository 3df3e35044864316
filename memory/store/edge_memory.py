"""What edges remember of the questions they helped to answer, as rows: a view of the traces, for one embedder.

An edge has up to eight slots, each a vector in float16 whose norm is at most 1. Rows go with their edge, when it is
retired, merged or forgotten; `memory.edge_memory.edges` says what the vectors mean, `memory.edge_memory.rebuild` makes
them anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.store.connect import Connection
from memory.store.graph import EDGE_KINDS, EdgeRow, allocate, insert_edges
from memory.store.rows import LISTED, LIVE, group_rows, id_list, select_ids

INHERITED = 0.5  # of its slots is what the successor of a fact begins with
FORGOTTEN = 0.15  # norm below which a slot is given up

Halves = NDArray[np.float16]
Ids = NDArray[np.int32]
# Said as the index `trace_edge_learnt` says it, or all rows are read.
_LEARNT = "role IN ('cited', 'enhanced', 'penalised')"
Role = Literal["replayed", "expanded", "shown", "cited", "enhanced", "penalised"]


class Slots(NamedTuple):
    """What one edge remembers. `vectors` (s, d) float16 or wider; `positives`, `negatives` and `times` (s,): how often
    a slot was enhanced and penalised, and when last (ms UTC)."""

    vectors: NDArray[np.floating]
    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    times: NDArray[np.int64]

    @classmethod
    def none(cls, dimension: int) -> Slots:
        """Nothing yet."""
        numbers = np.empty(0, np.int64)
        return cls(np.empty((0, dimension), np.float16), numbers, numbers, numbers)

    def select(self, chosen: NDArray[np.bool_]) -> Slots:
        """Some of them."""
        return Slots._make(column[chosen] for column in self)

    def plus(self, vector: NDArray[np.floating], now: int) -> Slots:
        """These and a slot that was enhanced once."""
        return Slots(
            np.concatenate([self.vectors, vector[None]]),
            np.append(self.positives, 1),
            np.append(self.negatives, 0),
            np.append(self.times, now),
        )

    def with_slot(self, place: int, vector: NDArray[np.floating], positives: int, now: int) -> Slots:
        """The same but for one slot, which was enhanced `positives` times."""
        vectors, counted, times = self.vectors.astype(np.float64), self.positives.copy(), self.times.copy()
        vectors[place], counted[place], times[place] = vector, positives, now
        return Slots(vectors, counted, self.negatives, times)


Ends = tuple[int, int, int]
"""What an edge is and where it ends: an index of graph.EDGE_KINDS, and the node ids of source and destination."""


def load(
    conn: Connection, embedder_id: int, dimension: int
) -> tuple[Ids, NDArray[np.int8], Ids, Ids, NDArray[np.int64], Halves]:
    """All that edges remember: (e,) edges by id, their kinds (index of graph.EDGE_KINDS), node ids of both ends and
    where each one's slots begin; (s, d) vectors."""
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
    """What each of these edges remembers, slot by slot; none of an edge that remembers nothing."""
    rows = conn.execute(
        f"SELECT edge_id, data, n_pos, n_neg, t_last FROM edge_memory WHERE edge_id IN {LISTED}"
        " AND embedder_id = ? ORDER BY edge_id, slot",
        (id_list(edges), embedder_id),
    )
    found = {}
    for edge, parts in group_rows((edge, row) for edge, *row in rows).items():
        data, positives, negatives, times = zip(*parts, strict=True)
        vectors = np.frombuffer(b"".join(data), np.float16).reshape(-1, dimension)
        found[edge] = Slots(vectors, *(np.array(column, np.int64) for column in (positives, negatives, times)))
    return found


def put(conn: Connection, embedder_id: int, changed: Mapping[int, Slots]) -> None:
    """Writes what these edges remember from now on; nothing of an edge that is retired. Vectors are float16."""
    listed = id_list(changed)
    conn.execute(f"DELETE FROM edge_memory WHERE embedder_id = ? AND edge_id IN {LISTED}", (embedder_id, listed))
    live = select_ids(conn, f"SELECT id FROM edge WHERE id IN {LISTED} AND {LIVE} ORDER BY id", listed)
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
    """The length of a stored vector, in double precision."""
    return float(np.linalg.norm(vector.astype(np.float64)))


def clear(conn: Connection, embedder_id: int) -> None:
    """Nothing remembers anything any more, for this embedder."""
    conn.execute("DELETE FROM edge_memory WHERE embedder_id = ?", (embedder_id,))


def counts(conn: Connection, embedder_id: int) -> tuple[int, int, int]:
    """How many edges remember something, in how many slots, and how many bytes their vectors take."""
    row: tuple[int, int, int] = conn.execute(
        "SELECT count(DISTINCT edge_id), count(*), ifnull(sum(length(data)), 0) FROM edge_memory WHERE embedder_id = ?",
        (embedder_id,),
    ).fetchone()
    return row


def ends(conn: Connection, edges: Iterable[SupportsInt]) -> dict[int, Ends]:
    """What each of these edges is, as far as it is live."""
    rows = conn.execute(f"SELECT id, kind, src, dst FROM edge WHERE id IN {LISTED} AND {LIVE}", (id_list(edges),))
    return {id: (EDGE_KINDS.index(kind), src, dst) for id, kind, src, dst in rows}


# Edges from an episode to itself, "reading this helped": made when that is first learnt ------------------------


def openings(conn: Connection, episodes: Iterable[SupportsInt]) -> dict[int, int]:
    """Episode -> its `open` edge, of those that have one."""
    rows = conn.execute(
        f"SELECT src, id FROM edge WHERE src IN {LISTED} AND kind = 'open' AND {LIVE}", (id_list(episodes),)
    )
    return dict(rows.fetchall())


def open_edges(conn: Connection, episodes: Iterable[int], now: int) -> dict[int, int]:
    """Episode -> its `open` edge, made where there is none; nothing of an episode that is not live."""
    live = f"SELECT id FROM node WHERE id IN {LISTED} AND kind = 'E' AND {LIVE} ORDER BY id"
    wanted = select_ids(conn, live, id_list(episodes))
    found = openings(conn, wanted)
    new = [episode for episode in wanted if episode not in found]
    if new:
        first = allocate(conn, "edge", len(new))
        made = {episode: first + place for place, episode in enumerate(new)}
        insert_edges(conn, [EdgeRow(id, "open", episode, episode) for episode, id in made.items()], now)
        found |= made
    return found


# What a question did to edges ----------------------------------------------------------------------------------


def note(conn: Connection, trace_id: int, rows: Iterable[tuple[int, Role, float | None]]) -> None:
    """Writes what a question did to edges: (edge, role, delta), each edge once in a role. `delta` is what it takes to
    learn it again: how many slots an enhanced edge may have, by how much a penalised one loses; else how strongly it
    fired, or nothing."""
    conn.executemany(
        "INSERT OR IGNORE INTO trace_edge(trace_id, edge_id, role, delta) VALUES (?, ?, ?, ?)",
        [(trace_id, *row) for row in rows],
    )


class Signal(NamedTuple):
    """One row of what is learnt: from a trace, of an edge. `feedback` is what the person said of the trace's answer: 1,
    -1 or None; `t` ms UTC."""

    trace_id: int
    t: int
    edge: int
    role: Role
    delta: float
    feedback: int | None


class Inheritance(NamedTuple):
    """After the trace `after` (0: before all), the edge `new` began with a part of what `old` remembered."""

    after: int
    old: int
    new: int
    t: int


def list_signals(conn: Connection, edges: Sequence[SupportsInt]) -> list[Signal]:
    """All that was to be learnt of these edges, in the order in which it was."""
    return _signals(conn, "e.edge_id", edges)


def list_signals_by_trace(conn: Connection, traces: Sequence[SupportsInt]) -> dict[int, list[Signal]]:
    """What edges were to learn of these questions, by trace."""
    return group_rows((row.trace_id, row) for row in _signals(conn, "t.id", traces))


def _signals(conn: Connection, column: str, ids: Sequence[SupportsInt]) -> list[Signal]:
    rows = conn.execute(
        "SELECT t.id, t.t, e.edge_id, e.role, ifnull(e.delta, 0), t.feedback FROM trace_edge e"
        f" JOIN trace t ON t.id = e.trace_id WHERE e.{_LEARNT}"
        f" AND {column} IN {LISTED} ORDER BY t.id, e.edge_id, e.role",
        (id_list(ids),),
    )
    return [Signal(*row) for row in rows]


def list_verdicts(conn: Connection, edges: Iterable[SupportsInt]) -> dict[int, list[tuple[int, int]]]:
    """Edge -> (trace, verdict) of the answers that these edges led to and that a person called good (1) or bad (-1), in
    the order in which they were asked."""
    rows = conn.execute(
        "SELECT e.edge_id, t.id, t.feedback FROM trace_edge e JOIN trace t ON t.id = e.trace_id WHERE e.role = 'cited'"
        f" AND e.{_LEARNT} AND e.edge_id IN {LISTED} AND t.feedback IS NOT NULL ORDER BY t.id",
        (id_list(edges),),
    )
    return group_rows((edge, (trace, feedback)) for edge, trace, feedback in rows)


def taught_by(conn: Connection, embedder_id: int) -> tuple[dict[int, int | None], list[tuple[object, ...]]]:
    """All that edges have learnt from so far: trace -> what the person said of its answer, of those that have a vector;
    and which relation inherited what from which, as rows of the journal."""
    feedback = conn.execute(
        "SELECT t.id, t.feedback FROM trace t JOIN query q ON q.trace_id = t.id AND q.embedder_id = ?", (embedder_id,)
    )
    inherited = conn.execute("SELECT id, item_id, old, new FROM journal WHERE field = 'memory' ORDER BY id")
    return dict(feedback.fetchall()), inherited.fetchall()


def find_touched(conn: Connection, traces: Iterable[SupportsInt]) -> list[int]:
    """The live edges that learn from these traces, and those that inherited from them; by id."""
    query = f"SELECT id FROM edge WHERE {LIVE} AND id IN ({_TOUCHED}) ORDER BY id"
    return select_ids(conn, query, id_list(traces), "[]")


def untaught(conn: Connection, embedder_id: int) -> list[int]:
    """The live edges that something was learnt of, or that inherited, and that remember nothing for this embedder."""
    knows = "SELECT 1 FROM edge_memory m WHERE m.edge_id = edge.id AND m.embedder_id = ?"
    query = f"SELECT id FROM edge WHERE {LIVE} AND id IN ({_LEARNERS}) AND NOT EXISTS ({knows}) ORDER BY id"
    return select_ids(conn, query, embedder_id)


def learners(conn: Connection, embedder_id: int) -> list[int]:
    """The edges that something was learnt of, that inherited, or that remember something for this embedder; by id."""
    query = f"{_LEARNERS} UNION SELECT edge_id FROM edge_memory WHERE embedder_id = ? ORDER BY 1"
    return select_ids(conn, query, embedder_id)


_LEARNERS = f"""SELECT edge_id FROM trace_edge WHERE role = 'enhanced' AND {_LEARNT}
 UNION SELECT e.edge_id FROM trace t JOIN trace_edge e ON e.trace_id = t.id AND e.role = 'cited'
  AND e.{_LEARNT} WHERE t.feedback = 1
 UNION SELECT item_id FROM journal WHERE field = 'memory'"""


# Facts that take the place of others ---------------------------------------------------------------------------


def inherit_slots(held: Slots, now: int) -> Slots:
    """What the successor of an edge begins with: half of each slot, as far as that is worth keeping."""
    half = held._replace(
        vectors=(held.vectors.astype(np.float16) * np.float16(INHERITED)), times=np.full(len(held.times), now)
    )
    return half.select(np.array([norm(vector) > FORGOTTEN for vector in half.vectors], np.bool_))


def inherit(conn: Connection, revision: int, old: int, new: int, now: int) -> bool:
    """A relation takes the place of another: it begins with half of what that one remembered, for every embedder,
    unless it remembers something itself; whether it does. `unlearn` and taking the revision back undo it."""
    embedders = conn.execute(
        "SELECT DISTINCT m.embedder_id, e.dimension FROM edge_memory m JOIN embedder e ON e.id = m.embedder_id"
        " WHERE m.edge_id = ?1"
        " AND NOT EXISTS (SELECT 1 FROM edge_memory o WHERE o.edge_id = ?2 AND o.embedder_id = m.embedder_id)",
        (old, new),
    ).fetchall()
    for embedder_id, dimension in embedders:
        held = slots(conn, embedder_id, dimension, [old])[old]
        put(conn, embedder_id, {new: inherit_slots(held, now)})
    if embedders:
        conn.execute(
            "INSERT INTO journal(t, item_kind, item_id, field, old, new, revision_id)"
            " VALUES (?, 'edge', ?, 'memory', ?, (SELECT ifnull(max(id), 0) FROM trace), ?)",
            (now, new, str(old), revision),
        )
    return bool(embedders)


def disinherit(conn: Connection, revision: int) -> None:
    """A revision is taken back: what it handed on is not remembered any more, as with `unlearn`."""
    handed_on = "FROM journal WHERE revision_id = ? AND field = 'memory'"
    unlearn(conn, "[]", id_list(select_ids(conn, f"SELECT item_id {handed_on}", revision)))
    conn.execute(f"DELETE {handed_on}", (revision,))


def inheritances(conn: Connection, edges: Sequence[SupportsInt]) -> list[Inheritance]:
    """How these edges, and those that they inherited from, came to inherit; in the order in which they did."""
    rows = conn.execute(
        "WITH RECURSIVE line(id) AS (SELECT value FROM json_each(?) UNION SELECT CAST(j.old AS INTEGER)"
        " FROM line JOIN journal j ON j.item_id = line.id AND j.field = 'memory')"
        " SELECT CAST(j.new AS INTEGER), CAST(j.old AS INTEGER), j.item_id, j.t FROM line"
        " JOIN journal j ON j.item_id = line.id AND j.field = 'memory' ORDER BY j.id",
        (id_list(edges),),
    )
    return [Inheritance(*row) for row in rows]


def unlearn(conn: Connection, traces: str, edges: str) -> None:
    """Traces and edges are about to be forgotten (two id lists): what was learnt from those traces is not remembered
    any more, nor what was inherited of it. What other traces taught the same edges goes too, until
    `memory.edge_memory.rebuild.complete` learns it again. Call before they are removed."""
    conn.execute(f"DELETE FROM edge_memory WHERE edge_id IN ({_TOUCHED})", (traces, edges))


# The edges that learn from traces, some edges, and all that inherited from these or those (two id lists).
_TOUCHED = f"""
WITH RECURSIVE touched(id) AS (
 SELECT edge_id FROM trace_edge WHERE role IN ('cited', 'enhanced', 'penalised')
  AND trace_id IN {LISTED}
 UNION SELECT value FROM json_each(?)
 UNION SELECT j.item_id FROM touched JOIN journal j ON j.field = 'memory' AND j.old = CAST(touched.id AS TEXT))
SELECT id FROM touched"""
