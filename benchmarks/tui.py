"""How the chat feels: `python -m benchmarks.tui [--opened N] [--keys N] [--idle S] [--json]`.

Opens the chat on a pseudo terminal of 120 by 36 against a real daemon that is running, types while answers are
written and 600 notes are read, and then leaves it alone. benchmarks/README.md says what each figure means. Linux only:
it reads /proc.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
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
from daemon.client import DaemonDownError, DaemonError
from daemon.paths import Paths
from daemon.testing import run_daemon

NOTES = Path(__file__).parents[1] / "examples" / "notes"
PAINTED = b"Ask your memory"  # the prompt's words, which are drawn with the rest of the first screen
QUESTION = "When was the fog signal last sounded?"
QUEUED = 40  # questions that wait when the typing begins
READ = 600  # notes that are written into the watched folder at that moment
LETTERS = [chr(code) for code in range(0x100, 0x17F) if chr(code).isalpha()]  # no text of the chat has them
PATIENCE = 60.0
# As a person has it: what Python compiles once it keeps.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
}
SETTLE_S = 5.0


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


def measure_echo(terminal: Terminal, keys: int) -> list[float]:
    """Milliseconds from a key to its letter on the screen, for so many keys."""
    times = []
    for n in range(keys):
        letter = LETTERS[n % len(LETTERS)]
        if n and n % len(LETTERS) == 0:
            terminal.send("\x15")  # Ctrl+U: an empty line, so that each letter is new again
            terminal.drain(0.5)
        terminal.drain(0.03)  # nobody types faster, and what was drawn before is out of the way
        since, pressed = len(terminal.output), time.perf_counter()
        terminal.send(letter)
        times.append(1000 * (terminal.wait_for(letter.encode(), since) - pressed))
    return times


def measure(home: Path, opened: int, keys: int, idle_s: float) -> dict[str, Any]:
    """All figures, as the JSON object of the README. Everything lies in `home`."""
    vault = home / "vault"
    vault.mkdir(parents=True)
    with run_daemon(home / "home") as daemon:
        for _ in daemon.client.add([NOTES]):
            pass
        daemon.client.watch(vault)
        command.note("open the chat")
        result: dict[str, Any] = measure_opening(daemon.paths, opened)
        with open_chat(daemon.paths) as terminal:
            terminal.drain(SETTLE_S)
            command.note("type in peace")
            quiet = measure_echo(terminal, keys)
            command.note("type while answers are written and notes are read")
            terminal.send("\x15")
            for n in range(QUEUED):
                terminal.send(f"{QUESTION} {n}\r")
                terminal.drain(0.05)
            asked = daemon.client.status().sources
            for n in range(READ):
                (vault / f"{n}.md").write_text(
                    f"# Keeper {n}\n\nKeeper {n} has the key of shed {n}, and a dog.\n", "utf-8"
                )
            busy = measure_echo(terminal, keys)
            result["notes_read_meanwhile"] = daemon.client.status().sources - asked
            command.note(f"idle for {idle_s:.0f} s")
            deadline = time.perf_counter() + PATIENCE
            while daemon.client.status().sources - asked < READ and time.perf_counter() < deadline:
                terminal.drain(1.0)
            terminal.drain(SETTLE_S)
            before = terminal.cpu_ms()
            terminal.drain(idle_s)
            return result | {
                "echo_p50_ms": metrics.percentile(quiet, 50),
                "echo_p95_ms": metrics.percentile(quiet, 95),
                "busy_echo_p50_ms": metrics.percentile(busy, 50),
                "busy_echo_p95_ms": metrics.percentile(busy, 95),
                "rss_mb": round(terminal.rss_mb(), 1),
                "idle_cpu_percent": round((terminal.cpu_ms() - before) / idle_s / 10, 2),
            }


def show(result: Mapping[str, Any]) -> None:
    """Print the table."""
    columns = {
        "paint wall ms": "paint_wall_ms",
        "paint CPU ms": "paint_cpu_ms",
        "echo p50 ms": "echo_p50_ms",
        "echo p95 ms": "echo_p95_ms",
        "busy echo p50 ms": "busy_echo_p50_ms",
        "busy echo p95 ms": "busy_echo_p95_ms",
        "notes read meanwhile": "notes_read_meanwhile",
        "RSS MB": "rss_mb",
        "idle CPU %": "idle_cpu_percent",
    }
    command.show_table("The chat on a terminal", [result], columns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tui", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--opened", type=command.positive, default=9, metavar="N", help="times it is opened (9)")
    parser.add_argument("--keys", type=command.positive, default=200, metavar="N", help="keys pressed, twice (200)")
    parser.add_argument("--idle", type=command.positive, default=30, metavar="S", help="seconds to watch it idle (30)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder:
        try:
            result = measure(Path(folder), options.opened, options.keys, options.idle)
        except (DaemonError, DaemonDownError) as error:
            raise command.DataError(str(error)) from error
    if options.json:
        print(json.dumps(result))
    else:
        show(result)


if __name__ == "__main__":
    sys.exit(main())
