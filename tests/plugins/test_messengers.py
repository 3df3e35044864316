"""Chats as Telegram, Discord and Meta export them, and the package of data that Discord gives out."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from plugins.readers import Unreadable
from plugins.readers.chats import chat
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


GARBLED = "Chlo\u00c3\u00a9"


def test_a_chat_of_messenger_or_instagram(read: Read) -> None:
    messages = [
        {"sender_name": "Bo", "timestamp_ms": 1_772_614_920_000, "content": "At 18:40, th\u00c3\u00a9 first"},
        {"sender_name": "Bo", "timestamp_ms": 1_772_614_860_000, "content": "oops", "is_unsent": True},
        {"sender_name": GARBLED, "timestamp_ms": 1_772_614_800_000, "content": "When is the ferry?"},
        {"sender_name": GARBLED, "timestamp_ms": 1_772_614_700_000, "photos": [{"uri": "a.jpg"}]},
    ]
    export = {"participants": [{"name": GARBLED}, {"name": "Bo"}], "messages": messages, "title": GARBLED}
    (ferry,) = read("message_1.json", json.dumps(export))
    assert ferry.title == "Chloé" and ferry.at == datetime(2026, 3, 4, 9, tzinfo=UTC)
    assert [(turn.speaker, turn.text) for turn in ferry.turns] == [
        ("Chloé", "When is the ferry?"),
        ("Bo", "At 18:40, thé first"),
    ]


def test_a_chat_of_messenger_that_was_encrypted(read: Read) -> None:
    said = {"senderName": "Chloé", "text": "Ahoy", "timestamp": 1_772_614_800_000, "isUnsent": False}
    export = {"participants": ["Chloé", "Bo"], "threadName": "Chloé_3", "messages": [said]}
    (ahoy,) = read("a.json", json.dumps(export))
    assert [(turn.speaker, turn.text) for turn in ahoy.turns] == [("Chloé", "Ahoy")]


def test_messages_that_nobody_is_known_to_have_written_are_no_chat(read: Read) -> None:
    (data,) = read("a.json", json.dumps({"messages": [{"body": "x", "writer_ref": 7}]}))
    assert not data.turns


@pytest.mark.parametrize("damaged", [json.dumps(ANNA)[:-40], json.dumps(ANNA | {"messages": []})])
def test_a_damaged_export_is_refused_with_the_reason(read: Read, damaged: str) -> None:
    with pytest.raises(Unreadable, match=r"not valid JSON|without messages"):
        read("result.json", damaged)


def test_what_was_forwarded_is_not_the_word_of_who_sent_it_on(read: Read) -> None:
    messages = [{"type": "message", "id": 7, "from": "Anna", "forwarded_from": "Ole", "text": "I sold the boat"}]
    (document,) = read("result.json", json.dumps(ANNA | {"messages": messages}))
    assert [turn.text for turn in document.turns] == ["> I sold the boat"]


MINE = [
    {"ID": 124, "Timestamp": "2026-03-05 09:00:00", "Contents": "The start is at noon.", "Attachments": ""},
    {"ID": 123, "Timestamp": "2026-03-04 10:00:00", "Contents": "I sold the boat", "Attachments": ""},
    {"ID": 122, "Timestamp": "2026-03-04 09:00:00", "Contents": "", "Attachments": "https://x.example/a.png"},
]


def test_the_package_that_discord_gives_out(read: Read) -> None:
    files: dict[str, Any] = {
        "Account/user.json": {"id": "1", "username": "ada77"},
        "Messages/c111/channel.json": {"id": "111", "type": "DM", "recipients": ["1", "2"]},
        "Messages/c111/messages.json": MINE,
        "Messages/c222/messages.json": [MINE[0] | {"Timestamp": "2022-03-04 10:00:00.000000+00:00"}],
        "Messages/c333/messages.json": b"[{",
    }
    first, second = read("package.zip", packed(files))
    assert [(turn.speaker, turn.text, turn.ref) for turn in first.turns] == [
        ("user", "I sold the boat", "123"),
        ("user", "The start is at noon.", "124"),
    ]
    assert (first.conversation, second.conversation) == ("c111", "c222")
    assert first.turns[0].at == datetime(2026, 3, 4, 10, 0, tzinfo=UTC)
    assert second.turns[0].at == datetime(2022, 3, 4, 10, 0, tzinfo=UTC)


def test_a_channel_of_that_package_when_it_is_unpacked(read: Read) -> None:
    (document,) = read("c111/messages.json", json.dumps(MINE))
    assert [turn.text for turn in document.turns] == ["I sold the boat", "The start is at noon."]


def test_a_page_of_a_chat_is_read_as_any_page(read: Read) -> None:
    message = '<div class="message"><div class="from_name">Anna</div><div class="text">18:40</div></div>'
    (document,) = read("messages.html", f'<html><body><div class="page_header">Club</div>{message * 2}</body></html>')
    assert document.text.split() == ["Club", "Anna", "18:40", "Anna", "18:40"] and not document.turns
