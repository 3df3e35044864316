"""The chat on a real terminal against a real daemon that has read the example notes."""

from __future__ import annotations

import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import wire
from tests.running import RunningDaemon, run_daemon

if sys.platform == "win32":
    pytest.skip("there is no pty on Windows", allow_module_level=True)

import fcntl
import pty
import termios

NOTES = Path(__file__).parents[2] / "examples" / "notes"
QUESTION = "When was the fog signal last sounded?"
# A link to a file of this machine, and its end.
LINK = re.compile(rb"\x1b\]8;(?:id=[0-9-]+)?;(?:file:///[A-Za-z0-9%/._~!$&'()*+,;=:@-]*)?\x1b\\")
SEQUENCE = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b[=>78]|\x1b\].*?(?:\x07|\x1b\\)|\x1bP.*?\x1b\\", re.S
)
PATIENCE = 60.0


class Terminal:
    """A chat in a pseudo terminal of 120 by 36."""

    def __init__(self, daemon: RunningDaemon, **environment: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
        self.modes = termios.tcgetattr(slave)
        self.output = b""
        self._read = 0
        self._slave = slave
        self.process = subprocess.Popen(
            [sys.executable, "-c", "import sys; from daemon.cli import main; sys.exit(main([]))"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=os.environ | daemon.paths.environment() | {"TERM": "xterm-256color"} | environment,
            start_new_session=True,
        )

    def send(self, text: str | bytes) -> None:
        self._read = len(self._text())
        os.write(self._master, text.encode() if isinstance(text, str) else text)

    def until(self, *texts: str) -> None:
        """Waits until the terminal has been sent these texts since the last key, or after the last text waited for."""
        deadline = time.monotonic() + PATIENCE
        while not all(text in self.shown() for text in texts):
            shown = self.shown()
            assert time.monotonic() < deadline, f"{texts!r} never came; what came is\n{shown[-3000:]}"
            assert self.process.poll() is None or select.select([self._master], [], [], 0)[0], f"it ended:\n{shown}"
            self._drain(0.05)
        self._read += max(shown.index(text) + len(text) for shown in [self.shown()] for text in texts)

    def shown(self) -> str:
        """What was sent to the terminal since the last wait, without its escape sequences."""
        return self._text()[self._read :]

    def _text(self) -> str:
        return SEQUENCE.sub(b"", self.output).decode("utf-8", "replace")

    def ended(self) -> int:
        """Waits for the end; the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            self._drain(0.05)
        self._drain(0)
        return self.process.wait(1)

    def modes_now(self) -> list[object]:
        return termios.tcgetattr(self._slave)

    def hang_up(self) -> None:
        """Takes the terminal away. It is not the controlling one, so no signal is sent."""
        os.close(self._master)
        os.close(self._slave)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(60)
        self.hang_up()

    def _drain(self, wait: float) -> None:
        while select.select([self._master], [], [], wait)[0]:
            self.output += os.read(self._master, 65536)
            wait = 0


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with run_daemon(tmp_path_factory.mktemp("home")) as running:
        added = list(running.client.add([NOTES]))[-1]
        assert isinstance(added, wire.Added) and added.sources > 10
        yield running


@pytest.fixture
def terminal(daemon: RunningDaemon) -> Iterator[Terminal]:
    terminal = Terminal(daemon)
    yield terminal
    terminal.close()


def test_a_question_is_answered_with_its_source_and_the_terminal_is_left_as_it_was(terminal: Terminal) -> None:
    terminal.until("Ask your memory.")
    terminal.send("/add /nowhere/at/all\r")
    terminal.until("There is no /nowhere/at/all. Check the path.")
    terminal.send(QUESTION + "\r")
    terminal.until("The fog signal was last sounded on 4 October 1987.", "fog-signal.html:")
    assert any(link.endswith(b"fog-signal.html\x1b\\") for link in LINK.findall(terminal.output))
    terminal.send("\x11")
    assert terminal.ended() == 0
    assert terminal.modes_now() == terminal.modes
    left = terminal.output.rindex(b"\x1b[?1049l")
    assert b"\x1b[?25h" in terminal.output[left - 200 :]
    assert b"Traceback" not in terminal.output


def test_the_session_is_kept_and_resumed(daemon: RunningDaemon) -> None:
    for first in (True, False):
        terminal = Terminal(daemon)
        try:
            if first:
                terminal.until("Ask your memory.")
                terminal.send("What is the keel of Second Opinion made of?\r")
                terminal.until("not right?")
            else:
                terminal.until("What is the keel of Second Opinion made of?")
                terminal.send("\x0c")
                terminal.until("[1]")
            terminal.send("\x03")
            assert terminal.ended() == 0
        finally:
            terminal.close()
    [kept] = [chat for chat in daemon.client.conversations() if chat.title.startswith("What is the keel")]
    assert kept.messages == 2


def test_keys_sent_at_once_are_taken_in_their_order(terminal: Terminal) -> None:
    terminal.until("Ask your memory.")
    terminal.send(b"\xe9\x7f")  # of a terminal that speaks Latin-1
    terminal.send("/fog\x7f\x7f\x7fnone\r/first\x1b\rsecond\r/two\r")
    terminal.until("There is no command /none.", "There is no command /two.")
    terminal.send("\x11")
    assert terminal.ended() == 0


def test_a_terminal_that_vanishes_without_a_signal_ends_the_chat(daemon: RunningDaemon) -> None:
    terminal = Terminal(daemon)
    terminal.until("Ask your memory.")
    terminal.hang_up()
    assert terminal.process.wait(PATIENCE) in (-signal.SIGHUP, 128 + signal.SIGHUP)  # the latter under nohup


def test_the_editor_gets_the_terminal_and_gives_it_back(daemon: RunningDaemon, tmp_path: Path) -> None:
    editor = tmp_path / "vim"
    editor.write_text(f"#!{sys.executable}\nimport sys\nprint('EDITING', *sys.argv[1:])\n", "utf-8")
    editor.chmod(0o755)
    terminal = Terminal(daemon, VISUAL=str(editor))
    try:
        terminal.until("Ask your memory.")
        terminal.send(QUESTION + "\r")
        terminal.until("fog-signal.html:")
        terminal.send("\t")
        terminal.until("^O copy")
        terminal.send("\r")
        terminal.until("EDITING +")
        terminal.until("Evidence")
        assert re.search(rb"EDITING \+\d+ .*fog-signal\.html", terminal.output)
        terminal.send("\x11")
        assert terminal.ended() == 0
    finally:
        terminal.close()


def test_a_daemon_that_is_killed_is_found_again_and_nothing_typed_is_lost(daemon: RunningDaemon) -> None:
    terminal = Terminal(daemon)
    try:
        terminal.until("Ask your memory.")
        terminal.send("Who is Bosun")
        terminal.until("Bosun")
        daemon.kill()
        terminal.until("memory not running")
        daemon.start()
        terminal.until("passages")
        terminal.send("?\r")
        terminal.until("goat")
        terminal.send("\x11")
        assert terminal.ended() == 0
    finally:
        terminal.close()


def test_a_hostile_note_cannot_reach_the_terminal(daemon: RunningDaemon, tmp_path: Path) -> None:
    note = tmp_path / "kraken\x1b]52;c;eA==\x07.md"
    hostile = "\x1b]52;c;ZXZpbA==\x07\x9b31m\u202e[/b][@click=app.quit]x[/]"
    note.write_text(f"# Kraken {hostile}\n\nThe kraken of Zennor sleeps under the {hostile} slipway.\n", "utf-8")
    list(daemon.client.add([note]))
    terminal = Terminal(daemon)
    try:
        terminal.until("Ask your memory.")
        terminal.send("Where does the kraken of Zennor sleep?\r")
        terminal.until("slipway", "not right?")
        terminal.send("\x11")
        assert terminal.ended() == 0
    finally:
        terminal.close()
    output = re.sub(rb"\x1b\]22;[a-z-]*\x07", b"", terminal.output)  # the mouse pointer's shape, from Textual
    assert not [link for link in LINK.findall(output) if b"kraken" in link]
    output = LINK.sub(b"", output)
    for sequence in (b"\x1b]", b"\x07", b"\xc2\x9b", b"\xe2\x80\xae"):
        found = output.find(sequence)
        assert found < 0, output[max(0, found - 60) : found + 20]
