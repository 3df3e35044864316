"""Rooms of Matrix, as Element exports them."""

from __future__ import annotations

import json

import pytest

from plugins.readers import Unreadable
from tests.plugins.chats import MATRIX
from tests.plugins.conftest import Read
from tests.plugins.exports import packed
from tests.plugins.test_chat_exports import said


def test_a_room_with_its_edits_and_names(read: Read) -> None:
    (room,) = read("matrix - Winter storage.json", json.dumps(MATRIX))
    assert said(room) == [("Ole Berg", "The shed costs 1,400 kroner."), ("ada", "Per month?")]
    assert (room.title, room.conversation, room.turns[0].ref) == (*["Winter storage"] * 2, "$1")


def test_a_room_in_a_zip_beside_its_pictures(read: Read) -> None:
    (room,) = read("room.zip", packed({"export.json": MATRIX, "photo.jpg": b"x"}))
    assert room.uri.endswith("room.zip#export.json") and len(room.turns) == 2


def test_a_room_as_text(read: Read) -> None:
    text = "4-3-2026 at 10-27-40 - Ole Berg: The shed costs 1,400 kroner.\n13-3-2026 at 10-28-40 - ada: Per month?\n"
    (room,) = read("Winter storage.txt", text)
    assert said(room) == [("Ole Berg", "The shed costs 1,400 kroner."), ("ada", "Per month?")]


@pytest.mark.parametrize(
    "damaged",
    [
        json.dumps(MATRIX)[:-40],
        json.dumps(MATRIX | {"messages": [MATRIX["messages"][0], 5, {"type": "m.room.message", "content": []}]}),
    ],
)
def test_a_damaged_room_is_refused_with_the_reason(read: Read, damaged: str) -> None:
    with pytest.raises(Unreadable, match=r"not valid JSON|without messages"):
        read("room.json", damaged)
