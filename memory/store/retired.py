"""Text that no question finds any more but that still stands in the file: of sources that have gone, and of earlier
versions of those that are there. Questions as of an earlier time are answered from it.

Times are milliseconds UTC.
"""

from typing import NamedTuple

from memory.nouns import RetiredText
from memory.store.connect import Connection
from memory.store.rows import select_ids
from memory.time.timestamps import from_ms


class Expiry(NamedTuple):
    """What of it is to go: of sources that had gone before `deleted`, passages that had been edited away before
    `edited`, and those of the latter that had gone before `drafts` and had stood for less than `shortest`. None: none
    of these."""

    deleted: int | None = None
    edited: int | None = None
    drafts: int | None = None
    shortest: int = 0


def list_retired(conn: Connection, limit: int = -1) -> list[RetiredText]:
    """What there is of it, by source, the last retired first."""
    rows = conn.execute(
        "SELECT s.uri, s.title, s.t_deleted IS NOT NULL, count(n.id), max(ifnull(s.t_deleted, 0), ifnull("
        f"max(n.t_expired), 0)) AS t FROM source s {_RETIRED} GROUP BY s.id"
        " HAVING count(n.id) OR s.t_deleted IS NOT NULL ORDER BY t DESC, s.uri LIMIT ?",
        (limit,),
    )
    return [RetiredText(uri, title, bool(gone), passages, from_ms(t)) for uri, title, gone, passages, t in rows]


def count_retired(conn: Connection) -> int:
    """How many sources `list_retired` would give without a limit."""
    query = f"SELECT count(DISTINCT s.id) FROM source s {_RETIRED} WHERE n.id IS NOT NULL OR s.t_deleted IS NOT NULL"
    return int(conn.execute(query).fetchone()[0])


def find_sources(conn: Connection, expiry: Expiry, under: str, limit: int) -> list[int]:
    """Ids of sources that had gone so long ago: all, or that of a uri and those below it."""
    if expiry.deleted is None:
        return []
    query = f"SELECT id FROM source s WHERE t_deleted < ? AND {_UNDER} ORDER BY id LIMIT ?"
    return select_ids(conn, query, expiry.deleted, *_scope(under), limit)


def find_passages(conn: Connection, expiry: Expiry, under: str, limit: int) -> list[int]:
    """Ids of passages that sources which are there have no more, as above."""
    stood = "e.until - min(n.t_created, coalesce(e.since, e.event_from))"  # NULL where nobody knows when it began
    query = (
        "SELECT n.id FROM node n JOIN episode e ON e.node_id = n.id JOIN source s ON s.id = e.source_id"
        f" WHERE n.t_expired IS NOT NULL AND s.t_deleted IS NULL AND {_UNDER}"
        f" AND (n.t_expired < ? OR n.t_expired < ? AND {stood} >= 0 AND {stood} < ?) ORDER BY n.id LIMIT ?"
    )
    times = [_NEVER if time is None else time for time in (expiry.edited, expiry.drafts)]
    return select_ids(conn, query, *_scope(under), *times, expiry.shortest, limit)


def _scope(under: str) -> tuple[str, str, int, str, str]:
    return under, under, len(under) + 1, under + "/", under + "#"


_NEVER = -(1 << 62)
_RETIRED = "LEFT JOIN episode e ON e.source_id = s.id LEFT JOIN node n ON n.id = e.node_id AND n.t_expired IS NOT NULL"
_UNDER = "(? = '' OR s.uri = ? OR substr(s.uri, 1, ?) IN (?, ?))"
