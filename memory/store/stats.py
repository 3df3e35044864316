"""Counts of what is live."""

from __future__ import annotations

from pathlib import Path

from memory.nouns import Stats
from memory.store import skips
from memory.store.connect import Connection


def of(conn: Connection, path: Path, embedder: str) -> Stats:
    """Counts and size of the memory at `path`; its write-ahead log counts as part of it."""
    episodes, theses, objects = conn.execute(  # GROUP BY would sort all nodes, in memory
        "SELECT total(kind = 'E'), total(kind = 'T'), total(kind = 'O') FROM node WHERE t_expired IS NULL"
    ).fetchone()
    sources, edges, generation = conn.execute(
        "SELECT (SELECT count(*) FROM source WHERE t_deleted IS NULL),"
        " (SELECT count(*) FROM edge WHERE t_expired IS NULL),"
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
        skipped=skips.count(conn),
        bytes=sum(file.stat().st_size for file in files if file.exists()),
        embedder=embedder,
        generation=generation,
    )
