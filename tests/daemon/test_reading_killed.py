"""A daemon that is killed while a model reads, or behind that: the next one goes on, and nothing is there twice."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client
from daemon.config.settings import ModelsSettings
from plugins.settings import OllamaSettings
from tests.daemon.conftest import QUICK
from tests.daemon.enriching import HERE, QWEN, able
from tests.fakes import FakeOllama, Hangs
from tests.running import run_daemon


def state(client: Client) -> wire.Enrichment:
    found = client.status().enrichment
    assert found is not None
    return found


@pytest.mark.parametrize("hangs", [1, 2])
def test_kill_9_while_a_model_reads(tmp_path: Path, hangs: int) -> None:
    """`hangs`: the call that is never answered, of the first note or of the second."""
    with FakeOllama(QWEN, answer=able) as ollama:
        settings = replace(QUICK, ollama=OllamaSettings(host=ollama.url), models=ModelsSettings(extract=(HERE,)))
        asked = iter(range(1, 100))
        ollama.answer = lambda body: Hangs() if next(asked) == hangs else able(body)
        with run_daemon(tmp_path / "home", settings) as daemon:
            for number, town in enumerate(("Utrecht", "Leipzig"), 1):
                at = datetime(2024, number, 1, tzinfo=UTC)
                daemon.client.remember(f"Mira lives in {town}.", at=at, source=f"note {number}")
            ollama.until(lambda server: len(server.chats) >= hangs)
            daemon.kill()
            daemon.start()
            deadline = time.monotonic() + 60
            while (now := state(daemon.client)).read < 2:
                assert time.monotonic() < deadline, now
                time.sleep(0.05)
            known = [fact.text for fact in daemon.client.facts("Mira").facts if fact.origin == "model"]
            assert len(known) == 2 and "Leipzig" in known[0] and "Utrecht" in known[1]  # decided within the hour
            assert daemon.client.check().problems == ()
