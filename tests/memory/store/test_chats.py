"""What chats are called."""

from __future__ import annotations

from memory.nouns import Document
from memory.store import episodes, sources
from memory.store.store import Store


def test_chats_are_known_by_any_spelling_of_their_name(store: Store) -> None:
    documents = [
        Document("/a", kind="chat", conversation="Jos\u00e9  and Ana"),
        Document("/b", kind="chat", conversation="JOSE\u0301 and ana"),
        Document("/c", kind="chat", conversation="Jose and Ana"),
        Document("/d"),
    ]
    with store.writing() as conn:
        ids = [sources.upsert(conn, document, "t", now) for now, document in enumerate(documents)]
        assert sources.chat_sources(conn, " jos\u00e9 AND Ana\n") == ids[:2]
        assert sources.chat_sources(conn, "Jos") == sources.chat_sources(conn, "") == []
        assert sources.chat_names(conn) == [document.conversation for document in documents[2::-1]]
        episodes.retire_source(conn, ids[2], 10)
        assert sources.chat_names(conn) == [document.conversation for document in documents[1::-1]]
        assert sources.chat_sources(conn, "Jose and Ana") == []


def test_a_chat_that_was_kept_without_a_conversation_is_called_by_its_title(store: Store) -> None:
    with store.writing() as conn:
        old = sources.upsert(conn, Document("/a.json", kind="chat"), "Foghorn committee", 1)
        sources.upsert(conn, Document("/a.md", kind="file"), "Foghorn", 2)
        assert sources.chat_names(conn) == ["Foghorn committee"]
        assert sources.chat_sources(conn, "foghorn committee") == [old]
