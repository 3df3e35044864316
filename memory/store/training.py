"""What a ranker learns from, and trained models (`ml_model`).

At most one model per kind is active; earlier ones are kept, so that each can be reverted."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, SupportsInt

from memory.store.connect import LISTED, Connection, group_rows, id_list, insert_row, is_live, to_json

KEPT = 5  # models of a kind, in addition to the active one and its predecessor


class Lesson(NamedTuple):
    """A well-answered question, in ids. `needed`: the live edges on the way to a citation; `shown`: those to other
    shown passages; `feedback`: 1 if a person called the answer right, else None."""

    trace_id: int
    needed: tuple[int, ...]
    shown: tuple[int, ...]
    feedback: int | None


class Model(NamedTuple):
    """A trained model: its parameters, its metrics, and whether it is active."""

    id: int
    kind: str
    t: int
    params: bytes
    metrics: Mapping[str, Any]
    active: bool


def lessons(conn: Connection, limit: int) -> list[Lesson]:
    """The newest `limit` questions to learn from, oldest first: grounded or judged right, and not judged wrong."""
    rows = conn.execute(
        "SELECT id, feedback FROM trace WHERE no_answer = 0 AND ifnull(feedback, 0) >= 0"
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
    collected = []
    for id, feedback in rows:
        needed = tuple(roles.get((id, "cited"), ()))
        shown = tuple(edge for edge in roles.get((id, "shown"), ()) if edge not in needed)
        collected.append(Lesson(id, needed, shown, feedback or None))
    return collected


def predicates(conn: Connection, edges: Iterable[SupportsInt]) -> dict[int, str]:
    """Returns {edge: predicate} of the live relations."""
    rows = conn.execute(
        "SELECT e.id, p.label FROM edge e JOIN predicate p ON p.id = e.pred_id"
        f" WHERE e.id IN {LISTED} AND e.kind = 'rel' AND {is_live('e')}",
        (id_list(edges),),
    )
    return dict(rows)


# Models --------------------------------------------------------------------------------------------------------


def store_model(conn: Connection, kind: str, t: int, params: bytes, metrics: Mapping[str, Any]) -> int:
    """Stores an inactive model; returns its id. Deletes older models that were never active, except the newest."""
    id = insert_row(conn, "ml_model", kind=kind, t=t, params=params, metrics=to_json(dict(metrics)))
    conn.execute(
        "DELETE FROM ml_model WHERE kind = ?1 AND active = 0 AND metrics ->> 'promoted' IS NULL AND id NOT IN"
        " (SELECT id FROM ml_model WHERE kind = ?1 AND active = 0 AND metrics ->> 'promoted' IS NULL"
        "  ORDER BY id DESC LIMIT ?2)",
        (kind, KEPT),
    )
    return id


def models(conn: Connection, kind: str) -> list[Model]:
    """Returns all models of a kind, newest first."""
    query = "SELECT id, kind, t, params, ifnull(metrics, '{}'), active FROM ml_model WHERE kind = ? ORDER BY id DESC"
    rows = conn.execute(query, (kind,))
    return [Model(id, name, t, params, json.loads(stats), bool(active)) for id, name, t, params, stats, active in rows]


def active(conn: Connection, kind: str) -> Model | None:
    """Returns the active model, or None."""
    return next((model for model in models(conn, kind) if model.active), None)


def promote(conn: Connection, id: int) -> None:
    """Activates a model in place of the current one."""
    conn.execute(
        "UPDATE ml_model SET active = 0 WHERE active = 1 AND kind = (SELECT kind FROM ml_model WHERE id = ?)", (id,)
    )
    conn.execute(
        "UPDATE ml_model SET active = 1, metrics = json_set(ifnull(metrics, '{}'), '$.promoted',"
        " (SELECT 1 + ifnull(max(metrics ->> 'promoted'), 0) FROM ml_model)) WHERE id = ?",
        (id,),
    )


def undo(conn: Connection, kind: str) -> tuple[Model, Model | None] | None:
    """Reverts the newest promotion: deletes the active model and activates its predecessor, if any. Returns both, or
    None without an active model."""
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
