"""Tries plug-ins of others in processes of their own before they are let into this one.

Whatever a plug-in does while it is imported and registers what it has, that process does: one that ends it, hangs or
swells is left out with the reason. What it raises is found when it is loaded, as everybody's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.metadata import EntryPoint

from plugins import manager
from plugins.readers import MIB

TRIAL_SECONDS = 10.0  # on the clock, for all that are tried
MAX_MEMORY = 1024 * MIB  # of what a plug-in makes, libraries that are mapped from files not counted
OUT_OF_MEMORY = 77  # exit code


class Trial:
    """All plug-ins that are installed, tried at the same time; it begins at once."""

    def __init__(self) -> None:
        self._end = time.monotonic() + TRIAL_SECONDS
        self._running = {entry: _start(entry) for entry in manager.find_entries()}

    def results(self) -> dict[EntryPoint, str]:
        """Each entry point, and why it must be left out; "" if it may be loaded. Waits until all are tried."""
        return {entry: self._wait(process) for entry, process in self._running.items()}

    def _wait(self, process: subprocess.Popen[bytes]) -> str:
        try:
            code = process.wait(max(0.01, self._end - time.monotonic()))
        except subprocess.TimeoutExpired:
            _kill(process)
            return f"it had not been imported after {TRIAL_SECONDS:.0f} s"
        if code == OUT_OF_MEMORY:
            return f"it takes more than {MAX_MEMORY // MIB:,} MiB of memory to import"
        if code < 0:
            return f"importing it ends the process, by {signal.Signals(-code).name}"
        return f"importing it ends the process, with code {code}" if code else ""


def _start(entry: EntryPoint) -> subprocess.Popen[bytes]:
    # the same code as here, wherever that is
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "plugins.trial", entry.name, entry.value],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment, start_new_session=True,
    )  # fmt: skip


def _kill(process: subprocess.Popen[bytes]) -> None:
    """And whatever it may have started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _limit_memory() -> None:
    if sys.platform == "linux":  # others do not hold such a limit
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))


def main(name: str, value: str) -> int:
    """Loads one plug-in; returns the exit code. What it raises is nothing that this is about."""
    _limit_memory()
    [tried] = manager.load({EntryPoint(name, value, manager.GROUP): ""}).others
    return OUT_OF_MEMORY if tried.problem.startswith(MemoryError.__name__) else 0


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    os._exit(code)  # whatever it may have left behind
