"""Chat sessions and their messages."""

from collections.abc import Sequence
from typing import Any, Literal

from memory.errors import NotFoundError
from memory.nouns import Citation
from memory.store import traces
from memory.store.connect import Connection, citations_from_json, citations_to_json, insert_row, read_value
from memory.text.words import strip_accents
from memory.time.timestamps import from_ms
from memory.trace import opinion
from memory.views import ChatMessage, Conversation, ConversationMatch

Role = Literal["user", "memory"]
MessageState = Literal["complete", "partial"]

MAX_SEARCHED = 50_000  # messages
QUOTE_CHARS = 160


def create(conn: Connection, title: str, now: int) -> int:
    """Creates an empty conversation; returns its id."""
    return insert_row(conn, "conversation", title=title, t_created=now, t_updated=now)


def list_turns(conn: Connection, id: int, limit: int) -> list[tuple[str, int | None]]:
    """Returns the last `limit` questions of a conversation, newest last, each with the trace of its answer, if any;
    empty for an unknown conversation."""
    rows = conn.execute(
        "SELECT m.text, (SELECT t.id FROM message a JOIN trace t ON t.id = a.trace_id WHERE a.id ="
        " (SELECT min(id) FROM message WHERE conversation_id = m.conversation_id AND id > m.id)) FROM message m"
        " WHERE m.conversation_id = ? AND m.role = 'user' ORDER BY m.id DESC LIMIT ?",
        (id, limit),
    ).fetchall()
    return rows[::-1]


def rename(conn: Connection, id: int, title: str) -> None:
    """Renames a conversation. NotFoundError for an unknown one."""
    if conn.execute("UPDATE conversation SET title = ? WHERE id = ?", (title, id)).rowcount == 0:
        raise _make_error(id)


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
        raise _make_error(id)
    return insert_row(
        conn, "message", conversation_id=id, role=role, text=text, state=state, t=now, trace_id=trace_id,
        no_answer=no_answer, citations=citations_to_json(citations),
    )  # fmt: skip


def list_conversations(conn: Connection, limit: int) -> list[Conversation]:
    """Lists conversations, last used first."""
    rows = conn.execute(f"{_CONVERSATION} ORDER BY c.t_updated DESC, c.id DESC LIMIT ?", (limit,))
    return [_make_conversation(row) for row in rows]


def check(conn: Connection, id: int) -> None:
    """Checks that a conversation exists. NotFoundError."""
    if read_value(conn, "SELECT 1 FROM conversation WHERE id = ?", id) is None:
        raise _make_error(id)


def get(conn: Connection, id: int) -> tuple[Conversation, tuple[ChatMessage, ...]]:
    """Returns the conversation with its messages in order. NotFoundError."""
    row = conn.execute(f"{_CONVERSATION} WHERE c.id = ?", (id,)).fetchone()
    if row is None:
        raise _make_error(id)
    messages = conn.execute(
        "SELECT m.id, m.role, m.text, m.t, m.state, m.citations, m.no_answer, m.trace_id, t.feedback, t.plan, t.as_of,"
        " ifnull(t.llm_calls, 0), ifnull(t.tok_in + t.tok_out, 0)"
        " FROM message m LEFT JOIN trace t ON t.id = m.trace_id WHERE m.conversation_id = ? ORDER BY m.id",
        (id,),
    )
    return _make_conversation(row), tuple(
        ChatMessage(
            id, role, text, from_ms(t), state, citations_from_json(cited), bool(no), trace_id, opinion(feedback),
            *traces.limits_of(plan, as_of), *used,
        )
        for id, role, text, t, state, cited, no, trace_id, feedback, plan, as_of, *used in messages
    )  # fmt: skip


def search(conn: Connection, words: str, limit: int) -> list[ConversationMatch]:
    """Returns conversations with all words in one message or in their title, regardless of case and accents; last used
    first. Searches the newest MAX_SEARCHED messages."""
    terms = [_fold(word) for word in words.split()]
    if not terms:
        return []
    matching: dict[int, tuple[int, tuple[int, Role, str, int]]] = {}  # id -> (matches, newest)
    rows = conn.execute(
        "SELECT conversation_id, id, role, text, t FROM message ORDER BY id DESC LIMIT ?", (MAX_SEARCHED,)
    )
    for conversation, id, role, text, t in rows:
        if _contains_all(text, terms):
            number, newest = matching.get(conversation, (0, (id, role, text, t)))
            matching[conversation] = number + 1, newest
    matches = []
    for session in list_conversations(conn, -1):
        if session.id in matching:
            number, (id, role, text, t) = matching[session.id]
            matches.append(ConversationMatch(session, number, id, role, _quote(text, terms), from_ms(t)))
        elif _contains_all(session.title, terms):
            matches.append(ConversationMatch(session))
    return matches[:limit]


def _fold(text: str) -> str:
    return strip_accents(text.casefold())


def _contains_all(text: str, terms: Sequence[str]) -> bool:
    folded = _fold(text)
    return all(word in folded for word in terms)


def _quote(text: str, terms: Sequence[str]) -> str:
    """Returns the words around the first match in the text."""
    flat = " ".join(text.split()).removeprefix("- ")
    folded = _fold(flat)  # nearly the same length; otherwise the quote starts slightly off
    first = max(0, min(place for word in terms if (place := folded.find(word)) >= 0) - QUOTE_CHARS // 3)
    begin = flat.rfind(" ", 0, first) + 1 if first else 0
    end = begin + QUOTE_CHARS
    return f"{'…' if begin else ''}{flat[begin:end]}{'…' if end < len(flat) else ''}"


def delete(conn: Connection, id: int) -> None:
    """Deletes a conversation with its messages. NotFoundError."""
    if conn.execute("DELETE FROM conversation WHERE id = ?", (id,)).rowcount == 0:
        raise _make_error(id)


_CONVERSATION = (
    "SELECT c.id, c.title, c.t_created, c.t_updated, (SELECT count(*) FROM message WHERE conversation_id = c.id)"
    " FROM conversation c"
)


def _make_conversation(row: Sequence[Any]) -> Conversation:
    id, title, created, updated, messages = row
    return Conversation(id, title, from_ms(created), from_ms(updated), messages)


def _make_error(id: int) -> NotFoundError:
    return NotFoundError(f"There is no session {id}. In the chat, /sessions lists them.")
