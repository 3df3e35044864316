"""Statistics of a memory and its questions: live and orphaned rows, results of periodic jobs, outcomes of questions,
recorded figures."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from memory.nouns import Stats
from memory.stages import (
    BRIDGED,
    EARLIER,
    TEXT_ONLY,
    UNKNOWN,
    AnswerNote,
    GraphNote,
    RankNote,
    ReplayNote,
    RouteNote,
    Tier,
)
from memory.store import vectors
from memory.store.calendars import count_repeated
from memory.store.connect import Connection
from memory.store.rows import LISTED, LIVE, group_rows, id_list, is_live, to_json
from memory.store.sources import count_copies
from memory.store.traces import IS_WHOLE

REPLAY: Tier = "R0"
RUN = "run:"  # prefix in the table meta for the results of a periodic job: counts only


class Outcome(NamedTuple):
    """The outcome of a question at `t` (ms UTC), in distinct node ids: the objects that it named, the episodes shown
    and those cited. `tier`: its last stage; `calls` of models and their `tokens`.

    `text_only`: shown episodes that graph search alone would not have found, None if the trace does not say; `bridged`:
    those found by a bridge only. `unknown`: names in the question without an object. `fired`: number of replayed edges;
    `useful`: those that led to a citation. `first`: the tokens of the original of a replayed question, None for others
    or if unknown."""

    id: int
    question: str
    no_answer: bool
    ms: float
    calls: int = 0
    tokens: int = 0
    seeds: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    cited: tuple[int, ...] = ()
    text_only: tuple[int, ...] | None = None
    unknown: tuple[str, ...] = ()
    t: int = 0
    tier: str = "R2"
    fired: int = 0
    useful: int = 0
    bridged: tuple[int, ...] = ()
    first: int | None = None


def newest(conn: Connection, limit: int, since: int = 0) -> list[Outcome]:
    """The newest `limit` questions after `since` with a whole trace, oldest first."""
    rows = conn.execute(
        "SELECT id, question, no_answer, ms, llm_calls, tok_in + tok_out, t, ifnull(tier, 'R2'),"
        " (SELECT json_group_array(value ->> 'episode_id') FROM json_each(citations))"
        f" FROM trace WHERE no_answer IS NOT NULL AND t > ? AND {IS_WHOLE} ORDER BY id DESC LIMIT ?",
        (since, limit),
    ).fetchall()[::-1]
    listed = id_list(row[0] for row in rows)
    edges = {id: (fired, useful) for id, fired, useful in conn.execute(_FIRED, (listed,))}
    visits = group_rows(((id, stage), node) for id, stage, node in conn.execute(_VISITS, (listed,)))
    text_only = dict(_read(conn, listed, TEXT_ONLY, [RankNote.stage]))
    unknown = dict(_read(conn, listed, UNKNOWN, [RouteNote.stage]))
    earlier = {id: first for id, first in _read(conn, listed, EARLIER, [ReplayNote.stage]) if first is not None}
    bridged: dict[int, list[list[int]]] = group_rows(_read(conn, listed, BRIDGED, [GraphNote.stage, AnswerNote.stage]))
    outcomes = []
    for id, question, refused, ms, calls, tokens, t, tier, cited in rows:
        seeds, shown = (_drop_repeats(visits.get((id, stage), ())) for stage in ("seed", "rank"))
        of_text = _drop_repeats(text_only[id]) if id in text_only else None
        over_bridges = tuple(sorted(set(chain.from_iterable(bridged.get(id, ())))))
        outcome = Outcome(
            id, question, bool(refused), ms, calls, tokens, seeds, shown, _drop_repeats(json.loads(cited)), of_text,
            tuple(unknown.get(id, ())), t, tier, *edges.get(id, (0, 0)), over_bridges,
        )  # fmt: skip
        outcomes.append(outcome)
    return _add_first(conn, outcomes, earlier)


def _drop_repeats(ids: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(ids))


_FIRED = f"""
SELECT r.trace_id, count(*), count(c.edge_id) FROM trace_edge r
 LEFT JOIN trace_edge c ON c.trace_id = r.trace_id AND c.edge_id = r.edge_id AND c.role = 'cited'
 WHERE r.role = 'replayed' AND r.trace_id IN {LISTED} GROUP BY r.trace_id"""
_VISITS = f"""
SELECT trace_id, stage, node_id FROM trace_visit WHERE trace_id IN {LISTED}
 AND (stage = 'rank' OR stage = 'seed' AND status = 'seed') ORDER BY trace_id, visit"""


def _read(conn: Connection, listed: str, path: str, stages: Sequence[str]) -> Iterator[tuple[int, Any]]:
    """(question, value at a path of the note of a stage), where it exists."""
    rows = conn.execute(
        "SELECT trace_id, detail -> ?1 FROM trace_step WHERE stage IN (SELECT value FROM json_each(?2))"
        " AND trace_id IN (SELECT value FROM json_each(?3)) AND detail -> ?1 IS NOT NULL ORDER BY trace_id, step",
        (path, to_json(list(stages)), listed),
    )
    return ((id, json.loads(noted)) for id, noted in rows)


def _add_first(conn: Connection, asked: Sequence[Outcome], earlier: Mapping[int, int]) -> list[Outcome]:
    rows = conn.execute(
        f"SELECT id, tok_in + tok_out FROM trace WHERE id IN {LISTED} AND ifnull(tier, '') <> ?",
        (id_list(earlier.values()), REPLAY),
    )
    took: dict[int, int] = dict(rows.fetchall())
    results = []
    for outcome in asked:
        first = took.get(earlier[outcome.id]) if outcome.tier == REPLAY and outcome.id in earlier else None
        if first is not None:
            took[outcome.id] = first  # the original of a replay
        results.append(outcome._replace(first=first or None))
    return results


def count(conn: Connection) -> int:
    """The number of questions answered or refused."""
    return _count_rows(conn, "trace WHERE no_answer IS NOT NULL")


def state(conn: Connection) -> tuple[int, int, int, int]:
    """(episodes at which a model gave up, episodes a model has read, edges with memory, open contradictions)."""
    active = vectors.active(conn)
    lost = _count_rows(
        conn,
        "(SELECT DISTINCT e.value FROM job j, json_each(j.payload, '$.episodes') e"
        f" JOIN node n ON n.id = e.value AND {is_live('n')} WHERE j.kind = 'extract' AND j.state = 'dead'"
        " AND NOT EXISTS (SELECT 1 FROM extraction x WHERE x.episode_id = e.value))",
    )
    edges = _count_rows(conn, "(SELECT DISTINCT edge_id FROM edge_memory WHERE embedder_id = ?)", active and active.id)
    conflicts = _count_rows(conn, "revision WHERE relation = 'contradicts' AND state = 'open'")
    return lost, _count_rows(conn, "extraction"), edges, conflicts


def keep(conn: Connection, t: int, figures: Iterable[tuple[str, float]]) -> None:
    """Records figures."""
    conn.executemany("INSERT INTO diag(t, metric, value) VALUES (?, ?, ?)", [(t, *figure) for figure in figures])


def list_recorded(conn: Connection, since: int = 0) -> list[tuple[int, str, float]]:
    """(time in ms UTC, metric, value) of all figures recorded since a time, oldest first."""
    rows = conn.execute("SELECT t, metric, value FROM diag WHERE t >= ? AND value IS NOT NULL ORDER BY t", (since,))
    return rows.fetchall()


def last_kept(conn: Connection) -> int:
    """When figures were last recorded, or 0."""
    (t,) = conn.execute("SELECT ifnull(max(t), 0) FROM diag").fetchone()
    return int(t)


# What is live, and what was done --------------------------------------------------------------------------------


def count_live(conn: Connection, path: Path, embedder: str) -> Stats:
    """Counts and size of the memory at `path`, including its write-ahead log."""
    episodes, theses, objects = conn.execute(  # GROUP BY would sort all nodes in memory
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
        skipped=_count_rows(conn, "skip"),
        copies=count_copies(conn) + count_repeated(conn),
        bytes=sum(file.stat().st_size for file in files if file.exists()),
        embedder=embedder,
        generation=generation,
    )


def count_stale_memory(conn: Connection) -> int:
    """Rows of edge memory on retired edges."""
    return _count_rows(conn, "edge_memory m JOIN edge e ON e.id = m.edge_id WHERE e.t_expired IS NOT NULL")


def count_dead_jobs(conn: Connection) -> int:
    """Jobs that failed too often."""
    return _count_rows(conn, "job WHERE state = 'dead'")


def _count_rows(conn: Connection, rows: str, *values: int | None) -> int:
    return int(conn.execute(f"SELECT count(*) FROM {rows}", values).fetchone()[0])


def drop_stale_memory(conn: Connection) -> int:
    """Deletes edge memory on retired edges; returns the number of rows."""
    holds = f"SELECT 1 FROM edge e WHERE e.id = edge_memory.edge_id AND {is_live('e')}"
    return conn.execute(f"DELETE FROM edge_memory WHERE NOT EXISTS ({holds})").rowcount


def find_beginning(conn: Connection) -> int | None:
    """When the first live source was read, ms UTC, or None."""
    first: int | None = conn.execute("SELECT min(t_ingested) FROM source").fetchone()[0]
    return first


def hash_outline(conn: Connection) -> str:
    """A hash of counts that changes with additions, edits, revisions and forgetting, not with runs of jobs."""
    queries = {
        "node": "count(*), max(id), count(t_expired)",
        "edge": "count(*), max(id), count(t_expired), sum(n_support), count(superseded_by)",
        "source": "count(*), max(id), count(t_deleted), sum(policy = 'any'), max(t_ingested)",
        "trace": "count(*), max(id), sum(feedback)",
        "message": "count(*), max(id)",
        "revision": "count(*), max(id), max(t_settled)",
        "alias": "count(*)",
        "folder": "count(*), max(id), group_concat(path || policy)",
        "vec": "count(*), max(id)",
        "conversation": "count(*), max(t_updated)",
        "llm_probe": "count(*), max(t)",
        "ml_model": "count(*), max(id), sum(active)",
    }
    rows = [conn.execute(f"SELECT {counts} FROM {table}").fetchone() for table, counts in queries.items()]
    return sha256(repr(rows).encode()).hexdigest()


def note_run(conn: Connection, job: str, figures: dict[str, Any]) -> None:
    """Replaces the recorded results of a periodic job."""
    conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (RUN + job, to_json(figures)))


def last_run(conn: Connection, job: str) -> dict[str, Any] | None:
    """The results of the last run of a periodic job, or None."""
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (RUN + job,)).fetchone()
    figures: dict[str, Any] | None = json.loads(row[0]) if row else None
    return figures
