from __future__ import annotations

import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.config import is_listed, list_sections
from daemon.config.settings import (
    DaemonSettings,
    McpClientSettings,
    McpSettings,
    Settings,
    SettingsError,
    WatchSettings,
    describe_ignored,
    entries,
    load,
    render,
)

REPOSITORY = Path(__file__).parents[2]


def loaded(folder: Path, text: str) -> Settings:
    path = folder / "config.toml"
    path.write_text(text, "utf-8")
    return load(path)


def test_the_repository_has_every_setting_with_its_default() -> None:
    assert (REPOSITORY / "config.toml").read_text("utf-8") == render(Settings())
    assert load(REPOSITORY / "config.toml") == Settings()


def test_a_table_has_sections_by_names_of_the_users(tmp_path: Path) -> None:
    text = '[mcp.clients.cursor]\nwrite = true\nfolders = ["~/work"]\n\n[mcp.clients.gemini]\n'
    settings = loaded(tmp_path, text)
    assert settings.mcp.clients["cursor"] == McpClientSettings(folders=("~/work",), write=True)
    assert settings.mcp.clients["gemini"] == McpClientSettings()
    assert loaded(tmp_path, render(settings)) == settings
    assert entries(settings)["mcp.clients.cursor.write"][0] is True


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[mcp]\nclients = 3", r"mcp.clients is a table of sections: write \[mcp.clients.NAME\]"),
        ("[mcp.clients]\ncursor = 3", r"line 2: mcp.clients.cursor is a section"),
        ("[mcp.clients.Cursor]", r"line 1: mcp.clients.Cursor is no name of a program"),
        (
            "[mcp.clients.cursor]\nwrit = true",
            r"line 2: mcp.clients.cursor.writ is not a setting. Did you mean write\?",
        ),
    ],
)
def test_what_is_wrong_in_a_table_is_reported_with_its_line(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        loaded(tmp_path, text)


def test_every_setting_has_a_sentence() -> None:
    listed = entries(Settings())
    assert len(listed) > 20
    for key, (value, default, sentence) in listed.items():
        assert sentence.endswith(".") and value == default, key
        assert tomllib.loads(render(Settings()))  # and it is TOML


def test_without_a_file_all_defaults(tmp_path: Path) -> None:
    assert load(tmp_path / "none.toml") == Settings()


def test_what_is_not_named_keeps_its_default(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "[watch]\ndebounce_s = 5\n[memory.recall]\nk = 3\n")
    assert settings.watch == WatchSettings(debounce_s=5.0)
    assert settings.memory.recall.k == 3
    assert settings.daemon == DaemonSettings()


@given(st.lists(st.text(), max_size=5), st.floats(0, 1e9), st.sampled_from(["DEBUG", "ERROR"]))
def test_what_is_rendered_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, ignore: list[str], s: float, level: str
) -> None:
    ignore = [text.encode("utf-8", "replace").decode() for text in ignore]
    settings = replace(
        Settings(),
        watch=WatchSettings(ignore=tuple(ignore), debounce_s=s),
        daemon=DaemonSettings(log_level=level),  # type: ignore[arg-type]
    )
    assert loaded(tmp_path_factory.getbasetemp(), render(settings)) == settings


def test_settings_that_were_removed_are_ignored(tmp_path: Path) -> None:
    text = "[mcp]\nport = 7437\ncalls_per_minute = 9\n\n[anthropic]\nbatches = false\n[plugins]\ncall_s = 1\n[sums]\n"
    assert loaded(tmp_path, text) == replace(Settings(), mcp=McpSettings(calls_per_minute=9))
    ignored = describe_ignored(tmp_path / "config.toml")
    assert "and are ignored: mcp.port, anthropic.batches, plugins.call_s, sums. To remove them: pal config" in ignored
    (tmp_path / "config.toml").write_text("[mcp]\n", "utf-8")
    assert describe_ignored(tmp_path / "config.toml") == ""


def test_parameters_are_read_and_not_listed(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "[memory.recall]\nlexical_weight = 0.5\n")
    assert settings.memory.recall.lexical_weight == 0.5
    assert "memory.recall.lexical_weight" not in entries(settings)
    assert loaded(tmp_path, render(settings)) == settings


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[watch]\ndebonce_s = 1", "line 2: watch.debonce_s is not a setting. Did you mean debounce_s?"),
        ("\n[wach]\ndebounce_s = 1", "line 2: wach is not a setting. Did you mean watch?"),
        ("[memory.recal]\nk = 1", "line 1: memory.recal is not a setting. Did you mean recall?"),
        ('[watch]\n\ndebounce_s = "2"', "line 3: watch.debounce_s must be a number, not '2'"),
        ("[memory.answer]\nlines = 1.5", "line 2: memory.answer.lines must be a whole number, not 1.5"),
        ("[memory.answer]\nlines = true", "line 2: memory.answer.lines must be a whole number, not True"),
        ("[memory.answer]\nlines = -1", "line 2: memory.answer.lines must be a number from 1 to 100, not -1"),
        ("[memory.answer]\nlines = 0", "line 2: memory.answer.lines must be a number from 1 to 100, not 0"),
        (
            "[ollama]\nhost = 'x'\ncontext = 0",
            "line 3: ollama.context must be a number from 256 to 10,000,000, not 0",
        ),
        ("[memory.chunk]\nwords = 0", "line 2: memory.chunk.words must be a number from 20 upwards, not 0"),
        ("[mcp]\nnote_kb = -1", "line 2: mcp.note_kb must be a number from 0 upwards, not -1"),
        ("[night]\nhour = 99", "line 2: night.hour must be a number from 0 to 23, not 99"),
        ("[memory.answer]\nthreshold = 1.5", "line 2: memory.answer.threshold must be a number from 0 to 1"),
        ("[watch]\ndebounce_s = nan", "line 2: watch.debounce_s must be a number from 0 upwards, not nan"),
        ("[watch]\ndebounce_s = 1" + "0" * 400, "line 2: watch.debounce_s must be a number from 0 upwards"),
        ("[watch]\ndebounce_s = 1" + "0" * 5000, "is not TOML"),
        ("[watch]\ndebounce_s = inf", "line 2: watch.debounce_s must be a number from 0 upwards"),
        ('[watch]\nignore = "*.log"', "line 2: watch.ignore must be a list of texts in quotes"),
        ("[watch]\nignore = [1]", "line 2: watch.ignore must be a list of texts in quotes"),
        ('[daemon]\nlog_level = "LOUD"', "line 2: daemon.log_level must be one of DEBUG, INFO, WARNING, ERROR"),
        (
            '[memory.recall]\nlexical_weight = "more"',
            "line 2: memory.recall.lexical_weight must be a number or auto, not 'm",
        ),
        ("[memory.recall]\nlexical_weight = []", "line 2: memory.recall.lexical_weight must be a number, not []"),
        ("watch = 1", "line 1: watch is a section: write [watch] above its settings"),
        ("[watch\n", "is not TOML"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, text)
    assert says in str(caught.value)
    assert str(tmp_path / "config.toml") in str(caught.value)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path / "config.toml")


def test_every_number_has_a_range_that_holds_its_default() -> None:
    numbers = 0
    for section, values in list_sections(Settings()):
        for item in filter(is_listed, fields(values)):
            if isinstance(item.default, int | float) and not isinstance(item.default, bool):
                numbers += 1
                assert item.metadata["least"] <= item.default <= item.metadata["most"], f"{section}.{item.name}"
    assert numbers > 15
