"""One daemon per data folder, by a lock of the operating system, which the process always releases when it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE_SECONDS = 20.0  # for a process that is to end
ALREADY_RUNNING = 3  # the exit code of a daemon that found another one


class AlreadyRunningError(Exception):
    """Another daemon has the lock."""


@contextlib.contextmanager
def hold(path: Path, patience: float = 0.3) -> Iterator[None]:
    """Acquires the lock until the `with` ends. The file's text is the process id, for people; only the lock itself
    counts. Raises AlreadyRunningError if another process has the lock for `patience` seconds: a client that checks the
    lock takes it for a moment."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + patience
        while not _take(file):
            if time.monotonic() > deadline:
                owner = os.read(file, 32).decode("ascii", "replace").strip()
                raise AlreadyRunningError(f"A daemon is already running (process {owner or 'unknown'}).")
            time.sleep(0.02)
        with contextlib.suppress(OSError):  # a full disk; the lock is what counts
            os.ftruncate(file, 0)
            os.write(file, f"{os.getpid()}\n".encode("ascii"))
        yield
    finally:
        os.close(file)


def is_held(path: Path) -> bool:
    """Whether a daemon runs or is about to end."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not _take(file)
    finally:
        os.close(file)


def end_holder(path: Path) -> int:
    """Ends the process that has the lock: SIGTERM, and after PATIENCE_SECONDS SIGKILL; returns its id, 0 if it cannot
    be ended. For a daemon that does not answer: all that it acknowledged is on the disk."""
    try:
        holder = int(path.read_text("ascii", "replace"))
        os.kill(holder, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while is_held(path):
            if time.monotonic() > deadline:
                os.kill(holder, signal.SIGKILL)
                deadline += PATIENCE_SECONDS
            time.sleep(0.05)
    except (OSError, ValueError):
        return 0
    return holder


def _take(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
