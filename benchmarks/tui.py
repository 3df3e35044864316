"""How the chat feels: `python -m benchmarks.tui [--opened N] [--keys N] [--idle S] [--turns N] [--json]`.

Opens the chat on a pseudo terminal of 120 by 36 against a real daemon that is running, types while an answer is written
and 600 notes are read, leaves it alone, and goes on with a long session. The model is a fake one that writes as a quick
one does. benchmarks/README.md says what each figure means. Linux only: it reads /proc.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import re
import resource
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import command, metrics
from daemon.client.client import DaemonDownError, DaemonError
from daemon.config.settings import ModelsSettings, Settings
from daemon.paths import Paths
from plugins.settings import OllamaSettings
from tests.fakes import FakeOllama, OllamaModel, Says
from tests.fakes.answering import prompt, question
from tests.fakes.oracle import evidence
from tests.running import RunningDaemon, run_daemon

NOTES = Path(__file__).parents[1] / "examples" / "notes"
PAINTED = b"Ask your memory"  # the prompt's words, which are drawn with the rest of the first screen
QUESTION = "When was the fog signal last sounded?"
MODEL = "qwen3:4b"
PIECE_SECONDS = 0.02  # of seven letters: a model that writes some 90 tokens a second
QUOTABLE = re.compile(r"(?<=[.!?] )[A-Z][^.!?\n|#\[\]]{30,}\.")  # sentences that can be quoted
QUEUED = 6  # questions that wait when the typing begins: there is an answer that is being written all the while
READ = 600  # notes that are written into the watched folder at that moment
LETTERS = [chr(code) for code in range(0x100, 0x17F) if chr(code).isalpha()]  # no text of the chat has them
PATIENCE = 60.0
# As a person has it: what Python compiles once it keeps.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
}
SETTLE_S = 5.0
TURN = "Turn"  # with which the questions of the long session begin


class Terminal:
    """The chat on a pseudo terminal; what it draws is kept in `output`."""

    def __init__(self, paths: Paths) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
        self.output = b""
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", "import sys; from daemon.cli import main; sys.exit(main([]))"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=ENVIRONMENT | paths.environment(),
            start_new_session=True,
        )
        os.close(slave)

    def send(self, text: str) -> None:
        """Types."""
        os.write(self._master, text.encode())

    def wait_for(self, wanted: bytes, since: int = 0) -> float:
        """When the terminal was sent the words, of what came after `since` bytes. Raises DataError if it never is."""
        deadline = time.perf_counter() + PATIENCE
        while wanted not in self.output[max(0, since - len(wanted)) :]:
            if not self.read(0.5) and time.perf_counter() > deadline:
                raise command.DataError(f"The chat never showed {wanted.decode()!r}.")
        return time.perf_counter()

    def read(self, seconds: float) -> bool:
        """Takes what the chat draws within so many seconds, at once when something comes."""
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        self.output += os.read(self._master, 1 << 16)
        return True

    def drain(self, seconds: float) -> None:
        """Takes all that the chat draws for so many seconds."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self.read(left)

    def cpu_ms(self) -> float:
        """The processor time that the chat has taken, in all its threads."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6

    def waited_ms(self) -> float:
        """How long the chat and this process have been ready and had no core."""
        threads = [Path(f"/proc/{pid}/task/{pid}/schedstat") for pid in (self.process.pid, os.getpid())]
        return sum(int(thread.read_text().split()[1]) for thread in threads) / 1e6

    def rss_mb(self) -> float:
        """The resident memory of the chat."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) * 1024 / 1e6

    def close(self) -> None:
        """Leaves the chat."""
        self.process.kill()
        self.process.wait()
        os.close(self._master)


@contextmanager
def open_chat(paths: Paths) -> Iterator[Terminal]:
    """The chat, as soon as its first screen is drawn."""
    terminal = Terminal(paths)
    try:
        terminal.wait_for(PAINTED)
        yield terminal
    finally:
        terminal.close()


def measure_opening(paths: Paths, times: int) -> dict[str, float]:
    """Wall and processor time from the command to the first screen, the median of some."""
    walls, processor = [], []
    with open_chat(paths):
        pass  # what was not compiled yet is now
    for _ in range(times):
        with open_chat(paths) as terminal:
            walls.append(1000 * (time.perf_counter() - terminal.started))
            processor.append(terminal.cpu_ms())
    return {"paint_wall_ms": metrics.percentile(walls, 50), "paint_cpu_ms": metrics.percentile(processor, 50)}


def measure_import(times: int) -> float:
    """Processor time of a Python that imports Textual, the least that any such chat takes; the median of some."""
    taken = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", "import textual.app"], check=True, env=ENVIRONMENT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime))
    return metrics.percentile(taken, 50)


def measure_echo(terminal: Terminal, keys: int, name: str = "") -> dict[str, float]:
    """From a key to its letter on the screen, for so many keys; the names of the figures begin with `name`."""
    times, own = [], []
    for n in range(keys):
        letter = LETTERS[n % len(LETTERS)]
        if n and n % len(LETTERS) == 0:
            terminal.send("\x15")  # Ctrl+U: an empty line, so that each letter is new again
            terminal.drain(0.5)
        terminal.drain(0.03)  # nobody types faster, and what was drawn before is out of the way
        since, waited, pressed = len(terminal.output), terminal.waited_ms(), time.perf_counter()
        terminal.send(letter)
        times.append(1000 * (terminal.wait_for(letter.encode(), since) - pressed))
        own.append(max(0.0, times[-1] - (terminal.waited_ms() - waited)))
    return {
        f"{name}echo_p50_ms": metrics.percentile(times, 50),
        f"{name}echo_p95_ms": metrics.percentile(times, 95),
        f"{name}echo_own_p95_ms": metrics.percentile(own, 95),
    }


