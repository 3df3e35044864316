"""Retired text, which only questions about an earlier time find: of deleted sources, and of earlier versions.

Times are ms UTC."""

from typing import NamedTuple

from memory.nouns import RetiredText
from memory.store.connect import Connection
from memory.store.rows import select_ids
from memory.time.timestamps import from_ms


class Expiry(NamedTuple):
    """The retired text to delete: sources deleted before `deleted`, passages edited away before `edited`, and those
    edited away before `drafts` that were current for less than `shortest`. None: none of these."""

    deleted: int | None = None
    edited: int | None = None
    drafts: int | None = None
    shortest: int = 0


def list_retired(conn: Connection, limit: int = -1) -> list[RetiredText]:
    """The retired text by source, last retired first."""
    rows = conn.execute(
        "SELECT s.uri, s.title, s.t_deleted IS NOT NULL, count(n.id), max(ifnull(s.t_deleted, 0), ifnull("
        f"max(n.t_expired), 0)) AS t FROM source s {_RETIRED} GROUP BY s.id"
        " HAVING count(n.id) OR s.t_deleted IS NOT NULL ORDER BY t DESC, s.uri LIMIT ?",
        (limit,),
    )
    return [RetiredText(uri, title, bool(gone), passages, from_ms(t)) for uri, title, gone, passages, t in rows]


def count_retired(conn: Connection) -> int:
    """The number of sources that `list_retired` returns without a limit."""
    query = f"SELECT count(DISTINCT s.id) FROM source s {_RETIRED} WHERE n.id IS NOT NULL OR s.t_deleted IS NOT NULL"
    return int(conn.execute(query).fetchone()[0])


def find_sources(conn: Connection, expiry: Expiry, under: str, limit: int) -> list[int]:
    """Ids of sources deleted before the limit: all, or those at or below a uri."""
    if expiry.deleted is None:
        return []
    query = f"SELECT id FROM source s WHERE t_deleted < ? AND {_UNDER} ORDER BY id LIMIT ?"
    return select_ids(conn, query, expiry.deleted, *_find_scope(under), limit)


def find_passages(conn: Connection, expiry: Expiry, under: str, limit: int) -> list[int]:
    """Ids of passages no longer in their live source, as above."""
    stood = "e.until - min(n.t_created, coalesce(e.since, e.event_from))"  # NULL if the beginning is unknown
    query = (
        "SELECT n.id FROM node n JOIN episode e ON e.node_id = n.id JOIN source s ON s.id = e.source_id"
        f" WHERE n.t_expired IS NOT NULL AND s.t_deleted IS NULL AND {_UNDER}"
        f" AND (n.t_expired < ? OR n.t_expired < ? AND {stood} >= 0 AND {stood} < ?) ORDER BY n.id LIMIT ?"
    )
    times = [_NEVER if time is None else time for time in (expiry.edited, expiry.drafts)]
    return select_ids(conn, query, *_find_scope(under), *times, expiry.shortest, limit)


def _find_scope(under: str) -> tuple[str, str, int, str, str]:
    return under, under, len(under) + 1, under + "/", under + "#"


_NEVER = -(1 << 62)
_RETIRED = "LEFT JOIN episode e ON e.source_id = s.id LEFT JOIN node n ON n.id = e.node_id AND n.t_expired IS NOT NULL"
_UNDER = "(? = '' OR s.uri = ? OR substr(s.uri, 1, ?) IN (?, ?))"
