"""Exports of ChatGPT and Claude: who said what and when, the branch that counts, and what in them cannot be read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest

from memory.ingest.draft import draft_document
from memory.nouns import Document
from memory.settings import ChunkSettings
from plugins.manager import Plugins
from plugins.readers import Unread, Unreadable, stream_parts
from plugins.readers.common import archive
from tests.plugins.conftest import Read
from tests.plugins.exports import SPRING, chatgpt, chatgpt_memory, claude, packed


def said(document: Document) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in document.turns]


def unread(plugins: Plugins, path: Path, data: bytes) -> dict[str, str]:
    """What in the file could not be read, by its own id, with the reason."""
    path.write_bytes(data)
    parts = stream_parts(plugins.reader_for(path, len(data)), path, BytesIO(data), path.stat())
    return {part.uri.partition("#")[2]: part.reason for part in parts if isinstance(part, Unread)}


def test_the_branch_that_was_gone_on_with_is_the_conversation(read: Read) -> None:
    boiler, feet, _ = read("anything.json", json.dumps(chatgpt()))
    assert said(boiler) == [
        ("user", "My boiler is a Vaillant ecoTEC and it is loud."),
        ("assistant", "(An answer that was replaced by another one.)\nBleed the radiators."),
        ("assistant", "Check the pump."),
        ("user", "The plumber Olav comes on Friday."),
        ("assistant", "Good. The plumber is called Per."),
    ]
    assert (boiler.title, boiler.conversation, boiler.kind) == ("Loud boiler", "Loud boiler", "chat")
    assert boiler.uri.endswith("anything.json#c-boiler")
    assert boiler.turns[0].at == datetime.fromtimestamp(SPRING + 180, UTC) and boiler.turns[0].ref == "u3"
    assert said(feet) == [("user", "What is 12 feet in metres?"), ("assistant", "3.66")]  # its end is not there
    assert feet.conversation == "c-feet"


def test_what_a_person_wrote_about_themselves_is_their_own_word(read: Read) -> None:
    *_, profile = read("a.json", json.dumps(chatgpt()))
    assert profile.uri.endswith("#profile")
    assert said(profile) == [("user", "I am a nurse in Bergen.\n\nAnswer briefly.")]


def test_what_chatgpt_remembers_is_dated_and_nobodys_word(read: Read) -> None:
    moving, memory = read("a.json", json.dumps([chatgpt_memory()]))
    assert said(moving) == [("user", "Remember that I moved to Bergen."), ("assistant", "Noted.")]
    assert memory.title == "What ChatGPT remembers" and memory.uri.endswith("#memory")
    assert [(turn.text, turn.at and turn.at.date().isoformat()) for turn in memory.turns] == [
        ("Works as a nurse in Bergen.", "2026-01-15"),
        ("User moved to Bergen.", "2026-03-04"),
        ("Has a dog called Rex.", "2026-03-04"),
    ]
    assert {turn.speaker for turn in memory.turns} == {"assistant"}


def test_a_conversation_of_claude(read: Read) -> None:
    lease, name = read("a.json", json.dumps(claude()))
    assert said(lease) == [
        ("user", "I signed the lease for Kirkegata 7 yesterday.\n\n> lease.txt\n> The rent is 9,000 kroner."),
        ("assistant", "Congratulations on the flat."),
    ]
    assert lease.title == "Lease of the flat" and lease.turns[1].ref == "m2"
    assert lease.at == datetime(2026, 2, 10, 8, 0, 0, 123456, tzinfo=UTC)
    assert said(name) == [("user", "Name ideas for a boat?"), ("assistant", "Solveig.")]


def test_an_export_in_a_zip_is_known_by_its_shape(read: Read) -> None:
    files = {"data/part-0.json": chatgpt()[:1], "data/part-1.json": chatgpt()[1:], "user.json": {"email": "a@b.no"}}
    found = read("whatever.zip", packed(files | {"a/picture.png": b"\x89PNG"}))
    assert [document.uri.rpartition("#")[2] for document in found] == ["c-boiler", "profile", "c-feet"]
    memory = [{"conversations_memory": "The person rents a flat.", "project_memories": {"p": "The boat is refitted."}}]
    *_, kept = read("b.zip", packed({"conversations.json": claude(), "memories.json": memory}))
    assert said(kept) == [("assistant", "The person rents a flat."), ("assistant", "The boat is refitted.")]


def test_a_project_of_claude(read: Read) -> None:
    boat = {
        "uuid": "p1",
        "name": "Boat refit",
        "description": "Refit of the Aurora",
        "prompt_template": "You are a shipwright.",
        "is_starter_project": False,
        "docs": [{"uuid": "d1", "filename": "parts.md", "content": "The mast is 12 m."}, None],
        "created_at": "2026-02-10T08:00:00Z",
    }
    starter = boat | {"uuid": "p0", "name": "How to use Claude", "is_starter_project": True}
    (project,) = read("projects.json", json.dumps([starter, boat]))
    assert project.title == "Boat refit"
    assert project.text == "Refit of the Aurora\n\n> You are a shipwright.\n\n## parts.md\n\nThe mast is 12 m."


def test_one_conversation_alone_is_one_too(read: Read) -> None:
    (document,) = read("a.json", json.dumps(claude()[0]))
    assert document.conversation == "Lease of the flat"


def test_what_is_said_in_a_chat_is_no_fact(read: Read) -> None:
    conversation = claude()[1]
    first, second = conversation["chat_messages"]
    first["text"], second["text"] = "Phone: 555 1234", "Phone: 555 9999\n\nLandlord: Per Dahl"
    (document,) = read("a.json", json.dumps(conversation))
    drafted = draft_document(document, ChunkSettings())
    assert not [relation for episode in drafted.episodes for relation in episode.extraction.relations]


def test_a_conversation_bears_the_hash_of_what_it_says(read: Read) -> None:
    first = {one.uri: one.sha256 for one in read("a.json", json.dumps(claude()))}
    newer = claude()
    newer[0]["updated_at"] = "2026-03-01T00:00:00Z"
    newer[1]["chat_messages"][1]["text"] = "Solveig, or Freya."
    second = {one.uri: one.sha256 for one in read("a.json", json.dumps(newer))}
    assert [first[uri] == second[uri] for uri in first] == [True, False]


def test_an_export_that_breaks_off_is_read_up_to_there(plugins: Plugins, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(claude())[:-200])
    with path.open("rb") as file:
        parts = stream_parts(plugins.reader_for(path, 1000), path, file, path.stat())
        assert isinstance(first := next(parts), Document) and first.title == "Lease of the flat"
        with pytest.raises(Unreadable, match="not valid JSON from here on"):
            next(parts)


def test_a_damaged_conversation_costs_only_itself(plugins: Plugins, tmp_path: Path) -> None:
    broken = [
        chatgpt()[0],
        {"mapping": {"a": {"message": {"author": 5}}}, "current_node": ["a"], "id": 1},
        7,
        claude()[0],
    ]
    found = unread(plugins, tmp_path / "a.json", json.dumps(broken).encode())
    assert found == {"3": "not a conversation, in an export of conversations"}


def test_what_an_archive_may_not_hold(plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SMALL", 1000)
    data = packed(
        {"conversations.json": claude(), "older.zip": packed({"a.json": claude()}), "bomb.json": b" " * 1_000_000}
    )
    found = unread(plugins, tmp_path / "a.zip", data)
    assert found.keys() == {"older.zip", "bomb.json"}
    assert "archive inside an archive" in found["older.zip"] and "times its size" in found["bomb.json"]
    locked = bytearray(packed({"conversations.json": claude()}))
    locked[6] |= 1  # the flag of encryption, of the file and in the list of files
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    found = unread(plugins, tmp_path / "b.zip", bytes(locked))
    assert "encrypted" in found["conversations.json"]


def test_a_zip_of_other_things_is_named_with_the_reason(read: Read) -> None:
    with pytest.raises(Unreadable, match="without a known chat export"):
        read("a.zip", packed({"photo.jpg": b"x", "notes.json": {"a": 1}}))
    with pytest.raises(Unreadable, match="damaged archive"):
        read("b.zip", packed({"conversations.json": claude()})[:-30])
