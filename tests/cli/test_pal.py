"""What `pal` does before it needs a daemon: help, mistakes, completion, and what it imports."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from daemon.cli import COMMANDS, MODULES, OFTEN, SECTIONS, main, read_sentence
from tests.cli.conftest import Pal

PAL = [sys.executable, "-m", "tests.cli.pal"]
HEAVY = set(
    "numpy scipy pydantic fastapi starlette uvicorn httpx sqlite3 pysqlite3 sqlite_vec anthropic ollama "
    "textual rich mcp watchdog apscheduler asyncio wordllama http email ssl subprocess".split()
)


def test_the_sentences_of_the_help_are_the_commands_own() -> None:
    assert MODULES.keys() == set(COMMANDS)
    for name in COMMANDS:
        command = main.get_command(main.make_context("pal", ["--help"], resilient_parsing=True), name)
        assert command is not None and command.name == name
        sentence = read_sentence(name)
        assert (command.help or "").split(". ")[0].splitlines()[0].rstrip(".") == sentence.rstrip("."), name


def test_without_a_terminal_pal_prints_its_help(pal: Pal) -> None:
    result = pal()
    assert result.exit_code == 0
    assert result.stdout == pal("--help").stdout


def test_the_help_lists_a_dozen_commands_and_all_where_asked(pal: Pal) -> None:
    listed = re.findall(r"^  ([a-z]+)  ", pal("--help").stdout, re.MULTILINE)
    assert set(listed) == OFTEN and len(listed) <= 14
    everything = pal("help", "all").stdout
    assert re.findall(r"^  ([a-z]+)  ", everything, re.MULTILINE) == COMMANDS
    assert all(f"\n{section}:\n" in everything for section, commands in SECTIONS.items() if commands)


def test_help_shows_that_of_a_command(pal: Pal) -> None:
    assert pal("help", "ask").stdout == pal("ask", "--help").stdout
    assert pal("help", "daemon", "log").stdout == pal("daemon", "log", "--help").stdout
    assert "Did you mean 'review'?" in pal("help", "reveiw").stderr
    assert pal("help", "ask", "x").exit_code == 2


def test_version(pal: Pal) -> None:
    from importlib.metadata import version

    assert pal("--version").stdout == f"palimpsest, version {version('palimpsest-memory')}\n"


def test_a_mistyped_command_and_a_bare_question_are_put_right(pal: Pal) -> None:
    assert "Did you mean 'review'?" in pal("reveiw").stderr
    assert "Did you mean 'pal replicate stop' or 'pal daemon stop'?" in pal("stop").stderr
    for words in (["where is the harbour office?"], "where is the harbour office?".split()):
        result = pal(*words)
        assert result.exit_code == 2
        assert 'To ask something: pal ask "where is the harbour office?"' in result.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["ask"], "Missing argument 'QUESTION...'"),
        (["ask", "  "], "The question is empty. For example: pal ask"),
        (["recall", ""], "The question is empty."),
        (["recall", "-k", "0", "x"], "'-k'"),
        (["add"], "Missing argument 'PATH...|-'"),
        (["add", "no-such-folder"], "There is no 'no-such-folder'."),
        (["remember", " "], "There is nothing to remember."),
        (["watch", "add", __file__], "is a file. To read it once: pal add"),
        (["watch", "add", "no-such-folder"], "There is no 'no-such-folder'."),
        (["forget"], "Say what to forget, one at a time"),
        (["forget", "--fact", "1", "--passage", "2"], "Say what to forget, one at a time"),
        (["forget", "--fact", "1"], "Add --yes to forget without being asked."),
        (["backup", "/"], "is a folder. Give the copy a name in it."),
        (["backup", "/no/such/place.db"], "There is no folder '/no/such'."),
        (["init", "no-such-folder"], "There is no 'no-such-folder'."),
    ],
)
def test_what_cannot_be_meant_is_reported_before_anything_happens(
    pal: Pal, home: Path, args: list[str], says: str
) -> None:
    result = pal(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr
    assert not home.exists()


def test_standard_input_must_be_text(pal: Pal) -> None:
    assert "no text on standard input" in pal("add", "-", input="  \n").stderr
    result = pal("add", "-", input=b"\xff\xfe\x00binary")
    assert result.exit_code == 1
    assert "not UTF-8 text" in result.stderr


@pytest.mark.parametrize("args", [["ask", "x"], ["status"], ["watch", "list"], ["remember", "x"], ["daemon", "status"]])
def test_without_a_daemon_and_asked_not_to_start_one(pal: Pal, home: Path, args: list[str]) -> None:
    result = pal(*args)
    assert (result.exit_code, result.stdout) == (3, "")
    assert "pal daemon start" in result.stderr
    assert not home.exists()


def test_stopping_what_does_not_run_is_done(pal: Pal) -> None:
    assert pal("daemon", "stop").stdout == "It was not running.\n"
    assert json.loads(pal("daemon", "stop", "--json").stdout) == {"stopped": False}
    assert "There is no log yet" in pal("daemon", "log").stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_call_pal(pal: Pal, shell: str) -> None:
    assert f"_PAL_COMPLETE={shell}_complete" in pal("completion", shell).stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("pal fo", "plain,forget"),
        ("pal ask --wi", "plain,--within"),
        ("pal config get memory.answer.thr", "plain,memory.answer.threshold"),
        ("pal add not", "file,not"),
    ],
)
def test_completion_completes(pal: Pal, typed: str, offered: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    done = CliRunner(env={"_PAL_COMPLETE": "bash_complete"}).invoke(main, prog_name="pal")
    assert done.stdout == f"{offered}\n"


def modules_of(*args: str) -> set[str]:
    """The top-level modules that one `pal` process has imported when it ends."""
    code = "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); " \
           "from daemon.cli import main; main(prog_name='pal')"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=60)
    return {name.partition(".")[0] for name in done.stderr.splitlines()[-1].split()}


@pytest.mark.parametrize("args", [["--help"], ["ask", "--help"], ["--no-start", "status"], ["--no-start", "ask", "x"]])
def test_a_client_imports_nothing_heavy(home: Path, args: list[str]) -> None:
    imported = modules_of(*args)
    assert "click" in imported
    assert imported & HEAVY == set()


def test_help_is_quick(home: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*PAL, "--help"], check=True, capture_output=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime <= 0.25


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("args", [["--help"], ["help", "all"], ["config"]])
def test_a_full_disk_behind_the_output_is_said_in_a_sentence(args: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*PAL, *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("Error: The output cannot be written: ")


def test_a_reader_that_stops_reading_gets_no_traceback() -> None:
    pipe = subprocess.PIPE
    process = subprocess.Popen([*PAL, "config"], stdout=pipe, stderr=pipe, bufsize=0, pipesize=4096)
    assert process.stdout is not None and process.stderr is not None
    assert b"daemon." in process.stdout.readline()  # of more than the pipe takes
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait(60)
