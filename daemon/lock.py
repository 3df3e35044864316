"""One daemon per data folder, held by a lock of the operating system: it ends with its process, however that ends."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import TracebackType

ALREADY_RUNNING = 3  # the exit code of a daemon that found another one


class AlreadyRunningError(Exception):
    """Another daemon holds the lock."""


class DaemonLock:
    """The held lock. The file's text is the process id, for people; whether the lock is held is what counts."""

    def __init__(self, path: Path, patience: float = 0.3) -> None:
        """Raises AlreadyRunningError if another process has held the lock for `patience` seconds: a client that looks
        whether it is held takes it for a moment.
        """
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + patience
        while not _take(self._file):
            if time.monotonic() > deadline:
                owner = os.read(self._file, 32).decode("ascii", "replace").strip()
                os.close(self._file)
                raise AlreadyRunningError(f"A daemon is already running (process {owner or 'unknown'}).")
            time.sleep(0.02)
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode("ascii"))

    def release(self) -> None:
        os.close(self._file)

    def __enter__(self) -> DaemonLock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """Whether a daemon runs, or is about to end."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not _take(file)
    finally:
        os.close(file)


def _take(file: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, 1 << 20, os.SEEK_SET)  # behind the text, which stays readable
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            os.lseek(file, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
