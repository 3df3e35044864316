"""pal capture: a session by standard input, by a hook of Claude Code, by a notification of Codex; and their entries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.testing import RunningDaemon, run_daemon
from tests.cli.vault import Shell
from tests.daemon.conftest import wait_until
from tests.daemon.test_capturing import CLAUDE, MESSAGES, lines

PAL = "import sys; from daemon.cli import main; sys.exit(main(prog_name='pal'))"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with run_daemon(tmp_path_factory.mktemp("capture") / "home") as running:
        yield running


@pytest.fixture
def living(daemon: RunningDaemon, tmp_path: Path) -> Shell:
    return Shell(tmp_path, daemon.paths.data)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return Shell(tmp_path, tmp_path / "memory")


def test_a_session_from_stdin_is_kept_and_again_adds_what_is_new(living: Shell) -> None:
    text = json.dumps({"title": "Keys", "messages": MESSAGES})
    said = living.pal("capture", "--client", "aider", "--session", "k 1", input=text)
    assert said.out == "Captured 2 messages, 2 new: note:session/aider/k-1\n"
    more = json.dumps({"title": "Keys", "messages": [*MESSAGES, {"role": "user", "content": "Thanks, found it."}]})
    assert "3 messages, 1 new" in living.pal("capture", "--client", "aider", "--session", "k 1", input=more).out
    again = json.loads(living.pal("capture", "--client", "aider", "--session", "k 1", "--json", input=more).out)
    assert again == {"source": "note:session/aider/k-1", "turns": 3, "new": 0}
    nameless = "User: The blue boat is called Paperwork.\nAssistant: Noted."
    first = living.pal("capture", input=nameless)
    assert first.code == 0 and "2 new" in first.out
    grown = living.pal("capture", input=f"{nameless}\nUser: And the red one Invoice.")
    assert "3 messages, 1 new" in grown.out and grown.out.split(": ")[-1] == first.out.split(": ")[-1]


def test_what_is_no_session_is_refused(living: Shell) -> None:
    assert living.pal("capture", input="").code == 2
    refused = living.pal("capture", input='{"a": 1}')
    assert refused.code == 2 and "holds no session" in refused.err


def run_hook(daemon: RunningDaemon, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PAL, "capture", *options],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | daemon.paths.environment(),
    )


def test_a_hook_hands_the_log_over_and_says_nothing(daemon: RunningDaemon, tmp_path: Path) -> None:
    log = tmp_path / ".claude" / "projects" / "c-1.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(lines(CLAUDE) + "\n", "utf-8")
    hook = json.dumps({"session_id": "c-1", "transcript_path": str(log), "hook_event_name": "SessionEnd"})
    ended = run_hook(daemon, hook, "--hook")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    sources = wait_until(lambda: daemon.client.sources(str(log)).sources)
    assert [source.uri for source in sources] == [str(log)]
    assert "pot" in daemon.client.recall("Where is the key?", 1).hits[0].passage.text


def test_where_no_daemon_runs_a_process_of_its_own_reads_the_log(shell: Shell, tmp_path: Path) -> None:
    log, said, pal = tmp_path / "c-1.jsonl", tmp_path / "said", tmp_path / "pal"
    log.write_text(lines(CLAUDE), "utf-8")
    pal.write_text(f'#!/bin/sh\necho "$@" > {said}.new && mv {said}.new {said}\n', "utf-8")
    pal.chmod(0o700)
    ended = subprocess.run(
        [sys.executable, "-c", PAL, "capture", "--hook"],
        input=json.dumps({"hook_event_name": "SessionEnd", "transcript_path": str(log)}),
        text=True,
        timeout=60,
        env=os.environ | {"PALIMPSEST_HOME": str(tmp_path / "none"), "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    deadline = time.monotonic() + 20
    while not said.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert ended.returncode == 0 and said.read_text("utf-8") == f"add --yes {log}\n"


@pytest.mark.parametrize("text", ["", '{"hook_event_name": "Stop"}', '{"a": 1}'])
def test_a_hook_never_holds_up_who_calls_it(daemon: RunningDaemon, text: str) -> None:
    ended = run_hook(daemon, text, "--hook")
    assert (ended.returncode, ended.stdout) == (1, "") and ended.stderr.startswith("pal capture: ")


def test_a_turn_of_codex_without_a_log_is_kept(daemon: RunningDaemon, tmp_path: Path) -> None:
    said = {"type": "agent-turn-complete", "thread-id": "thread-123", "input-messages": ["Is the tide table new?"],
            "last-assistant-message": "It is of 2026."}  # fmt: skip
    ended = run_hook(daemon, "", "--codex", json.dumps(said))
    assert (ended.returncode, ended.stdout) == (0, "")
    assert [one.uri for one in daemon.client.sources("note:session/codex").sources] == ["note:session/codex/thread-123"]


def test_the_entries_that_save_sessions_are_printed(shell: Shell, tmp_path: Path) -> None:
    shown = shell.pal("capture", "install", "claude-code")
    [entry] = json.loads(shown.out)["hooks"]["SessionEnd"][0]["hooks"]
    assert entry["type"] == "command" and entry["command"].endswith(" capture --hook")
    assert " PALIMPSEST_HOME=./memory " in entry["command"] and "settings.json" in shown.err
    shown = shell.pal("capture", "install", "codex")
    notify = tomllib.loads(shown.out)["notify"]
    assert notify[:2] == ["env", "PALIMPSEST_HOME=./memory"] and notify[-2:] == ["capture", "--codex"]
    assert not (tmp_path / ".claude").exists() and not (tmp_path / ".codex").exists()
