"""Tries plug-ins of others in processes of their own, which tell what each registers: none is imported into this one.

Whatever a plug-in does while it is imported and registers what it has, that process does: one that raises, ends it,
hangs or swells is left out with the reason.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.metadata import EntryPoint
from typing import IO

from plugins import manager
from plugins.guests.environment import guest_environment, is_traced
from plugins.readers import MIB
from plugins.registrations import Tried
from plugins.settings import PluginSettings

TRIAL_SECONDS = 10.0  # on the clock, for all that are tried
MAX_MEMORY = 1024 * MIB  # of what a plug-in makes, libraries that are mapped from files not counted
MAX_REPORT_BYTES = 4 * MIB
OUT_OF_MEMORY = 77  # exit code


class Trial:
    """All plug-ins that are installed, tried at the same time; it begins at once."""

    def __init__(self) -> None:
        self._end = time.monotonic() + TRIAL_SECONDS
        self._running = {entry: _start(entry) for entry in manager.find_entries()}

    def results(self, settings: object = None) -> dict[EntryPoint, Tried]:
        """Each entry point, and what stands for what it registers, or why it must be left out. Waits until all are
        tried. `settings` has the section of plug-ins."""
        own = getattr(settings, "plugins", PluginSettings())
        return {entry: self._wait(entry, *running, own) for entry, running in self._running.items()}

    def _wait(
        self, entry: EntryPoint, process: subprocess.Popen[bytes], told: IO[bytes], settings: PluginSettings
    ) -> Tried:
        with told:
            try:
                code = process.wait(max(0.01, self._end - time.monotonic()))
            except subprocess.TimeoutExpired:
                _kill(process)
                return Tried(f"it had not been imported after {TRIAL_SECONDS:.0f} s")
            if code == OUT_OF_MEMORY:
                return Tried(f"it takes more than {MAX_MEMORY // MIB:,} MiB of memory to import")
            if code < 0:
                return Tried(f"importing it ends the process, by {signal.Signals(-code).name}")
            if code:
                return Tried(f"importing it ends the process, with code {code}")
            told.seek(0)
            return _read(entry, told.read(MAX_REPORT_BYTES), settings)


def _read(entry: EntryPoint, told: bytes, settings: PluginSettings) -> Tried:
    from plugins.guests.report import unpack_report
    from plugins.guests.stand_ins import stand_in

    try:
        report = unpack_report(told)
    except ValueError:  # also nothing at all, of one that ends the process as if all were well
        return Tried("importing it ends the process, and nothing is known of what it adds")
    inside = {"strategies": report.strategies, "rankers": report.rankers}
    return Tried(
        report.problem, stand_in(entry, report, settings), {kind: names for kind, names in inside.items() if names}
    )


def _start(entry: EntryPoint) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    import tempfile  # by those who have plug-ins

    told = tempfile.TemporaryFile()  # noqa: SIM115  # `_wait` closes it
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "plugins.trial", entry.name, entry.value],
        stdin=subprocess.DEVNULL, stdout=told, stderr=None if is_traced() else subprocess.DEVNULL,
        env=guest_environment(), start_new_session=True,
    )  # fmt: skip
    return process, told


def _kill(process: subprocess.Popen[bytes]) -> None:
    """And whatever it may have started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _limit() -> None:
    if sys.platform == "linux":  # others do not hold such a limit
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))


def main(name: str, value: str) -> int:
    """Imports one plug-in and writes what it registers to standard output; returns the exit code."""
    from plugins.guests.report import pack_problem, pack_report

    told = os.dup(1)
    os.dup2(2, 1)  # what the plug-in prints is not told
    _limit()
    try:
        report = pack_report(manager.register_alone(EntryPoint(name, value, manager.GROUP)))
    except MemoryError:
        return OUT_OF_MEMORY
    except (Exception, SystemExit) as error:
        report = pack_problem(f"{type(error).__name__}: {error}")
    os.write(told, report)
    return 0


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    os._exit(code)  # whatever it may have left behind
