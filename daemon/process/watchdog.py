"""Notices that the event loop is blocked: then the stacks of all threads are written, even while a library keeps the
interpreter's lock, and clients read from them what the daemon is busy with (`daemon.client.connection`)."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import time
from pathlib import Path

from daemon.client.connection import BLOCKED_SECONDS

log = logging.getLogger(__name__)

BEAT_SECONDS = 1.0


async def watch_loop(stacks: Path) -> None:
    """Keeps `stacks` empty while the running loop is free. What blocked it is logged afterwards."""
    with os.fdopen(os.open(stacks, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+", encoding="utf-8") as file:
        try:
            while True:
                began = time.monotonic()
                faulthandler.dump_traceback_later(BLOCKED_SECONDS, file=file)  # in place of the one before
                await asyncio.sleep(BEAT_SECONDS)
                file.seek(0)
                if text := file.read():
                    log.error("the event loop was blocked for %.0f s:\n%s", time.monotonic() - began, text)
                    file.seek(0)
                    file.truncate()
        finally:
            faulthandler.cancel_dump_traceback_later()
            with contextlib.suppress(OSError):
                file.truncate(0)
