"""What the command line has in common with others: a manual page, JSON, and the folders that the system wants."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from daemon.cli import output
from daemon.paths import Paths
from tests.cli.vault import ROOT
from tests.docs.generated import commands

# What shows or asks nothing that a program would read, or is a language of its own already.
WITHOUT_JSON = {
    "pal", "pal chat", "pal completion", "pal config", "pal config edit", "pal mcp", "pal mcp install",
    "pal daemon", "pal daemon run", "pal daemon log",
    "pal daemon install", "pal daemon uninstall", "pal watch", "pal watch send", "pal help",
}  # fmt: skip


def test_json_is_everywhere() -> None:
    lacking = {name for name, one in commands() if not any("--json" in parameter.opts for parameter in one.params)}
    assert lacking <= WITHOUT_JSON


def test_the_exit_codes_of_the_guide_are_those_of_the_errors() -> None:
    guide = (ROOT / "docs" / "guide.md").read_text("utf-8")
    told = re.findall(r"^\| (\d+) \| ", guide.partition("**Exit codes.**")[2].partition("\n\n**")[0], re.MULTILINE)
    assert told == re.findall(r"^(\d+) ", output.__doc__ or "", re.MULTILINE)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
def test_the_folders_of_the_system_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PALIMPSEST_HOME", raising=False)
    for what in ("data", "config", "state"):
        monkeypatch.setenv(f"XDG_{what.upper()}_HOME", str(tmp_path / what))
    paths = Paths.from_environment()
    assert paths.memory == tmp_path / "data" / "palimpsest" / "memory.db"
    assert paths.config == tmp_path / "config" / "palimpsest" / "config.toml"
    assert paths.logs.is_relative_to(tmp_path / "state")
