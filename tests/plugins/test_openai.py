"""Models of servers that speak OpenAI's protocol: what is sent, what they say beside it, and what they say badly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.errors import (
    LocalOnlyError,
    MalformedOutputError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    OverBudgetError,
)
from memory.llm import LlmRequest, Usage
from plugins.llms import openai, transport
from plugins.llms.guard import Guarded
from plugins.llms.openai import OpenAIModel, list_models
from plugins.settings import OpenAISettings
from tests.fakes import Breaks, Calls, Fails, FakeOpenAI, Says, Sends, ServedModel
from tests.fakes.openai import Kind
from tests.plugins.models import FIND, LONG, PERSON, ask, streamed

QWEN = ServedModel("qwen3-4b")
PLAIN = ServedModel("plain-1b", context=4096, tools=False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with FakeOpenAI(QWEN, PLAIN) as server:
        yield server


def opened(server: FakeOpenAI, name: str = "qwen3-4b", **settings: object) -> Guarded:
    return Guarded(f"openai:{name}", OpenAIModel(name, OpenAISettings(url=server.url, **settings)), pause=0.001)  # type: ignore[arg-type]


def test_what_is_sent(server: FakeOpenAI) -> None:
    opened(server).complete(ask(system="Be brief.", max_tokens=99, schema=None, tools=(FIND,)))
    (chat,) = server.chats
    assert chat.pop("tools")[0]["function"]["parameters"] == PERSON, "with all that the schema says"
    assert chat == {
        "model": "qwen3-4b",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Where does Ana live?"},
        ],
        "max_tokens": 99,
        "temperature": 0.0,
        "seed": 42,
        "stream": True,
        "stream_options": {"include_usage": True},
        "chat_template_kwargs": {"enable_thinking": False},
    }


def test_json_by_the_servers_own_means(server: FakeOpenAI) -> None:
    server.enqueue(Says('{"name": "Ana", "year": 2024}'), Says("", thinking='{"name": "Rui"}'))
    model = opened(server)
    assert model.complete(ask(schema=PERSON)).data == {"name": "Ana", "year": 2024}
    form = server.chats[0]["response_format"]
    assert (form["type"], form["json_schema"]["schema"]) == ("json_schema", PERSON)
    assert model.complete(ask(schema=PERSON)).data == {"name": "Rui"}, "the server took it for a thought"


def test_a_conversation_with_tools(server: FakeOpenAI) -> None:
    server.enqueue(Says("", [Calls("find", {"name": "Ana"}), Calls("find", {"name": "Rui"})], thinking="Who?"))
    server.enqueue(Says("In Porto."))
    model, first = opened(server), ask(tools=(FIND,))
    reply = model.complete(first)
    assert (reply.stop, reply.text) == ("tools", "")
    assert [(call.id, call.arguments) for call in reply.calls] == [("c0", {"name": "Ana"}), ("c1", {"name": "Rui"})]
    results = (reply.calls[0].make_result("Ana: Porto"), reply.calls[1].make_result("nobody", failed=True))
    again = LlmRequest(messages=(*first.messages, reply.message(), *results), tools=(FIND,))
    assert model.complete(again).text == "In Porto."
    sent = server.chats[1]["messages"]
    assert sent[1]["tool_calls"][1]["function"] == {"name": "find", "arguments": '{"name": "Rui"}'}
    assert sent[2] == {"role": "tool", "tool_call_id": "c0", "content": "Ana: Porto"}
    assert sent[3]["content"] == "Error: nobody"


@pytest.mark.parametrize("text", ["<think>Hm, Porto?</think>\n\nIn Porto.", "In Porto."])
def test_thoughts_are_no_part_of_the_answer(server: FakeOpenAI, text: str) -> None:
    server.enqueue(Says(text, thinking="Let me see.", read=7, written=3))
    pieces, reply = streamed(opened(server), ask())
    assert ("".join(pieces), reply.text, reply.usage) == ("In Porto.", "In Porto.", Usage(7, 3))


@pytest.mark.parametrize("kind", ["llama.cpp", "older llama.cpp", "LM Studio", "vLLM"])
def test_how_long_a_context_is(kind: Kind) -> None:
    with FakeOpenAI(QWEN, kind=kind) as server:
        assert opened(server).context_tokens == 16_384
        (found,) = list_models(OpenAISettings(url=f"{server.url}/v1/")).models
    assert (found.model, found.is_local, found.context_tokens, found.loaded) == ("qwen3-4b", True, 16_384, True)


def test_a_server_that_does_not_say_how_long_a_context_is(server: FakeOpenAI) -> None:
    server.route = lambda exchange: exchange.reply({"data": [{"id": "any"}, {"id": 3}, None]})  # type: ignore[method-assign]
    assert [one.context_tokens for one in list_models(OpenAISettings(url=server.url, context=5000)).models] == [5000]


def test_a_key_is_sent_where_it_is_safe(server: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.key = "sk-here"
    with pytest.raises(ModelUnavailableError, match="API key"):
        opened(server).complete(ask())
    assert "connect openai" in list_models(OpenAISettings(url=server.url)).problem
    file = tmp_path / "key"
    file.write_text("sk-here\n")
    file.chmod(0o644)
    with pytest.raises(ModelUnavailableError, match="chmod 600"):
        opened(server, key_file=str(file)).complete(ask())
    file.chmod(0o600)
    assert opened(server, key_file=str(file)).complete(ask()).text == "Yes."
    monkeypatch.setenv("OPENAI_API_KEY", "sk-here")
    assert opened(server).complete(ask()).text == "Yes."
    away = Guarded("openai:m", OpenAIModel("m", OpenAISettings(url="http://192.0.2.7:8000")))
    with pytest.raises(ModelUnavailableError, match="no https"):
        away.complete(ask(local_only=False))


def test_a_server_elsewhere_gets_no_byte_of_what_must_stay(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(openai.transport, "ask", lambda url, path, *more: asked.append(path))
    for url in ("http://192.0.2.7:8000", "https://127.0.0.1.example.com", "http://127.0.0.1@evil.example"):
        model = Guarded("openai:m", OpenAIModel("m", OpenAISettings(url=url)))
        with pytest.raises(LocalOnlyError):
            model.complete(ask())
    assert asked == []


def test_an_ollama_is_asked_in_its_own_protocol() -> None:
    """It tells of a model in the cloud only there."""
    with FakeOpenAI(ServedModel("gpt-oss:120b-cloud"), kind="Ollama") as server:
        with pytest.raises(ModelUnavailableError, match="ollama:MODEL"):
            opened(server, "gpt-oss:120b-cloud").complete(ask())
        assert "ollama:MODEL" in list_models(OpenAISettings(url=server.url)).problem
        assert server.chats == []


@pytest.mark.parametrize(
    "reply, error, says, tries",
    [
        (Breaks(Says(LONG), 3, tidily=True), ModelUnavailableError, "broke off", 3),
        (Fails(503, "Loading model"), ModelUnavailableError, "still being loaded", 3),
        (Fails(429, "too many requests"), ModelUnavailableError, "too many", 3),
        (Fails(500, "it crashed", says=Says(LONG), after=2), ModelUnavailableError, "it crashed", 3),
        (Sends(b'error: {"message": "slot unavailable"}\n\n'), ModelUnavailableError, "slot unavailable", 3),
        (Sends(b"data: {tr\n\n"), ModelUnavailableError, "JSONDecodeError", 3),
        (Sends(b"data: [1]\n\n"), ModelUnavailableError, "AttributeError", 3),
        (Sends(b"<html>"), ModelUnavailableError, "does not speak", 3),
        (Sends(b"", 302), ModelUnavailableError, "302", 1),
        (Says(LONG, stop="refusal"), ModelRefusedError, "filters", 1),
        (Says("", [Calls("find", "name=Ana")]), MalformedOutputError, "invalid JSON", 1),
        (Says("", [Calls("find", "[3]")]), MalformedOutputError, "else than an object", 1),
        (Says("<think>and so on"), MalformedOutputError, "wrote nothing", 1),
    ],
)
def test_what_a_bad_server_says(
    server: FakeOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    reply: Says,
    error: type[ModelError],
    says: str,
    tries: int,
) -> None:
    monkeypatch.setattr(transport, "LOADING_SECONDS", 0.001)
    server.answer = lambda body: reply
    with pytest.raises(error, match=says):
        opened(server).complete(ask(tools=(FIND,)))
    assert len(server.chats) == tries


def test_a_model_that_is_not_there_or_takes_no_tools(server: FakeOpenAI) -> None:
    with pytest.raises(ModelUnavailableError, match="has no model 'mistral'"):
        opened(server, "mistral").complete(ask())
    with pytest.raises(ModelUnavailableError, match="--jinja") as caught:
        opened(server, "plain-1b").complete(ask(tools=(FIND,)))
    assert caught.value.lasting


def test_a_prompt_that_is_longer_than_was_thought(server: FakeOpenAI) -> None:
    with pytest.raises(OverBudgetError, match="too long"):
        opened(server).complete(ask("a " * 16_385, max_tokens=10))
    assert len(server.chats) == 1


def test_what_there_is_when_nothing_is() -> None:
    absent = list_models(None)
    assert absent.absent and "pal models connect openai" in absent.problem
    with pytest.raises(ModelUnavailableError, match="pal models connect openai"):
        OpenAIModel("m")
    with FakeOpenAI() as gone:
        assert "has no model" in list_models(OpenAISettings(url=gone.url)).problem
    assert (
        "No server answers" in (problem := list_models(OpenAISettings(url=gone.url)).problem)
        and "models connect" in problem
    )
    for url in ("ftp://x", "not an address"):
        assert "no address" in list_models(OpenAISettings(url=url)).problem


def test_a_server_that_still_loads_its_model(server: FakeOpenAI) -> None:
    server.route = lambda exchange: exchange.reply({"error": {"message": "Loading model", "code": 503}}, 503)  # type: ignore[method-assign]
    assert list_models(OpenAISettings(url=server.url)).problem == "The model is still being loaded. Ask again."


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": 3}', b'{"models": []}'])
def test_something_else_listens_there(server: FakeOpenAI, body: bytes) -> None:
    server.route = lambda exchange: exchange.send(Sends(body))  # type: ignore[method-assign]
    assert list_models(OpenAISettings(url=server.url)).problem
    with pytest.raises(ModelUnavailableError):
        opened(server).complete(ask())
