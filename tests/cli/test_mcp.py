"""pal mcp install writes the entry after showing it, and keeps what was there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.vault import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Shell(tmp_path, tmp_path / "memory")


def test_the_entry_is_shown_asked_about_and_written(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"theme": "dark", "mcpServers": {"other": {"command": "x"}}}', "utf-8")
    said = shell.pal("mcp", "install", "cursor", "--folder", "notes", "--write", input="y\n")
    assert said.code == 0 and '"palimpsest"' in said.out
    kept = json.loads(file.read_text("utf-8"))
    assert kept["theme"] == "dark" and kept["mcpServers"]["other"] == {"command": "x"}
    args = ["mcp", "--agent", "cursor", "--folder", str(tmp_path / "notes"), "--write"]
    assert kept["mcpServers"]["palimpsest"]["args"] == args
    assert json.loads((file.parent / "mcp.json.before-palimpsest").read_text("utf-8"))["theme"] == "dark"


def test_nothing_is_written_without_a_yes(shell: Shell, tmp_path: Path) -> None:
    assert shell.pal("mcp", "install", "gemini", input="n\n").code != 0
    assert shell.pal("mcp", "install", "gemini", "--print").code == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": 3}'])
def test_a_file_that_is_something_else_is_left_alone(shell: Shell, tmp_path: Path, text: str) -> None:
    file = tmp_path / ".claude.json"
    file.write_text(text, "utf-8")
    said = shell.pal("mcp", "install", "claude-code", "--yes")
    assert said.code == 1 and "mend it first" in said.err
    assert file.read_text("utf-8") == text


def test_an_agent_has_a_plain_name(shell: Shell) -> None:
    assert shell.pal("mcp", "--agent", "../x").code == 2
