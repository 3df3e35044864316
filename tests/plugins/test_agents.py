"""Logs of Claude Code and Codex: the person and the agent, and nothing of the machinery between them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from plugins.readers import Unreadable
from tests.plugins.agents import CLAUDE, CODEX, claude, lines
from tests.plugins.conftest import Read


def said(read: Read, text: str) -> list[tuple[str, str]]:
    (document,) = read("a.jsonl", text)
    return [(turn.speaker, turn.text) for turn in document.turns]


def test_a_session_of_claude_code(read: Read) -> None:
    (document,) = read("5c1e.jsonl", lines(*CLAUDE))
    assert [(turn.speaker, turn.text) for turn in document.turns] == [
        ("user", "The dinghy needs 60 cm of water. Write a table."),
        ("assistant", "Done: tides.py prints it."),
        ("user", "Use port Leixoes."),
    ]
    assert (document.title, document.conversation, document.kind) == (*["Tide table for the dinghy"] * 2, "chat")
    assert document.at == datetime(2026, 3, 4, 9, 1, 0, 500_000, tzinfo=UTC) and document.turns[2].ref == "u-5"
    assert document.uri.endswith("/5c1e.jsonl")


def test_a_session_of_codex(read: Read) -> None:
    expected = [("user", "Rename the sail plan."), ("assistant", "It is plan-2 now.")]
    assert said(read, lines(*CODEX)) == expected
    older = [{"id": "0199", "timestamp": "2025-05-01T10:00:00Z", "instructions": ""}]
    older += [one["payload"] for one in CODEX if one["type"] == "response_item"]
    assert said(read, lines(*older)) == expected


def test_a_log_that_is_being_written_or_damaged_is_read_as_far_as_it_goes(read: Read) -> None:
    text = lines(*CLAUDE)
    assert said(read, text[:-30]) == said(read, text)[:-1]
    assert said(read, "\x00\x00{broken\n[1]\n" + text.replace('"sessionId"', '"sessionId', 1)) == said(read, text)


def test_what_a_tool_gave_back_changes_nothing(read: Read) -> None:
    (before,) = read("a.jsonl", lines(*CLAUDE))
    more = claude("user", [{"type": "tool_result", "content": "x" * 1000}], 6)
    (after,) = read("a.jsonl", lines(*CLAUDE, more))
    assert before.sha256 == after.sha256


def test_what_nobody_says_is_refused_with_the_reason(read: Read) -> None:
    with pytest.raises(Unreadable, match="a log without messages"):
        read("a.jsonl", lines(claude("user", "Look", 1, isSidechain=True)))
