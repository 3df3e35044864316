"""`pal` at a real terminal: a pseudo-terminal of the system's, and somebody who types into it."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import sys
import termios
import time

from tests.cli.vault import ROOT, Said, Shell

PATIENCE = 60.0  # s without a word before the test gives up
AGAIN = 2.0  # s after which a key is pressed again: a terminal drops what comes while it changes its mode


def until_single_keys(terminal: int) -> None:
    """Waits until the terminal hands on each key as it is pressed, or somebody there wants whole lines after all."""
    deadline = time.monotonic() + AGAIN
    while termios.tcgetattr(terminal)[3] & termios.ICANON and time.monotonic() < deadline:
        time.sleep(0.005)


def at_terminal(shell: Shell, *args: str, keys: list[tuple[str, str]]) -> Said:
    """Runs `pal`; each of `keys` is (what is printed before, what is typed then). All that is printed is `out`."""
    master, slave = pty.openpty()
    environment = os.environ | {
        "PALIMPSEST_HOME": str(shell.home),
        "PYTHONPATH": os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(ROOT)))),
        "NO_COLOR": "1",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.pal", *args],
        cwd=shell.folder, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    said, seen, waiting, typed = "", 0, list(keys), ""
    try:
        while True:
            ready, _, _ = select.select([master], [], [], AGAIN if typed else PATIENCE)
            if not ready:
                assert typed, f"it says nothing more: {said}"
                os.write(master, typed.encode())
                continue
            with contextlib.suppress(OSError):  # Linux: nobody holds the other end any more
                if piece := os.read(master, 4096).decode():
                    said += piece
                    if "\n" in piece:  # else it is the terminal's own echo, and the program has not seen the key
                        typed = ""
                    if waiting and waiting[0][0] in said[seen:]:
                        seen, (_, typed) = len(said), waiting.pop(0)
                        if not typed.endswith("\n"):
                            until_single_keys(master)
                        os.write(master, typed.encode())
                    continue
            break
        assert not waiting, f"it never said {waiting[0][0]!r}: {said}"
        return Said(process.wait(PATIENCE), said.replace("\r\n", "\n").replace(str(shell.folder), "."), "")
    finally:
        process.kill()
        process.wait()
        os.close(master)
