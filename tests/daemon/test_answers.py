"""Questions to a daemon that has a model: what is streamed, what is kept, and what `choose` chooses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import wire
from daemon.config.settings import ModelsSettings, Settings
from memory.errors import ModelUnavailableError
from memory.protocols import Embedder
from plugins.settings import OllamaSettings
from tests.daemon.enriching import AWAY, HERE, QWEN, world
from tests.fakes import Fails, FakeOllama, Hangs, Says
from tests.fakes.answering import answers, prompt
from tests.running import RunningDaemon, run_daemon

QUESTION = "What colour is the boat painted?"


@pytest.fixture(scope="module")
def ollama() -> Iterator[FakeOllama]:
    with FakeOllama(QWEN, answer=answers) as server:
        yield server


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, ollama: FakeOllama) -> Iterator[RunningDaemon]:
    settings = Settings(
        models=ModelsSettings(extract=(), answer=(HERE,)), ollama=OllamaSettings(host=ollama.url, first_token_s=30.0)
    )
    with run_daemon(tmp_path_factory.mktemp("home"), settings) as daemon:
        daemon.client.remember("The boat is painted black. Ana is its owner.", title="boat")
        yield daemon


def asked(running: RunningDaemon, text: str = QUESTION, chat: int | None = None) -> list[wire.Event]:
    return list(running.client.ask(text, conversation=chat))


def test_the_answer_of_the_model_is_streamed_and_kept(running: RunningDaemon) -> None:
    chat = running.client.new_conversation("boat").id
    *events, last = asked(running, chat=chat)
    assert isinstance(last, wire.Answered)
    assert (last.text, last.model, last.note) == ("The boat is painted black [1].", HERE, "")
    assert "".join(event.text for event in events if isinstance(event, wire.Token)) == last.text
    (stage,) = [event for event in events if isinstance(event, wire.Step) and event.name == "compose"]
    assert stage.detail["calls"] == 1 and stage.detail["local"]
    assert running.client.status().model == HERE
    _, kept = running.client.conversation(chat).messages
    assert (kept.text, kept.citations, kept.trace_id) == (last.text, last.citations, last.trace_id)


def test_a_chat_tells_the_model_what_was_asked_before(running: RunningDaemon, ollama: FakeOllama) -> None:
    chat = running.client.new_conversation("boat").id
    asked(running, chat=chat)
    asked(running, "Who is its owner?", chat)
    assert QUESTION in prompt(ollama.chats[-1]) and QUESTION not in prompt(ollama.chats[-2]).split("The question:")[0]


def test_when_it_fails_the_lines_come_with_one_sentence(running: RunningDaemon, ollama: FakeOllama) -> None:
    ollama.enqueue(Fails(400, "no"))
    last = asked(running)[-1]
    assert isinstance(last, wire.Answered) and last.model == "" and "painted black" in last.text
    assert last.note.endswith("This is what your notes say, word for word.")


def test_whoever_leaves_ends_the_call_of_the_model(running: RunningDaemon, ollama: FakeOllama) -> None:
    ollama.enqueue(Hangs())
    chats = len(ollama.chats)
    stream = running.client.ask(QUESTION)
    next(stream)
    ollama.until(lambda server: sum(seen.path == "/api/chat" for seen in server.seen) > chats)
    assert ollama.left == 0
    stream.close()
    ollama.until(lambda server: server.left == 1)
    assert ollama.left == 1


def test_choose_knows_who_may_answer(tmp_path: Path, static: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
    with world(tmp_path, static) as here:
        chosen = here.models.choose(True)
        assert chosen is not None and chosen.name == HERE, "it has passed"
        assert here.models.answers() == HERE
        here.models.use("answer", (AWAY,))
        assert here.models.choose(True) is None
        away = here.models.choose(False)
        assert away is not None and away.name == AWAY and here.models.answers() == AWAY
        here.models.use("answer", ())
        assert here.models.choose(False) is None and here.models.answers() is None


def test_a_model_that_is_named_and_gone_is_reported(tmp_path: Path, static: Embedder) -> None:
    with world(tmp_path, static) as here:
        here.models._wanted["answer"] = ("ollama:gone",)
        for local_only in (True, False):
            with pytest.raises(ModelUnavailableError, match="ollama:gone cannot be reached"):
                here.models.choose(local_only)


def test_a_spent_day_is_said(tmp_path: Path, static: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
    with world(tmp_path, static) as here:
        here.models._daily_tokens = 1
        here.models.use("answer", (AWAY,))
        here.anthropic.answer = lambda body: Says("Black [1].")
        here.note("boat", "The boat is painted black.", policy="any")
        first, second = ([*here.memory.questions.ask(QUESTION, llm=here.models.choose)][-1] for _ in range(2))
        assert getattr(first, "model", "") == AWAY and getattr(second, "model", "x") == ""
        assert "models.daily_tokens" in getattr(second, "note", "")
