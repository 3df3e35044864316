"""A daemon whose embedder, reranker and models are somebody else's and do their worst: it answers afterwards, and says
what was the matter."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.client import DaemonError
from daemon.settings import EmbedderSettings, RerankerSettings, Settings
from daemon.testing import RunningDaemon, run_daemon
from plugins.settings import PluginSettings
from tests.cli.vault import Shell
from tests.daemon.conftest import added
from tests.plugins.guest_plugin import REASONS, WAYS, install_strange

LIMITS = PluginSettings(call_s=1.0, memory_mb=512)
CHAT = [{"role": "user" if n % 2 else "assistant", "content": f"The tea is in box {n}. " * 60} for n in range(12)]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The strange plug-in, for this process and those that it starts."""
    folder = tmp_path_factory.mktemp("guests")
    install_strange(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
        yield folder


@pytest.fixture(scope="module")
def daemon(installed: Path) -> Iterator[RunningDaemon]:
    """With a reranker that ends its process. It has read a chat."""
    (installed / "chat.json").write_text(json.dumps({"title": "tea", "messages": CHAT}))
    settings = Settings(reranker=RerankerSettings("strange:leave"), plugins=LIMITS)
    with run_daemon(installed / "home", settings) as running:
        added(running.client, installed / "chat.json")
        yield running


def check_it_answers(daemon: RunningDaemon) -> None:
    """The same process, from its memory."""
    assert daemon.process is not None and daemon.process.poll() is None
    assert daemon.client.hello().pid == daemon.process.pid
    assert daemon.client.recall("Where is the tea?").hits


@pytest.mark.parametrize("what", WAYS)
def test_an_embedder(daemon: RunningDaemon, what: str) -> None:
    with pytest.raises(DaemonError, match=REASONS[what]):
        daemon.client.set_embedder(f"strange:{what}")
    assert daemon.client.embedder().name == "static"
    check_it_answers(daemon)


@pytest.mark.parametrize("what", WAYS)
def test_a_model(daemon: RunningDaemon, what: str) -> None:
    tried = daemon.client.try_model(f"strange:{what}")
    assert REASONS[what] in tried.problem
    assert daemon.client.try_model("strange:good").problem == ""
    check_it_answers(daemon)


def test_a_reranker(daemon: RunningDaemon) -> None:
    assert REASONS["leave"] in daemon.client.plugins().reranker
    check_it_answers(daemon)


@pytest.mark.parametrize("what", WAYS)
def test_an_exporter(daemon: RunningDaemon, tmp_path: Path, what: str) -> None:
    shell = Shell(tmp_path, daemon.paths.data)
    said = shell.pal("export", f"notes.{what}")
    assert (
        said.code == 1 and REASONS[what] in said.err and f"The format strange-{what} could not be written" in said.err
    )
    assert not [*tmp_path.iterdir()]
    assert shell.pal("export", "notes.good").code == 0
    assert (tmp_path / "notes.good").read_bytes().startswith(b"palimpsest source")
    check_it_answers(daemon)


@pytest.mark.parametrize("what", ["leave", "exit"])
def test_a_daemon_whose_own_embedder_does_so_answers_by_words(installed: Path, what: str) -> None:
    settings = Settings(embedder=EmbedderSettings(f"strange:{what}"), plugins=LIMITS)
    with run_daemon(installed / f"home-{what}", settings) as running:
        added(running.client, installed / "chat.json")
        check_it_answers(running)
        told = running.client.embedder()
        assert "The plug-in strange" in told.problem
