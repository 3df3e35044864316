"""Models are connected while the daemon runs: tried first, and written down only if one answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from daemon import setup
from daemon.client.client import DaemonError
from daemon.config.settings import load
from daemon.setup import ConnectError, connect, describe_model_test
from tests.daemon.conftest import QUICK
from tests.fakes import ClaudeModel, FakeAnthropic, FakeOllama, OllamaModel
from tests.running import RunningDaemon, run_daemon

KEY = "sk-ant-fake"


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningDaemon]:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with run_daemon(tmp_path / "home", QUICK, ANTHROPIC_API_KEY="", OLLAMA_HOST="127.0.0.1:9") as daemon:
        yield daemon


def test_what_answers_is_kept_and_used_and_what_does_not_changes_nothing(daemon: RunningDaemon, tmp_path: Path) -> None:
    client, config = daemon.client, daemon.paths.config
    key_file = config.with_name("anthropic.key")
    with FakeAnthropic(ClaudeModel("claude-new"), ClaudeModel("claude-old")) as server:
        before = config.read_text("utf-8")
        tried = connect(client, config, "anthropic", server.url, "sk-wrong")
        assert "does not accept the API key" in tried.problem
        assert config.read_text("utf-8") == before and not key_file.exists()
        tried = connect(client, config, "anthropic", server.url, f" {KEY}\n")
        assert (tried.problem, tried.is_local) == ("", False)
        assert tried.models == ("anthropic:claude-new", "anthropic:claude-old") and tried.name in tried.models
        said = describe_model_test(tried)
        assert said.startswith(f"{tried.name} answered after ") and said.endswith("Its server has 1 other model.")
        assert len(str(server.messages)) < 700, "nothing of the memory is sent"
        settings = load(config)
        assert (settings.anthropic.url, settings.anthropic.key_file) == (server.url, str(key_file))
        assert key_file.read_text("utf-8").strip() == KEY
        if os.name == "posix":
            assert key_file.stat().st_mode & 0o77 == 0
        assert connect(client, config, "anthropic", server.url, "sk-wrong").problem
        assert key_file.read_text("utf-8").strip() == KEY and load(config) == settings
        assert not connect(client, config, "anthropic", server.url).problem, "the key that it has is used"
        with pytest.raises(ConnectError, match="one word"):
            connect(client, config, "anthropic", server.url, "two words")
        reply = setup.use_models(client, config, "answer", (tried.name,))
        assert {role.role: role.used for role in reply.roles}["answer"] == tried.name
        assert load(config).models.answer == (tried.name,)
    notes = tmp_path / "notes"
    notes.mkdir()
    client.watch(notes)
    assert setup.asks_policy(config)
    setup.keep_policy(client, config, "any")
    assert not setup.asks_policy(config) and [one.policy for one in client.folders()] == ["any"]


def test_of_several_models_here_the_one_is_asked_that_answers_soonest(daemon: RunningDaemon) -> None:
    client, config = daemon.client, daemon.paths.config
    with FakeOllama(OllamaModel("big:30b"), OllamaModel("warm:4b", loaded=True)) as server:
        tried = connect(client, config, "ollama", server.host)
        assert (tried.name, tried.is_local, tried.problem) == ("ollama:warm:4b", True, "")
        assert setup.read_address(config, "ollama") == server.host
        assert {row.name for row in client.models().models} == set(tried.models)
    with FakeOllama() as gone:
        pass
    assert "ollama serve" in connect(client, config, "ollama", gone.host).problem
    assert setup.read_address(config, "ollama") == server.host
    config.write_text("[ollama\n", "utf-8")
    with pytest.raises(ConnectError, match="is not TOML"):
        connect(client, config, "ollama", server.host)
    assert client.models().problems, "what the file said before counts on"
    with pytest.raises(DaemonError):
        client.try_model("nobody")


def test_a_key_is_kept_in_the_keyring_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[tuple[str, str], str] = {}
    keyring = SimpleNamespace(
        set_password=lambda service, name, key: held.update({(service, name): key}),
        get_password=lambda service, name: held.get((service, name)),
        delete_password=lambda service, name: held.pop((service, name)),
    )
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    config = tmp_path / "config.toml"
    assert setup.keep_key(config, "openai", KEY) == "keyring:openai"
    assert held == {("palimpsest", "openai"): KEY} and not list(tmp_path.iterdir())
    keyring.set_password = lambda *of: None
    assert setup.keep_key(config, "other", KEY) == str(tmp_path / "other.key"), "a keyring that keeps nothing"
