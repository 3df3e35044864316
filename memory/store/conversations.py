"""Chat sessions and their messages."""

from collections.abc import Sequence
from typing import Any, Literal

from memory.errors import NotFoundError
from memory.nouns import ChatMessage, Citation, Conversation, ConversationMatch
from memory.store import traces
from memory.store.connect import Connection
from memory.store.rows import citations_from_json, citations_to_json, insert_row
from memory.text.words import strip_accents
from memory.time.timestamps import from_ms
from memory.trace import opinion

Role = Literal["user", "memory"]
MessageState = Literal["complete", "partial"]

MAX_SEARCHED = 50_000  # messages
QUOTE_CHARS = 160


def create(conn: Connection, title: str, now: int) -> int:
    """A new, empty conversation's id."""
    return insert_row(conn, "conversation", title=title, t_created=now, t_updated=now)


def list_turns(conn: Connection, id: int, limit: int) -> list[tuple[str, int | None]]:
    """The last questions of a conversation, the newest last, each with the trace of its answer, if it has one that is
    kept; none of one that is not there."""
    rows = conn.execute(
        "SELECT m.text, (SELECT t.id FROM message a JOIN trace t ON t.id = a.trace_id WHERE a.id ="
        " (SELECT min(id) FROM message WHERE conversation_id = m.conversation_id AND id > m.id)) FROM message m"
        " WHERE m.conversation_id = ? AND m.role = 'user' ORDER BY m.id DESC LIMIT ?",
        (id, limit),
    ).fetchall()
    return rows[::-1]


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
        "SELECT m.id, m.role, m.text, m.t, m.state, m.citations, m.no_answer, m.trace_id, t.feedback, t.plan, t.as_of"
        " FROM message m LEFT JOIN trace t ON t.id = m.trace_id WHERE m.conversation_id = ? ORDER BY m.id",
        (id,),
    )
    return _conversation(row), tuple(
        ChatMessage(
            id, role, text, from_ms(t), state, citations_from_json(cited), bool(no), trace_id, opinion(feedback), (),
            *traces.limits_of(plan, as_of),
        )
        for id, role, text, t, state, cited, no, trace_id, feedback, plan, as_of in messages
    )  # fmt: skip


def fork(conn: Connection, id: int, messages: int, title: str, now: int) -> int:
    """A new conversation with copies of the first messages of this one; its id. NotFoundError."""
    row = conn.execute("SELECT title FROM conversation WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise _unknown(id)
    new = create(conn, title or row[0], now)
    conn.execute(
        "INSERT INTO message(conversation_id, role, text, state, t, trace_id, no_answer, citations)"
        " SELECT ?, role, text, state, t, trace_id, no_answer, citations FROM message WHERE conversation_id = ?"
        " ORDER BY id LIMIT ?",
        (new, id, messages),
    )
    return new


def search(conn: Connection, words: str, limit: int) -> list[ConversationMatch]:
    """Those that hold all the words in one message or in their title, in upper or lower case and with or without
    accents; last used first. The newest messages are looked through, MAX_SEARCHED of them."""
    wanted = [_fold(word) for word in words.split()]
    if not wanted:
        return []
    found: dict[int, tuple[int, tuple[int, Role, str, int]]] = {}  # conversation -> how many, and the newest of them
    rows = conn.execute(
        "SELECT conversation_id, id, role, text, t FROM message ORDER BY id DESC LIMIT ?", (MAX_SEARCHED,)
    )
    for conversation, id, role, text, t in rows:
        if _holds(text, wanted):
            number, newest = found.get(conversation, (0, (id, role, text, t)))
            found[conversation] = number + 1, newest
    matches = []
    for one in list_conversations(conn, -1):
        if one.id in found:
            number, (id, role, text, t) = found[one.id]
            matches.append(ConversationMatch(one, number, id, role, _quote(text, wanted), from_ms(t)))
        elif _holds(one.title, wanted):
            matches.append(ConversationMatch(one))
    return matches[:limit]


def _fold(text: str) -> str:
    return strip_accents(text.casefold())


def _holds(text: str, wanted: Sequence[str]) -> bool:
    folded = _fold(text)
    return all(word in folded for word in wanted)


def _quote(text: str, wanted: Sequence[str]) -> str:
    """The words around the first of these that stands in the text."""
    flat = " ".join(text.split()).removeprefix("- ")
    folded = _fold(flat)  # nearly as long as the text; where it is not, the quote begins a little off
    first = max(0, min(place for word in wanted if (place := folded.find(word)) >= 0) - QUOTE_CHARS // 3)
    begin = flat.rfind(" ", 0, first) + 1 if first else 0
    end = begin + QUOTE_CHARS
    return f"{'…' if begin else ''}{flat[begin:end]}{'…' if end < len(flat) else ''}"


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
