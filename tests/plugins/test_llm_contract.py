"""What holds of every language model, whatever protocol its server speaks, well or badly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from memory.errors import (
    MalformedOutputError,
    ModelCancelledError,
    ModelError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from memory.llm import LlmRequest, Message, Reply, Usage
from plugins.llms import call
from plugins.llms.anthropic import AnthropicModel
from plugins.llms.guard import Guarded
from plugins.llms.ollama import OllamaModel
from plugins.llms.openai import OpenAIModel
from plugins.settings import AnthropicSettings, OllamaSettings, OpenAISettings
from tests.fakes import (
    Breaks,
    Calls,
    ClaudeModel,
    Fails,
    FakeAnthropic,
    FakeOllama,
    FakeOpenAI,
    Hangs,
    Says,
    Sends,
    ServedModel,
)
from tests.fakes import OllamaModel as FakeModel
from tests.fakes.server import FakeServer
from tests.plugins.models import FIND, LONG, PERSON, streamed
from tests.plugins.models import ask as any_ask


@dataclass(frozen=True)
class Backend:
    """A model, the server that it speaks with, and the requests for words that came there."""

    server: FakeServer
    name: str
    make: Callable[..., Any]  # the model, of settings
    requests: Callable[[], list[dict[str, Any]]]

    def open(self, **settings: Any) -> Guarded:
        return Guarded(self.name, self.make(**settings), pause=0.001)


def ollama_backend() -> Backend:
    server = FakeOllama(FakeModel("qwen3:4b", capabilities=("completion", "tools", "thinking")))

    def make(**settings: Any) -> OllamaModel:
        return OllamaModel("qwen3:4b", OllamaSettings(host=server.url, **settings))

    return Backend(server, "ollama:qwen3:4b", make, lambda: server.chats)


def anthropic_backend() -> Backend:
    server = FakeAnthropic(ClaudeModel("claude-new"), key="sk-ant-fake")

    def make(**settings: Any) -> AnthropicModel:
        return AnthropicModel("claude-new", AnthropicSettings(url=server.url, **settings))

    return Backend(server, "anthropic:claude-new", make, lambda: server.messages)


def openai_backend() -> Backend:
    server = FakeOpenAI(ServedModel("qwen3-4b"), key="sk-fake")

    def make(**settings: Any) -> OpenAIModel:
        return OpenAIModel("qwen3-4b", OpenAISettings(url=server.url, **settings))

    return Backend(server, "openai:qwen3-4b", make, lambda: server.chats)


@pytest.fixture(params=[ollama_backend, openai_backend, anthropic_backend], ids=["ollama", "openai", "anthropic"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Backend]:
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-fake")
    backend: Backend = request.param()
    with backend.server:
        yield backend


def ask(text: str = "Where does Ana live?", **more: Any) -> LlmRequest:
    return any_ask(text, local_only=False, **more)


def test_the_text_comes_in_pieces(backend: Backend) -> None:
    backend.server.enqueue(Says(LONG, read=31, written=17))
    pieces, reply = streamed(backend.open(), ask(max_tokens=99))
    assert "".join(pieces) == LONG == reply.text
    assert len(pieces) > 5
    assert (reply.usage, reply.stop) == (Usage(31, 17), "end")
    assert len(backend.requests()) == 1


def test_json_is_checked_against_its_schema(backend: Backend) -> None:
    backend.server.enqueue(Says('{"name": "Ana", "year": 2024}'), Says('{"name": "Ana", "year": 0}'))
    model = backend.open()
    assert model.complete(ask(schema=PERSON)).data == {"name": "Ana", "year": 2024}
    with pytest.raises(MalformedOutputError, match="minimum"):
        model.complete(ask(schema=PERSON))


def test_an_answer_that_was_cut(backend: Backend) -> None:
    backend.server.enqueue(Says(LONG, stop="length"), Says('{"name": "An', stop="length"))
    model = backend.open()
    assert model.complete(ask()).stop == "length"
    with pytest.raises(MalformedOutputError, match="cut off"):
        model.complete(ask(schema=PERSON))


@pytest.mark.parametrize(
    "reply, error, says, tries",
    [
        (Breaks(Says(LONG), 3), ModelUnavailableError, "RemoteProtocolError", 3),
        (Breaks(Says(LONG), 5, tidily=True), ModelUnavailableError, "broke off", 3),
        (Breaks(Says(LONG), 0, tidily=True), ModelUnavailableError, "broke off", 3),
        (Fails(500, "out of memory"), ModelUnavailableError, "out of memory|api_error", 3),
        (Fails(400, "invalid options"), ModelUnavailableError, "invalid options", 1),
        (Fails(401, "unauthorized"), ModelUnavailableError, "401|API key", 1),
        (Sends(b"<html>hello</html>", content_type="text/html"), ModelUnavailableError, "JSON|broke off", 3),
        (Says("", [Calls("find", {"who": "Ana"})]), MalformedOutputError, "wrong arguments", 1),
        (Says("", [Calls("remove", {})]), MalformedOutputError, "a tool that there is not", 1),
        (Says(""), MalformedOutputError, "wrote nothing", 1),
    ],
)
def test_what_a_bad_server_says(backend: Backend, reply: Says, error: type[ModelError], says: str, tries: int) -> None:
    backend.server.answer = lambda body: reply
    with pytest.raises(error, match=says):
        backend.open().complete(ask(tools=(FIND,)))
    assert len(backend.requests()) == tries


def test_after_a_fault_it_answers_again(backend: Backend) -> None:
    backend.server.enqueue(Breaks(Says(LONG), 5), Fails(500), Says(LONG))
    assert backend.open().complete(ask()).text == LONG


def test_a_server_that_sends_without_end(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "MOST_BYTES", 1 << 20)
    backend.server.answer = lambda body: Sends(b"a" * (1 << 16), times=64)
    with pytest.raises(ModelUnavailableError, match=r"did not answer as it should|broke off"):
        backend.open().complete(ask())


def test_whoever_asked_can_leave_while_nothing_comes(backend: Backend) -> None:
    backend.server.enqueue(Hangs())
    leaves = threading.Event()
    came = threading.Thread(
        target=lambda: (backend.server.until(lambda server: bool(backend.requests())), leaves.set())
    )
    came.start()
    with pytest.raises(ModelCancelledError):
        backend.open().complete(ask(cancelled=leaves.is_set))
    backend.server.until(lambda server: server.left == 1)
    came.join()


def test_closing_the_stream_ends_the_call(backend: Backend) -> None:
    backend.server.enqueue(Says(LONG, pause_at=3, go=threading.Event()))
    stream = backend.open().stream(ask())
    assert next(stream) == LONG[:7]
    stream.close()  # type: ignore[attr-defined]
    backend.server.until(lambda server: server.left == 1)


def test_closing_the_model_wakes_who_waits_for_an_answer(backend: Backend) -> None:
    backend.server.enqueue(Hangs())
    model = backend.open()
    errors: list[ModelError] = []

    def wait() -> None:
        try:
            model.complete(ask())
        except ModelError as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    backend.server.until(lambda server: bool(backend.requests()))
    model.close()
    thread.join(60)
    assert not thread.is_alive()
    assert [type(error) for error in errors] == [ModelCancelledError]


@pytest.mark.parametrize("reply", [Hangs(), Says(LONG, pause_at=2, go=threading.Event())])
def test_a_model_that_is_slow_is_given_up(backend: Backend, reply: Says) -> None:
    backend.open().complete(ask())  # the client is imported now
    backend.server.enqueue(reply)
    with pytest.raises(ModelTimeoutError):
        backend.open(first_token_s=0.3, next_token_s=0.3).complete(ask())
    backend.server.until(lambda server: server.left == 1)


def test_slow_but_steady_is_fine_until_all_of_the_time_is_over(backend: Backend) -> None:
    go = threading.Event()
    backend.server.enqueue(Says(LONG, pause_at=9, go=go))
    pieces = backend.open().stream(ask())
    first = [next(pieces) for _ in range(9)]
    go.set()
    assert "".join(map(str, [*first, *pieces][:-1])) == LONG
    backend.server.enqueue(Hangs())
    with pytest.raises(ModelTimeoutError):
        backend.open(total_s=0.3).complete(ask())


def test_a_server_that_went_away_in_between(backend: Backend) -> None:
    model = backend.open()
    model.complete(ask())
    backend.server.__exit__(None, None, None)
    with pytest.raises(ModelUnavailableError, match=r"Start it|cannot be reached"):
        model.complete(ask())


def test_many_threads_may_ask_the_same_model(backend: Backend) -> None:
    def last_text(body: dict[str, Any]) -> Says:
        content = body["messages"][-1]["content"]
        return Says(content if isinstance(content, str) else content[0]["text"])

    backend.server.answer = last_text
    model, said = backend.open(), dict[str, Reply]()

    def one(text: str) -> None:
        said[text] = model.complete(ask(text))

    threads = [threading.Thread(target=one, args=[f"number {n}"]) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {text: reply.text for text, reply in said.items()} == {f"number {n}": f"number {n}" for n in range(8)}
    assert Message("assistant", "number 1") == said["number 1"].message()
