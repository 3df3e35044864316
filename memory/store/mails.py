"""Mails among the sources: who wrote them to whom."""

from __future__ import annotations

from memory.store.connect import Connection

READER = "eml"
RECENT = 1_000  # mails that are looked at


def people(conn: Connection) -> list[tuple[str, str]]:
    """From and To of the latest mails that are live; "" where one is missing."""
    return conn.execute(
        "SELECT ifnull(properties ->> 'from', ''), ifnull(properties ->> 'to', '') FROM source"
        " WHERE reader = 'eml' AND t_deleted IS NULL ORDER BY at DESC, uri LIMIT ?",  # as the index source_mail says it
        (RECENT,),
    ).fetchall()
