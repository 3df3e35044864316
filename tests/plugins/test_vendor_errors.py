"""What a person reads when a vendor refuses: what is wrong, and what to do, never the name of a class."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from memory.errors import ModelUnavailableError
from plugins.llms.anthropic import AnthropicModel
from plugins.llms.guard import Guarded
from plugins.llms.ollama import OllamaModel
from plugins.llms.openai import OpenAIModel
from plugins.settings import AnthropicSettings, OllamaSettings, OpenAISettings
from tests.fakes import Breaks, ClaudeModel, Fails, FakeAnthropic, FakeOllama, FakeOpenAI, Says, Sends, ServedModel
from tests.fakes import OllamaModel as FakeModel
from tests.fakes.server import FakeServer, Reply
from tests.plugins.models import LONG, ask

CLASS = re.compile(r"[A-Z][a-z]+[A-Z]\w*Error|\w+_error|Exception")


@pytest.fixture(params=["ollama", "openai", "anthropic"])
def asked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FakeServer, Guarded]]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
    server: FakeServer
    match request.param:
        case "ollama":
            server = FakeOllama(FakeModel("m"))
            backend: object = OllamaModel("m", OllamaSettings(host=server.url))
        case "openai":
            server = FakeOpenAI(ServedModel("m"))
            backend = OpenAIModel("m", OpenAISettings(url=server.url))
        case _:
            server = FakeAnthropic(ClaudeModel("m"), key="sk-ant-fake")
            backend = AnthropicModel("m", AnthropicSettings(url=server.url))
    with server:
        yield server, Guarded(f"{request.param}:m", backend, pause=0.001)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reply", "wrong", "remedy"),
    [
        (Fails(401, "invalid x-api-key"), "API key|account", "--key|key_file|ollama signin"),
        (Fails(402, "Your credit balance is too low"), "credit|account", "billing|Add to it|your plan"),
        (Fails(429, "slow down", headers={"retry-after": "99"}), "no more requests", "Ask again in a minute"),
        (Fails(529, "Overloaded"), "verloaded", "Ask again in a minute|See its log"),
        (Breaks(Says(LONG), 3), "broke off", "Ask again|Try again"),
        (Sends(b"<html>hello</html>", content_type="text/html"), "broke off|JSON", "gain|openai.url|JSON"),
        (Fails(500, "internal"), "fault|could not answer", "Ask again|See its log"),
    ],
)
def test_what_a_person_reads(asked: tuple[FakeServer, Guarded], reply: Reply, wrong: str, remedy: str) -> None:
    server, model = asked
    server.answer = lambda body: reply
    with pytest.raises(ModelUnavailableError) as caught:
        model.complete(ask(local_only=False))
    text = str(caught.value)
    assert re.search(wrong, text) and re.search(remedy, text), text
    assert not CLASS.search(text), text


def test_a_credit_that_is_used_up_is_reported_however_the_vendor_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
    with FakeAnthropic(ClaudeModel("m"), key="sk-ant-fake") as server:
        server.answer = lambda body: Fails(400, "Your credit balance is too low to access the API.")
        with pytest.raises(ModelUnavailableError, match=r"^Anthropic says that no credit is left.*billing") as caught:
            Guarded("anthropic:m", AnthropicModel("m", AnthropicSettings(url=server.url))).complete(
                ask(local_only=False)
            )
    assert caught.value.lasting
    with FakeOpenAI(ServedModel("m")) as other:
        other.answer = lambda body: Fails(429, "You exceeded your current quota", "insufficient_quota")
        with pytest.raises(
            ModelUnavailableError, match=r"^The server says .* no credit .*pal models use answer"
        ) as caught:
            Guarded("openai:m", OpenAIModel("m", OpenAISettings(url=other.url))).complete(ask(local_only=False))
    assert caught.value.lasting
