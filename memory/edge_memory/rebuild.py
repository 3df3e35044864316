"""Edge memory made anew from the traces, and what needs that: another embedder, another center, a person's verdict,
something forgotten.

What an edge remembers follows from the questions that used it, in the order in which they were asked, and from the
edges that it took the place of. So it is a fold over traces, edge by edge, and gives to the bit what was learnt
question by question.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby

import numpy as np

from memory.edge_memory.edges import Vector, calibrate_threshold, is_due, keys, keys_of_traces
from memory.edge_memory.reinforce import rejected_keys, update_slots
from memory.protocols import Vectors
from memory.store import edge_memory, queries, traces
from memory.store.connect import Connection
from memory.store.edge_memory import Inheritance, Signal, Slots
from memory.store.queries import Geometry

NEVER = 2  # said of the answer to a question that there was not
COMPARED = 1000  # questions, the newest, by which the threshold is calibrated
PIECE = 500  # edges that are folded at a time


def fold(
    conn: Connection,
    embedder_id: int,
    dimension: int,
    edges: Iterable[int],
    center: Vector | None = None,
    said: Mapping[int, int | None] | None = None,
) -> dict[int, Slots]:
    """What each of these edges remembers by the traces there are; nothing is written. `center` (d,) is what all
    questions have in common, by default as it is known; `said`: the traces that count, and what a person said of each,
    by default all as they are."""
    wanted = sorted(set(edges))
    handed_on = edge_memory.inheritances(conn, wanted)
    every = {*wanted, *(one.old for one in handed_on), *(one.new for one in handed_on)}
    noted = edge_memory.list_signals(conn, sorted(every))
    if said is not None:
        noted = [row._replace(feedback=said[row.trace_id]) for row in noted if row.trace_id in said]
    if center is None:
        known = queries.geometry(conn, embedder_id).center
        center = np.zeros(dimension) if known is None else known
    key_of = keys_of_traces(conn, embedder_id, dimension, sorted({row.trace_id for row in noted}), center)
    held: dict[int, Slots] = {}
    verdicts: dict[int, list[tuple[Vector, int]]] = {}
    nothing = Slots.none(dimension)
    for event in _in_order(noted, handed_on):
        if isinstance(event, Inheritance):
            if event.old in held and len(held[event.old].vectors) and not len(held.get(event.new, nothing).vectors):
                held[event.new] = edge_memory.inherit_slots(held[event.old], event.t)
        elif event[0].trace_id in key_of:
            first = event[0]
            roles = {row.role: row.delta for row in event}
            before, judged = held.get(first.edge, nothing), verdicts.setdefault(first.edge, [])
            of = key_of[first.trace_id]
            held[first.edge] = update_slots(before, of, roles, first.feedback, first.t, rejected_keys(judged))
            if first.feedback is not None and "cited" in roles:
                judged.append((of, first.feedback))
    return {edge: held.get(edge, nothing) for edge in wanted}


def complete(conn: Connection, embedder_id: int, dimension: int) -> dict[int, Slots]:
    """Makes what is missing: of edges from which something was learnt, and that remember nothing. What it made. For
    facts that hold again, and after something was forgotten: in the transaction in which that happened. What is as it
    was is not touched."""
    made: dict[int, Slots] = {}
    waiting = edge_memory.untaught(conn, embedder_id)
    for start in range(0, len(waiting), PIECE):
        made |= fold(conn, embedder_id, dimension, waiting[start : start + PIECE])
    edge_memory.put(conn, embedder_id, made)
    return made


class Recentring:
    """Edge memory with another center, made aside: `fold` by `fold` while others read and write, until `put` lets it
    take the place of what there is. `left`: edges that are still to be folded."""

    def __init__(self, conn: Connection, embedder_id: int, dimension: int) -> None:
        """Sees what all questions that there are have in common, and what there is to fold."""
        self._of, self._dimension = embedder_id, dimension
        self._feedback, self._inherited = edge_memory.taught_by(conn, embedder_id)
        _, vectors = queries.of_traces(conn, embedder_id, dimension)
        self._center = _center(vectors)
        threshold = _threshold(conn, embedder_id, dimension, self._center)
        known = queries.geometry(conn, embedder_id).threshold if threshold is None else threshold
        self._geometry = Geometry(self._center, len(vectors), known)
        self._made: dict[int, Slots] = {}
        self.left = edge_memory.learners(conn, embedder_id)

    def fold(self, conn: Connection, edges: int = PIECE) -> None:
        """Makes what so many more edges remember; nothing is written. What has come since the beginning does not count
        yet: it may be forgotten, or taken back, before `put` would see it."""
        now, self.left = self.left[:edges], self.left[edges:]
        self._made |= fold(conn, self._of, self._dimension, now, self._center, self._feedback)

    def put(self, conn: Connection) -> bool:
        """Writes it, all at once, with what was learnt meanwhile. False, and nothing is written, if it has to be made
        once more: questions were forgotten meanwhile, or facts have handed on what they remembered."""
        feedback, inherited = edge_memory.taught_by(conn, self._of)
        if inherited != self._inherited or self._feedback.keys() - feedback.keys():
            return False
        new = [trace for trace, said in feedback.items() if self._feedback.get(trace, NEVER) != said]
        late = fold(conn, self._of, self._dimension, edge_memory.find_touched(conn, new), self._center)
        queries.set_geometry(conn, self._of, self._geometry)
        edge_memory.clear(conn, self._of)
        edge_memory.put(conn, self._of, self._made | late)
        return True


def refold(conn: Connection, embedder_id: int, dimension: int, edges: Iterable[int]) -> None:
    """Makes anew what these edges remember, by the traces there are now. Edge after edge, in as many transactions as
    one likes, it comes to the same as to make all of it anew, whatever is learnt in between."""
    edge_memory.put(conn, embedder_id, fold(conn, embedder_id, dimension, edges))


def apply_verdict(
    conn: Connection, embedder_id: int, dimension: int, trace_id: int, feedback: int | None
) -> dict[int, Slots]:
    """What a person says of an answer: 1, -1, or None, which takes it back. What edges remember for it, as if that had
    been known when the question was asked; the edges that changed. NotFoundError."""
    traces.set_feedback(conn, trace_id, feedback)
    touched = edge_memory.find_touched(conn, [trace_id])
    changed = fold(conn, embedder_id, dimension, touched)
    edge_memory.put(conn, embedder_id, changed)
    return changed


def recentre(conn: Connection, embedder_id: int, dimension: int) -> Geometry | None:
    """Sees anew what all questions have in common and from which strength on an edge is to be followed, and makes edge
    memory anew by that; None if it is not time for it yet."""
    if not is_due(queries.count(conn, embedder_id), queries.geometry(conn, embedder_id)):
        return None
    anew = Recentring(conn, embedder_id, dimension)
    while anew.left:
        anew.fold(conn)
    anew.put(conn)
    return queries.geometry(conn, embedder_id)


def calibrate(conn: Connection, embedder_id: int, dimension: int) -> Geometry | None:
    """Sees anew from which strength on an edge is to be followed, by the newest questions that were answered well; None
    if they are too few. Nothing that edges remember changes."""
    known = queries.geometry(conn, embedder_id)
    center = np.zeros(dimension) if known.center is None else known.center
    threshold = _threshold(conn, embedder_id, dimension, center)
    if threshold is None:
        return None
    found = known._replace(threshold=threshold)
    queries.set_geometry(conn, embedder_id, found)
    return found


def _threshold(conn: Connection, embedder_id: int, dimension: int, center: Vector) -> float | None:
    traces, vectors = queries.load_answered(conn, embedder_id, dimension)
    found, known = keys(vectors[-COMPARED:], center)
    compared = traces[-COMPARED:][known].tolist()
    evidence = queries.evidence(conn, compared)
    return calibrate_threshold(found[known], [evidence[trace] for trace in compared])


def _center(vectors: Vectors) -> Vector:
    """(d,) the mean direction of (n, d)."""
    wide = vectors.astype(np.float64)
    found: Vector = (wide / np.linalg.norm(wide, axis=1, keepdims=True)).mean(axis=0)
    return found


def _in_order(noted: list[Signal], handed_on: list[Inheritance]) -> Iterable[list[Signal] | Inheritance]:
    """What each edge learnt of each trace, and between the traces what was handed on."""
    waiting = list(reversed(handed_on))
    for trace, rows in groupby(noted, lambda row: row.trace_id):
        while waiting and waiting[-1].after < trace:
            yield waiting.pop()
        for _, of_edge in groupby(rows, lambda row: row.edge):
            yield list(of_edge)
    yield from reversed(waiting)
