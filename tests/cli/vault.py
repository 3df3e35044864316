"""A home of one's own with a real daemon, and `pal` in it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from daemon.cli import main
from daemon.client.starting import NEW_MEMORY

ROOT = Path(__file__).parents[2]
NOTES = ROOT / "examples" / "notes"
PAGE_BYTES = 8192


@dataclass(frozen=True)
class Said:
    """What one run of `pal` printed, with the folder it ran in written as `.`."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Shell:
    """Somebody at a prompt without a terminal, who stands in `folder`. The daemon is a process of its own."""

    folder: Path
    home: Path

    def pal(self, *args: str, input: str = "") -> Said:
        """Runs a command in this process. An error that nobody foresaw is raised."""
        runner = CliRunner(env={"PALIMPSEST_HOME": str(self.home), "NO_COLOR": "1"})
        with contextlib.chdir(self.folder):
            result = runner.invoke(main, args, input=input, prog_name="pal")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        here = str(self.folder)
        told = result.stderr.replace(NEW_MEMORY.format(self.home) + "\n", "")  # by whichever command is the first
        return Said(result.exit_code, result.stdout.replace(here, "."), told.replace(here, "."))

    def process(self, *args: str, code: str = "from daemon.cli import main; main(prog_name='pal')") -> Any:
        """Starts a command as a process: `subprocess.Popen` with its output on pipes.

        It heeds Ctrl-C even where the tests run in the background of a shell, which has its children ignore it.
        """
        heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        environment = os.environ | {"PALIMPSEST_HOME": str(self.home), "PYTHONPATH": str(ROOT)}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-c", heed + code, *args],
            cwd=self.folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True,
        )  # fmt: skip


def garble(memory: Path, table: str) -> None:
    """Writes noise over the first page of a table."""
    file = sqlite3.connect(memory)
    (page,) = file.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    file.close()
    with memory.open("r+b") as stream:
        stream.seek((page - 1) * PAGE_BYTES)
        stream.write(random.Random(1).randbytes(PAGE_BYTES))
