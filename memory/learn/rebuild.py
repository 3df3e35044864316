"""Edge memory made anew from the traces, and what needs that: another embedder, another center, a person's verdict,
something forgotten (SPEC 7.5).

What an edge remembers follows from the questions that used it, in the order in which they were asked, and from the
edges that it took the place of. So it is a fold over traces, edge by edge, and gives to the bit what was learnt
question by question.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import numpy as np

from memory.errors import NotFoundError
from memory.learn.edges import Vector, calibrated, key
from memory.learn.learning import rejected, taught
from memory.store import edge_memory, queries
from memory.store.connect import Connection
from memory.store.edge_memory import Inheritance, Noted, Slots
from memory.store.queries import Geometry

ENOUGH = 50  # questions from which on it is known what all of them have in common
COMPARED = 1000  # questions, the newest, by which the threshold is calibrated
PIECE = 500  # edges that are folded at a time


def fold(conn: Connection, embedder_id: int, dimension: int, edges: Iterable[int]) -> dict[int, Slots]:
    """What each of these edges remembers by the traces there are; nothing is written."""
    wanted = sorted(set(edges))
    handed_on = edge_memory.inheritances(conn, wanted)
    every = {*wanted, *(one.old for one in handed_on), *(one.new for one in handed_on)}
    noted = edge_memory.noted(conn, sorted(every))
    keys = _keys(conn, embedder_id, dimension, sorted({row.trace_id for row in noted}))
    held: dict[int, Slots] = {}
    judged: dict[int, list[tuple[Vector, int]]] = {}
    nothing = Slots.none(dimension)
    for event in _in_order(noted, handed_on):
        if isinstance(event, Inheritance):
            if event.old in held and len(held[event.old].vectors) and not len(held.get(event.new, nothing).vectors):
                held[event.new] = edge_memory.inherited(held[event.old], event.t)
        elif event[0].trace_id in keys:
            first = event[0]
            roles = {row.role: row.delta for row in event}
            before, said = held.get(first.edge, nothing), judged.setdefault(first.edge, [])
            of = keys[first.trace_id]
            held[first.edge] = taught(before, of, roles, first.feedback, first.t, rejected(said))
            if first.feedback is not None and "cited" in roles:
                said.append((of, first.feedback))
    return {edge: held.get(edge, nothing) for edge in wanted}


def complete(conn: Connection, embedder_id: int, dimension: int) -> dict[int, Slots]:
    """Makes what is missing: of edges from which something was learnt, and that remember nothing. What it made.

    For facts that hold again, and after something was forgotten: in the transaction in which that happened. What is as
    it was is not touched.
    """
    made: dict[int, Slots] = {}
    waiting = edge_memory.untaught(conn, embedder_id)
    for start in range(0, len(waiting), PIECE):
        made |= fold(conn, embedder_id, dimension, waiting[start : start + PIECE])
    edge_memory.put(conn, embedder_id, made)
    return made


def rebuild(conn: Connection, embedder_id: int, dimension: int) -> dict[int, Slots]:
    """Makes all of it anew, with the center there is; what every edge remembers now."""
    edge_memory.clear(conn, embedder_id)
    return complete(conn, embedder_id, dimension)


def again(conn: Connection, embedder_id: int, dimension: int, edges: Iterable[int]) -> None:
    """Makes anew what these edges remember, by the traces there are now. Edge after edge, in as many transactions as
    one likes, it comes to the same as `rebuild`, whatever is learnt in between."""
    edge_memory.put(conn, embedder_id, fold(conn, embedder_id, dimension, edges))


def verdict(
    conn: Connection, embedder_id: int, dimension: int, trace_id: int, feedback: int | None
) -> dict[int, Slots]:
    """What a person says of an answer: 1, -1, or None, which takes it back. What edges remember for it, as if that had
    been known when the question was asked; the edges that changed. NotFoundError."""
    row = conn.execute("UPDATE trace SET feedback = ? WHERE id = ? RETURNING id", (feedback, trace_id)).fetchone()
    if row is None:
        raise NotFoundError(f"There is no trace {trace_id}; it may have been forgotten with what it showed.")
    touched = edge_memory.touched(conn, [trace_id])
    changed = fold(conn, embedder_id, dimension, touched)
    edge_memory.put(conn, embedder_id, changed)
    return changed


def is_due(n: int, geometry: Geometry) -> bool:
    """Whether it is time to see anew what all questions have in common: at 50 questions, then whenever they doubled."""
    return n >= (2 * geometry.n if geometry.n >= ENOUGH else ENOUGH)


def recentre(conn: Connection, embedder_id: int, dimension: int, force: bool = False) -> Geometry | None:
    """Sees anew what all questions have in common and from which strength on an edge is to be followed, and makes edge
    memory anew by that; None if it is not time for it yet."""
    known = queries.geometry(conn, embedder_id)
    if not force and not is_due(queries.count(conn, embedder_id), known):
        return None
    _, vectors = queries.of_traces(conn, embedder_id, dimension)
    if not len(vectors):
        return None
    wide = vectors.astype(np.float64)
    center = (wide / np.linalg.norm(wide, axis=1, keepdims=True)).mean(axis=0)
    queries.set_geometry(conn, embedder_id, Geometry(center, len(vectors), known.threshold))
    calibrate(conn, embedder_id, dimension)
    rebuild(conn, embedder_id, dimension)
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
    traces, vectors = queries.answered(conn, embedder_id, dimension)
    traces, vectors = traces[-COMPARED:], vectors[-COMPARED:]
    evidence = queries.evidence(conn, traces.tolist())
    known = [(key(one, center), evidence[trace]) for trace, one in zip(traces.tolist(), vectors, strict=True)]
    pairs = [(found, cited) for found, cited in known if found is not None]
    return calibrated(np.array([found for found, _ in pairs]), [cited for _, cited in pairs])


def _keys(conn: Connection, embedder_id: int, dimension: int, traces: list[int]) -> dict[int, Vector]:
    geometry = queries.geometry(conn, embedder_id)
    center = np.zeros(dimension) if geometry.center is None else geometry.center
    ids, vectors = queries.of_traces(conn, embedder_id, dimension, traces)
    found = {trace: key(one, center) for trace, one in zip(ids.tolist(), vectors, strict=True)}
    return {trace: one for trace, one in found.items() if one is not None}


def _in_order(noted: list[Noted], handed_on: list[Inheritance]) -> Iterable[list[Noted] | Inheritance]:
    """What each edge learnt of each trace, and between the traces what was handed on."""
    waiting = list(reversed(handed_on))
    for trace, rows in groupby(noted, lambda row: row.trace_id):
        while waiting and waiting[-1].after < trace:
            yield waiting.pop()
        for _, of_edge in groupby(rows, lambda row: row.edge):
            yield list(of_edge)
    yield from reversed(waiting)
