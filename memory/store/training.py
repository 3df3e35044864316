"""What is learnt at night, as rows: which edges a question needed (`train_label`), and models that were made of it
(`ml_model`).

A label is a number about an edge and goes with its trace or its edge. Of the models of a kind at most one is active;
earlier ones are kept, so that each can be taken back.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, SupportsInt

from memory.store.connect import Connection
from memory.store.rows import LISTED, group_rows, id_list, insert_row, is_live, to_json

KEPT = 5  # models of a kind, beside the active one and the one before it

Origin = Literal["citation", "feedback", "shown", "random", "model"]


class Label(NamedTuple):
    """Whether a question needed an edge (`y` 1 or 0), how much that says, and who says it."""

    trace_id: int
    edge: int
    y: float
    weight: float
    origin: Origin


class Lesson(NamedTuple):
    """A question that was answered well, in ids. `needed`: the live edges on the way to what was cited; `shown`: those
    to what was shown with it; `feedback`: 1 if a person called the answer right, else None. `labelled`: by whom its
    edges have labels already."""

    trace_id: int
    t: int
    needed: tuple[int, ...]
    shown: tuple[int, ...]
    feedback: int | None
    labelled: frozenset[str]


class Model(NamedTuple):
    """A model that was made: its numbers, what it was measured by, and whether it is used."""

    id: int
    kind: str
    t: int
    params: bytes
    metrics: Mapping[str, Any]
    active: bool


def lessons(conn: Connection, limit: int) -> list[Lesson]:
    """The newest `limit` questions that something is to be learnt from, the oldest first: their answer was grounded, or
    a person called it right, and nobody called it wrong."""
    rows = conn.execute(
        "SELECT id, t, feedback FROM trace WHERE no_answer = 0 AND ifnull(feedback, 0) >= 0"
        " AND (feedback = 1 OR EXISTS (SELECT 1 FROM trace_edge e WHERE e.trace_id = trace.id AND e.role = 'enhanced'))"
        " ORDER BY id DESC LIMIT ?",
        (limit,),
    ).fetchall()[::-1]
    listed = id_list(row[0] for row in rows)
    edges = conn.execute(
        "SELECT t.trace_id, t.role, t.edge_id FROM trace_edge t JOIN edge e ON e.id = t.edge_id"
        f" WHERE t.trace_id IN {LISTED} AND t.role IN ('cited', 'shown')"
        f" AND e.kind <> 'open' AND {is_live('e')} ORDER BY t.trace_id, t.edge_id",
        (listed,),
    )
    roles = group_rows(((trace, role), edge) for trace, role, edge in edges)
    query = f"SELECT DISTINCT trace_id, origin FROM train_label WHERE trace_id IN {LISTED}"
    labelled = group_rows(conn.execute(query, (listed,)))
    found = []
    for id, t, feedback in rows:
        needed = tuple(roles.get((id, "cited"), ()))
        shown = tuple(edge for edge in roles.get((id, "shown"), ()) if edge not in needed)
        found.append(Lesson(id, t, needed, shown, feedback or None, frozenset(labelled.get(id, ()))))
    return found


def put_labels(conn: Connection, trace_id: int, origins: Iterable[str], labels: Iterable[Label]) -> None:
    """Replaces what these origins say of a question's edges; nothing if its trace has been forgotten meanwhile."""
    conn.execute(
        f"DELETE FROM train_label WHERE trace_id = ? AND origin IN {LISTED}", (trace_id, json.dumps(sorted(origins)))
    )
    conn.executemany(
        "INSERT OR IGNORE INTO train_label(trace_id, edge_id, y, weight, origin)"
        " SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM trace WHERE id = ?1)",
        list(labels),
    )


def tellings(conn: Connection, edges: Iterable[SupportsInt]) -> dict[int, tuple[str, float, int]]:
    """Edge -> its predicate, how sure it is and how often it was told, of those that are live relations."""
    rows = conn.execute(
        "SELECT e.id, p.label, e.conf, e.n_support FROM edge e JOIN predicate p ON p.id = e.pred_id"
        f" WHERE e.id IN {LISTED} AND e.kind = 'rel' AND {is_live('e')}",
        (id_list(edges),),
    )
    return {id: (predicate, conf, support) for id, predicate, conf, support in rows}


# Models --------------------------------------------------------------------------------------------------------


def store_model(conn: Connection, kind: str, t: int, params: bytes, metrics: Mapping[str, Any]) -> int:
    """Keeps a model, which is not used yet; returns its id. Of older ones that were never used the newest stay."""
    id = insert_row(conn, "ml_model", kind=kind, t=t, params=params, metrics=to_json(dict(metrics)))
    conn.execute(
        "DELETE FROM ml_model WHERE kind = ?1 AND active = 0 AND metrics ->> 'promoted' IS NULL AND id NOT IN"
        " (SELECT id FROM ml_model WHERE kind = ?1 AND active = 0 AND metrics ->> 'promoted' IS NULL"
        "  ORDER BY id DESC LIMIT ?2)",
        (kind, KEPT),
    )
    return id


def models(conn: Connection, kind: str) -> list[Model]:
    """All models of a kind, the newest first."""
    query = "SELECT id, kind, t, params, ifnull(metrics, '{}'), active FROM ml_model WHERE kind = ? ORDER BY id DESC"
    rows = conn.execute(query, (kind,))
    return [Model(id, of, t, params, json.loads(held), bool(active)) for id, of, t, params, held, active in rows]


def active(conn: Connection, kind: str) -> Model | None:
    """The model that is used; None if there is none."""
    return next((model for model in models(conn, kind) if model.active), None)


def promote(conn: Connection, id: int) -> None:
    """Uses a model from now on, in the place of the one before it."""
    conn.execute(
        "UPDATE ml_model SET active = 0 WHERE active = 1 AND kind = (SELECT kind FROM ml_model WHERE id = ?)", (id,)
    )
    conn.execute(
        "UPDATE ml_model SET active = 1, metrics = json_set(ifnull(metrics, '{}'), '$.promoted',"
        " (SELECT 1 + ifnull(max(metrics ->> 'promoted'), 0) FROM ml_model)) WHERE id = ?",
        (id,),
    )


def undo(conn: Connection, kind: str) -> tuple[Model, Model | None] | None:
    """Takes back the newest promotion: the model is gone, and the one that was used before it is used again, if there
    was one. Returns both; None if no model is used."""
    used = active(conn, kind)
    if used is None:
        return None
    conn.execute("DELETE FROM ml_model WHERE id = ?", (used.id,))
    before = max(
        (model for model in models(conn, kind) if "promoted" in model.metrics),
        key=lambda model: int(model.metrics["promoted"]),
        default=None,
    )
    if before is not None:
        conn.execute("UPDATE ml_model SET active = 1 WHERE id = ?", (before.id,))
    return used, before
