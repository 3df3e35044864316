"""A whole session as a person sees it: the chat in a terminal that draws it (tmux), a real daemon, and a watched note
that is edited meanwhile in another program. What is sent to the terminal is tested in `test_terminal`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.config.settings import Settings, WatchSettings
from tests.running import RunningDaemon, run_daemon

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

PATIENCE = 60.0
NOTE = "# Marta\n\nMarta is my sister.\nMarta lives in Lisbon. She keeps bees.\n"


class Tmux:
    """A chat in a terminal of 120 by 36, in a tmux server of its own."""

    def __init__(self, daemon: RunningDaemon, folder: Path) -> None:
        self._socket = str(folder / "tmux")
        chat = f"{sys.executable} -c 'import sys; from daemon.cli import main; sys.exit(main([]))'"
        self._environment = {name: value for name, value in os.environ.items() if name != "TMUX"}
        self._environment |= daemon.paths.environment() | {"LANG": "C.UTF-8"}
        self._run("-f", os.devnull, "new-session", "-d", "-s", "chat", "-x", "120", "-y", "36", chat)

    def press(self, *keys: str) -> None:
        """Presses keys by tmux's names; what is no name is typed."""
        self._run("send-keys", "-t", "chat", *keys)

    def type(self, text: str) -> None:
        self._run("send-keys", "-t", "chat", "-l", text)
        self.press("Enter")

    def screen(self) -> str:
        return self._run("capture-pane", "-p", "-t", "chat")

    def until(self, *texts: str) -> str:
        """Waits until these words stand on the screen, however they are wrapped; the screen."""
        deadline = time.monotonic() + PATIENCE
        while True:
            shown = " ".join(self.screen().replace("│", " ").split())
            if all(text in shown for text in texts):
                return shown
            assert time.monotonic() < deadline, f"{texts!r} never came; the screen says\n{self.screen()}"
            time.sleep(0.05)

    def has_ended(self) -> bool:
        return self._tmux("has-session", "-t", "chat").returncode != 0

    def close(self) -> None:
        self._tmux("kill-server")

    def _run(self, *arguments: str) -> str:
        done = self._tmux(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _tmux(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["tmux", "-S", self._socket, *arguments]
        return subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)


@pytest.fixture
def note(tmp_path: Path) -> Path:
    note = tmp_path / "notes" / "marta.md"
    note.parent.mkdir()
    note.write_text(NOTE, "utf-8")
    return note


@pytest.fixture
def terminal(tmp_path: Path, note: Path) -> Iterator[Tmux]:
    with run_daemon(tmp_path / "home", Settings(watch=WatchSettings(debounce_s=0.2))) as daemon:
        daemon.client.watch(note.parent)
        terminal = Tmux(daemon, tmp_path)
        yield terminal
        terminal.close()


def test_a_note_is_edited_under_a_session_reviewed_and_taken_back(terminal: Tmux, note: Path) -> None:
    terminal.until("Ask your memory.", "1 note · ")
    terminal.type("Where does Marta live?")
    terminal.until("Marta lives in Lisbon", "[1] notes/marta.md:4", "Evidence")
    note.write_text(NOTE.replace("Lisbon", "Porto"), "utf-8")
    terminal.until("± Changed: Marta lives in Porto (was Lisbon), from notes/marta.md:4", "Review 1")
    terminal.press("F7")
    terminal.until("Waiting 1", "Before", "Marta lives in Lisbon.", "Now", "Marta lives in Porto.", "Enter decide")
    terminal.press("Enter")
    terminal.until("Keep new", "Keep old")
    terminal.press("Down", "Enter")
    terminal.until("nothing to review", "Ctrl+Z takes it back")
    terminal.press("C-z")
    terminal.until("Taken back", "Waiting 1", "Enter decide")
    terminal.press("Enter")
    terminal.until("Keep new", "Keep old")
    terminal.press("Enter")
    terminal.until("nothing to review")
    terminal.press("F5")
    terminal.until("Where does Marta live?")
    terminal.type("Where does Marta live now?")
    terminal.until("Marta lives in Porto", "earlier: ")
    terminal.press("C-q")
    deadline = time.monotonic() + PATIENCE
    while not terminal.has_ended():
        assert time.monotonic() < deadline, terminal.screen()
        time.sleep(0.05)
