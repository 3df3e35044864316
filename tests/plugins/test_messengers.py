"""Chats as Telegram and Discord export them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from plugins.readers import Unreadable, chat
from tests.plugins.conftest import Read
from tests.plugins.exports import packed

ANNA: dict[str, Any] = {
    "name": "Anna",
    "type": "personal_chat",
    "id": 4711,
    "messages": [
        {
            "id": 1,
            "type": "service",
            "date": "2026-03-04T09:00:00",
            "actor": "Anna",
            "action": "phone_call",
            "text": "",
        },
        {
            "id": 2,
            "type": "message",
            "date": "2026-03-04T10:00:00",
            "date_unixtime": "1772614800",
            "from": "Anna",
            "from_id": "user1",
            "text": ["The ferry is at ", {"type": "bold", "text": "18:40"}, "."],
        },
        {"id": 3, "type": "message", "date": "2026-03-04T10:01:00", "from": "Ada", "text": "", "photo": "a.jpg"},
        {"id": 4, "type": "message", "date_unixtime": "1772614920", "from": None, "text": "See you there"},
    ],
}
DISCORD: dict[str, Any] = {
    "guild": {"id": "9", "name": "Sailing club"},
    "channel": {"id": "8", "name": "regatta", "type": "GuildTextChat"},
    "messages": [
        {"id": "70", "type": "GuildMemberJoin", "timestamp": "2026-03-04T10:00:00+00:00", "content": "Joined.",
         "author": {"name": "ole"}},
        {"id": "71", "type": "Default", "timestamp": "2026-03-04T10:05:00.5+00:00", "content": "The start is at noon.",
         "author": {"name": "ole77", "nickname": "Ole", "isBot": False}},
        {"id": "72", "type": "Reply", "timestamp": "2026-03-04T10:06:00+00:00", "content": "Noted",
         "author": {"name": "ada"}},
        {"id": "73", "type": "Default", "timestamp": "2026-03-04T10:07:00+00:00", "content": "",
         "author": {"name": "ada"}},
    ],
    "messageCount": 4,
}  # fmt: skip


def test_a_chat_of_telegram(read: Read) -> None:
    (document,) = read("result.json", json.dumps(ANNA))
    assert [(turn.speaker, turn.text, turn.ref) for turn in document.turns] == [
        ("Anna", "The ferry is at 18:40.", "2"),
        ("unknown", "See you there", "4"),
    ]
    assert document.turns[0].at == datetime(2026, 3, 4, 9, 0, tzinfo=UTC) and document.conversation == "Anna"


def test_all_chats_of_telegram(read: Read) -> None:
    saved = ANNA | {"type": "saved_messages", "id": 5, "name": None}
    empty = ANNA | {"id": 6, "messages": []}
    found = read("result.json", json.dumps({"about": "", "chats": {"about": "", "list": [ANNA, saved, empty, 7]}}))
    assert [(one.conversation, one.uri.partition("#")[2]) for one in found] == [
        ("Anna", "4711"),
        ("Saved messages", "5"),
    ]


def test_an_account_of_telegram_that_is_too_large_to_be_held(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "MAX_PLAIN", 100)
    other = ANNA | {"id": 5, "name": "Ben"}
    account = {"about": "", "contacts": {"list": []}, "chats": {"about": "", "list": [ANNA, 7, other]}}
    assert [one.conversation for one in read("result.json", json.dumps(account))] == ["Anna", "Ben"]
    (alone, *_) = read("telegram.zip", packed({"a/result.json": account}))
    assert alone.uri.endswith("#4711")
    with pytest.raises(Unreadable, match="too large"):
        read("other.json", json.dumps({"a": "x" * 200}))


def test_a_channel_of_discord(read: Read) -> None:
    (document,) = read("a.json", json.dumps(DISCORD))
    assert [(turn.speaker, turn.text, turn.ref) for turn in document.turns] == [
        ("Ole", "The start is at noon.", "71"),
        ("ada", "Noted", "72"),
    ]
    assert document.conversation == "Sailing club › regatta"


@pytest.mark.parametrize("damaged", [json.dumps(ANNA)[:-40], json.dumps(ANNA | {"messages": [None, 5, {"id": 1}]})])
def test_a_damaged_export_is_refused_with_the_reason(read: Read, damaged: str) -> None:
    with pytest.raises(Unreadable, match=r"not valid JSON|without messages"):
        read("result.json", damaged)
