"""doctor: what is wrong, and how well the questions that were asked were served."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from contextlib import closing

import pytest

from daemon.wire.documents import RULES_TOO_LONG
from memory import Memory
from memory.services.activity import Job
from plugins.installing import install_command
from plugins.manager import load
from tests.cli.vault import NOTES, ROOT, Shell, garble
from tests.plugins.pdfs import make_pdf


def test_before_any_question_it_says_so(shell: Shell) -> None:
    said = shell.pal("doctor", "--memory")
    assert said.code == 0
    assert said.err.startswith("No question has been asked yet") and said.out == ""


def test_failures_and_repairs_of_what_was_asked(shell: Shell) -> None:
    shell.pal("add", str(NOTES))
    shell.pal("ask", "Where does Ozzie Penhale work?")
    shell.pal("ask", "Who painted\x1b[31m the ceiling of the chapel?")
    shell.pal("ask", "How deep is the trench off Kamchatka?")
    said = shell.pal("doctor", "--memory")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    at = lines.index("Coverage: 2 questions, 2 of them without an answer")
    assert lines[at + 1] == "  for example: How deep is the trench off Kamchatka?  (pal why 3)"
    assert "    pal add PATH  # if you have unread files about it" in lines[at + 2 :]
    assert "    pal same Kamchatka OTHER" in lines[at + 2 :]
    assert "\x1b" not in said.out
    reply = shell.pal("doctor", "--memory", "--json").json
    assert (reply["questions"], reply["no_answer_rate"], reply["failures"][0]["name"]) == (
        3,
        pytest.approx(2 / 3, abs=0.01),
        "coverage",
    )


def test_all_is_well_or_it_is_reported_what_is_not(shell: Shell) -> None:
    folder = shell.folder / "notes"
    shutil.copytree(NOTES, folder)
    shell.pal("watch", "add", "notes")
    said = shell.pal("doctor")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("All is well.")
    deadline = time.monotonic() + 60
    while shell.pal("status", "--json").json["stats"]["sources"] < 20:
        assert time.monotonic() < deadline
    shell.pal("daemon", "stop")
    shutil.rmtree(folder)
    while shell.pal("watch", "list", "--json").json["folders"][0]["state"] != "missing":
        assert time.monotonic() < deadline
    said = shell.pal("doctor")
    assert said.code == 1
    assert 'To stop watching it: pal watch rm "./notes"' in said.out
    assert len(shell.pal("doctor", "--json").json["problems"]) == 1
    folder.mkdir()
    shell.pal("watch", "add", "notes")  # it is the right one, and empty
    while not (total := shell.pal("watch", "gone", "--json").out):
        assert time.monotonic() < deadline
    total = json.loads(total)["total"]
    said = shell.pal("watch", "gone", "notes")
    assert "./notes/Bosun.md\n" in said.out and '  pal watch gone "./notes" --drop\n' in said.err
    assert (
        f'{total} files are gone. Keep their content, or drop it? pal watch gone "./notes"' in shell.pal("doctor").out
    )
    assert "Their content is kept." in shell.pal("watch", "gone", "--keep").out
    assert shell.pal("watch", "gone").err == "No missing files wait for your decision.\n"
    shell.pal("watch", "rm", "notes")
    assert shell.pal("doctor").code == 0


def test_what_can_be_mended_without_asking_is_mended(shell: Shell) -> None:
    for number in range(4):
        shell.pal("remember", f"Crate {number} came from Harbour {number}.")
    shell.pal("daemon", "stop")
    with closing(sqlite3.connect(shell.home / "memory.db")) as file, file:
        file.execute("DELETE FROM vec WHERE id = 2")
        file.execute("UPDATE vec SET data = x'0102' WHERE id = 3")
    said = shell.pal("doctor")
    assert said.code == 1 and said.err == "Some of it can be fixed now: pal doctor --fix\n"
    problems = [line for line in said.out.splitlines() if line.startswith("Problem: ")]
    assert problems.pop(0).startswith("Problem: Row 2 of sentence_vec belongs to a row of vec that is not there.")
    assert len(problems) == 5 and all(line.endswith("pal rebuild --vectors.") for line in problems[:4])
    assert "The vectors cannot be read" in problems[4]
    mended = shell.pal("doctor", "--fix")
    assert mended.code == 0 and mended.err == "Done: pal rebuild --vectors\n"
    places = "daemon, file, disk, backups, folders, reading, night, sync, replica, readers, plug-ins, embedder, models"
    assert mended.out.startswith(f"All is well. Checked: {places}.")
    checks = shell.pal("doctor", "--json").json["checks"]
    assert checks[0] == {"place": "daemon", "problem": "", "fix": ""}
    assert shell.pal("recall", "crate 2").out


def test_files_that_were_given_up_and_places_that_cannot_be_written_are_listed(shell: Shell) -> None:
    shell.pal("status")
    shell.pal("daemon", "stop")
    with Memory.open(shell.home / "memory.db", embedder=load().embedder("static")) as memory:
        unread = {"a.pdf": "set aside after 3 tries: it crashed", ".palimpsestignore": RULES_TOO_LONG}
        memory.sources.note_files((), {str(shell.folder / name): why for name, why in unread.items()}, ())
        memory.jobs.give_up(
            memory.jobs.begin(Job("add", "notes", {"paths": ["/notes"]}), "an earlier daemon"), "it failed"
        )
    (shell.home / "backups").write_text("no folder")
    said = shell.pal("doctor")
    problems = [line for line in said.out.splitlines() if line.startswith("Problem: ")]
    assert said.code == 1 and len(problems) == 4, said.out
    assert "Backups cannot be written into ./home/backups" in problems[0]
    assert "The rules of 1 folder are too long" in problems[1] and "pal status --skipped" in problems[1]
    assert "1 job of reading failed" in problems[2] and "pal retry" in problems[2]
    assert "1 file could not be read" in problems[3] and "pal status --skipped" in problems[3]


def test_a_disk_that_is_full_and_a_memory_that_was_replaced_are_reported(shell: Shell) -> None:
    shell.pal("remember", "The gate is green.")
    shell.pal("daemon", "stop")
    (shell.home / "config.toml").write_text("[disk]\npause_mb = 1000000000\n", "utf-8")
    deadline = time.monotonic() + 60
    while "nearly full" not in (said := shell.pal("doctor")).out:
        assert time.monotonic() < deadline
    assert said.code == 1 and "All is well" not in said.out
    memory = shell.home / "memory.db"
    shutil.copy(memory, shell.home / "copy.db")
    (shell.home / "copy.db").rename(memory)
    assert shell.pal("doctor").code == 1
    assert shell.pal("remember", "The pier is closed.").code == 74
    said = shell.pal("doctor")
    assert said.code == 1 and "was replaced or moved" in said.out and "pal daemon restart" in said.out


def test_a_key_in_settings_that_others_can_read_is_reported(shell: Shell) -> None:
    key = "sk-" + "ant-" + "a1B2c3D4" * 4
    shell.home.mkdir(exist_ok=True)
    config = shell.home / "config.toml"
    config.write_text(f"# the key: {key}\n[anthropic]\n", "utf-8")
    config.chmod(0o644)
    said = shell.pal("doctor")
    assert said.code == 1 and "line 1 looks like it holds your api key" in said.out
    assert "chmod 600 ./home/config.toml" in said.out
    assert key not in said.out and "looks like it holds" in (shell.home / "logs" / "daemon.log").read_text("utf-8")
    config.chmod(0o600)
    assert shell.pal("doctor").code == 0


def test_a_model_that_is_named_and_away_and_a_log_that_cannot_be_written_are_reported(shell: Shell) -> None:
    shell.home.mkdir()
    config = shell.home / "config.toml"
    config.write_text('[ollama]\nhost = "http://127.0.0.1:9"\n[models]\nanswer = ["ollama:qwen3:4b"]\n', "utf-8")
    config.chmod(0o600)
    said = shell.pal("doctor")
    assert said.code == 1 and "ollama:qwen3:4b is wanted and cannot be reached. What can be: pal models" in said.out
    shell.pal("daemon", "stop")
    shutil.rmtree(shell.home / "logs")
    (shell.home / "logs").write_text("no folder")
    said = shell.pal("doctor")
    assert said.code == 1 and said.out.startswith("Problem: The daemon cannot start: ./home/logs cannot be written")


def test_settings_that_cannot_be_read_any_more_are_a_problem_among_the_others(shell: Shell) -> None:
    shell.pal("remember", "The gate is green.")
    (shell.home / "config.toml").write_text("[disk\n", "utf-8")
    said = shell.pal("doctor")
    assert said.code == 1 and "Traceback" not in said.out + said.err
    assert "config.toml is not TOML" in said.out and "move it away to use the defaults" in said.out


def test_it_looks_at_the_file_where_the_daemon_cannot_start(shell: Shell) -> None:
    shell.pal("remember", "The gate is green.")
    shell.pal("daemon", "stop")
    garble(shell.home / "memory.db", "sqlite_autoindex_folder_1")
    said = shell.pal("doctor")
    assert said.code == 1 and "Traceback" not in said.out + said.err
    problems = [line for line in said.out.splitlines() if line.startswith("Problem: ")]
    assert "The daemon cannot start: " in problems[0] and "damaged" in problems[0] and "pal restore" in problems[-1]
    (shell.home / "config.toml").write_text("[disk]\nnetwrk = 3\n", "utf-8")
    assert shell.pal("doctor", "--json").json["problems"] == [
        "The daemon cannot start: ./home/config.toml, line 2: disk.netwrk is not a setting. Did you mean network?"
        " Correct or remove it."
    ]


def test_files_that_wait_for_a_library_are_counted_and_read_once_it_is_there(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = shell.folder / "missing"
    missing.mkdir()
    (missing / "pypdfium2.py").write_text("raise ImportError('not here')", encoding="utf-8")
    (shell.folder / "report.pdf").write_bytes(make_pdf([["Harbour report"], ["The slipway cost 4,200 euros."]]))
    with monkeypatch.context() as without:
        without.setenv("PYTHONPATH", os.pathsep.join((str(missing), str(ROOT))))
        shell.pal("add", "report.pdf")
        said = shell.pal("doctor")
    assert said.code == 1
    assert f"1 file needs readers that are not installed. To have it read: {install_command('readers')}" in said.out
    shell.pal("daemon", "stop")
    shell.pal("add", "report.pdf")
    assert "] report.pdf, page 2" in shell.pal("ask", "What did the slipway cost?").out
    assert shell.pal("doctor").code == 0
