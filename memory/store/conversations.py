"""Chat sessions and their messages."""

from collections.abc import Sequence
from typing import Any, Literal

from memory.errors import NotFoundError
from memory.nouns import ChatMessage, Citation, Conversation
from memory.store.connect import Connection
from memory.store.rows import citations_from_json, citations_to_json, insert_row
from memory.time.timestamps import from_ms
from memory.trace import opinion

Role = Literal["user", "memory"]
MessageState = Literal["complete", "partial"]


def create(conn: Connection, title: str, now: int) -> int:
    """A new, empty conversation's id."""
    return insert_row(conn, "conversation", title=title, t_created=now, t_updated=now)


def list_questions(conn: Connection, id: int, limit: int) -> list[str]:
    """The last questions of a conversation, the newest last; none of one that is not there."""
    rows = conn.execute(
        "SELECT text FROM message WHERE conversation_id = ? AND role = 'user' ORDER BY id DESC LIMIT ?", (id, limit)
    ).fetchall()
    return [str(text) for (text,) in reversed(rows)]


def rename(conn: Connection, id: int, title: str) -> None:
    """NotFoundError."""
    if conn.execute("UPDATE conversation SET title = ? WHERE id = ?", (title, id)).rowcount == 0:
        raise _unknown(id)


def append(
    conn: Connection,
    id: int,
    role: Role,
    text: str,
    now: int,
    *,
    state: MessageState = "complete",
    citations: Sequence[Citation] = (),
    no_answer: bool = False,
    trace_id: int | None = None,
) -> int:
    """Adds a message; returns its id. NotFoundError for an unknown conversation."""
    if conn.execute("UPDATE conversation SET t_updated = ? WHERE id = ?", (now, id)).rowcount == 0:
        raise _unknown(id)
    return insert_row(
        conn, "message", conversation_id=id, role=role, text=text, state=state, t=now, trace_id=trace_id,
        no_answer=no_answer, citations=citations_to_json(citations),
    )  # fmt: skip


def list_conversations(conn: Connection, limit: int) -> list[Conversation]:
    """Last used first."""
    rows = conn.execute(f"{_CONVERSATION} ORDER BY c.t_updated DESC, c.id DESC LIMIT ?", (limit,))
    return [_conversation(row) for row in rows]


def get(conn: Connection, id: int) -> tuple[Conversation, tuple[ChatMessage, ...]]:
    """The conversation with its messages in order. NotFoundError."""
    row = conn.execute(f"{_CONVERSATION} WHERE c.id = ?", (id,)).fetchone()
    if row is None:
        raise _unknown(id)
    messages = conn.execute(
        "SELECT m.id, m.role, m.text, m.t, m.state, m.citations, m.no_answer, m.trace_id, t.feedback FROM message m"
        " LEFT JOIN trace t ON t.id = m.trace_id WHERE m.conversation_id = ? ORDER BY m.id",
        (id,),
    )
    return _conversation(row), tuple(
        ChatMessage(
            id, role, text, from_ms(t), state, citations_from_json(cited), bool(no), trace_id, opinion(feedback)
        )
        for id, role, text, t, state, cited, no, trace_id, feedback in messages
    )


def delete(conn: Connection, id: int) -> None:
    """With its messages. NotFoundError."""
    if conn.execute("DELETE FROM conversation WHERE id = ?", (id,)).rowcount == 0:
        raise _unknown(id)


_CONVERSATION = (
    "SELECT c.id, c.title, c.t_created, c.t_updated, (SELECT count(*) FROM message WHERE conversation_id = c.id)"
    " FROM conversation c"
)


def _conversation(row: Sequence[Any]) -> Conversation:
    id, title, created, updated, messages = row
    return Conversation(id, title, from_ms(created), from_ms(updated), messages)


def _unknown(id: int) -> NotFoundError:
    return NotFoundError(f"There is no conversation {id}.")
