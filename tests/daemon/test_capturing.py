"""A session with an agent is kept once, however often and however cut it comes, and the agent's words are no facts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from daemon import wire
from daemon.api.agents import keep_session
from daemon.session_formats import batches, read_notification, read_session
from memory import Memory
from memory.errors import InvalidInputError
from memory.nouns import Turn
from memory.protocols import Embedder

FIRST = [
    Turn("user", "My bike shop is Kettler on Elm Road."),
    Turn("assistant", "Noted. Ana moved from Bonn to Riga."),
    Turn("user", "yes"),
]
MORE = [
    Turn("Claude", "Shall I book the service?"),
    Turn("human", "yes"),
    Turn("assistant", "It is booked for Monday."),
]


@pytest.fixture
def memory(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=static) as opened:
        yield opened


def said(memory: Memory, uri: str) -> str:
    found = memory.browsing.read_source(uri)
    return "\n".join(one.text for one in memory.sources.episodes(found.passages))


def test_the_same_again_adds_nothing_and_more_adds_what_is_new(memory: Memory) -> None:
    first = keep_session(memory, "aider", "s1", FIRST, "Bikes")
    assert first == wire.Captured("note:session/aider/s1", 3, 3)
    generation = memory.store.generation
    assert keep_session(memory, "aider", "s1", FIRST) == wire.Captured(first.source, 3, 0)
    assert memory.store.generation == generation
    assert keep_session(memory, "aider", "s1", [*FIRST, *MORE]) == wire.Captured(first.source, 6, 3)
    assert said(memory, first.source).count("user: yes") == 2
    assert keep_session(memory, "aider", "s1", FIRST).new == 0
    assert "booked for Monday" in said(memory, first.source)


def test_only_the_last_turns_take_nothing_away(memory: Memory) -> None:
    keep_session(memory, "aider", "s1", FIRST)
    tail = keep_session(memory, "aider", "s1", MORE)
    assert (tail.source, tail.new) == ("note:session/aider/s1/2", 2)  # "yes" was said before
    assert "Elm Road" in said(memory, "note:session/aider/s1")
    whole = keep_session(memory, "aider", "s1", [*FIRST, *MORE])
    assert whole.new == 1 and said(memory, whole.source).count("user: yes") == 2
    assert {one.uri for one in memory.sources.list_under("note:session/")} == {"note:session/aider/s1", tail.source}


def test_what_is_said_in_a_session_is_no_fact(memory: Memory) -> None:
    memory.remember("City: Bonn", title="Ana", source="/n/ana.md", at=datetime(2026, 3, 1, tzinfo=UTC))
    keep_session(memory, "aider", "s1", [*FIRST, Turn("user", "Ana, city: Utrecht"), Turn("assistant", "City: Oslo")])
    assert [fact.objects[1] for fact in memory.facts("Ana") if fact.predicate == "city"] == ["Bonn"]


@pytest.mark.parametrize(("name", "turns"), [("../x", FIRST), ("", FIRST), ("s", []), ("s", [Turn("user", " … ")])])
def test_what_is_no_session_is_refused(memory: Memory, name: str, turns: list[Turn]) -> None:
    with pytest.raises(InvalidInputError):
        keep_session(memory, "aider", name, turns)


# What comes from standard input ---------------------------------------------------------------------------------

CLAUDE = [
    {"type": "user", "sessionId": "c-1", "uuid": "1", "message": {"role": "user", "content": "Where is the key?"}},
    {"type": "assistant", "sessionId": "c-1", "uuid": "2",
     "message": {"role": "assistant", "content": [{"type": "text", "text": "Under the pot."}, {"type": "tool_use"}]}},
]  # fmt: skip
CODEX = [
    {"type": "session_meta", "payload": {"id": "x-1"}},
    {"type": "response_item",
     "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Where is the key?"}]}},
    {"type": "response_item",
     "payload": {"type": "message", "role": "assistant",
                 "content": [{"type": "output_text", "text": "Under the pot."}]}},
]  # fmt: skip
MESSAGES = [{"role": "user", "content": "Where is the key?"}, {"role": "assistant", "content": "Under the pot."}]
SPOKEN = [("user", "Where is the key?"), ("assistant", "Under the pot.")]


def lines(rows: list[dict[str, object]]) -> str:
    return "\n".join(map(json.dumps, rows))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(MESSAGES),
        json.dumps({"messages": MESSAGES}, indent=1),
        "User: Where is the key?\n\nAssistant: Under the pot.\n",
        "\ufeffHuman: Where is the key?\nClaude: Under the pot.",
    ],
    ids="list messages text bom".split(),
)
def test_the_forms_of_a_session_are_recognized(text: str) -> None:
    session = read_session(text.encode())
    assert [(turn.speaker, turn.text) for turn in session.turns] == SPOKEN


@pytest.mark.parametrize(
    "text",
    [
        "", " \n", '{"a": 1}', lines(CLAUDE), lines(CODEX), "[1, 2]",
        '{"messages": 3}', "[" * 100_000, '{"x": {"y": 2}}\n{"z": 1}',
        '{"hook_event_name": "Stop", "transcript_path": "/etc/passwd"}',
        '{"hook_event_name": "Stop", "transcript_path": "/nowhere/x.jsonl"}', '{"hook_event_name": "Stop"}',
    ],
)  # fmt: skip
def test_what_holds_no_session_is_said(text: str) -> None:
    with pytest.raises(InvalidInputError):
        read_session(text.encode())


def test_bytes_that_are_no_text_are_said() -> None:
    with pytest.raises(InvalidInputError, match="UTF-8"):
        read_session(b"\xff\xfe\x00")


def test_a_text_in_which_nobody_has_a_name_is_the_agents() -> None:
    assert [turn.speaker for turn in read_session(b"The build is green. Note: 3 warnings.").turns] == ["assistant"]


def test_a_notification_of_codex_names_its_log_or_tells_the_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    thread = "b5f6c1c2-1111-2222-3333-444455556666"
    said = {"type": "agent-turn-complete", "thread-id": thread, "input-messages": ["Where is the key?"],
            "last-assistant-message": "Under the pot."}  # fmt: skip
    found = read_notification(json.dumps(said))
    assert ([(turn.speaker, turn.text) for turn in found.turns], found.name) == (SPOKEN, thread)
    log = tmp_path / "sessions" / "2026" / "03" / f"rollout-2026-03-01T10-00-00-{thread}.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(lines(CODEX), "utf-8")
    assert read_notification(json.dumps(said)).log == log
    for wrong in ("no json", "[]", '{"type": "other"}'):
        with pytest.raises(InvalidInputError):
            read_notification(wrong)
    assert read_notification(json.dumps(said | {"thread-id": "*"})).log is None


def test_long_sessions_are_cut_in_the_same_places_each_time() -> None:
    turns = [Turn("user", f"{n} " * 40_000) for n in range(40)]
    rows = list(batches(turns))
    assert [turn for row in rows for turn in row] == turns and len(rows) > 2
    assert list(batches([*turns, *turns]))[: len(rows) - 1] == rows[:-1]
