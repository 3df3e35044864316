"""A blocked event loop is noticed, and clients are told what it does."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from daemon.client import connection
from daemon.process import server


def count_sheep() -> None:
    time.sleep(1.5)


def test_a_client_reads_what_blocks_the_loop_and_the_log_has_it_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server, "BLOCKED_SECONDS", 0.4)
    monkeypatch.setattr(server, "BEAT_SECONDS", 0.1)
    stacks = tmp_path / "stacks"

    def read_when_blocked() -> str:
        for _ in range(140):
            if what := connection._read_busy(stacks):
                return what
            time.sleep(0.01)
        return ""

    async def work() -> None:
        watching = asyncio.create_task(server.watch_loop(stacks))
        await asyncio.sleep(0.2)
        reading = asyncio.create_task(asyncio.to_thread(read_when_blocked))
        await asyncio.sleep(0)
        count_sheep()
        assert await reading == "count_sheep"
        await asyncio.sleep(0.3)
        watching.cancel()

    asyncio.run(work())
    assert "the event loop was blocked" in caplog.text and "count_sheep" in caplog.text
    assert stacks.stat().st_mode & 0o777 == 0o600 and stacks.stat().st_size == 0
