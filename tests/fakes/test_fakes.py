"""The servers themselves, asked by the vendors' own clients in the ways that Palimpsest does not use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import ollama
import pytest

from tests.fakes import Calls, ClaudeModel, Fails, FakeAnthropic, FakeOllama, OllamaModel, Says

if TYPE_CHECKING:
    import anthropic  # more than a second, in each process that collects tests

HELLO = [{"role": "user", "content": "Hello"}]
TOOL = {"name": "find", "description": "Finds.", "input_schema": {"type": "object", "properties": {}}}


@pytest.fixture
def local() -> Iterator[tuple[FakeOllama, ollama.Client]]:
    with FakeOllama(
        OllamaModel("qwen3:4b", loaded=True), OllamaModel("plain:1b", capabilities=("completion",))
    ) as server:
        yield server, ollama.Client(server.url, trust_env=False)


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FakeAnthropic, anthropic.Anthropic]]:
    import anthropic

    with FakeAnthropic(ClaudeModel("claude-new"), ClaudeModel("claude-old", structured=False, output=4096)) as server:
        yield server, anthropic.Anthropic(api_key=server.key, base_url=server.url, max_retries=0)


def test_ollama_answers_whole_or_in_pieces(local: tuple[FakeOllama, ollama.Client]) -> None:
    server, client = local
    server.enqueue(*[Says("Hello to you.", [Calls("find", {"name": "Ana"})], read=7, written=3)] * 2)
    whole = client.chat("qwen3:4b", HELLO)
    assert whole.message.content == "Hello to you."
    assert whole.message.tool_calls and whole.message.tool_calls[0].function.arguments == {"name": "Ana"}
    assert (whole.prompt_eval_count, whole.eval_count, whole.done_reason) == (7, 3, "stop")
    *parts, last = client.chat("qwen3:4b", HELLO, stream=True)
    assert "".join(part.message.content or "" for part in parts) == "Hello to you."
    assert (last.done, last.eval_count) == (True, 3)


def test_ollama_says_what_it_has(local: tuple[FakeOllama, ollama.Client]) -> None:
    _, client = local
    assert [model.model for model in client.list().models] == ["qwen3:4b", "plain:1b"]
    assert [model.model for model in client.ps().models] == ["qwen3:4b"]
    shown = client.show("qwen3:4b")
    assert shown.modelinfo and shown.modelinfo["qwen3.context_length"] == 40960
    assert shown.capabilities == ["completion", "tools"]


def test_ollama_complains(local: tuple[FakeOllama, ollama.Client]) -> None:
    server, client = local
    server.enqueue(Fails(500, "out of memory"))
    tool = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}
    for ask, status, says in (
        (lambda: client.chat("qwen3:4b", HELLO), 500, "out of memory"),
        (lambda: client.chat("none", HELLO), 404, "not found"),
        (lambda: client.chat("plain:1b", HELLO, tools=[tool]), 400, "does not support tools"),
        (lambda: client.chat("plain:1b", HELLO, think=True), 400, "does not support thinking"),
        (lambda: client.chat("qwen3:4b", [{"role": "wizard", "content": "x"}]), 400, "role"),
    ):
        with pytest.raises(ollama.ResponseError, match=says) as caught:
            ask()
        assert caught.value.status_code == status


def test_anthropic_answers_whole_or_in_pieces(away: tuple[FakeAnthropic, anthropic.Anthropic]) -> None:
    server, client = away
    server.enqueue(*[Says("Hello.", [Calls("find", {"name": "Ana"})], thinking="Hm.", read=7, written=3)] * 2)
    whole = client.messages.create(model="claude-new", max_tokens=9, messages=HELLO)  # type: ignore[arg-type]
    with client.messages.stream(model="claude-new", max_tokens=9, messages=HELLO) as stream:  # type: ignore[arg-type]
        assert "".join(stream.text_stream) == "Hello."
        streamed = stream.get_final_message()
    for message in (whole, streamed):
        assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
        assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("tool_use", 7, 3)
    assert streamed.content[2].input == {"name": "Ana"}  # type: ignore[union-attr]


def test_anthropic_says_what_it_has(away: tuple[FakeAnthropic, anthropic.Anthropic]) -> None:
    _, client = away
    assert [model.id for model in client.models.list()] == ["claude-new", "claude-old"]
    model = client.models.retrieve("claude-old")
    assert model.capabilities and not model.capabilities.structured_outputs.supported


@pytest.mark.parametrize(
    "arguments, says",
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"messages": []}, "first message"),
        ({"messages": [{"role": "user", "content": " "}]}, "non-empty"),
        ({"extra_body": {"temperature": 0}}, "Extra inputs"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "not supported"),
        ({"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}, "additionalProperties"),
        ({"messages": [*HELLO, {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_9", "content": "x"}]}]}, "unexpected `tool_use_id`"),
        ({"messages": [*HELLO, {"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_9", "name": "find", "input": {}}]}, *HELLO]}, "without `tool_result`"),
    ],
)  # fmt: skip
def test_anthropic_complains_of_bad_requests(
    away: tuple[FakeAnthropic, anthropic.Anthropic], arguments: dict[str, object], says: str
) -> None:
    import anthropic

    _, client = away
    given = {"model": "claude-new", "max_tokens": 9, "messages": HELLO, "tools": [TOOL]} | arguments
    with pytest.raises(anthropic.BadRequestError, match=says) as caught:
        client.messages.create(**given)  # type: ignore[call-overload]
    assert caught.value.type == "invalid_request_error"


def test_anthropic_has_an_error_for_everything(away: tuple[FakeAnthropic, anthropic.Anthropic]) -> None:
    import anthropic

    server, client = away
    for status, kind in ((429, "rate_limit_error"), (500, "api_error"), (529, "overloaded_error")):
        server.enqueue(Fails(status, "later", headers={"retry-after": "3"}))
        with pytest.raises(anthropic.APIStatusError, match="later") as caught:
            client.messages.create(model="claude-new", max_tokens=9, messages=HELLO)  # type: ignore[arg-type]
        assert (caught.value.type, caught.value.response.headers["retry-after"]) == (kind, "3")
    with pytest.raises(anthropic.AuthenticationError):
        anthropic.Anthropic(api_key="other", base_url=server.url, max_retries=0).models.list()
    with pytest.raises(anthropic.NotFoundError):
        client.messages.create(model="claude-none", max_tokens=9, messages=HELLO)  # type: ignore[arg-type]
