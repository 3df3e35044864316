"""Chats: the conversations that sources belong to, by the names people call them by."""

from __future__ import annotations

from memory.store.codec import to_json
from memory.store.connect import Connection
from memory.text.unicode import to_nfc

_NAME = (
    "coalesce(conversation, iif(kind = 'chat', title, NULL))"  # memories of before have chats without a conversation
)


def names(conn: Connection) -> list[str]:
    """What the live chats are called, the one that was read last first."""
    rows = conn.execute(
        f"SELECT {_NAME} AS name FROM source WHERE t_deleted IS NULL AND name IS NOT NULL"
        " GROUP BY name ORDER BY max(t_ingested) DESC, max(id) DESC"
    )
    return [name for (name,) in rows]


def called(conn: Connection, name: str) -> list[int]:
    """The ids of the live sources of the chats of that name, in upper or lower case and with any spaces."""
    meant = [spelling for spelling in names(conn) if folded(spelling) == folded(name)]
    rows = conn.execute(
        f"SELECT id FROM source WHERE t_deleted IS NULL AND {_NAME} IN (SELECT value FROM json_each(?)) ORDER BY id",
        (to_json(meant),),
    )
    return [id for (id,) in rows]


def folded(name: str) -> str:
    """The form under which names of chats are the same."""
    return " ".join(to_nfc(name).casefold().split())
