"""Anthropic's own client against a server that speaks its protocol, well and badly."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from memory.errors import (
    LocalOnlyError,
    MalformedOutputError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    OverBudgetError,
)
from memory.llm import LlmRequest, Message
from plugins.llms import anthropic
from plugins.llms.anthropic import AnthropicModel, list_models
from plugins.llms.guard import Guarded
from plugins.settings import AnthropicSettings
from tests.fakes import Breaks, Calls, ClaudeModel, Fails, FakeAnthropic, Says, Sends
from tests.plugins.models import FIND, LONG, PERSON, streamed
from tests.plugins.models import ask as any_ask

KEY = "sk-ant-api03-do-not-tell"
NEW = ClaudeModel("claude-new")
OLD = ClaudeModel("claude-old", context=100_000, output=4_096, structured=False, thinking=("enabled",), effort=())
GONE = ClaudeModel("claude-gone", lifecycle="retired")


def ask(text: str = "Where does Ana live?", **more: object) -> LlmRequest:
    return any_ask(text, local_only=False, **more)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAnthropic]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with FakeAnthropic(NEW, OLD, GONE, key=KEY) as server:
        yield server


def opened(server: FakeAnthropic, name: str = "claude-new", **settings: object) -> Guarded:
    backend = AnthropicModel(name, AnthropicSettings(url=server.url, **settings))  # type: ignore[arg-type]
    return Guarded(f"anthropic:{name}", backend, pause=0.001)


def test_what_is_sent(server: FakeAnthropic) -> None:
    opened(server).complete(ask(max_tokens=99))
    (sent,) = server.messages
    assert sent["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Where does Ana live?"}]}]
    assert (sent["model"], sent["max_tokens"], sent["thinking"]) == ("claude-new", 99, {"type": "disabled"})


def test_it_speaks_the_version_of_the_client(server: FakeAnthropic) -> None:
    from anthropic._constants import ANTHROPIC_API_VERSION

    opened(server).complete(ask())
    assert {seen.headers["anthropic-version"] for seen in server.seen} == {ANTHROPIC_API_VERSION}
    assert anthropic.API_VERSION == ANTHROPIC_API_VERSION


def test_the_fixed_part_is_kept_ready(server: FakeAnthropic) -> None:
    model, request = opened(server), ask(system="You extract facts. " * 50)
    first, second = model.complete(request), model.complete(request)
    assert first.usage.cached == 0
    assert second.usage.cached > 100
    assert first.usage.read == second.usage.read > second.usage.cached, "what is cached is part of what was read"
    assert server.messages[0]["system"][0]["cache_control"] == {"type": "ephemeral"}


@pytest.mark.parametrize("name", ["claude-new", "claude-old"])
def test_json_natively_or_by_a_tool(server: FakeAnthropic, name: str) -> None:
    server.enqueue(Says('{"name": "Ana", "year": 2024}'), Says('{"name": "Ana", "year": 0}'), Says("Ana"))
    model = opened(server, name)
    pieces, reply = streamed(model, ask(schema=PERSON))
    assert reply.data == {"name": "Ana", "year": 2024}
    assert ("".join(pieces), reply.calls) == (reply.text, ())
    assert ("output_config" in server.messages[0]) == (name == "claude-new")
    assert ("tool_choice" in server.messages[0]) == (name == "claude-old")
    with pytest.raises(MalformedOutputError, match="minimum"):
        model.complete(ask(schema=PERSON))
    with pytest.raises(MalformedOutputError, match="JSON"):
        model.complete(ask(schema=PERSON))


def test_reading_takes_little_effort_where_the_model_knows_of_it(server: FakeAnthropic) -> None:
    for name in ("claude-new", "claude-old"):
        for purpose in ("extract", "decide", "answer"):
            server.enqueue(Says('{"name": "Ana"}'))
            opened(server, name).complete(ask(schema=PERSON, purpose=purpose))
    sent = [body.get("output_config", {}) for body in server.messages]
    assert [config.get("effort") for config in sent] == ["low", "low", None, None, None, None]
    assert all("format" in config for config in sent[:3])


def test_a_conversation_with_tools(server: FakeAnthropic) -> None:
    calls = [Calls("find", {"name": "Ana"}), Calls("find", {"name": "Rui", "year": 2024})]
    server.enqueue(Says("Let me look.", calls, thinking="Who?"), Says("In Porto."))
    model, first = opened(server), ask(tools=(FIND,))
    reply = model.complete(first)
    assert (reply.text, reply.stop) == ("Let me look.", "tools")
    assert [call.arguments for call in reply.calls] == [{"name": "Ana"}, {"name": "Rui", "year": 2024}]
    results = (reply.calls[0].make_result("Porto"), reply.calls[1].make_result("nobody", failed=True))
    again = LlmRequest(messages=(*first.messages, reply.message(), *results), tools=(FIND,), local_only=False)
    assert model.complete(again).text == "In Porto."
    user, assistant, tools = server.messages[1]["messages"]
    assert [block["type"] for block in assistant["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert assistant["content"][0]["signature"], "a thought is only taken back with its signature"
    assert tools == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": reply.calls[0].id, "content": "Porto"},
            {"type": "tool_result", "tool_use_id": reply.calls[1].id, "content": "nobody", "is_error": True},
        ],
    }
    assert user["role"] == "user"
    assert server.messages[1]["cache_control"] == {"type": "ephemeral"}


def test_a_call_that_was_cut_off_is_none(server: FakeAnthropic) -> None:
    server.enqueue(Says("Let me look.", [Calls("find", '{"name": "An')], stop="length"))
    reply = opened(server).complete(ask(tools=(FIND,)))
    assert (reply.text, reply.calls, reply.stop) == ("Let me look.", (), "length")
    assert [block["type"] for block in reply.native] == ["text"]


def test_a_conversation_begun_with_another_model_goes_on(server: FakeAnthropic) -> None:
    server.enqueue(Says("", [Calls("find", {"name": "Ana"})]))
    (call,) = opened(server).complete(ask(tools=(FIND,))).calls
    turns = (Message("user", "Where?"), Message("assistant", "", (call,), native="thoughts"), call.make_result("Porto"))
    assert opened(server).complete(LlmRequest(messages=turns, tools=(FIND,), local_only=False)).text == "Yes."


def test_a_model_is_asked_to_think_only_as_it_can(server: FakeAnthropic) -> None:
    opened(server).complete(ask(think=True, max_tokens=100))
    opened(server, "claude-old").complete(ask(think=True, max_tokens=100))
    thinks, plain = server.messages
    assert thinks["thinking"] == {"type": "adaptive"}
    assert thinks["max_tokens"] == 100 + anthropic.THOUGHT_TOKENS
    assert "thinking" not in plain
    assert plain["max_tokens"] <= OLD.output


def test_a_refusal_is_no_answer(server: FakeAnthropic) -> None:
    server.enqueue(Says("I can", stop="refusal"))
    with pytest.raises(ModelRefusedError, match="cyber"):
        opened(server).complete(ask())


@pytest.mark.parametrize(
    "reply, error, says, tries",
    [
        (Breaks(Says(LONG), 4), ModelUnavailableError, "RemoteProtocolError", 3),
        (Fails(429, "slow down", headers={"retry-after": "0.001"}), ModelUnavailableError, "no more requests", 3),
        (Fails(429, "slow down", headers={"retry-after": "3600"}), ModelUnavailableError, "no more requests", 1),
        (Fails(429, "slow down", headers={"retry-after": "tomorrow"}), ModelUnavailableError, "no more requests", 3),
        (Fails(500, "internal"), ModelUnavailableError, "api_error", 3),
        (Fails(529, "overloaded"), ModelUnavailableError, "overloaded", 3),
        (
            Fails(200, "overloaded", "overloaded_error", says=Says(LONG), after=4),
            ModelUnavailableError,
            "overloaded",
            3,
        ),
        (Fails(401, "invalid x-api-key"), ModelUnavailableError, "API key", 1),
        (Fails(402, "credit balance is too low"), ModelUnavailableError, "billing", 1),
        (Fails(403, "not yours"), ModelUnavailableError, "may not use", 1),
        (Fails(400, "prompt is too long: 210000 tokens"), OverBudgetError, "too long", 1),
        (Fails(413, "request exceeds the maximum size"), OverBudgetError, "too long", 1),
        (Fails(400, "messages.3: odd"), ModelUnavailableError, "odd", 1),
        (Sends(b"<html>bad gateway</html>", 502, "text/html"), ModelUnavailableError, "502", 3),
        (Sends(b"<html>hello</html>", content_type="text/html"), ModelUnavailableError, "broke off", 3),
        (
            Sends(b"event: message_start\ndata: {tr\n\n", content_type="text/event-stream"),
            ModelUnavailableError,
            "JSON",
            3,
        ),
        (Sends(b"", 302), ModelUnavailableError, "302", 1),
        (Says("", [Calls("find", "{name")]), MalformedOutputError, "invalid JSON", 1),
        (Says("", [Calls("find", "[]")]), MalformedOutputError, "else than an object", 1),
    ],
)
def test_what_a_bad_server_says(
    server: FakeAnthropic, reply: Says, error: type[ModelError], says: str, tries: int
) -> None:
    server.answer = lambda body: reply
    with pytest.raises(error, match=says):
        opened(server).complete(ask(tools=(FIND,)))
    assert len(server.messages) == tries


def test_how_long_to_wait_is_reported(server: FakeAnthropic) -> None:
    server.enqueue(Fails(429, "slow down", headers={"retry-after": "3600"}))
    with pytest.raises(ModelUnavailableError) as caught:
        opened(server).complete(ask())
    assert caught.value.retry_after == 3600
    assert not caught.value.lasting


def test_it_is_never_local_and_what_must_stay_makes_no_connection(server: FakeAnthropic) -> None:
    model = opened(server)
    assert not model.is_local
    with pytest.raises(LocalOnlyError):
        model.complete(any_ask("a secret"))
    assert server.seen == []


def test_what_it_says_of_a_model(server: FakeAnthropic) -> None:
    assert opened(server).context_tokens == 200_000
    assert opened(server, "claude-old").context_tokens == 100_000
    with pytest.raises(OverBudgetError):
        opened(server, "claude-old").complete(ask("word " * 100_000))
    with pytest.raises(ModelUnavailableError, match="no model 'claude-none'") as caught:
        opened(server, "claude-none").complete(ask())
    assert caught.value.lasting


def test_what_there_is(server: FakeAnthropic) -> None:
    found = list_models(AnthropicSettings(url=server.url))
    assert [(one.model, one.is_local, one.context_tokens) for one in found.models] == [
        ("claude-new", False, 200_000),
        ("claude-old", False, 100_000),
    ]
    server.key = "another"
    assert "does not accept the API key" in list_models(AnthropicSettings(url=server.url)).problem
    server.key = KEY
    server.models.clear()
    assert "no models" in list_models(AnthropicSettings(url=server.url)).problem


def test_without_a_key_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list_models(None)
    assert found.absent
    assert "ANTHROPIC_API_KEY" in found.problem
    with FakeAnthropic(NEW) as server:
        with pytest.raises(ModelUnavailableError, match="no API key"):
            opened(server).complete(ask())
        assert server.seen == []


def test_a_network_that_is_not_there(server: FakeAnthropic) -> None:
    model = opened(server)
    model.complete(ask())
    server.__exit__(None, None, None)
    with pytest.raises(ModelUnavailableError, match="cannot be reached"):
        model.complete(ask())
    assert "cannot be reached" in list_models(AnthropicSettings(url=server.url)).problem


def test_the_key_from_a_file(server: FakeAnthropic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    file = tmp_path / "key"
    with pytest.raises(ModelUnavailableError, match="cannot be read"):
        opened(server, key_file=str(file)).complete(ask())
    file.write_text(f"{KEY}\n")
    file.chmod(0o644)
    with pytest.raises(ModelUnavailableError, match="chmod 600"):
        opened(server, key_file=str(file)).complete(ask())
    file.chmod(0o600)
    assert opened(server, key_file=str(file)).complete(ask()).text == "Yes."
    file.write_text("two\nlines")
    with pytest.raises(ModelUnavailableError, match="one line"):
        opened(server, key_file=str(file)).complete(ask())


def test_the_key_from_the_keyring(server: FakeAnthropic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ModelUnavailableError, match=r"anthropic\.key_file names the keyring.*\[keyring\]"):
        opened(server, key_file="keyring:claude").complete(ask())
    held: dict[tuple[str, ...], str] = {}
    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=lambda *of: held.get(of)))
    with pytest.raises(ModelUnavailableError, match="keyring set palimpsest claude"):
        opened(server, key_file="keyring:claude").complete(ask())
    held["palimpsest", "claude"] = KEY
    assert opened(server, key_file="keyring:claude").complete(ask()).text == "Yes."


def test_the_key_is_in_no_log_and_no_message(server: FakeAnthropic, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.enqueue(Says("x"), Fails(401), Fails(500), Fails(500), Fails(500), Breaks(Says(LONG), 3))
    for _ in range(4):
        try:
            opened(server).complete(ask())
        except ModelError as error:
            assert KEY not in repr(error)
            assert KEY not in str(error.__cause__)
    assert caplog.records
    assert KEY not in caplog.text


def test_the_key_goes_nowhere_in_the_clear(server: FakeAnthropic) -> None:
    model = Guarded("anthropic:m", AnthropicModel("m", AnthropicSettings(url="http://gateway.example")))
    with pytest.raises(ModelUnavailableError, match="https"):
        model.complete(ask())
    assert "https" in list_models(AnthropicSettings(url="http://127.0.0.1.example")).problem


def test_a_gateway_that_only_talks(server: FakeAnthropic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anthropic, "_ask", lambda settings, path: {})
    model = opened(server)
    assert model.context_tokens == anthropic.CONTEXT
    assert model.complete(ask()).text == "Yes."
