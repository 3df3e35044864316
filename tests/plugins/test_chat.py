"""Chats in plain JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from tests.plugins.conftest import Read

PLUS_TWO = timezone(timedelta(hours=2))


def test_a_chat_becomes_turns(read: Read) -> None:
    chat = {
        "title": "moving",
        "messages": [
            {"role": "user", "time": "2023-06-18T20:04:00+02:00", "content": " I move on 1 September. ", "id": 7},
            {"role": "assistant", "time": "2023-06-18T20:05:00+02:00", "content": "Do you have an address?"},
        ],
    }
    (document,) = read("2001-01-01 chat.json", json.dumps(chat))
    assert (document.kind, document.title, document.text) == ("chat", "moving", "")
    assert document.at == datetime(2023, 6, 18, 20, 4, tzinfo=PLUS_TWO)
    assert [(turn.speaker, turn.text, turn.ref) for turn in document.turns] == [
        ("user", "I move on 1 September.", "7"),
        ("assistant", "Do you have an address?", None),
    ]


@pytest.mark.parametrize(
    "message",
    [
        {"speaker": "Ana", "text": "hello", "timestamp": 1687111440},
        {"author": "Ana", "content": "hello", "timestamp": 1687111440000},
        {"author": {"name": "Ana", "role": "user"}, "message": "hello", "time": "2023-06-18 18:04:00Z"},
        {
            "from": "Ana",
            "content": [{"type": "text", "text": "hello"}, {"type": "image", "url": "x"}],
            "date": 1687111440.0,
        },
        {"sender": "Ana", "content": ["hello", ""], "at": "Sun, 18 Jun 2023 20:04:00 +0200"},
        {"name": "Ana", "content": {"text": "hello"}, "created_at": "2023-06-18T18:04:00Z"},
    ],
)
def test_messages_in_many_shapes(read: Read, message: dict[str, object]) -> None:
    (document,) = read("a.json", json.dumps({"messages": [message]}))
    (turn,) = document.turns
    assert (turn.speaker, turn.text, turn.at) == ("Ana", "hello", datetime(2023, 6, 18, 18, 4, tzinfo=UTC))


def test_a_bare_list_of_messages_is_one_chat(read: Read) -> None:
    (document,) = read("a.json", '[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]')
    assert [turn.text for turn in document.turns] == ["a", "b"] and "#" not in document.uri


def test_messages_without_text_are_left_out(read: Read) -> None:
    messages = [None, 5, {"role": "user"}, {"role": "user", "content": " "}, {"content": "hello", "time": 10**400}]
    (document,) = read("a.json", json.dumps({"messages": messages}))
    (turn,) = document.turns
    assert (turn.speaker, turn.text, turn.at) == ("unknown", "hello", None)


def test_an_empty_chat_among_others_is_left_out(read: Read) -> None:
    chats = [{"messages": []}, {"title": "b", "messages": [{"role": "user", "content": "x"}]}]
    (document,) = read("a.json", json.dumps(chats))
    assert document.title == "b" and document.uri.endswith("#2")


@pytest.mark.parametrize(
    "text", ["5", '"text"', '[{"messages": 1}]', '{"messages": {"a": 1}}', '[1, {"messages": []}]']
)
def test_json_that_is_no_chat_is_data(read: Read, text: str) -> None:
    (document,) = read("a.json", text)
    assert document.kind == "file" and document.text and not document.turns


SAID = [{"role": "user", "content": "x"}]


@pytest.mark.parametrize(
    ("export", "called"),
    [
        ({"title": " Boat\n talk ", "name": "Ana", "id": "c1", "messages": SAID}, "Boat talk"),
        ({"title": " ", "name": "Ana", "id": "c1", "messages": SAID}, "Ana"),
        ({"title": {"text": "no"}, "id": 17, "messages": SAID}, "17"),
        ({"title": None, "id": True, "messages": SAID}, "with Ana"),
        ({"messages": SAID}, "with Ana"),
        ([{"name": "Ana", "text": "hello"}], "with Ana"),
        ({"title": "Boat\x00\ud800", "messages": SAID}, "Boat\ufffd"),
    ],
)
def test_a_chat_is_called_as_its_export_says_or_else_as_its_file(read: Read, export: object, called: str) -> None:
    (document,) = read("with Ana.json", json.dumps(export))
    assert document.conversation == called


def test_each_chat_of_a_file_has_its_own_name(read: Read) -> None:
    chats = [{"title": "Boats", "messages": SAID}, {"id": "c2", "messages": SAID}, {"messages": SAID}]
    assert [document.conversation for document in read("all.json", json.dumps(chats))] == ["Boats", "c2", "all"]


def test_what_is_no_chat_has_no_conversation(read: Read) -> None:
    (document,) = read("notes.md", "# Boats\n\nPaperwork is hers.\n")
    assert document.conversation is None
