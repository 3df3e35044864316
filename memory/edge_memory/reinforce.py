"""Learning from one question: what the edges it used remember from now on.

`update_slots` is the one place where an edge learns. What happens with a question (`reinforce_edges`), and what
`memory.edge_memory.rebuild` makes anew from the traces, both go through it, so they come to the same, bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from memory.edge_memory import edges
from memory.edge_memory.activation import EdgeMemory
from memory.edge_memory.credit import Credit
from memory.edge_memory.edges import Vector
from memory.protocols import Vectors
from memory.store import edge_memory, queries
from memory.store.connect import Connection
from memory.store.edge_memory import Role, Slots


def update_slots(
    held: Slots,
    key: Vector,
    roles: Mapping[Role, float],
    feedback: int | None,
    now: int,
    rejected: Iterable[Vector] = (),
) -> Slots:
    """What an edge remembers after one question. `roles`: what the question did to the edge, with what it takes to
    learn it (`edge_memory.note`); `feedback`: what the person said of the answer, 1, -1 or None; `now` in ms UTC;
    `rejected`: the keys of the earlier questions that it may lead to nothing for (`rejected_keys`).

    An answer that a person calls right counts twice, and even if nothing else was sure of it; of one they call wrong,
    the edges that led to it lose all that fires. Nor do they learn that again by themselves: of a question with the
    same intent so much would be taken away that it does not fire.
    """
    if feedback == -1 and ("enhanced" in roles or "cited" in roles):
        held = edges.penalise(held, key, edges.REJECTED, now)
    elif feedback is None and "enhanced" in roles and any(float(one @ key) >= edges.SAME_INTENT for one in rejected):
        return held
    elif "enhanced" in roles or (feedback == 1 and "cited" in roles):
        most = int(roles.get("enhanced") or roles["cited"])
        for _ in range(2 if feedback == 1 and "enhanced" in roles else 1):
            held = edges.reinforce(held, key, most, now)
    elif "penalised" in roles:
        held = edges.penalise(held, key, roles["penalised"], now)
    return edges.to_float16(held)


def rejected_keys(judged: Iterable[tuple[Vector, int]]) -> list[Vector]:
    """The keys of the questions for which an edge leads to nothing, by a person's last word. `judged`: key and verdict
    (1, -1) of the answers that it led to, in the order in which they were asked."""
    found: list[Vector] = []
    for key, verdict in judged:
        if verdict < 0:
            found.append(key)
        else:
            found = [one for one in found if float(one @ key) < edges.SAME_INTENT]
    return found


def reinforce_edges(
    conn: Connection, remembered: EdgeMemory, embedder_id: int, trace_id: int, query: Vectors, credit: Credit, now: int
) -> EdgeMemory:
    """Learns from a question and notes what it did to edges; what is remembered then. `query` (d,) is its vector.

    Call in the transaction that stores its trace, with the trace's own time `now` (ms UTC), and serve the result only
    once that has been kept.
    """
    queries.put(conn, embedder_id, trace_id, query)
    rows = _rows(conn, credit, now)
    ends = edge_memory.ends(conn, {edge for edge, _, _ in rows})
    rows = [row for row in rows if row[0] in ends]
    edge_memory.note(conn, trace_id, rows)
    key = remembered.key(query)
    if key is None:
        return remembered
    roles: dict[int, dict[Role, float]] = {}
    for edge, role, given in rows:
        if role in ("cited", "enhanced", "penalised"):
            roles.setdefault(edge, {})[role] = float(given or 0)
    held = edge_memory.slots(conn, embedder_id, remembered.dimension, roles)
    judged = edge_memory.list_verdicts(conn, [edge for edge, what in roles.items() if "enhanced" in what])
    said = _keys(conn, embedder_id, remembered, sorted({trace for of_edge in judged.values() for trace, _ in of_edge}))
    changed = {}
    for edge, what in roles.items():
        before = held.get(edge, Slots.none(remembered.dimension))
        wrong = rejected_keys((said[trace], verdict) for trace, verdict in judged.get(edge, ()) if trace in said)
        after = update_slots(before, key, what, None, now, wrong)
        if not same(before, after):
            changed[edge] = after
    edge_memory.put(conn, embedder_id, changed)
    remembered = remembered.with_changes(changed, ends)
    return remembered.with_answered(trace_id, key) if any(role == "enhanced" for _, role, _ in rows) else remembered


def _keys(conn: Connection, embedder_id: int, remembered: EdgeMemory, traces: list[int]) -> dict[int, Vector]:
    """What these questions are remembered by, as far as they are."""
    if not traces:
        return {}
    ids, vectors = queries.of_traces(conn, embedder_id, remembered.dimension, traces)
    known = zip(ids.tolist(), map(remembered.key, vectors), strict=True)
    return {trace: found for trace, found in known if found is not None}


def _rows(conn: Connection, credit: Credit, now: int) -> list[tuple[int, Role, float | None]]:
    """What the question did to edges, and with what. That reading helped is learnt on an edge that may be new."""
    read = edge_memory.open_edges(conn, credit.read, now)
    unread = edge_memory.openings(conn, credit.unread)
    cited = {**credit.cited, **dict.fromkeys(read.values(), edges.SLOTS)}
    penalised = {**credit.penalised}
    if credit.grounded:
        penalised |= dict.fromkeys(unread.values(), edges.SHOWN)
    return [
        *((edge, "replayed", strength) for edge, strength in credit.replayed.items()),
        *((edge, "expanded", None) for edge in credit.expanded),
        *((edge, "shown", None) for edge in {*credit.shown, *read.values(), *unread.values()}),
        *((edge, "cited", most) for edge, most in cited.items()),
        *((edge, "enhanced", most) for edge, most in cited.items() if credit.grounded),
        *((edge, "penalised", rho) for edge, rho in penalised.items()),
    ]


def same(one: Slots, other: Slots) -> bool:
    """Whether two edges remember the same, bit by bit."""
    return one.vectors.tobytes() == other.vectors.tobytes() and all(
        np.array_equal(mine, theirs) for mine, theirs in zip(one[1:], other[1:], strict=True)
    )
