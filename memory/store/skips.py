"""Files that could not be read, and why; one row a uri, the newest reason."""

from __future__ import annotations

from typing import NamedTuple

from memory.store.connect import Connection


class Skip(NamedTuple):
    """`t` is in milliseconds UTC."""

    uri: str
    reason: str
    t: int


def record(conn: Connection, uri: str, reason: str, now: int) -> None:
    conn.execute("INSERT OR REPLACE INTO skip(uri, reason, t) VALUES (?, ?, ?)", (uri, reason, now))


def clear(conn: Connection, uri: str) -> bool:
    """The file could be read, or has gone; False if it was not skipped."""
    return conn.execute("DELETE FROM skip WHERE uri = ?", (uri,)).rowcount > 0


def listing(conn: Connection, limit: int = 50, offset: int = 0) -> list[Skip]:
    """The newest first."""
    rows = conn.execute("SELECT uri, reason, t FROM skip ORDER BY t DESC, uri LIMIT ? OFFSET ?", (limit, offset))
    return [Skip(*row) for row in rows]


def count(conn: Connection) -> int:
    found: int = conn.execute("SELECT count(*) FROM skip").fetchone()[0]
    return found
