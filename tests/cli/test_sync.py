"""pal sync: begin, join, look, allow, remove."""

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
