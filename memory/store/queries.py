"""Past questions: their vectors, for edge memory and to find earlier answers; what a ranker learns from them, and the
trained models (`ml_model`).

A question's vector is stored in float16 with its trace. `embedder.center` is the mean of all questions, `center_n`
their number, and `lam_mem` the activation above which an edge is followed. At most one model per kind is active;
earlier ones are kept, so that each can be reverted."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.protocols import Vectors
from memory.store.connect import (
    LISTED,
    Connection,
    group_rows,
    id_list,
    insert_row,
    is_live,
    read_column,
    read_value,
    to_json,
)

Ids = NDArray[np.int64]


class Geometry(NamedTuple):
    """The comparison of questions for one embedder: `center` (d,), None before the first question; the number of
    averaged questions, 0 for an estimate; and the calibrated threshold, None before calibration."""

    center: NDArray[np.float64] | None = None
    n: int = 0
    threshold: float | None = None


class PastQuestion(NamedTuple):
    """A question answered before: its text, its answer and the episodes `cited`; `unchanged`: all of them are live, and
    none of their facts was replaced or disputed since; `replayed`: whether the evidence of one before it answered it,
    None if that was not tried."""

    trace_id: int
    as_of: int | None
    cited: tuple[int, ...]
    unchanged: bool
    question: str = ""
    answer: str = ""
    replayed: bool | None = None


def round_vector(query: Vectors) -> Vectors:
    """Returns the question's vector as stored, so that learning now and later uses the same numbers."""
    rounded: Vectors = query.astype(np.float16).astype(np.float32)
    return rounded


def put(conn: Connection, embedder_id: int, trace_id: int, query: Vectors) -> None:
    """Stores a question's vector (d,) of norm 1, or zeros if the embedder knows no word of it; nothing if its trace was
    forgotten."""
    data = query.astype(np.float16).tobytes() if query.any() else None
    conn.execute(
        "INSERT INTO query(trace_id, embedder_id, data) SELECT id, ?, ? FROM trace WHERE id = ?"
        " ON CONFLICT DO UPDATE SET data = excluded.data",
        (embedder_id, data, trace_id),
    )


def list_missing(conn: Connection, embedder_id: int, limit: int = 1000) -> list[tuple[int, str]]:
    """Returns (trace, search text) of questions to learn from without a vector of this embedder, newest first."""
    return conn.execute(
        "SELECT t.id, ifnull(nullif(t.plan ->> 'searched', ''), t.question) FROM trace t"
        " WHERE t.no_answer IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM query q WHERE q.trace_id = t.id AND q.embedder_id = ?) ORDER BY t.id DESC LIMIT ?",
        (embedder_id, limit),
    ).fetchall()


def load_vectors(
    conn: Connection, embedder_id: int, dimension: int, traces: Sequence[SupportsInt] | None = None
) -> tuple[Ids, Vectors]:
    """Returns (trace ids (n,) sorted, vectors (n, d)) of these questions, or of all."""
    if traces is None:
        return _load(conn, embedder_id, dimension, "1")
    return _load(conn, embedder_id, dimension, f"t.id IN {LISTED}", id_list(traces))


def count(conn: Connection, embedder_id: int, most: int = -1) -> int:
    """Returns the number of questions with a vector, counted up to `most`."""
    subquery = "SELECT 1 FROM query WHERE embedder_id = ? AND data IS NOT NULL LIMIT ?"
    return int(read_value(conn, f"SELECT count(*) FROM ({subquery})", embedder_id, most))


def load_judged(
    conn: Connection, embedder_id: int, dimension: int, how: Literal["answered", "rejected", "in vain"]
) -> tuple[Ids, Vectors]:
    """Returns the vectors of the questions that were answered well: learned from, and not judged bad; of those whose
    answers were judged bad; or that got no answer, none that is proved, or one that was judged bad."""
    return _load(conn, embedder_id, dimension, _JUDGED[how])


_LEARNT = (
    "(ifnull(t.feedback, 0) = 1 OR EXISTS (SELECT 1 FROM trace_edge e WHERE e.trace_id = t.id AND e.role = 'enhanced'))"
)
_JUDGED = {
    "answered": f"t.no_answer = 0 AND ifnull(t.feedback, 0) >= 0 AND {_LEARNT}",
    "rejected": "t.feedback = -1",
    "in vain": f"(t.no_answer = 1 OR t.feedback = -1 OR (t.llm_calls > 0 AND NOT {_LEARNT}))",
}


def _load(conn: Connection, embedder_id: int, dimension: int, where: str, *values: str) -> tuple[Ids, Vectors]:
    rows = conn.execute(
        "SELECT q.trace_id, q.data FROM query q JOIN trace t ON t.id = q.trace_id WHERE q.embedder_id = ?"
        f" AND q.data IS NOT NULL AND {where} ORDER BY q.trace_id",
        (embedder_id, *values),
    ).fetchall()
    data = np.frombuffer(b"".join([row[1] for row in rows]), np.float16)
    return np.array([row[0] for row in rows], np.int64), data.astype(np.float32).reshape(-1, dimension)


