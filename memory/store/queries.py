"""The questions that were asked, as vectors: what they are remembered by, and what answered them before.

A question's vector is kept in float16 beside its trace and goes with it. `embedder.center` is what all questions have
in common, `center_n` from how many that is known, and `lam_mem` how strongly an edge must fire to be followed.
"""

from collections.abc import Sequence
from typing import NamedTuple, SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.protocols import Vectors
from memory.store.connect import Connection
from memory.store.rows import LISTED, id_list, is_live

Ids = NDArray[np.int64]


class Geometry(NamedTuple):
    """How questions are compared for one embedder: `center` (d,), None if nothing was asked yet; the number of
    questions that it is the mean of, 0 if it is only a guess; and the calibrated threshold, None before it is."""

    center: NDArray[np.float64] | None = None
    n: int = 0
    threshold: float | None = None


class Earlier(NamedTuple):
    """A question that was answered before. `cited` are the episodes that did; `unchanged` tells whether all of them are
    still there, and no fact that they tell has been replaced or disputed since; `question` is its text."""

    trace_id: int
    as_of: int | None
    cited: tuple[int, ...]
    unchanged: bool
    question: str = ""


def round_vector(query: Vectors) -> Vectors:
    """The question's vector as it is kept: whoever learns from it, now or later, starts with the same numbers."""
    found: Vectors = query.astype(np.float16).astype(np.float32)
    return found


def put(conn: Connection, embedder_id: int, trace_id: int, query: Vectors) -> None:
    """Keeps a question's vector (d,) of norm 1; zeros say that the embedder knows no word of it. Nothing is kept of one
    whose trace has been forgotten."""
    data = query.astype(np.float16).tobytes() if query.any() else None
    conn.execute(
        "INSERT INTO query(trace_id, embedder_id, data) SELECT id, ?, ? FROM trace WHERE id = ?"
        " ON CONFLICT DO UPDATE SET data = excluded.data",
        (embedder_id, data, trace_id),
    )


def list_missing(conn: Connection, embedder_id: int, limit: int = 1000) -> list[tuple[int, str]]:
    """(trace, text) of questions that this embedder has not seen and that something is to be learnt from, the newest
    first. The text is what was searched for, which may say more than the question."""
    return conn.execute(
        "SELECT t.id, ifnull(nullif(t.plan ->> 'searched', ''), t.question) FROM trace t"
        " WHERE t.no_answer IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM query q WHERE q.trace_id = t.id AND q.embedder_id = ?) ORDER BY t.id DESC LIMIT ?",
        (embedder_id, limit),
    ).fetchall()


def of_traces(
    conn: Connection, embedder_id: int, dimension: int, traces: Sequence[SupportsInt] | None = None
) -> tuple[Ids, Vectors]:
    """The vectors of these questions (None: of all), as far as they have one -> trace ids (n,) rising, (n, d)."""
    if traces is None:
        return _load(conn, embedder_id, dimension, "1")
    return _load(conn, embedder_id, dimension, f"t.id IN {LISTED}", id_list(traces))


def count(conn: Connection, embedder_id: int, most: int = -1) -> int:
    """How many questions have a vector; `most`: counts no further than that."""
    some = "SELECT 1 FROM query WHERE embedder_id = ? AND data IS NOT NULL LIMIT ?"
    return int(conn.execute(f"SELECT count(*) FROM ({some})", (embedder_id, most)).fetchone()[0])


def load_answered(conn: Connection, embedder_id: int, dimension: int) -> tuple[Ids, Vectors]:
    """The vectors of the questions that were answered well: something was learnt from them, and nobody has said no."""
    learnt = "EXISTS (SELECT 1 FROM trace_edge e WHERE e.trace_id = t.id AND e.role = 'enhanced')"
    well = f"t.no_answer = 0 AND ifnull(t.feedback, 0) >= 0 AND (t.feedback = 1 OR {learnt})"
    return _load(conn, embedder_id, dimension, well)


