"""A daemon's process in the operating system: one per data folder, by a lock that ends with the process in any case;
its limits; and the unused memory that the C library keeps."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE_SECONDS = 20.0  # for a process that is to end
ALREADY_RUNNING = 3  # the exit code of a daemon that found another one
DESCRIPTORS = 4096  # open files
M_ARENA_MAX, ARENAS = -8, 2  # glibc gives each of our 26 threads an arena, and half of what they hold is free


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


def set_limits() -> None:
    """Raises the limit of open files (256 on macOS) and turns off core dumps, which would contain the memory."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        limit = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
        if soft < limit:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def limit_arenas() -> None:
    """Limits the C library's arenas for all threads. Call it before there are threads."""
    _call_glibc("mallopt", M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Returns the C library's free memory to the system: hundreds of MB after much reading. Other threads continue,
    which garbage collection would block for seconds in a large memory."""
    _call_glibc("malloc_trim", 0)


def _call_glibc(name: str, *values: int) -> None:
    if sys.platform == "linux":
        import ctypes  # which clients do without

        with contextlib.suppress(OSError, AttributeError):  # another C library
            getattr(ctypes.CDLL(None), name)(*values)
