"""Correspondence among the sources: the chats by the names people call them by, and who wrote mails to whom."""

from __future__ import annotations

from memory.store.codec import to_json
from memory.store.connect import Connection
from memory.text.unicode import to_nfc

MAIL_READER = "eml"
MAX_MAILS = 1_000  # mails that are looked at

_NAME = (
    "coalesce(conversation, iif(kind = 'chat', title, NULL))"  # memories of before have chats without a conversation
)


def chat_names(conn: Connection) -> list[str]:
    """What the live chats are called, the one that was read last first."""
    rows = conn.execute(
        f"SELECT {_NAME} AS name FROM source WHERE t_deleted IS NULL AND name IS NOT NULL"
        " GROUP BY name ORDER BY max(t_ingested) DESC, max(id) DESC"
    )
    return [name for (name,) in rows]


def chat_sources(conn: Connection, name: str) -> list[int]:
    """The ids of the live sources of the chats of that name, in upper or lower case and with any spaces."""
    meant = [spelling for spelling in chat_names(conn) if fold_name(spelling) == fold_name(name)]
    rows = conn.execute(
        f"SELECT id FROM source WHERE t_deleted IS NULL AND {_NAME} IN (SELECT value FROM json_each(?)) ORDER BY id",
        (to_json(meant),),
    )
    return [id for (id,) in rows]


def fold_name(name: str) -> str:
    """The form under which names of chats are the same."""
    return " ".join(to_nfc(name).casefold().split())


def mail_people(conn: Connection) -> list[tuple[str, str]]:
    """From and To of the latest mails that are live; "" where one is missing."""
    return conn.execute(
        "SELECT ifnull(properties ->> 'from', ''), ifnull(properties ->> 'to', '') FROM source"
        " WHERE reader = 'eml' AND t_deleted IS NULL ORDER BY at DESC, uri LIMIT ?",  # as the index source_mail says it
        (MAX_MAILS,),
    ).fetchall()
