"""pal sync: begin, join, look, allow, remove; pal replicate: begin, renew, end, restore elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.vault import Shell


@pytest.fixture
def other(tmp_path: Path, shell: Shell) -> Shell:
    """The home of another computer, which sees the same shared folder."""
    return Shell(tmp_path, tmp_path / "other")


def test_two_homes_agree_through_a_folder(shell: Shell, other: Shell, tmp_path: Path) -> None:
    assert "pal sync init" in shell.pal("sync").err
    begun = shell.pal("sync", "init", "shared")
    assert begun.code == 0, begun
    words = next(line.strip() for line in begun.out.splitlines() if len(line.split()) == 12)
    assert shell.pal("sync", "words").out.strip() == words
    try:
        wrong = other.pal("sync", "init", "shared", input="no words\n")
        assert wrong.code != 0 and "12 words" in wrong.err
        assert other.pal("sync", "init", "shared", input=f"{words}\n").code == 0
        assert shell.pal("remember", "The boat is at pier seven.", "--title", "Boat").code == 0
        for home in (shell, other):
            assert home.pal("sync").code == 0
        assert "pier seven" in other.pal("ask", "Where is the boat?").out
        assert "1 other computer" in other.pal("status").out
        (tmp_path / "notes").mkdir()
        assert shell.pal("watch", "add", "notes").code == 0
        assert "goes to your other computers" in shell.pal("sync", "allow", "notes").out
        state = shell.pal("sync", "--json").json
        assert state["allowed"] == ["./notes"]  # as the shell of the tests shows its folder
        name = next(one["name"] for one in state["computers"] if one["name"] != state["machine"])
        assert shell.pal("sync", "forget", name).code == 0
        assert "removed" in other.pal("sync").err
        assert other.pal("sync", "init", "shared", input=f"{words}\n").code == 0  # under another name
    finally:
        other.pal("daemon", "stop")


def test_a_replica_is_begun_renewed_restored_elsewhere_and_ended(shell: Shell, other: Shell) -> None:
    assert "pal replicate to FOLDER" in shell.pal("replicate").err
    assert shell.pal("replicate", "stop").code != 0
    shell.pal("remember", "The boat is at pier seven.", "--title", "Boat")
    begun = shell.pal("replicate", "to", "replica")
    assert begun.code == 0 and "complete at" in begun.out, begun
    assert shell.pal("replicate", "to", "replica").code == 0  # it has it
    assert "has a replica already" in other.pal("replicate", "to", "replica").err
    assert "Replica  file://" in shell.pal("status").out
    shell.pal("remember", "The safe opens with 4711.", "--title", "Safe")
    uri = shell.pal("recall", "safe", "--json").json["hits"][0]["passage"]["uri"]
    gone = shell.pal("forget", "--yes", "--source", uri)
    assert "file://" in gone.out and "pal replicate renew" in gone.out
    assert "has text that was forgotten since, until" in shell.pal("replicate").out
    renewed = shell.pal("replicate", "renew")
    assert renewed.code == 0 and "forgotten" not in renewed.out
    try:
        assert other.pal("daemon", "stop").code == 0
        assert "There is no replica at file://" in other.pal("restore", "--from", "nowhere", "--yes").err
        restored = other.pal("restore", "--from", "replica", "--yes")
        assert restored.code == 0 and "pal replicate to file://" in restored.err, restored
        assert "pier seven" in other.pal("ask", "Where is the boat?").out
        assert "4711" not in other.pal("ask", "What opens the safe?").out
        assert "pal replicate to FOLDER" in other.pal("replicate").err
    finally:
        other.pal("daemon", "stop")
    assert shell.pal("replicate", "stop").code == 0
    assert "pal replicate to FOLDER" in shell.pal("replicate").err
