"""A memory and its questions in numbers: what is live and what hangs on nothing, what periodic jobs did last, what
questions took and used, and the figures that are kept of all this."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memory.nouns import Stats
from memory.stages import BRIDGED, EARLIER, AnswerNote, GraphNote, ReplayNote, Tier
from memory.store import vectors
from memory.store.connect import Connection
from memory.store.rows import LIVE, id_list, is_live, to_json

REPLAY: Tier = "R0"
RUN = "run:"  # in the table meta, before the name of a periodic job: counts, and no words of anybody


class QuestionMetrics(NamedTuple):
    """One question that was answered or refused at `t` (ms UTC). `tier`: how far it went; `calls` of models and their
    `tokens`; `cited` and `bridged` are episodes (ids), the latter those that only a bridge led to.

    `fired`: how many edges were replayed; `useful`: how many of those led to what is cited. `first`: the tokens that
    the question which is replayed took when it was asked first, None for others and where nobody knows.
    """

    id: int
    t: int
    no_answer: bool
    tier: str = "R2"
    calls: int = 0
    tokens: int = 0
    cited: tuple[int, ...] = ()
    fired: int = 0
    useful: int = 0
    bridged: tuple[int, ...] = ()
    first: int | None = None


def newest(conn: Connection, limit: int, since: int = 0) -> list[QuestionMetrics]:
    """The newest `limit` questions that were asked after `since`, the oldest first."""
    rows = conn.execute(
        "SELECT id, t, no_answer, ifnull(tier, 'R2'), llm_calls, tok_in + tok_out,"
        " (SELECT json_group_array(value ->> 'episode_id') FROM json_each(citations))"
        " FROM trace WHERE no_answer IS NOT NULL AND t > ? ORDER BY id DESC LIMIT ?",
        (since, limit),
    ).fetchall()[::-1]
    listed = id_list(row[0] for row in rows)
    edges = {id: (fired, useful) for id, fired, useful in conn.execute(_FIRED, (listed,))}
    earlier = {id: one for id, one in _noted(conn, listed, EARLIER, [ReplayNote.stage]) if one is not None}
    bridged: dict[int, set[int]] = {}
    for id, some in _noted(conn, listed, BRIDGED, [GraphNote.stage, AnswerNote.stage]):
        bridged.setdefault(id, set()).update(some)
    metrics = [
        QuestionMetrics(
            id, t, bool(refused), tier, calls, tokens, tuple(dict.fromkeys(json.loads(cited))), *edges.get(id, (0, 0)),
            tuple(sorted(bridged.get(id, ()))),
        )
        for id, t, refused, tier, calls, tokens, cited in rows
    ]  # fmt: skip
    return _with_first(conn, metrics, earlier)


_FIRED = """
SELECT r.trace_id, count(*), count(c.edge_id) FROM trace_edge r
 LEFT JOIN trace_edge c ON c.trace_id = r.trace_id AND c.edge_id = r.edge_id AND c.role = 'cited'
 WHERE r.role = 'replayed' AND r.trace_id IN (SELECT value FROM json_each(?)) GROUP BY r.trace_id"""


def _noted(conn: Connection, listed: str, path: str, stages: Sequence[str]) -> Iterator[tuple[int, Any]]:
    """(question, what a stage of it noted under a path), where one did."""
    rows = conn.execute(
        "SELECT trace_id, detail -> ?1 FROM trace_step WHERE stage IN (SELECT value FROM json_each(?2))"
        " AND trace_id IN (SELECT value FROM json_each(?3)) AND detail -> ?1 IS NOT NULL",
        (path, to_json(list(stages)), listed),
    )
    return ((id, json.loads(noted)) for id, noted in rows)


def _with_first(
    conn: Connection, metrics: Sequence[QuestionMetrics], earlier: Mapping[int, int]
) -> list[QuestionMetrics]:
    rows = conn.execute(
        "SELECT id, tok_in + tok_out FROM trace WHERE id IN (SELECT value FROM json_each(?)) AND ifnull(tier, '') <> ?",
        (id_list(earlier.values()), REPLAY),
    )
    took: dict[int, int] = dict(rows.fetchall())
    found = []
    for one in metrics:
        first = took.get(earlier[one.id]) if one.tier == REPLAY and one.id in earlier else None
        if first is not None:
            took[one.id] = first  # which this one may have been replayed from itself
        found.append(one._replace(first=first or None))
    return found


def count(conn: Connection) -> int:
    """How many questions were answered or refused."""
    (n,) = conn.execute("SELECT count(*) FROM trace WHERE no_answer IS NOT NULL").fetchone()
    return int(n)


def state(conn: Connection) -> tuple[int, int, int, int]:
    """How things are now, in numbers: episodes at which a model gave up; those which one has read; edges that remember
    something; facts that contradict others and that nobody settled."""
    active = vectors.active(conn)
    (lost,) = conn.execute(
        "SELECT count(DISTINCT e.value) FROM job j, json_each(j.payload, '$.episodes') e"
        f" JOIN node n ON n.id = e.value AND {is_live('n')} WHERE j.kind = 'extract' AND j.state = 'dead'"
        " AND NOT EXISTS (SELECT 1 FROM extraction x WHERE x.episode_id = e.value)"
    ).fetchone()
    (read,) = conn.execute("SELECT count(DISTINCT episode_id) FROM extraction").fetchone()
    (edges,) = conn.execute(
        "SELECT count(DISTINCT edge_id) FROM edge_memory WHERE embedder_id = ?", (active.id if active else None,)
    ).fetchone()
    (conflicts,) = conn.execute(
        "SELECT count(*) FROM revision WHERE relation = 'contradicts' AND state = 'open'"
    ).fetchone()
    return int(lost), int(read), int(edges), int(conflicts)


def keep(conn: Connection, t: int, figures: Iterable[tuple[str, float]]) -> None:
    """Records figures."""
    conn.executemany("INSERT INTO diag(t, metric, value) VALUES (?, ?, ?)", [(t, *figure) for figure in figures])


def list_recorded(conn: Connection, since: int = 0) -> list[tuple[int, str, float]]:
    """(time in ms UTC, metric, value) of all figures that were recorded from a time on, the oldest first."""
    rows = conn.execute("SELECT t, metric, value FROM diag WHERE t >= ? AND value IS NOT NULL ORDER BY t", (since,))
    return rows.fetchall()


def last_kept(conn: Connection) -> int:
    """When figures were recorded last, 0 if never."""
    (t,) = conn.execute("SELECT ifnull(max(t), 0) FROM diag").fetchone()
    return int(t)


# What is live, and what was done --------------------------------------------------------------------------------


def count_live(conn: Connection, path: Path, embedder: str) -> Stats:
    """Counts and size of the memory at `path`; its write-ahead log counts as part of it."""
    episodes, theses, objects = conn.execute(  # GROUP BY would sort all nodes, in memory
        f"SELECT total(kind = 'E'), total(kind = 'T'), total(kind = 'O') FROM node WHERE {LIVE}"
    ).fetchone()
    sources, edges, generation = conn.execute(
        "SELECT (SELECT count(*) FROM source WHERE t_deleted IS NULL),"
        f" (SELECT count(*) FROM edge WHERE {LIVE}),"
        " (SELECT value FROM meta WHERE key = 'generation')"
    ).fetchone()
    files = [path, path.with_name(path.name + "-wal")]
    return Stats(
        path=str(path),
        sources=sources,
        episodes=int(episodes),
        theses=int(theses),
        objects=int(objects),
        edges=edges,
        skipped=_count(conn, "skip"),
        bytes=sum(file.stat().st_size for file in files if file.exists()),
        embedder=embedder,
        generation=generation,
    )


def count_stale_memory(conn: Connection) -> int:
    """Rows of edge memory on edges that no longer hold."""
    return _count(conn, "edge_memory m JOIN edge e ON e.id = m.edge_id WHERE e.t_expired IS NOT NULL")


def count_dead_jobs(conn: Connection) -> int:
    """Jobs that were given up after too many attempts."""
    return _count(conn, "job WHERE state = 'dead'")


def _count(conn: Connection, rows: str) -> int:
    found: int = conn.execute(f"SELECT count(*) FROM {rows}").fetchone()[0]
    return found


def drop_stale_memory(conn: Connection) -> int:
    """Removes what is remembered on edges that no longer hold; how many rows."""
    return int(
        conn.execute(
            "DELETE FROM edge_memory WHERE NOT EXISTS"
            f" (SELECT 1 FROM edge e WHERE e.id = edge_memory.edge_id AND {is_live('e')})"
        ).rowcount
    )


def note_run(conn: Connection, job: str, figures: dict[str, Any]) -> None:
    """Notes what a periodic job did, in the place of what it did before."""
    conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (RUN + job, to_json(figures)))


def last_run(conn: Connection, job: str) -> dict[str, Any] | None:
    """What a periodic job did last; None if it never ran."""
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (RUN + job,)).fetchone()
    found: dict[str, Any] | None = json.loads(row[0]) if row else None
    return found
