from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest

from daemon.config.settings import Settings, entries, load, render
from tests.cli.conftest import Pal

ANSWER = Settings().memory.answer


def test_show_lists_every_setting_and_marks_what_differs(pal: Pal, home: Path) -> None:
    assert pal("config", "set", "memory.answer.lines", "7").exit_code == 0
    lines = pal("config").stdout.splitlines()
    assert len(lines) == len(entries(Settings()))
    assert [line.split() for line in lines if line.startswith("*")] == [["*", "memory.answer.lines", "7"]]


def test_get_prints_one_value(pal: Pal) -> None:
    assert pal("config", "get", "memory.answer.lines").stdout == f"{ANSWER.lines}\n"
    assert json.loads(pal("config", "get", "memory.answer.threshold", "--json").stdout) == {
        "memory.answer.threshold": ANSWER.threshold
    }
    assert ".env*" in pal("config", "get", "watch.ignore").stdout.splitlines()


def test_set_keeps_the_file_and_its_comments(pal: Pal, home: Path) -> None:
    result = pal("config", "set", "memory.answer.lines", "20")
    assert (result.exit_code, result.stdout) == (0, "memory.answer.lines = 20\n")
    text = (home / "config.toml").read_text("utf-8")
    assert text == render(Settings()).replace(f"\nlines = {ANSWER.lines}\n", "\nlines = 20\n")
    assert load(home / "config.toml").memory.answer.lines == 20


def test_set_replaces_a_list_of_several_lines(pal: Pal, home: Path) -> None:
    assert pal("config", "set", "watch.ignore", "*.tmp, drafts/").exit_code == 0
    settings = load(home / "config.toml")
    assert settings.watch.ignore == ("*.tmp", "drafts/")
    assert settings.memory == Settings().memory
    assert pal("config", "set", "watch.ignore", '["a, b.md"]').exit_code == 0
    assert load(home / "config.toml").watch.ignore == ("a, b.md",)


def test_set_writes_a_text_without_quotes_and_safely(pal: Pal, home: Path) -> None:
    assert pal("config", "set", "daemon.log_level", "DEBUG").exit_code == 0
    assert load(home / "config.toml").daemon.log_level == "DEBUG"
    pal("config", "set", "daemon.log_level", 'x"\n[memory.answer]\nlines = 1')
    assert load(home / "config.toml").memory.answer.lines == ANSWER.lines


def test_set_adds_to_a_short_file_where_it_belongs(pal: Pal, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("# mine\n[night]\nhour = 2\n\n[memory.recall]\nreplay = false\n", "utf-8")
    assert pal("config", "set", "night.on_battery", "true").exit_code == 0
    assert pal("config", "set", "memory.answer.lines", "3").exit_code == 0
    text = (home / "config.toml").read_text("utf-8")
    assert text.startswith("# mine\n[night]\n")
    assert tomllib.loads(text) == {
        "night": {"hour": 2, "on_battery": True},
        "memory": {"recall": {"replay": False}, "answer": {"lines": 3}},
    }


@pytest.mark.parametrize("value", ["many", "-1", '"10"', "1\n[x]\ny=1", "[1]"])
def test_a_value_that_cannot_be_meant_changes_nothing(pal: Pal, home: Path, value: str) -> None:
    assert pal("config", "set", "memory.answer.lines", "11").exit_code == 0
    before = (home / "config.toml").read_bytes()
    result = pal("config", "set", "--", "memory.answer.lines", value)
    assert result.exit_code == 2, result.output
    assert "config.toml" in result.stderr
    assert [path.name for path in home.iterdir()] == ["config.toml"]
    assert (home / "config.toml").read_bytes() == before


def test_an_unknown_setting_is_reported_with_the_nearest(pal: Pal) -> None:
    result = pal("config", "get", "memory.answr.lines")
    assert result.exit_code == 2
    assert "memory.answr.lines is not a setting. Did you mean memory.answer.lines?" in result.stderr


def test_a_broken_file_is_reported_with_the_line(pal: Pal, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[night]\nhour = 'four'\n", "utf-8")
    result = pal("config", "show")
    assert result.exit_code == 78
    assert "line 2" in result.stderr
    assert "Traceback" not in result.output


def test_several_mistakes_are_mended_one_after_the_other(pal: Pal, home: Path) -> None:
    """Neither keeps the other from being mended, nor the daemon from being stopped."""
    home.mkdir()
    file = home / "config.toml"
    file.write_text("[upkeep]\nhour = 100000  # mine\nbackups_kept = 0\n", "utf-8")
    result = pal("config", "show")
    assert result.exit_code == 78 and "line 2: upkeep.hour must be a number from 0 to 23" in result.stderr
    assert pal("daemon", "stop").stdout == "It was not running.\n"
    assert pal("config", "path").exit_code == 0
    result = pal("config", "set", "upkeep.hour", "3")
    assert result.exit_code == 0
    assert "cannot start yet" in result.stderr
    assert "line 3: upkeep.backups_kept must be a number from 1 to 1,000, not 0" in result.stderr
    result = pal("config", "set", "upkeep.backups_kept", "0")
    assert result.exit_code == 2 and "must be a number from 1 to 1,000, not 0. " in " ".join(result.stderr.split())
    assert "next start" in pal("config", "set", "upkeep.backups_kept", "12").stderr
    assert pal("config", "get", "upkeep.backups_kept").stdout == "12\n"


def test_path_prints_where_things_live(pal: Pal, home: Path) -> None:
    assert pal("config", "path").stdout == f"{home / 'config.toml'}\n"
    assert json.loads(pal("config", "path", "--json").stdout)["memory"] == str(home / "memory.db")


def test_edit_opens_the_editor_and_checks_what_it_wrote(
    pal: Pal, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "nonsense = 1" >> "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    result = pal("config", "edit")
    assert result.exit_code == 0
    assert "has names that are no settings any more, and are ignored: plugins.nonsense. To" in result.stderr


@pytest.mark.parametrize("umask", [0, 0o777])
def test_only_the_owner_can_read_the_settings_whatever_the_umask(pal: Pal, home: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        assert pal("config", "set", "memory.answer.lines", "9").exit_code == 0
        assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600
        (home / "config.toml").chmod(0o644)
        assert pal("config", "set", "memory.answer.lines", "8").exit_code == 0
        assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_an_embedder_that_does_not_exist_is_refused_with_those_that_do(pal: Pal) -> None:
    refused = pal("config", "set", "embedder.name", "nosuch")
    assert refused.exit_code == 2
    assert "There is no embedder called 'nosuch'. Known: minilm, minilm-int8, ollama:..., " in refused.stderr
    for name in ("auto", "static", "onnx:/some/folder"):
        assert pal("config", "set", "embedder.name", name).exit_code == 0
