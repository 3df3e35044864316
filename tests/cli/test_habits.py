"""What the command line has in common with others: a manual page, JSON, and the folders that the system wants."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from daemon.cli.process import EXIT_CODES
from daemon.paths import Paths
from tests.cli.conftest import Pal
from tests.cli.vault import ROOT
from tests.docs.generated import commands

# What shows or asks nothing that a program would read, or is a language of its own already.
WITHOUT_JSON = {
    "pal", "pal chat", "pal man", "pal completion", "pal config", "pal config edit", "pal mcp", "pal mcp install",
    "pal capture install", "pal sessions delete", "pal daemon", "pal daemon run", "pal daemon log",
    "pal daemon install", "pal daemon uninstall", "pal watch", "pal watch send", "pal help",
}  # fmt: skip


def test_json_is_everywhere() -> None:
    lacking = {name for name, one in commands() if not any("--json" in parameter.opts for parameter in one.params)}
    assert lacking <= WITHOUT_JSON


def test_the_manual_page_has_every_command_and_nothing_that_troff_would_take_for_an_order(pal: Pal) -> None:
    page = pal("man").output
    for name, _ in commands():
        assert name == "pal" or f"\n.SS {name}".replace("-", r"\-") in page
    macros = {match[1] for match in re.finditer(r"^\.(\w+)", page, re.MULTILINE)}
    assert macros <= {"TH", "SH", "SS", "PP", "TP", "B", "nf", "fi"}
    assert not re.search(r"^'", page, re.MULTILINE) and "\b" not in page


def test_its_exit_codes_are_those_of_the_guide() -> None:
    guide = (ROOT / "docs" / "guide.md").read_text("utf-8")
    told = re.findall(r"^\| (\d+) \| ", guide.partition("**Exit codes.**")[2].partition("\n\n**")[0], re.MULTILINE)
    assert [int(code) for code in told] == [*EXIT_CODES]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
def test_the_folders_of_the_system_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PALIMPSEST_HOME", raising=False)
    for what in ("data", "config", "state"):
        monkeypatch.setenv(f"XDG_{what.upper()}_HOME", str(tmp_path / what))
    paths = Paths.from_environment()
    assert paths.memory == tmp_path / "data" / "palimpsest" / "memory.db"
    assert paths.config == tmp_path / "config" / "palimpsest" / "config.toml"
    assert paths.logs.is_relative_to(tmp_path / "state")