def answer(body: dict[str, Any]) -> Says:
    """Quotes sentences of all the evidence, each with its number: all of it is let through. Of the turns of the long
    session one sentence, at once."""
    asked = prompt(body)
    quoted = [
        f"{found[0].rstrip('.')} [{piece.number}]."
        for piece in evidence(asked)
        for found in QUOTABLE.finditer(" ".join(piece.text.split()))
    ]
    if not quoted:  # it is asked for a title
        return Says("Fog signal")
    if question(body).startswith(TURN):
        return Says(quoted[0])
    return Says("\n\n".join(quoted), every_s=PIECE_SECONDS)


def measure(home: Path, server: FakeOllama, opened: int, keys: int, idle_s: float, turns: int) -> dict[str, Any]:
    """All figures, as the JSON object of the README. Everything lies in `home`."""
    vault = home / "vault"
    vault.mkdir(parents=True)
    settings = Settings(
        models=ModelsSettings(extract=(), answer=(f"ollama:{MODEL}",)), ollama=OllamaSettings(host=server.url)
    )
    with run_daemon(home / "home", settings) as daemon:
        for _ in daemon.client.add([NOTES]):
            pass
        daemon.client.watch(vault)
        command.note("open the chat")
        result: dict[str, Any] = measure_opening(daemon.paths, opened)
        result["import_cpu_ms"] = measure_import(opened)
        with open_chat(daemon.paths) as terminal:
            terminal.drain(SETTLE_S)
            command.note("type in peace")
            result |= measure_echo(terminal, keys)
            command.note("type while an answer is written and notes are read")
            terminal.send("\x15")
            for n in range(QUEUED):
                terminal.send(f"{QUESTION} {n}\r")
                terminal.drain(0.05)
            terminal.drain(2.0)  # until the first is being written
            known = daemon.client.status().stats.sources
            for n in range(READ):
                (vault / f"{n}.md").write_text(
                    f"# Keeper {n}\n\nKeeper {n} has the key of shed {n}, and a dog.\n", "utf-8"
                )
            result |= measure_echo(terminal, keys, "busy_")
            result["notes_read_meanwhile"] = daemon.client.status().stats.sources - known
            command.note(f"idle for {idle_s:.0f} s")
            _end_answers(terminal)
            deadline = time.perf_counter() + PATIENCE
            while daemon.client.status().stats.sources - known < READ and time.perf_counter() < deadline:
                terminal.drain(1.0)
            terminal.drain(SETTLE_S)
            before = terminal.cpu_ms()
            terminal.drain(idle_s)
            result["idle_cpu_percent"] = round((terminal.cpu_ms() - before) / idle_s / 10, 2)
            result["rss_mb"] = round(terminal.rss_mb(), 1)
        command.note(f"go on with a session of {turns} turns")
        return result | measure_session(daemon, turns)


def measure_session(daemon: RunningDaemon, turns: int) -> dict[str, float]:
    """A session of so many turns, from the key that goes on with it until its end is on the screen."""
    session = daemon.client.new_conversation("Long")
    for n in range(turns):
        for _ in daemon.client.ask(f"{TURN} {n}: {QUESTION}", conversation=session.id):
            pass
    with open_chat(daemon.paths) as terminal:
        terminal.drain(SETTLE_S)
        since, before, pressed = len(terminal.output), terminal.cpu_ms(), time.perf_counter()
        terminal.send("\x0c")  # Ctrl+L: the last session
        shown = terminal.wait_for(f"{TURN} {turns - 1}".encode(), since)
        return {
            "resume_ms": 1000 * (shown - pressed),
            "resume_cpu_ms": terminal.cpu_ms() - before,
            "long_rss_mb": round(terminal.rss_mb(), 1),
        }


def _end_answers(terminal: Terminal) -> None:
    terminal.send("\x15")
    for _ in range(QUEUED + 1):
        terminal.send("\x1b")  # Esc: the last one that waits, then the one that runs, which stand in the prompt then
        terminal.drain(0.3)
    terminal.send("\x15" * QUEUED)


def show(result: Mapping[str, Any]) -> None:
    """Print the table."""
    columns = {
        "paint wall ms": "paint_wall_ms",
        "paint CPU ms": "paint_cpu_ms",
        "Textual CPU ms": "import_cpu_ms",
        "echo p50 ms": "echo_p50_ms",
        "echo p95 ms": "echo_p95_ms",
        "busy echo p50 ms": "busy_echo_p50_ms",
        "busy echo p95 ms": "busy_echo_p95_ms",
        "of it own ms": "busy_echo_own_p95_ms",
        "notes read": "notes_read_meanwhile",
        "RSS MB": "rss_mb",
        "idle CPU %": "idle_cpu_percent",
        "resume ms": "resume_ms",
    }
    command.show_table("The chat on a terminal", [result], columns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tui", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--opened", type=command.positive, default=9, metavar="N", help="times it is opened (9)")
    parser.add_argument("--keys", type=command.positive, default=200, metavar="N", help="keys pressed, twice (200)")
    parser.add_argument("--idle", type=command.positive, default=30, metavar="S", help="seconds to watch it idle (30)")
    parser.add_argument("--turns", type=command.positive, default=500, metavar="N", help="of the long session (500)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder,
        FakeOllama(OllamaModel(MODEL), answer=answer) as server,
    ):
        try:
            result = measure(Path(folder), server, options.opened, options.keys, options.idle, options.turns)
        except (DaemonError, DaemonDownError) as error:
            raise command.DataError(str(error)) from error
    if options.json:
        print(json.dumps(result))
    else:
        show(result)


if __name__ == "__main__":
    sys.exit(main())
