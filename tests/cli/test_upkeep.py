"""status, backup, check, daemon: how the memory is."""

from __future__ import annotations

import re
import shutil
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from memory import Memory
from memory.services.activity import Job
from memory.store import check
from plugins.manager import load
from tests.cli.vault import NOTES, Shell, garble


def test_status_tells_what_is_there(vault: Shell) -> None:
    said = vault.pal("status")
    assert (said.code, said.err) == (0, "")
    rows = {line.split()[0]: line for line in said.out.splitlines() if line}
    assert rows["Notes"].split()[1:] == ["20,", "with", "23", "passages"]
    assert "none; answers are lines of your notes" in rows["Model"]
    assert not {"Memory", "Palimpsest", "Night", "Next", "What"} & rows.keys()
    everything = vault.pal("status", "--all").out
    assert everything.startswith(said.out) and "\nMemory      ./home/memory.db, " in everything
    assert vault.pal("status", "--json").json["stats"]["sources"] == 20


def test_what_was_to_be_read_and_was_given_up_is_listed_and_done_again(shell: Shell) -> None:
    notes = shell.folder / "log"
    notes.mkdir()
    (notes / "a.md").write_text("The bell weighs two tons.")
    shell.pal("status")
    shell.pal("daemon", "stop")
    with Memory.open(shell.home / "memory.db", embedder=load().embedder("static")) as memory:
        job = memory.jobs.begin(Job("add", str(notes), {"paths": [str(notes)]}), "an earlier daemon")
        memory.jobs.give_up(job, "the daemon ended 10 times while it read this")
    assert "1 job of reading failed; which: pal status --failed" in shell.pal("status").out
    said = shell.pal("status", "--failed")
    assert said.out == f"{job}  ./log: the daemon ended 10 times while it read this\n" and "pal retry" in said.err
    (listed,) = shell.pal("status", "--json").json["files"]["failed"]
    assert (listed["id"], listed["kind"]) == (job, "add")
    assert shell.pal("retry", str(job)).out.startswith("1 job will be done again.")
    assert shell.pal("status", "--failed").err == "Nothing has failed.\n"
    until_read(shell, notes / "a.md")


def until_read(shell: Shell, file: Path) -> None:
    while not shell.pal("status", "--sources", "--match", file.name, "--json").json["total"]:
        pass


def test_sources_can_be_listed_and_searched(vault: Shell) -> None:
    said = vault.pal("status", "--sources")
    files = {str(path.relative_to(NOTES)) for path in NOTES.rglob("*") if path.is_file()}
    assert {line.partition("./notes/")[2] for line in said.out.splitlines()} == files
    assert [line.split("  ")[0] for line in said.out.splitlines() if "2026-03-09.md" in line] == ["2026-03-09"]
    assert vault.pal("status", "--sources", "--match", "goat", "--json").json["total"] == 0
    few = vault.pal("status", "--sources", "--limit", "3")
    assert len(few.out.splitlines()) == 3
    assert "3 of 20 are shown" in few.err


def test_check_finds_nothing_wrong(vault: Shell) -> None:
    said = vault.pal("check")
    assert said.code == 0
    assert said.out.startswith("All is well. Checked: ")
    assert vault.pal("check", "--json").json["problems"] == []


def test_what_is_said_to_mend_the_file_can_be_done(shell: Shell) -> None:
    commands = [command.split() for command in re.findall(r"pal ((?:[a-z]+ ?)+)", check.RESTORE)]
    assert commands == [["restore"], ["config", "path"], ["add"]]
    for command in commands:
        assert shell.pal(*command, "--help").code == 0
    places = shell.pal("config", "path", "--json").json
    assert {"memory", "backups"} <= places.keys()


def test_a_backup_is_restored_while_the_daemon_is_stopped(shell: Shell) -> None:
    assert "no backup" in shell.pal("restore", "--yes").err
    shell.pal("remember", "The spare key hangs behind the clock.")
    shell.pal("backup")
    shell.pal("remember", "The ferry leaves at noon.")
    running = shell.pal("restore", "--yes")
    assert running.code == 1 and "pal daemon stop" in running.err
    shell.pal("daemon", "stop")
    assert "Add --yes" in shell.pal("restore").err
    (listed,) = shell.pal("restore", "--list", "--json").json
    said = shell.pal("restore", "--yes")
    assert said.code == 0 and said.out.startswith(f"Restored {listed['path'].replace(str(shell.folder), '.')}.")
    assert "replaced-" in said.out
    assert shell.pal("status", "--json").json["stats"]["sources"] == 1
    assert len(shell.pal("restore", "--list").out.splitlines()) == 1, "what was replaced is no backup"


def test_backup_is_a_memory_file(vault: Shell) -> None:
    said = vault.pal("backup", "copy.db")
    assert said.out.startswith("Backed up to ./copy.db, ")
    copy = sqlite3.connect(vault.folder / "copy.db")
    try:
        assert copy.execute("SELECT count(*) FROM source").fetchone() == (20,)
    finally:
        copy.close()
    taken = vault.pal("backup", "copy.db")
    assert taken.code == 2
    assert "exists already" in taken.err
    own = vault.pal("backup", "--json")
    assert own.json["path"].startswith("./home/backups/")


