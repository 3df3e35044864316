"""Chats of Slack: who said what in which channel, and which day of it is new."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.nouns import Document
from plugins.manager import Plugins
from plugins.readers import Unreadable
from plugins.readers.common import archive
from tests.plugins.chats import BOATS, slack
from tests.plugins.conftest import Read
from tests.plugins.exports import packed
from tests.plugins.test_chat_exports import said, unread


def by_id(documents: list[Document]) -> dict[str, Document]:
    return {one.uri.partition("#")[2]: one for one in documents}


def test_each_day_of_a_channel_is_a_chat_with_its_threads(read: Read) -> None:
    found = by_id(read("any.zip", packed(slack())))
    assert [*found] == ["D1/2026-03-04", "boats/2026-03-04", "boats/2026-03-05", "mpdm-ola--ada--bot-1/2026-03-06"]
    first = found["boats/2026-03-04"]
    assert said(first) == [
        ("Ola Vik", "Where do we moor #boats this year?"),
        ("Ada Lund", "At pier 7, @Ola Vik."),
        ("Ada Lund", "The forecast: <5 m/s, see [the table](https://yr.no/x)"),
    ]
    assert (first.title, first.conversation, first.at) == ("#boats", "#boats", datetime.fromtimestamp(BOATS, UTC))
    assert first.turns[1].ref == f"{BOATS + 60:.6f}"


def test_an_answer_on_a_later_day_quotes_what_it_answers(read: Read) -> None:
    later = by_id(read("any.zip", packed(slack())))["boats/2026-03-05"]
    assert said(later) == [("Ola Vik", "Pier 9 it is, 7 is taken.\n> Ola Vik: Where do we moor #boats this year?")]


def test_direct_chats_are_called_by_who_is_in_them(read: Read) -> None:
    found = by_id(read("any.zip", packed(slack())))
    assert found["D1/2026-03-04"].conversation == "Ola Vik, Ada Lund"
    assert said(found["D1/2026-03-04"]) == [("Ada Lund", "The key is with ida@pier.no")]
    crew = found["mpdm-ola--ada--bot-1/2026-03-06"]
    assert (crew.conversation, said(crew)) == ("Ola Vik, Ada Lund, bot-less", [("tide", "High water 14:05")])


def test_an_export_within_a_folder_of_the_zip_is_one_too(read: Read) -> None:
    files = {f"crew export/{name}": content for name, content in slack().items()}
    assert len(read("any.zip", packed(files))) == 4


def test_a_day_that_was_unpacked_is_read_with_the_names_it_has(read: Read) -> None:
    day = slack()["boats/2026-03-04.json"]
    day[1]["user_profile"] = {"real_name": "Ola Vik"}
    (document,) = read("boats/2026-03-04.json", json.dumps(day))
    assert document.conversation == "#boats" and "#" not in document.uri
    assert said(document)[0] == ("Ola Vik", "Where do we moor #boats this year?")
    assert said(document)[1] == ("U2", "At pier 7, @U1.")


def test_what_is_damaged_costs_only_itself(plugins: Plugins, tmp_path: Path) -> None:
    files = slack() | {"boats/2026-03-05.json": b'[{"type": "mess', "users.json": b"{", "D1/2026-03-04.json": 5}
    files["boats/2026-03-04.json"] += [7, {"type": "message", "ts": "now"}, {"type": "message", "ts": "1772620999.1"}]
    found = unread(plugins, tmp_path / "a.zip", packed(files))
    assert found.keys() == {"users.json", "boats/2026-03-05.json"}
    assert all("not valid JSON" in reason for reason in found.values())


def test_one_that_is_cut_off_is_refused(read: Read) -> None:
    with pytest.raises(Unreadable, match="damaged archive"):
        read("a.zip", packed(slack())[:-40])


def test_a_bomb_among_its_days_is_left_out(plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SMALL", 1000)
    files = slack() | {"boats/2026-03-07.json": b" " * 1_000_000, "boats/2026-03-08.json": b"[]"}
    found = unread(plugins, tmp_path / "a.zip", packed(files))
    assert found.keys() == {"boats/2026-03-07.json"} and "times its size" in found["boats/2026-03-07.json"]
