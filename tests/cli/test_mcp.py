"""pal mcp: the entry of an agent's program, what agents may, and taking back what they wrote."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.config.settings import McpClientSettings, load
from tests.cli.vault import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Shell(tmp_path, tmp_path / "memory")


def test_the_entry_is_shown_and_written(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"theme": "dark", "mcpServers": {"other": {"command": "x"}}}', "utf-8")
    said = shell.pal("mcp", "install", "cursor", "--folder", "notes", "--write", "--yes")
    assert said.code == 0 and '"palimpsest"' in said.out and "mcp.clients.cursor.write = true" in said.out
    kept = json.loads(file.read_text("utf-8"))
    assert kept["theme"] == "dark" and kept["mcpServers"]["other"] == {"command": "x"}
    entry = kept["mcpServers"]["palimpsest"]
    assert entry["args"] == ["mcp", "--client", "cursor"]
    assert entry["env"] == {"PALIMPSEST_HOME": str(tmp_path / "memory")}
    assert json.loads((file.parent / "mcp.json.before-palimpsest").read_text("utf-8"))["theme"] == "dark"
    granted = load(tmp_path / "memory" / "config.toml").mcp.clients
    assert granted == {"cursor": McpClientSettings(folders=(str(tmp_path / "notes"),), write=True)}


def test_the_entry_of_codex_is_printed_and_its_permission_written(shell: Shell, tmp_path: Path) -> None:
    shown = shell.pal("mcp", "install", "codex", "--yes", "--all")
    assert shown.code == 0 and "Add the entry to" in shown.err
    entry = tomllib.loads(shown.out.partition("\n\n")[0])["mcp_servers"]["palimpsest"]
    assert entry["args"] == ["mcp", "--client", "codex"]
    assert entry["env"] == {"PALIMPSEST_HOME": "./memory"}  # as the shell shows its folder
    assert load(tmp_path / "memory" / "config.toml").mcp.clients == {"codex": McpClientSettings(everything=True)}


def test_nothing_is_written_without_a_yes(shell: Shell, tmp_path: Path) -> None:
    nobody = shell.pal("mcp", "install", "gemini", "--all")
    assert nobody.code == 2 and "Add --yes to write it" in nobody.err
    wrong = shell.pal("mcp", "install", "vim")
    assert wrong.code == 2 and "for 'CLIENT': 'vim' is not one of 'claude-code'" in wrong.err
    assert shell.pal("mcp", "install", "gemini", "--print").code == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": 3}'])
def test_a_file_that_is_something_else_is_left_alone(shell: Shell, tmp_path: Path, text: str) -> None:
    file = tmp_path / ".claude.json"
    file.write_text(text, "utf-8")
    said = shell.pal("mcp", "install", "claude-code", "--yes", "--all")
    assert said.code == 1 and "Correct it" in said.err
    assert file.read_text("utf-8") == text and not (tmp_path / "memory").exists()


def test_a_name_that_no_agent_can_have_is_refused(shell: Shell) -> None:
    assert shell.pal("mcp", "--client", "../x").code == 2


@pytest.fixture
def living(shell: Shell) -> Iterator[Shell]:
    """A shell whose daemon is ended afterwards."""
    yield shell
    shell.pal("daemon", "stop")


def test_agents_are_listed_and_what_one_wrote_is_taken_back(living: Shell, tmp_path: Path) -> None:
    from daemon.client.client import Client
    from daemon.paths import Paths

    assert "No agent is known yet" in living.pal("mcp", "clients").err
    client = Client(Paths.in_folder(tmp_path / "memory"))
    client.remember_for("scribe", "The gate is green.")
    assert living.pal("config", "set", "mcp.clients.scribe.everything", "true").code == 0
    assert living.pal("config", "set", "mcp.clients.Bad.everything", "true").code == 2
    assert living.pal("config", "get", "mcp.clients.scribe.everything").out == "true\n"
    assert living.pal("config", "set", "mcp.clients.cline.write", "false").code == 0
    [cline, scribe] = living.pal("mcp", "clients").out.splitlines()
    assert cline.split() == "cline reads no notes sees nothing".split()
    assert scribe.startswith("scribe") and "1 note, the last on 20" in scribe and scribe.endswith("sees all")
    [_, listed] = json.loads(living.pal("mcp", "clients", "--json").out)
    assert (listed["name"], listed["sees"], listed["write"], listed["notes"]) == ("scribe", "all", False, 1)
    nobody = living.pal("mcp", "undo", "nobody", "--yes")
    assert nobody.code == 4 and "Agents that have: scribe." in nobody.err
    assert living.pal("mcp", "undo", "scribe").code == 2  # nobody is there to confirm
    undone = living.pal("mcp", "undo", "scribe", "--yes")
    assert undone.code == 0 and undone.out.startswith("Forgotten for good: 1 note, 1 passage")
    assert client.agents() == ()