@pytest.mark.usefixtures("cold_daemon")
def test_the_daemon_starts_stops_and_says_so(shell: Shell) -> None:
    assert shell.pal("daemon", "status").code == 3
    started = shell.pal("daemon", "start")
    assert (started.code, started.out.split(":")[0]) == (0, "Started")
    assert shell.pal("daemon", "start").out.split(":")[0] == "Already running"
    status = shell.pal("daemon", "status", "--json")
    assert (status.code, status.json["running"]) == (0, True)
    before = status.json["pid"]
    assert shell.pal("daemon", "restart", "--json").json["pid"] != before
    assert shell.pal("daemon", "log", "-n", "1").out.count("\n") == 1
    assert shell.pal("daemon", "stop").out == "Stopped.\n"
    assert shell.pal("daemon", "status", "--json").json == {"running": False}


def test_a_second_daemon_does_not_start(vault: Shell) -> None:
    said = vault.pal("daemon", "run")
    assert said.code == 3
    assert "running" in said.err
    assert vault.pal("daemon", "status").code == 0


def test_a_daemon_in_the_foreground_ends_with_control_c(shell: Shell) -> None:
    process = shell.process("daemon", "run")
    try:
        deadline = time.monotonic() + 60
        while shell.pal("--no-start", "daemon", "status").code != 0:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode in (0, 130)
    assert "Traceback" not in err
    assert shell.pal("daemon", "status").code == 3


def test_a_memory_of_a_newer_version_is_left_alone(shell: Shell) -> None:
    shell.pal("remember", "The spare key is under the pot.")
    shell.pal("daemon", "stop")
    file = sqlite3.connect(shell.home / "memory.db")
    with file:
        file.execute("PRAGMA user_version = 9999")
    file.close()
    said = shell.pal("ask", "where is the key?")
    assert said.code == 4
    assert "newer Palimpsest" in said.err


def test_a_memory_that_another_program_holds(shell: Shell) -> None:
    shell.home.mkdir()
    (shell.home / "config.toml").write_text("[disk]\nwait_s = 0.1\n", "utf-8")
    shell.pal("remember", "The spare key is under the pot.")
    other = sqlite3.connect(shell.home / "memory.db", isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        said = shell.pal("remember", "The gate is green.")
        assert said.code == 1
        assert "Error: " in said.err
        other.execute("ROLLBACK")
    finally:
        other.close()
    assert shell.pal("remember", "The gate is green.").code == 0


def test_a_damaged_memory_is_read_without_the_daemon(shell: Shell) -> None:
    shell.pal("remember", "Ana Weber lives in Graz. The spare key is under the pot.")
    shell.pal("daemon", "stop")
    memory = shell.home / "memory.db"
    garble(memory, "sqlite_autoindex_folder_1")
    said = shell.pal("ask", "where is the spare key?")
    assert said.code == 0 and "under the pot" in said.out
    assert said.err.startswith("The daemon cannot start, so this is read without it, and nothing is kept. ")
    assert "is damaged or is no memory" in said.err.splitlines()[0]
    assert "under the pot" in shell.pal("recall", "spare key").out
    assert shell.pal("facts", "Ana Weber").code == 0 and shell.pal("facts", "Nobody").code == 4
    assert shell.pal("status", "--json").json["stats"]["sources"] == 1
    assert shell.pal("ask", "the spare key", "--tag", "x").code == 4
    checked = shell.pal("check")
    assert checked.code == 1 and "The file is damaged" in checked.out and "pal restore" in checked.out
    for refused in (["remember", "The gate is green."], ["backup"]):
        said = shell.pal(*refused)
        assert (said.code, said.err.count("Traceback")) == (74, 0)
    garble(memory, "episode")
    said = shell.pal("ask", "where is the spare key?")
    assert said.code == 74 and "restore a backup" in said.err


def test_settings_that_cannot_be_meant_are_reported_by_the_first_command(shell: Shell) -> None:
    shell.home.mkdir()
    (shell.home / "config.toml").write_text("[night]\nhour = 'many'\n", "utf-8")
    said = shell.pal("status")
    assert said.code == 78
    assert "config.toml, line 2: night.hour must be a whole number" in said.err


def test_a_lost_memory_is_not_replaced_by_an_empty_one(shell: Shell) -> None:
    shell.pal("remember", "The ferry leaves at nine.")
    shell.pal("backup")
    shell.pal("daemon", "stop")
    (shell.home / "memory.db").unlink()
    for command in (("ask", "When does the ferry leave?"), ("remember", "The pier is closed.")):
        refused = shell.pal(*command)
        assert refused.code == 74 and "pal restore" in refused.err and "a new one begins" not in refused.err
    assert not (shell.home / "memory.db").exists()
    assert shell.pal("restore", "--yes").code == 0
    assert "nine" in shell.pal("ask", "When does the ferry leave?").out


def test_a_lost_memory_without_a_backup_is_not_replaced_unasked(shell: Shell) -> None:
    shell.pal("remember", "The ferry leaves at nine.")
    shell.pal("daemon", "stop")
    for file in shell.home.glob("memory.db*"):
        file.unlink()
    refused = shell.pal("remember", "The pier is closed.")
    assert refused.code == 74 and "./home/logs/daemon.log shows that there was one" in refused.err
    shutil.rmtree(shell.home / "logs")
    assert shell.pal("remember", "The pier is closed.").code == 0


def test_a_daemon_that_lost_its_socket_can_be_stopped(shell: Shell) -> None:
    shell.pal("status")
    (shell.home / "run" / "api.sock").unlink(missing_ok=True)  # where the path is too long it is in /tmp
    said = shell.pal("daemon", "stop")
    assert (said.code, said.out) == (0, "Stopped.\n")
    assert shell.pal("daemon", "stop").out == "It was not running.\n"
