"""What learning at night reads, removes and notes: memory of edges that are gone, and what the last night did."""

from __future__ import annotations

import json
from typing import Any

from memory.store.codec import to_json
from memory.store.connect import Connection

KEY = "night"  # in the table meta: counts, and no words of anybody


def drop_stale_memory(conn: Connection) -> int:
    """Removes what is remembered on edges that no longer hold; how many rows."""
    return int(
        conn.execute(
            "DELETE FROM edge_memory WHERE NOT EXISTS"
            " (SELECT 1 FROM edge e WHERE e.id = edge_memory.edge_id AND e.t_expired IS NULL)"
        ).rowcount
    )


def note(conn: Connection, night: dict[str, Any]) -> None:
    """Notes what a night did, in the place of the one before."""
    conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (KEY, to_json(night)))


def noted(conn: Connection) -> dict[str, Any] | None:
    """What the last night did; None if there was none."""
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (KEY,)).fetchone()
    found: dict[str, Any] | None = json.loads(row[0]) if row else None
    return found
