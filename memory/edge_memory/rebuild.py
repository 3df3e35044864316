"""Edge memory recomputed from the traces: for another embedder or center, a verdict, or after forgetting.

Edge memory follows from the questions that used an edge, in order. So it is a fold over traces, edge by edge,
bit-identical to learning question by question."""

from collections.abc import Iterable, Mapping
from itertools import groupby

import numpy as np

from memory.edge_memory.edges import Vector, calibrate_threshold, is_due, keys, keys_of_traces
from memory.edge_memory.reinforce import rejected_keys, update_slots
from memory.protocols import Vectors
from memory.store import edge_memory, queries, traces
from memory.store.connect import Connection
from memory.store.edge_memory import Slots
from memory.store.queries import Geometry

NEVER = 2  # the verdict of a missing trace
COMPARED = 1000  # the newest questions, for the calibration
PIECE = 500  # edges folded at once


def fold(
    conn: Connection,
    embedder_id: int,
    dimension: int,
    edges: Iterable[int],
    center: Vector | None = None,
    verdicts_of: Mapping[int, int | None] | None = None,
) -> dict[int, Slots]:
    """Returns {edge: slots} of these edges according to the traces; writes nothing. `center` (d,) defaults to the
    current one; `verdicts_of`: the traces that count with their verdicts, by default all current ones."""
    ids = sorted(set(edges))
    noted = edge_memory.list_signals(conn, ids)
    if verdicts_of is not None:
        noted = [row._replace(feedback=verdicts_of[row.trace_id]) for row in noted if row.trace_id in verdicts_of]
    if center is None:
        stored_center = queries.geometry(conn, embedder_id).center
        center = np.zeros(dimension) if stored_center is None else stored_center
    key_of = keys_of_traces(conn, embedder_id, dimension, sorted({row.trace_id for row in noted}), center)
    learned: dict[int, Slots] = {}
    verdicts: dict[int, list[tuple[Vector, int]]] = {}
    nothing = Slots.none(dimension)
    for (trace, edge), signals in groupby(noted, lambda row: (row.trace_id, row.edge)):
        if trace in key_of:
            roles = {row.role: row for row in signals}
            first = next(iter(roles.values()))
            before, judged = learned.get(edge, nothing), verdicts.setdefault(edge, [])
            key, deltas = key_of[trace], {role: row.delta for role, row in roles.items()}
            learned[edge] = update_slots(before, key, deltas, first.feedback, first.t, rejected_keys(judged))
            if first.feedback is not None and "cited" in roles:
                judged.append((key, first.feedback))
    return {edge: learned.get(edge, nothing) for edge in ids}


def complete(conn: Connection, embedder_id: int, dimension: int) -> dict[int, Slots]:
    """Computes, stores and returns the missing memory of edges with signals, for restored facts and after forgetting in
    the same transaction. Existing memory does not change."""
    made: dict[int, Slots] = {}
    waiting = edge_memory.list_without_credit(conn, embedder_id)
    for start in range(0, len(waiting), PIECE):
        made |= fold(conn, embedder_id, dimension, waiting[start : start + PIECE])
    edge_memory.put(conn, embedder_id, made)
    return made


