from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.errors import NotFoundError
from memory.llm import Usage
from memory.nouns import Answer, Citation, Scope, Trace
from memory.store import conversations, traces
from memory.store.store import Store
from memory.time.timestamps import from_ms
from memory.trace import PLAIN, Plan
from memory.views import ChatMessage, Conversation


def test_messages_come_back_in_order_with_their_proof(store: Store) -> None:
    citation = Citation(1, 5, "n.md", "T", "met", 3, at=datetime(2024, 5, 3, tzinfo=UTC))
    with store.writing() as conn:
        id = conversations.create(conn, "About Ana", 1000)
        trace = traces.store(conn, Trace("Whom?"), None, 1500)
        first = conversations.append(conn, id, "user", "Whom did she meet?", 1500)
        second = conversations.append(conn, id, "memory", "Bo. [1]", 1600, citations=[citation], trace_id=trace)
        third = conversations.append(conn, id, "memory", "", 1700, no_answer=True, state="partial")
        assert conversations.get(conn, id) == (
            Conversation(id, "About Ana", from_ms(1000), from_ms(1700), 3),
            (
                ChatMessage(first, "user", "Whom did she meet?", from_ms(1500), "complete", (), False, None),
                ChatMessage(second, "memory", "Bo. [1]", from_ms(1600), "complete", (citation,), False, trace),
                ChatMessage(third, "memory", "", from_ms(1700), "partial", (), True, None),
            ),
        )
        conn.execute("UPDATE trace SET feedback = -1")
        assert [one.verdict for one in conversations.get(conn, id)[1]] == [None, "bad", None]


def test_the_last_used_comes_first(store: Store) -> None:
    with store.writing() as conn:
        a, b, c = (conversations.create(conn, title, n) for n, title in enumerate(["Oslo trip", "100% tea", "Else"]))
        conversations.append(conn, a, "user", "When does the Train leave?", 50)
        assert [one.id for one in conversations.list_conversations(conn, 50)] == [a, c, b]
        assert [one.id for one in conversations.list_conversations(conn, 2)] == [a, c]


def test_renamed_and_deleted(store: Store) -> None:
    with store.writing() as conn:
        id = conversations.create(conn, "", 1)
        conversations.append(conn, id, "user", "Hello", 2)
        conversations.rename(conn, id, "Greetings")
        assert conversations.get(conn, id)[0].title == "Greetings"
        conversations.delete(conn, id)
        assert conversations.list_conversations(conn, 50) == []
        assert conn.execute("SELECT count(*) FROM message").fetchone() == (0,)


def test_all_the_words_are_looked_for_in_messages_and_titles(store: Store) -> None:
    with store.writing() as conn:
        oslo, tea, none = (conversations.create(conn, title, n) for n, title in enumerate(["Oslo trip", "Tea", "x"]))
        conversations.append(conn, oslo, "user", "When does the TRAIN to Ålesund leave?", 50)
        conversations.append(conn, oslo, "memory", "The train leaves at eight, from platform two.", 60)
        conversations.append(
            conn, tea, "memory", "Tea is steeped. " * 20 + "On the train it is not. " + "So it is. " * 20, 70
        )

        def found(words: str) -> list[tuple[int, int]]:
            return [(one.conversation.id, one.messages) for one in conversations.search(conn, words, 9)]

        assert found("train") == [(tea, 1), (oslo, 2)]
        assert found("alesund train") == [(oslo, 1)]
        assert found("train steeped platform") == found("  ") == []
        assert found("trip") == [(oslo, 0)]  # its title
        assert [one.conversation.id for one in conversations.search(conn, "train", 1)] == [tea]
        first, second = conversations.search(conn, "Train", 9)
        assert "On the train it is not." in first.quote and len(first.quote) < 170
        assert first.quote.startswith("…") and first.quote.endswith("…")
        assert (second.role, second.quote) == ("memory", "The train leaves at eight, from platform two.")
        assert none not in [id for id, _ in found("e")]


def test_what_is_not_there_is_reported(store: Store) -> None:
    with store.writing() as conn:
        for use in (
            lambda: conversations.get(conn, 9),
            lambda: conversations.append(conn, 9, "user", "Hello", 1),
            lambda: conversations.rename(conn, 9, "x"),
            lambda: conversations.delete(conn, 9),
        ):
            with pytest.raises(NotFoundError, match="9"):
                use()


def test_answers_have_what_their_traces_say(store: Store) -> None:
    within, march = Scope(("n.md",), tags=("boat",)), datetime(2026, 3, 31, tzinfo=UTC)
    said = Answer("Four. [1]", model="ollama:qwen3:4b")
    with store.writing() as conn:
        first = traces.store(conn, Trace("When?"), said, 1, PLAIN, 2, Usage(30, 4))
        second = traces.store(conn, Trace("And now?"), Answer("Five."), 2, Plan(march, within), 1, Usage(10, 2))
        id = conversations.create(conn, "Numbers", 1)
        for trace in (first, second):
            conversations.append(conn, id, "memory", "Four.", 2, trace_id=trace)
        _, messages = conversations.get(conn, id)
        assert [(one.within, one.as_of, one.model, one.calls, one.tokens) for one in messages] == [
            (None, None, said.model, 2, 34),
            (within, march, "", 1, 12),
        ]
