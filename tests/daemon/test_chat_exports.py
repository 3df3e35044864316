"""Exports of chats in a memory: cited by their messages, and read again for what is new."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from daemon.client.client import Client
from tests.daemon.conftest import Listener, added, answer, uris
from tests.daemon.test_adding import skips
from tests.plugins.agents import CLAUDE, lines
from tests.plugins.agents import claude as claude_line
from tests.plugins.chats import BOATS, MATRIX, SIGNAL, gemini, slack
from tests.plugins.exports import SPRING, chatgpt, claude, packed
from tests.plugins.test_messenger import IPHONE

LATER: dict[str, Any] = {
    "uuid": "k-hull",
    "name": "Hull",
    "created_at": "2026-03-20T10:00:00Z",
    "chat_messages": [
        {
            "uuid": "m9",
            "sender": "human",
            "text": "The hull of the dinghy is larch.",
            "created_at": "2026-03-20T10:00:00Z",
        }
    ],
}


def test_an_answer_cites_the_message_of_the_person(client: Client, tmp_path: Path) -> None:
    export = tmp_path / "any name.zip"
    export.write_bytes(packed({"conversations.json": chatgpt(), "chat.html": b"<html>"}))
    done, _ = added(client, export)
    assert (done.sources, done.skipped) == (3, 0)
    hit = client.recall("Who comes on Friday for the boiler?").hits[0].passage
    assert hit.uri == f"{export}#c-boiler" and "u9" in hit.refs
    citation = answer(client, "Which boiler do I have?").citations[0]
    assert "Vaillant" in citation.quote and citation.label == f"Loud boiler, user, {minute(SPRING + 180)}"


def test_every_kind_of_chat_is_cited_by_its_message(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "chats"
    folder.mkdir()
    (folder / "slack.zip").write_bytes(packed(slack()))
    (folder / "MyActivity.json").write_text(json.dumps(gemini()))
    (folder / "main.jsonl").write_text(lines(*SIGNAL))
    (folder / "room.json").write_text(json.dumps(MATRIX))
    (folder / "WhatsApp Chat - Anna.zip").write_bytes(packed({"_chat.txt": IPHONE.encode()}))
    done, _ = added(client, folder)
    assert done.skipped == 0
    for question, words, label in (
        ("Where do we moor this year: which pier is taken?", "Pier 9", f"#boats, Ola Vik, {minute(BOATS + 86_400)}"),
        ("Is the tiller of the Kestrel oiled every month?", "Every month", f"assistant, {minute(1_772_739_600)}"),
        ("Where does the spare key hang?", "boathouse", f"Ida, Ida, {minute(1_772_620_000)}"),
        ("What does the shed cost?", "1,400", f"Winter storage, Ole Berg, {minute(1_772_620_060)}"),
    ):
        cited = [one for one in answer(client, question).citations if words in one.quote]
        assert cited and cited[0].label.endswith(label), (question, [one.label for one in cited])
    again, _ = added(client, folder)
    assert (again.sources, again.episodes, again.removed) == (0, 0, 0)


def minute(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M}"


def test_a_newer_export_adds_what_is_new_and_leaves_the_rest(client: Client, tmp_path: Path) -> None:
    export = tmp_path / "claude.json"
    export.write_text(json.dumps(claude()))
    first, _ = added(client, export)
    again, _ = added(client, export)
    assert (first.sources, again.sources, again.episodes, again.unchanged) == (2, 0, 0, 2)
    export.write_text(json.dumps([*claude(), LATER]))
    newer, _ = added(client, export)
    assert (newer.sources, newer.unchanged, newer.removed) == (1, 2, 0)
    export.write_text(json.dumps([LATER]))
    fewer, _ = added(client, export)
    assert (fewer.unchanged, fewer.removed) == (1, 2)
    assert uris(client, str(export)) == [f"{export}#k-hull"]


def test_a_large_export_is_written_in_parts_and_known_again(client: Client, tmp_path: Path) -> None:
    many = [LATER | {"uuid": f"k{number}", "name": f"Hull {number}"} for number in range(150)]
    export = tmp_path / "many.zip"
    export.write_bytes(packed({"conversations.json": many}))
    assert added(client, export)[0].sources == 150
    export.write_bytes(packed({"conversations.json": many, "user.json": {}}))
    again, _ = added(client, export)
    assert (again.sources, again.episodes, again.unchanged) == (0, 0, 150)


def test_what_of_an_export_is_not_read_is_named(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "a.zip").write_bytes(packed({"conversations.json": claude(), "old.zip": b"PK"}))
    (folder / "b.json").write_text(json.dumps([*claude(), LATER])[:-80])
    (folder / "c.zip").write_bytes(packed({"photo.jpg": b"x"}))
    for _ in range(2):  # it is still so when the folder is read again
        added(client, folder)
        found = skips(client, folder)
        assert found.keys() == {"a.zip#old.zip", "b.json", "c.zip"}
        assert "archive inside an archive" in found["a.zip#old.zip"]
        assert found["b.json"].startswith("read only in part: not valid JSON")
        assert "without a known chat export" in found["c.zip"]
    assert uris(client, str(folder / "b.json")) == [f"{folder / 'b.json'}#k-lease", f"{folder / 'b.json'}#k-name"]
    (folder / "a.zip").write_bytes(packed({"conversations.json": claude()}))
    (folder / "b.json").write_text(json.dumps([*claude(), LATER]))
    added(client, folder)
    assert skips(client, folder).keys() == {"c.zip"}


def test_a_conversation_that_was_forgotten_does_not_come_back(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "forgotten"
    folder.mkdir()
    export = folder / "claude.zip"
    export.write_bytes(packed({"conversations.json": claude()}))
    added(client, export)
    client.forget(source=f"{export}#k-lease")
    (folder / "newer.zip").write_bytes(packed({"conversations.json": [*claude(), LATER]}))
    added(client, folder)
    newer = folder / "newer.zip"
    assert uris(client, str(newer)) == [f"{newer}#k-hull", f"{newer}#k-name"]


def test_a_watched_log_of_an_agent_is_read_on_as_it_grows(client: Client, folder: Path, listener: Listener) -> None:
    log = folder / "5c1e.jsonl"
    log.write_text(lines(*CLAUDE))
    listener.until_changed(log, "added")
    before = client.recall("How much water does the dinghy need?").hits[0].passage
    assert "u-1" in before.refs
    with log.open("a") as end:
        more = claude_line("user", "The mast of the dinghy is spruce.", 7, timestamp="2026-03-06T09:00:00Z")
        end.write(lines(more))
    listener.until_changed(log, "changed")
    assert "u-7" in client.recall("What is the mast of the dinghy made of?").hits[0].passage.refs
    after = client.recall("How much water does the dinghy need?").hits[0].passage
    assert after.episode_id == before.episode_id
