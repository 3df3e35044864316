"""Ollama's own client, as Palimpsest sets it up: what it adds, what it must not send, and where it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from memory.errors import ModelUnavailableError
from memory.llm import Tool
from plugins.embedders.served import OllamaEmbedder
from plugins.llms import call
from plugins.llms.guard import Guarded
from plugins.llms.ollama import OllamaModel as Model
from plugins.llms.ollama import list_models
from plugins.settings import OllamaSettings
from tests.fakes import Fails, FakeOllama, OllamaModel, Says, Sends
from tests.fakes.vectors import embed
from tests.plugins.models import ask, streamed

QWEN = OllamaModel("qwen3:4b", loaded=True)
BGE = OllamaModel("bge-m3", capabilities=("embedding",))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOllama]:
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    with FakeOllama(QWEN, BGE) as server:
        yield server


def opened(server: FakeOllama) -> Guarded:
    return Guarded("ollama:qwen3:4b", Model("qwen3:4b", OllamaSettings(host=server.url)), pause=0.001)


def embedder(server: FakeOllama) -> OllamaEmbedder:
    return OllamaEmbedder("bge-m3", OllamaSettings(host=server.url))


def test_the_official_client_chats_and_embeds(server: FakeOllama) -> None:
    opened(server).complete(ask())
    embedder(server).embed_query("fog")
    agents = {seen.path: seen.headers["user-agent"] for seen in server.seen if seen.method == "POST"}
    assert agents["/api/chat"].startswith("ollama-python/")
    assert agents["/api/embed"].startswith("ollama-python/")


def test_no_key_of_the_environment_is_sent(server: FakeOllama, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "secret")
    list_models(OllamaSettings(host=server.url))
    opened(server).complete(ask())
    embedder(server).embed_query("fog")
    assert {"/api/tags", "/api/show", "/api/version", "/api/chat", "/api/embed"} <= {seen.path for seen in server.seen}
    assert not [seen for seen in server.seen if "authorization" in seen.headers]


def test_the_schema_of_a_tool_arrives_whole(server: FakeOllama) -> None:
    schema = {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}},
        "required": ["rows"],
        "additionalProperties": False,
    }
    opened(server).complete(ask(tools=(Tool("collect", "Collects.", schema),)))
    function = {"name": "collect", "description": "Collects.", "parameters": schema}
    assert server.chats[0]["tools"] == [{"type": "function", "function": function}]


@pytest.mark.parametrize("sign", ["\x85", "\u2028", "\u2029", "\x0b", "\x1c", "é"])
def test_no_character_of_a_reply_cuts_a_line(server: FakeOllama, sign: str) -> None:
    parts = [f"one{sign}two", f"{sign}", f" three{sign}"]
    rows = [{"message": {"role": "assistant", "content": part}, "done": False} for part in parts]
    last = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    body = "\n\n".join(json.dumps(row, ensure_ascii=False) for row in [*rows, last])
    server.enqueue(Sends(body.encode()))
    pieces, reply = streamed(opened(server), ask())
    assert (pieces, reply.text) == (parts, "".join(parts))


def chat(server: FakeOllama) -> None:
    opened(server).complete(ask("a secret"))


def vectors(server: FakeOllama) -> None:
    embedder(server).embed_documents(["a secret"])


@pytest.mark.parametrize(("path", "asks"), [("/api/chat", chat), ("/api/embed", vectors)])
def test_neither_proxy_nor_redirect_is_followed(
    server: FakeOllama, monkeypatch: pytest.MonkeyPatch, path: str, asks: Callable[[FakeOllama], None]
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.7:3128")
    asks(server)
    with FakeOllama(QWEN, BGE) as other:
        moved = Fails(307, "moved", headers={"Location": f"{other.url}{path}"})
        server.answer = lambda body: moved
        server.vectors.spoil(*[moved] * 4)
        with pytest.raises(ModelUnavailableError, match="307"):
            asks(server)
        assert other.seen == []


def test_a_server_that_embeds_without_end_is_left(server: FakeOllama, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "MOST_BYTES", 1 << 20)
    asks = embedder(server)
    assert asks.dimension == 16
    endless = Sends(b"a" * (1 << 16), times=64)
    server.vectors.spoil(endless, endless)
    with pytest.raises(ModelUnavailableError, match="broke off"):
        asks.embed_documents(["fog"])
    np.testing.assert_allclose(asks.embed_query("fog"), embed("fog"), atol=1e-6)


def test_looking_and_a_server_that_is_gone_import_no_client() -> None:
    """It takes a quarter of a second of the processor."""
    with FakeOllama(QWEN, answer=lambda body: Says("Yes.")) as server:
        code = (
            "import sys\n"
            "from plugins.settings import OllamaSettings\n"
            "from plugins.llms.ollama import OllamaModel, list_models\n"
            "from plugins.llms.guard import Guarded\n"
            "from memory.llm import LlmRequest, Message\n"
            f"here, gone = OllamaSettings(host={server.url!r}), OllamaSettings(host='127.0.0.1:9')\n"
            "assert list_models(here).models and not list_models(gone).models\n"
            "request = LlmRequest(messages=(Message('user', 'Hello'),))\n"
            "assert 'ollama' not in sys.modules\n"
            "assert Guarded('ollama:qwen3:4b', OllamaModel('qwen3:4b', here)).complete(request).text == 'Yes.'\n"
            "assert 'ollama' in sys.modules\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
