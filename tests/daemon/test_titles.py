"""A session is named by a model on this machine, behind the answer, and by none that costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon.jobs import titles
from daemon.jobs.titles import Titles, clean_title
from daemon.jobs.writer import Writer
from daemon.settings import ModelsSettings, Settings
from daemon.testing import run_daemon
from memory import Memory
from memory.errors import ModelUnavailableError
from memory.llm import LlmRequest, Reply
from memory.nouns import Answer
from plugins import manager
from plugins.llms.settings import OllamaSettings
from tests.daemon.enriching import HERE, QWEN
from tests.fakes import FakeOllama, Says
from tests.fakes.answering import answers, prompt

QUESTION = "What colour is the boat painted?"


class Model:
    """Says a title; `is_local` or not."""

    name, context_tokens = "fake", 4000

    def __init__(self, says: str, is_local: bool = True) -> None:
        self.says, self.is_local = says, is_local
        self.requests: list[LlmRequest] = []

    def complete(self, request: LlmRequest) -> Reply:
        self.requests.append(request)
        return Reply(self.says)

    def stream(self, request: LlmRequest) -> Any:
        raise NotImplementedError


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=manager.load().embedder("static")) as memory:
        yield memory


@pytest.fixture
def writer() -> Iterator[Writer]:
    writer = Writer()
    writer.start()
    yield writer
    writer.close(5)


def new_chat(memory: Memory, title: str = QUESTION, answer: Answer = Answer("Black.")) -> int:  # noqa: B008  a value
    chat = memory.conversations.create(title)
    memory.conversations.add_question(chat, QUESTION)
    memory.conversations.add_answer(chat, answer)
    return chat


def named(
    memory: Memory, writer: Writer, chat: int, model: Model | None, busy: Callable[[], bool] = lambda: False
) -> str:
    Titles(memory, writer, lambda local_only: model, busy).name(chat)
    return memory.conversations.get(chat)[0].title


def test_a_session_that_has_its_question_for_a_name_gets_a_title(memory: Memory, writer: Writer) -> None:
    model = Model(' **Title: "The boat\'s colour".**\nI hope that helps.')
    assert named(memory, writer, new_chat(memory), model) == "The boat's colour"
    [request] = model.requests
    assert request.local_only and request.purpose == "title" and QUESTION in request.messages[0].text


def test_what_is_named_refused_longer_or_would_cost_keeps_its_name(memory: Memory, writer: Writer) -> None:
    model = Model("A title")
    assert named(memory, writer, new_chat(memory, "My boat"), model) == "My boat"
    assert named(memory, writer, new_chat(memory, answer=Answer("No.", no_answer=True)), model) == QUESTION
    chat = new_chat(memory)
    memory.conversations.add_question(chat, "And the oars?")
    assert named(memory, writer, chat, model) == QUESTION
    assert named(memory, writer, new_chat(memory), None) == QUESTION
    assert named(memory, writer, new_chat(memory), Model("x", is_local=False)) == QUESTION
    assert model.requests == []
    Titles(memory, writer, lambda local_only: model, lambda: False).name(77_000)  # deleted meanwhile


def test_it_waits_until_nobody_waits_and_gives_up(
    memory: Memory, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(titles, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(titles, "PATIENCE_SECONDS", 0.05)
    states = iter([True, True, False])
    assert named(memory, writer, new_chat(memory), Model("The boat"), lambda: next(states)) == "The boat"
    assert named(memory, writer, new_chat(memory), Model("The boat"), lambda: True) == QUESTION


def test_a_model_that_cannot_be_reached_changes_nothing(memory: Memory, writer: Writer) -> None:
    def choose(local_only: bool) -> None:
        raise ModelUnavailableError("gone")

    chat = new_chat(memory)
    Titles(memory, writer, choose, lambda: False).name(chat)
    assert memory.conversations.get(chat)[0].title == QUESTION


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Boat colour", "Boat colour"),
        ("“Farbe des Boots.”\n", "Farbe des Boots"),
        ("", ""),
        ("\n \n", ""),
        ("w " * 11, ""),
        ("x" * 61, ""),
    ],
)
def test_what_a_model_says_is_a_title_or_none(said: str, title: str) -> None:
    assert clean_title(said) == title


def test_a_daemon_names_the_session_behind_the_answer(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Any:
        return Says("The boat's paint") if prompt(body).endswith("The title:") else answers(body)

    with FakeOllama(QWEN, answer=reply) as ollama:
        settings = Settings(
            models=ModelsSettings(extract=(), answer=(HERE,)),
            ollama=OllamaSettings(host=ollama.url, first_token_s=30.0),
        )
        with run_daemon(tmp_path / "home", settings) as daemon:
            daemon.client.remember("The boat is painted black. Ana is its owner.", title="boat")
            chat = daemon.client.new_conversation(QUESTION).id
            list(daemon.client.ask(QUESTION, conversation=chat))
            for _ in range(500):
                if (title := daemon.client.conversation(chat).conversation.title) != QUESTION:
                    break
                time.sleep(0.05)
            assert title == "The boat's paint"