def find_rejected(conn: Connection, traces: Sequence[SupportsInt], bad: Sequence[SupportsInt]) -> set[int]:
    """Returns those of `traces` with learned evidence of a bad answer; without later ones judged good."""
    ids = read_column(
        conn,
        "SELECT DISTINCT t.id FROM trace t JOIN trace_edge mine ON mine.trace_id = t.id AND mine.role = 'cited'"
        " JOIN edge e ON e.id = mine.edge_id AND e.kind = 'open' JOIN trace_edge theirs ON theirs.edge_id = e.id"
        f" AND theirs.role = 'cited' WHERE t.id IN {LISTED} AND theirs.trace_id IN {LISTED}"
        " AND NOT (ifnull(t.feedback, 0) = 1 AND t.id > theirs.trace_id)",
        id_list(traces),
        id_list(bad),
    )
    return set(ids)


def evidence(conn: Connection, traces: Sequence[SupportsInt]) -> dict[int, frozenset[int]]:
    """Returns {question: the episodes that answered it}."""
    rows = conn.execute(
        f"SELECT t.id, c.value ->> 'episode_id' FROM trace t, json_each(t.citations) c WHERE t.id IN {LISTED}",
        (id_list(traces),),
    )
    cited = group_rows(rows)
    return {int(trace): frozenset(cited.get(int(trace), ())) for trace in traces}


def find_answers(conn: Connection, traces: Sequence[SupportsInt]) -> dict[int, PastQuestion]:
    """Returns {question: what answered it}; without questions that are gone, refused or judged bad."""
    listed = id_list(traces)
    asked = conn.execute(
        "SELECT id, as_of, question, ifnull(answer, ''), (SELECT t.tier = 'R0' FROM trace_step s"
        " WHERE s.trace_id = t.id AND s.stage = 'route' AND s.detail ->> 'tier' = 'R0' AND s.detail ->> 'enough')"
        f" FROM trace t WHERE id IN {LISTED} AND no_answer = 0 AND ifnull(feedback, 0) >= 0",
        (listed,),
    ).fetchall()
    rows = conn.execute(_CITED, (listed,)).fetchall()
    cited = group_rows((trace, episode) for trace, episode, _ in rows)
    changed = {trace for trace, _, is_as_it_was in rows if not is_as_it_was}
    return {
        id: PastQuestion(
            id,
            as_of,
            tuple(cited.get(id, ())),
            id in cited and id not in changed,
            question,
            answer,
            None if replayed is None else bool(replayed),
        )
        for id, as_of, question, answer, replayed in asked
    }


# Each episode that answered a question, and whether it is live with the same facts as then.
_CITED = f"""
WITH cited(trace, t, episode) AS MATERIALIZED (
 SELECT DISTINCT t.id, t.t, c.value ->> 'episode_id' FROM trace t, json_each(t.citations) c
  WHERE t.id IN {LISTED})
SELECT trace, episode,
 EXISTS (SELECT 1 FROM node n WHERE n.id = c.episode AND {is_live("n")})
 AND NOT EXISTS (SELECT 1 FROM provenance p JOIN revision r ON r.old_id = p.item_id OR r.new_id = p.item_id
  WHERE p.item_kind = 'edge' AND p.episode_id = c.episode AND max(r.t, ifnull(r.t_settled, 0)) >= c.t)
 AND NOT EXISTS (SELECT 1 FROM thesis h JOIN revision r ON r.old_id = h.node_id OR r.new_id = h.node_id
  WHERE h.episode_id = c.episode AND max(r.t, ifnull(r.t_settled, 0)) >= c.t)
FROM cited c ORDER BY trace, episode
"""


def geometry(conn: Connection, embedder_id: int) -> Geometry:
    """Returns the comparison of questions."""
    row = conn.execute("SELECT center, center_n, lam_mem FROM embedder WHERE id = ?", (embedder_id,)).fetchone()
    if row is None:
        return Geometry()
    center, n, threshold = row
    return Geometry(None if center is None else np.frombuffer(center, np.float64), n, threshold)


def set_geometry(conn: Connection, embedder_id: int, geometry: Geometry) -> None:
    """Changes the comparison of questions; edge memory must be recomputed."""
    center = None if geometry.center is None else geometry.center.astype(np.float64).tobytes()
    conn.execute(
        "UPDATE embedder SET center = ?, center_n = ?, lam_mem = ? WHERE id = ?",
        (center, geometry.n, geometry.threshold, embedder_id),
    )


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
    """Returns the newest `limit` questions to learn from, oldest first: grounded or judged right, not wrong."""
    rows = conn.execute(
        f"SELECT id, feedback FROM trace t WHERE {_JUDGED['answered']} ORDER BY id DESC LIMIT ?", (limit,)
    ).fetchall()[::-1]
    edges = conn.execute(
        "SELECT t.trace_id, t.role, t.edge_id FROM trace_edge t JOIN edge e ON e.id = t.edge_id"
        f" WHERE t.trace_id IN {LISTED} AND t.role IN ('cited', 'shown')"
        f" AND e.kind <> 'open' AND {is_live('e')} ORDER BY t.trace_id, t.edge_id",
        (id_list(row[0] for row in rows),),
    )
    roles = group_rows(((trace, role), edge) for trace, role, edge in edges)
    return [
        Lesson(id, tuple(needed), tuple(edge for edge in shown if edge not in needed), feedback or None)
        for id, feedback in rows
        for needed, shown in [(roles.get((id, "cited"), ()), roles.get((id, "shown"), ()))]
    ]


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


def active_model(conn: Connection, kind: str) -> Model | None:
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


def undo_promotion(conn: Connection, kind: str) -> tuple[Model, Model | None] | None:
    """Reverts the newest promotion: deletes the active model and activates its predecessor, if any. Returns both, or
    None without an active model."""
    used = active_model(conn, kind)
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
