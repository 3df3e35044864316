"""Counts of what should not be: learnt things that hang on nothing, work that was given up."""

from __future__ import annotations

from memory.store.connect import Connection


def stale_memory(conn: Connection) -> int:
    """Rows of edge memory on edges that no longer hold."""
    return _count(conn, "edge_memory m JOIN edge e ON e.id = m.edge_id WHERE e.t_expired IS NOT NULL")


def dead_jobs(conn: Connection) -> int:
    """Jobs that were given up after too many attempts."""
    return _count(conn, "job WHERE state = 'dead'")


def _count(conn: Connection, rows: str) -> int:
    found: int = conn.execute(f"SELECT count(*) FROM {rows}").fetchone()[0]
    return found