def load_rejected(conn: Connection, embedder_id: int, dimension: int) -> tuple[Ids, Vectors]:
    """The vectors of the questions whose answer a person called bad."""
    return _load(conn, embedder_id, dimension, "t.feedback = -1")


def _load(conn: Connection, embedder_id: int, dimension: int, where: str, *values: str) -> tuple[Ids, Vectors]:
    rows = conn.execute(
        "SELECT q.trace_id, q.data FROM query q JOIN trace t ON t.id = q.trace_id WHERE q.embedder_id = ?"
        f" AND q.data IS NOT NULL AND {where} ORDER BY q.trace_id",
        (embedder_id, *values),
    ).fetchall()
    data = np.frombuffer(b"".join([row[1] for row in rows]), np.float16)
    return np.array([row[0] for row in rows], np.int64), data.astype(np.float32).reshape(-1, dimension)


def rejected_as_well(conn: Connection, traces: Sequence[SupportsInt], bad: Sequence[SupportsInt]) -> set[int]:
    """Those of `traces` whose answer rests on a passage that one of the answers `bad` rested on as well, as far as
    anything was learnt of either; without those that were asked later and that a person called good."""
    rows = conn.execute(
        "SELECT DISTINCT t.id FROM trace t JOIN trace_edge mine ON mine.trace_id = t.id AND mine.role = 'cited'"
        " JOIN edge e ON e.id = mine.edge_id AND e.kind = 'open' JOIN trace_edge theirs ON theirs.edge_id = e.id"
        f" AND theirs.role = 'cited' WHERE t.id IN {LISTED} AND theirs.trace_id IN {LISTED}"
        " AND NOT (ifnull(t.feedback, 0) = 1 AND t.id > theirs.trace_id)",
        (id_list(traces), id_list(bad)),
    )
    return {id for (id,) in rows}


def evidence(conn: Connection, traces: Sequence[SupportsInt]) -> dict[int, frozenset[int]]:
    """The episodes that answered each of these questions."""
    rows = conn.execute(
        f"SELECT t.id, c.value ->> 'episode_id' FROM trace t, json_each(t.citations) c WHERE t.id IN {LISTED}",
        (id_list(traces),),
    )
    found: dict[int, set[int]] = {int(trace): set() for trace in traces}
    for trace, episode in rows:
        found[trace].add(episode)
    return {trace: frozenset(cited) for trace, cited in found.items()}


def earlier(conn: Connection, traces: Sequence[SupportsInt]) -> dict[int, Earlier]:
    """What answered each of these questions; nothing of one that is gone, was refused, or of which somebody said that
    it was wrong."""
    listed = id_list(traces)
    asked = conn.execute(
        f"SELECT id, as_of, question FROM trace WHERE id IN {LISTED} AND no_answer = 0 AND ifnull(feedback, 0) >= 0",
        (listed,),
    ).fetchall()
    cited: dict[int, list[int]] = {}
    changed = set()
    for trace, episode, is_as_it_was in conn.execute(_CITED, (listed,)):
        cited.setdefault(trace, []).append(episode)
        if not is_as_it_was:
            changed.add(trace)
    return {
        id: Earlier(id, as_of, tuple(cited.get(id, ())), id in cited and id not in changed, question)
        for id, as_of, question in asked
    }


# Each episode that answered a question, and whether it is there and what it tells as it was when that was asked.
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
    """How questions are compared."""
    row = conn.execute("SELECT center, center_n, lam_mem FROM embedder WHERE id = ?", (embedder_id,)).fetchone()
    if row is None:
        return Geometry()
    center, n, threshold = row
    return Geometry(None if center is None else np.frombuffer(center, np.float64), n, threshold)


def set_geometry(conn: Connection, embedder_id: int, geometry: Geometry) -> None:
    """Compares questions like this from now on: what edges remember has to be made anew."""
    center = None if geometry.center is None else geometry.center.astype(np.float64).tobytes()
    conn.execute(
        "UPDATE embedder SET center = ?, center_n = ?, lam_mem = ? WHERE id = ?",
        (center, geometry.n, geometry.threshold, embedder_id),
    )