class Recentring:
    """Recomputes edge memory around another center, `fold` by `fold` while others read and write; `put` then replaces
    the current one. `left`: the edges still to fold."""

    def __init__(self, conn: Connection, embedder_id: int, dimension: int) -> None:
        """Computes the center of all questions and lists the edges to fold."""
        self._embedder_id, self._dimension = embedder_id, dimension
        self._feedback = edge_memory.list_judgements(conn, embedder_id)
        _, vectors = queries.load_vectors(conn, embedder_id, dimension)
        self._center = _find_center(vectors)
        threshold = _find_threshold(conn, embedder_id, dimension, self._center)
        current = queries.geometry(conn, embedder_id).threshold if threshold is None else threshold
        self._geometry = Geometry(self._center, len(vectors), current)
        self._made: dict[int, Slots] = {}
        self.left = edge_memory.learners(conn, embedder_id)

    def fold(self, conn: Connection, edges: int = PIECE) -> None:
        """Computes the memory of the next edges; writes nothing. Later traces do not count yet: they may be forgotten
        before `put`."""
        now, self.left = self.left[:edges], self.left[edges:]
        self._made |= fold(conn, self._embedder_id, self._dimension, now, self._center, self._feedback)

    def put(self, conn: Connection) -> bool:
        """Writes the result and the changes since. Returns False without writing if questions were forgotten: repeat
        it."""
        feedback = edge_memory.list_judgements(conn, self._embedder_id)
        if self._feedback.keys() - feedback.keys():
            return False
        new = [trace for trace, verdict in feedback.items() if self._feedback.get(trace, NEVER) != verdict]
        late = fold(conn, self._embedder_id, self._dimension, edge_memory.find_touched(conn, new), self._center)
        queries.set_geometry(conn, self._embedder_id, self._geometry)
        edge_memory.clear(conn, self._embedder_id)
        edge_memory.put(conn, self._embedder_id, self._made | late)
        return True


def refold(conn: Connection, embedder_id: int, dimension: int, edges: Iterable[int]) -> None:
    """Recomputes these edges from the current traces. Doing so edge by edge, in any number of transactions, gives the
    same result as all at once, whatever is learned in between."""
    edge_memory.put(conn, embedder_id, fold(conn, embedder_id, dimension, edges))


def apply_verdict(
    conn: Connection, embedder_id: int, dimension: int, trace_id: int, feedback: int | None
) -> dict[int, Slots]:
    """Sets the verdict on an answer: 1, -1, or None to remove it. Recomputes edge memory as if it had been known at the
    time of the question; returns the changed edges. NotFoundError."""
    traces.set_feedback(conn, trace_id, feedback)
    touched = edge_memory.find_touched(conn, [trace_id])
    changed = fold(conn, embedder_id, dimension, touched)
    edge_memory.put(conn, embedder_id, changed)
    return changed


def recentre(conn: Connection, embedder_id: int, dimension: int) -> Geometry | None:
    """Recomputes center, threshold and edge memory if due; else None."""
    if not is_due(queries.count(conn, embedder_id), queries.geometry(conn, embedder_id)):
        return None
    recentring = Recentring(conn, embedder_id, dimension)
    while recentring.left:
        recentring.fold(conn)
    recentring.put(conn)
    return queries.geometry(conn, embedder_id)


def calibrate(conn: Connection, embedder_id: int, dimension: int) -> Geometry | None:
    """Recomputes the threshold from the newest well-answered questions; None if they are too few. Edge memory stays."""
    geometry = queries.geometry(conn, embedder_id)
    center = np.zeros(dimension) if geometry.center is None else geometry.center
    threshold = _find_threshold(conn, embedder_id, dimension, center)
    if threshold is None:
        return None
    calibrated = geometry._replace(threshold=threshold)
    queries.set_geometry(conn, embedder_id, calibrated)
    return calibrated


def _find_threshold(conn: Connection, embedder_id: int, dimension: int, center: Vector) -> float | None:
    traces, vectors = queries.load_judged(conn, embedder_id, dimension, "answered")
    vectors_of, has_direction = keys(vectors[-COMPARED:], center)
    compared = traces[-COMPARED:][has_direction].tolist()
    evidence = queries.evidence(conn, compared)
    return calibrate_threshold(vectors_of[has_direction], [evidence[trace] for trace in compared])


def _find_center(vectors: Vectors) -> Vector:
    """Returns (d,) the mean direction of (n, d)."""
    wide = vectors.astype(np.float64)
    mean: Vector = (wide / np.linalg.norm(wide, axis=1, keepdims=True)).mean(axis=0)
    return mean
