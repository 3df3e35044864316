"""Memory that is not used any more, given back to the system."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys


def give_back() -> None:
    """Frees what is garbage, and what the C library keeps of what was freed: where much was read, hundreds of MB."""
    gc.collect()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
