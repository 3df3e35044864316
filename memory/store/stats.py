"""The state of a memory in numbers: what is live, what hangs on nothing, and what periodic jobs did last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memory.nouns import Stats
from memory.store import folders
from memory.store.codec import to_json
from memory.store.connect import Connection
from memory.store.visibility import LIVE, is_live

RUN = "run:"  # in the table meta, before the name of a periodic job: counts, and no words of anybody


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
        skipped=folders.count_skipped(conn),
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
