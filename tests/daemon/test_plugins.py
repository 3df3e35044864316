"""A daemon with a plug-in that raises in all that it does: it starts, answers, and says what was the matter."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.client.client import DaemonError
from daemon.config.settings import EmbedderSettings, Settings
from memory.settings import MemorySettings, RecallSettings
from plugins.settings import PluginSettings
from tests.daemon.conftest import added, wait_until
from tests.plugins.strange_plugin import REASONS, WAYS, install_strange
from tests.running import RunningDaemon, run_daemon

CHAT = [{"role": "user" if n % 2 else "assistant", "content": f"The tea is in box {n}. " * 60} for n in range(12)]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The strange plug-in, for this process and those that it starts."""
    folder = tmp_path_factory.mktemp("plugins")
    install_strange(folder)
    (folder / "chat.json").write_text(json.dumps({"title": "tea", "messages": CHAT}))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
        yield folder


@pytest.fixture(scope="module")
def daemon(installed: Path) -> Iterator[RunningDaemon]:
    """It has read a chat."""
    with run_daemon(installed / "home", Settings()) as running:
        added(running.client, installed / "chat.json")
        yield running


def check_it_answers(daemon: RunningDaemon) -> None:
    """The same process, from its memory."""
    assert daemon.process is not None and daemon.process.poll() is None
    assert daemon.client.hello().pid == daemon.process.pid
    assert daemon.client.recall("Where is the tea?").hits


@pytest.mark.parametrize("what", WAYS)
@pytest.mark.parametrize("at", ["make", "embed"])
def test_an_embedder(daemon: RunningDaemon, at: str, what: str) -> None:
    with pytest.raises(DaemonError, match=f"The plug-in strange failed with {REASONS[what]}"):
        daemon.client.set_embedder(f"strange:{at}-{what}")
    assert daemon.client.embedder().name == "auto", "as before"
    check_it_answers(daemon)


@pytest.mark.parametrize("what", WAYS)
def test_a_model(daemon: RunningDaemon, what: str) -> None:
    with pytest.raises(DaemonError, match=f"The plug-in strange failed with {REASONS[what]}"):
        daemon.client.try_model(f"strange:local-{what}")
    assert "sent is no answer" in daemon.client.try_model(f"strange:stream-{what}").problem
    assert daemon.client.try_model("strange:good").problem == ""
    check_it_answers(daemon)


@pytest.mark.parametrize("what", WAYS)
@pytest.mark.parametrize("at", ["", "walk-"])
def test_a_strategy(daemon: RunningDaemon, at: str, what: str) -> None:
    with pytest.raises(DaemonError, match=f"The plug-in strange failed with {REASONS[what]}"):
        daemon.client.recall("Where is the tea?", strategy=f"wild-{at}{what}")
    check_it_answers(daemon)


def named(what: str, of_strategy: str) -> Settings:
    """What config.toml names of the plug-in, which raises."""
    return Settings(
        embedder=EmbedderSettings(f"strange:{what}"),
        memory=MemorySettings(recall=RecallSettings(strategy=f"wild-{of_strategy}")),
    )


@pytest.mark.parametrize(("what", "strategy"), [("raise", "raise"), ("exit", "exit"), ("raise", "exit")])
def test_a_daemon_whose_settings_name_what_raises_starts_and_answers(installed: Path, what: str, strategy: str) -> None:
    with run_daemon(installed / f"home-{what}-{strategy}", named(what, strategy)) as running:
        added(running.client, installed / "chat.json")
        check_it_answers(running)
        assert "The plug-in strange" in wait_until(lambda: running.client.embedder().problem)
        assert running.stop() == 0


def test_a_daemon_whose_settings_name_what_is_off_starts_and_answers(installed: Path) -> None:
    settings = replace(named("good", "good"), plugins=PluginSettings(("strange",)))
    with run_daemon(installed / "home-off", settings) as running:
        added(running.client, installed / "chat.json")
        check_it_answers(running)
        assert "There is no embedder called 'strange:good'" in wait_until(lambda: running.client.embedder().problem)
