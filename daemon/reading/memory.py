"""Process limits, and returning the C library's unused memory."""

from __future__ import annotations

import contextlib
import ctypes
import sys

DESCRIPTORS = 4096  # open files
M_ARENA_MAX, ARENAS = -8, 2  # glibc gives each of our 26 threads an arena, and half of what they hold is free


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
        with contextlib.suppress(OSError, AttributeError):  # another C library
            getattr(ctypes.CDLL(None), name)(*values)
