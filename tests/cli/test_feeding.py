"""add, remember, watch, forget: what changes the memory, and what it says about it."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.cli.vault import NOTES, Shell


def test_an_empty_memory_says_how_to_fill_it(shell: Shell) -> None:
    how = "Read a folder once: pal add ~/notes. Keep it read: pal watch add ~/notes\n"
    asked = shell.pal("ask", "where?")
    assert (asked.code, asked.err) == (4, how)
    assert asked.out.startswith("Nothing has been read yet")
    recalled = shell.pal("recall", "where?")
    assert (recalled.code, recalled.out, recalled.err) == (4, "", f"Nothing has been read yet. {how}")
    assert recalled.err in shell.pal("status").err
    for empty in (("today",), ("context", "the move")):
        told = shell.pal(*empty)
        assert (told.code, told.err) == (4, recalled.err), empty
    named = shell.pal("history", "Bosun")
    assert named.code == 4 and "nothing has been read yet" in named.err
    (shell.folder / "notes").mkdir()
    shell.pal("watch", "add", "notes")
    watched = shell.pal("ask", "where?")
    assert (watched.code, watched.err) == (4, "Your folders are being read; `pal status` shows how far.\n")


def test_reading_again_changes_nothing(shell: Shell) -> None:
    shutil.copytree(NOTES, shell.folder / "notes")
    files = len([path for path in NOTES.rglob("*") if path.is_file()])
    first = shell.pal("add", "notes")
    assert first.code == 0, first
    assert first.out.startswith(f"Read {files} notes, ")
    assert "skipped" not in first.out
    again = shell.pal("add", "notes")
    assert again.out.startswith(f"Read 0 notes, 0 passages, {files} unchanged")
    note = shell.folder / "notes" / "Bosun.md"
    note.write_text(note.read_text("utf-8") + "\nBosun likes the postman.\n", "utf-8")
    assert shell.pal("add", "notes", "--json").lines[-1] | {"ms": 0, "episodes": 0} == {
        "type": "Added", "sources": 1, "episodes": 0, "unchanged": files - 1, "skipped": 0, "removed": 0, "ms": 0,
    }  # fmt: skip
    assert "postman" in shell.pal("ask", "who does Bosun like?").out


def test_what_cannot_be_read_is_reported_and_kept_for_later(shell: Shell) -> None:
    (shell.folder / "empty.md").touch()
    (shell.folder / "binary.md").write_bytes(bytes(range(256)) * 8)
    (shell.folder / "good.md").write_text("The spare key is under the third pot.\n", "utf-8")
    said = shell.pal("add", ".")
    assert said.code == 0
    assert "Skipped ./empty.md: " in said.err
    assert "Skipped ./binary.md: " in said.err
    assert said.out.startswith("Read 1 note, 1 passage, 2 skipped")
    skipped = shell.pal("status", "--skipped")
    assert {line.split(": ")[0] for line in skipped.out.splitlines()} == {"./empty.md", "./binary.md"}
    assert "2 files; why: pal status --skipped" in shell.pal("status").out


def test_a_file_that_alone_cannot_be_read_is_an_error(shell: Shell) -> None:
    (shell.folder / "empty.md").touch()
    said = shell.pal("add", "empty.md")
    assert said.code == 1
    assert "Skipped ./empty.md: " in said.err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(shell: Shell) -> None:
    secret = shell.folder / "secret.md"
    secret.write_text("nobody reads me", "utf-8")
    secret.chmod(0)
    said = shell.pal("add", "secret.md")
    assert said.code == 1
    assert "permission" in said.err


def test_text_on_standard_input_is_remembered(shell: Shell) -> None:
    said = shell.pal("add", "-", input="The gallery key is the one with the cork.\n")
    assert said.code == 0
    assert said.out.startswith("Remembered: 1 passage, note ")
    again = shell.pal(
        "remember",
        "-",
        input="The gallery key is the one with the cork.\n",
    )
    assert again.out.startswith("Already known: note ")
    assert "cork" in shell.pal("ask", "which is the gallery key?").out


def test_a_named_note_is_replaced(shell: Shell) -> None:
    shell.pal("remember", "--source", "door", "The code of the back door is 4471.")
    shell.pal("remember", "--source", "door", "The code of the back door is 9032.")
    said = shell.pal("ask", "what is the code of the back door?")
    assert "9032" in said.out
    assert "4471" not in said.out.splitlines()[0]


def test_a_note_has_the_date_it_was_given(shell: Shell) -> None:
    said = shell.pal(
        "remember", "--at", "2026-03-09", "--title", "Harbour", "The office has moved to Pier 2.", "--json"
    )
    assert said.json["added"] == 1
    [hit] = shell.pal("recall", "where is the office?", "--json").json["hits"]
    assert (hit["passage"]["title"], hit["passage"]["at"][:10]) == ("Harbour", "2026-03-09")


def test_forgetting_asks_first_and_is_final(shell: Shell) -> None:
    (shell.folder / "secret.md").write_text("The combination of the safe is 17-4-33.\n", "utf-8")
    shell.pal("add", "secret.md")
    refused = shell.pal("forget", "--source", "secret.md")
    assert refused.code == 2
    assert "17-4-33" in shell.pal("ask", "what is the combination of the safe?").out
    said = shell.pal("forget", "--source", "secret.md", "--yes")
    assert (said.code, said.out.split(",")[0]) == (0, "Forgotten for good: 1 note")
    gone = shell.pal("ask", "what is the combination of the safe?")
    assert (gone.code, "17-4-33" in gone.out) == (4, False)
    assert (shell.folder / "secret.md").exists()
    again = shell.pal("forget", "--source", "secret.md", "--yes")
    assert again.code == 4
    assert "Error: " in again.err


def test_failures_are_json_too(vault: Shell) -> None:
    said = vault.pal("forget", "--passage", "999999", "--yes", "--json")
    assert said.code == 4
    assert {"type", "code", "message", "remedy"} == set(said.json)
    assert (said.json["type"], said.json["code"]) == ("Failed", "not_found")


def test_watching_a_folder(shell: Shell) -> None:
    notes = shell.folder / "notes"
    notes.mkdir()
    (notes / "boat.md").write_text("The boat is blue.")
    said = shell.pal("watch", "add", "notes")
    assert said.out in (
        "Watching ./notes: 1 note.\n",
        "Watching ./notes. It is being read; `pal status` shows how far.\n",
    )
    assert shell.pal("watch", "add", "notes").out == "Already watched: ./notes\n"
    assert shell.pal("watch", "list").out.split()[0] == "./notes"
    assert [row["path"] for row in shell.pal("watch", "list", "--json").json["folders"]] == ["./notes"]
    said = shell.pal("watch", "add", "notes", "--tag", "boat", "--tag", "sea")
    assert said.out == "Already watched: ./notes. Its tags: #boat, #sea.\n"
    assert "#boat, #sea" in shell.pal("watch", "list").out
    assert shell.pal("watch", "add", "notes", "--tag", "").out.endswith("./notes\n")
    assert "No longer watched: " in shell.pal("watch", "rm", "notes").out
    nothing = shell.pal("watch", "list")
    assert (nothing.out, nothing.err) == ("", "No folder is watched. Watch one: pal watch add ~/notes\n")
    assert shell.pal("watch", "rm", "notes").code == 4


def many(folder: Path, files: int) -> Path:
    folder.mkdir()
    for number in range(files):
        text = "\n\n".join(
            f"Paragraph {part} of note {number} tells of a lighthouse and its goat. " * 12 for part in range(12)
        )
        (folder / f"note {number:04}.md").write_text(text, "utf-8")
    return folder


def test_control_c_ends_the_command_and_not_the_reading(shell: Shell) -> None:
    shell.pal("daemon", "start")
    many(shell.folder / "many", 60)  # more than are read until the signal comes
    process = shell.process("add", "many", "--json")
    assert process.stdout is not None
    first = process.stdout.readline()
    assert '"Progress"' in first
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, (out[-500:], err)
    assert "Added" not in out
    assert "Traceback" not in err
    assert "The daemon goes on reading." in err
    # the same again waits for what is under way, and finds nothing left to do
    done = shell.pal("add", "many", "--json").lines[-1]
    assert done["type"] == "Added"
    assert done["sources"] + done["unchanged"] == 60
    assert shell.pal("status", "--json").json["stats"]["sources"] == 60


def test_what_was_remembered_in_one_line_is_the_answer(shell: Shell) -> None:
    (shell.folder / "presents.md").write_text("# Presents\n\n- Sheila: gin\n- Ida: a scarf\n\nSheila knits at night.\n")
    assert shell.pal("add", ".").code == 0 and shell.pal("remember", "Sheila lives in Meole Brace").code == 0
    said = shell.pal("ask", "Where does Sheila live?")
    assert (said.code, said.out.splitlines()[0]) == (0, "- Sheila lives in Meole Brace [1]")
