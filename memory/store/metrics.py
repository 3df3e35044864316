"""Statistics of a memory and its questions: live and orphaned rows, results of periodic jobs, outcomes of questions."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memory.stages import TEXT_ONLY, UNKNOWN, RankNote, RouteNote
from memory.store.calendars import count_repeated
from memory.store.connect import Connection
from memory.store.rows import LISTED, LIVE, get_meta, group_rows, id_list, is_live, read_value, set_meta, to_json
from memory.store.sources import count_copies
from memory.store.traces import IS_WHOLE
from memory.views import Stats

RUN = "run:"  # prefix in the table meta for the results of a periodic job: counts only


class Outcome(NamedTuple):
    """The outcome of a question, in distinct node ids: the objects that it named, the episodes shown and those cited;
    the `calls` of models. `text_only`: shown episodes that graph search alone would not have found, None if the trace
    does not say; `unknown`: names in the question without an object."""

    id: int
    question: str
    no_answer: bool
    ms: float
    calls: int = 0
    seeds: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    cited: tuple[int, ...] = ()
    text_only: tuple[int, ...] | None = None
    unknown: tuple[str, ...] = ()


def newest(conn: Connection, limit: int) -> list[Outcome]:
    """The newest `limit` questions with a whole trace, oldest first."""
    rows = conn.execute(
        "SELECT id, question, no_answer, ms, llm_calls,"
        " (SELECT json_group_array(value ->> 'episode_id') FROM json_each(citations))"
        f" FROM trace WHERE no_answer IS NOT NULL AND {IS_WHOLE} ORDER BY id DESC LIMIT ?",
        (limit,),
    ).fetchall()[::-1]
    listed = id_list(row[0] for row in rows)
    visits = group_rows(((id, stage), node) for id, stage, node in conn.execute(_VISITS, (listed,)))
    text_only = dict(_read_notes(conn, listed, RankNote.stage, TEXT_ONLY))
    unknown = dict(_read_notes(conn, listed, RouteNote.stage, UNKNOWN))
    return [
        Outcome(
            id,
            question,
            bool(refused),
            ms,
            calls,
            _drop_repeats(visits.get((id, "seed"), ())),
            _drop_repeats(visits.get((id, "rank"), ())),
            _drop_repeats(json.loads(cited)),
            _drop_repeats(text_only[id]) if id in text_only else None,
            tuple(unknown.get(id, ())),
        )
        for id, question, refused, ms, calls, cited in rows
    ]


def _drop_repeats(ids: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(ids))


_VISITS = f"""
SELECT trace_id, stage, node_id FROM trace_visit WHERE trace_id IN {LISTED}
 AND (stage = 'rank' OR stage = 'seed' AND status = 'seed') ORDER BY trace_id, visit"""


def _read_notes(conn: Connection, listed: str, stage: str, path: str) -> Iterator[tuple[int, Any]]:
    """(question, value at a path of the note of a stage), where it exists."""
    rows = conn.execute(
        f"SELECT trace_id, detail -> ? FROM trace_step WHERE trace_id IN {LISTED} AND stage = ?"
        " AND detail -> ? IS NOT NULL ORDER BY trace_id, step",
        (path, listed, stage, path),
    )
    return ((id, json.loads(noted)) for id, noted in rows)


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


def _count_rows(conn: Connection, rows: str, *values: int | None) -> int:
    return int(conn.execute(f"SELECT count(*) FROM {rows}", values).fetchone()[0])


def drop_stale_memory(conn: Connection) -> int:
    """Deletes edge memory on retired edges; returns the number of rows."""
    holds = f"SELECT 1 FROM edge e WHERE e.id = edge_memory.edge_id AND {is_live('e')}"
    return conn.execute(f"DELETE FROM edge_memory WHERE NOT EXISTS ({holds})").rowcount


def find_beginning(conn: Connection) -> int | None:
    """When the first live source was read, ms UTC, or None."""
    first: int | None = read_value(conn, "SELECT min(t_ingested) FROM source")
    return first


def note_run(conn: Connection, job: str, figures: dict[str, Any]) -> None:
    """Replaces the recorded results of a periodic job."""
    set_meta(conn, RUN + job, to_json(figures))


def last_run(conn: Connection, job: str) -> dict[str, Any] | None:
    """The results of the last run of a periodic job, or None."""
    figures: dict[str, Any] | None = json.loads(get_meta(conn, RUN + job) or "null")
    return figures
