"""Chats of Signal, in lines of JSON as its own export writes them, and as text by signal-export."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from plugins.readers import Unreadable
from tests.plugins.agents import lines
from tests.plugins.chats import SIGNAL
from tests.plugins.conftest import Read
from tests.plugins.exports import packed
from tests.plugins.test_chat_exports import said

AT = datetime.fromtimestamp(1_772_620_000, UTC)


def test_its_own_export(read: Read) -> None:
    ida, crew = read("main.jsonl", lines(*SIGNAL))
    assert said(ida) == [("Ida", "The spare key hangs in the boathouse."), ("me", "Thanks, I take it tomorrow.")]
    assert (ida.conversation, ida.uri.partition("#")[2], ida.turns[0].at) == ("Ida", "aWRh", AT)
    assert (crew.conversation, said(crew)) == ("Crew", [("Ida", "Regatta moved to 9 May.")])


def test_its_own_export_in_a_zip(read: Read) -> None:
    files = {
        "signal/main.jsonl": lines(*SIGNAL).encode(),
        "signal/metadata.json": {"version": 1},
        "signal/files/a": b"x",
    }
    assert [one.conversation for one in read("signal-export.zip", packed(files))] == ["Ida", "Crew"]


def test_what_signal_export_writes(read: Read) -> None:
    page = "[2026-03-04 10:00:00] Ida: Bring the flare gun.\n[2026-03-04 10:01:00] Me: It is in my locker.\n"
    (page_of_ida,) = read("Ida Moe/chat.md", page)
    assert (page_of_ida.conversation, page_of_ida.turns[1].speaker) == ("Ida Moe", "Me")


def test_lines_that_are_damaged_cost_only_themselves(read: Read) -> None:
    text = lines(*SIGNAL[:7]) + '{"chatItem": {"chatId": "10", "standardMessage": 5}}\n{broken\n' + lines(*SIGNAL[7:])
    assert [len(one.turns) for one in read("main.jsonl", text[:-90])] == [2, 1]
    with pytest.raises(Unreadable, match="no text in it"):
        read("main.jsonl", lines(*SIGNAL[:7]))
    with pytest.raises(Unreadable, match="not valid JSON"):
        read("data.json", "{broken\n" + json.dumps({"a": 1}))
