"""Models of Ollama against a server that speaks its protocol, well and badly."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import (
    LocalOnlyError,
    MalformedOutputError,
    ModelError,
    ModelUnavailableError,
    OverBudgetError,
)
from memory.llm import LlmRequest, about_tokens
from plugins.llms import ollama
from plugins.llms.call import CLOSE, OPEN, without_thoughts
from plugins.llms.guard import Guarded
from plugins.llms.ollama import OllamaModel as Model
from plugins.llms.ollama import list_models
from plugins.settings import OllamaSettings
from tests.fakes import Breaks, Calls, Fails, FakeOllama, OllamaModel, Says, Sends
from tests.plugins.models import FIND, LONG, PERSON, ask, streamed

QWEN = OllamaModel("qwen3:4b", capabilities=("completion", "tools", "thinking"), loaded=True)
LLAMA = OllamaModel("llama3:latest", context=8192, capabilities=("completion",))
CLOUD = OllamaModel("gpt-oss:120b-cloud", remote_host="https://ollama.com:443")
RENAMED = OllamaModel("mine:latest", remote_host="https://ollama.com:443")
EMBEDS = OllamaModel("nomic-embed-text:latest", context=2048, capabilities=("embedding",))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOllama]:
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    with FakeOllama(QWEN, LLAMA, CLOUD, RENAMED, EMBEDS) as server:
        yield server


def opened(server: FakeOllama, name: str = "qwen3:4b", **settings: object) -> Guarded:
    return Guarded(f"ollama:{name}", Model(name, OllamaSettings(host=server.url, **settings)), pause=0.001)  # type: ignore[arg-type]


def test_what_is_sent(server: FakeOllama) -> None:
    opened(server).complete(ask(system="Be brief.", max_tokens=99))
    (chat,) = server.chats
    assert chat["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where does Ana live?"},
    ]
    options = {"num_ctx": 8192, "num_predict": 99, "temperature": 0.0, "seed": 42, "repeat_penalty": 1.0}
    assert chat["options"] == options
    assert (chat["keep_alive"], chat["think"]) == ("10m", False)
    assert (chat["truncate"], chat["shift"]) == (False, False), "the orders are never dropped"


@pytest.mark.parametrize("purpose, kept", [("extract", "1m"), ("decide", "1m"), ("answer", "10m"), ("guide", "10m")])
def test_a_model_that_has_read_leaves_the_memory_soon(server: FakeOllama, purpose: str, kept: str) -> None:
    opened(server).complete(ask(purpose=purpose))
    assert server.chats[0]["keep_alive"] == kept


def test_a_reply_is_as_long_as_there_is_room_for(server: FakeOllama) -> None:
    text = "word " * 4000
    opened(server).complete(ask(text, max_tokens=9000))
    most = server.chats[0]["options"]["num_predict"]
    assert most + about_tokens(text) == 8192
    with pytest.raises(OverBudgetError, match="too long"):
        opened(server).complete(ask("word " * 4800, max_tokens=9000))
    assert len(server.chats) == 1


def test_a_prompt_that_is_longer_than_was_thought_is_refused_and_not_cut(server: FakeOllama) -> None:
    with pytest.raises(OverBudgetError, match="too long"):
        opened(server, "llama3").complete(ask("a " * 8193, max_tokens=10))
    assert len(server.chats) == 1, "words of one letter are fewer tokens than that for us"


def test_a_thinking_model_that_forgets_the_form_may_think_from_then_on(server: FakeOllama) -> None:
    server.models["qwen3:4b"] = replace(QWEN, unthinking="prose")
    server.answer = lambda body: Says('{"name": "Ana"}')
    model = opened(server)
    with pytest.raises(MalformedOutputError):
        model.complete(ask(schema=PERSON, max_tokens=100))
    assert model.complete(ask(schema=PERSON, max_tokens=100)).data == {"name": "Ana"}
    assert model.complete(ask()).text
    assert [chat["think"] for chat in server.chats] == [False, True, False]
    assert server.chats[1]["options"]["num_predict"] == 100 + ollama.THOUGHT_TOKENS


@pytest.mark.parametrize("said", ['{"name": "Ana"}', '```json\n{"name": "Ana"}\n```', 'Who?</think>\n{"name": "Ana"}'])
def test_json_arrives_however_a_thinking_model_wraps_it(server: FakeOllama, said: str) -> None:
    server.enqueue(*[Says(said)] * 2)
    model = opened(server)
    assert [model.complete(ask(schema=PERSON)).data for _ in range(2)] == [{"name": "Ana"}] * 2
    assert [chat["think"] for chat in server.chats] == [False, False]


def test_json_that_is_taken_for_a_thought(server: FakeOllama) -> None:
    server.models["qwen3:4b"] = replace(QWEN, unthinking="thought")
    server.enqueue(Says('{"name": "Ana"}'))
    assert opened(server).complete(ask(schema=PERSON)).data == {"name": "Ana"}


def test_what_only_looks_like_the_end_of_a_line_ends_none(server: FakeOllama) -> None:
    text = "one\x85two\u2028three\x0bfour"
    message = {"role": "assistant", "content": text}
    line = json.dumps({"message": message, "done": True, "done_reason": "stop"}, ensure_ascii=False)
    server.enqueue(Sends(line.encode() + b"\n"))
    assert opened(server).complete(ask()).text == text


def test_the_context_is_the_models_own_up_to_what_is_wanted(server: FakeOllama) -> None:
    assert opened(server).context_tokens == 8192
    assert opened(server, context=100_000).context_tokens == QWEN.context
    assert opened(server, "llama3").context_tokens == 8192


def test_json_by_the_servers_own_means(server: FakeOllama) -> None:
    server.enqueue(Says('{"name": "Ana", "year": 2024}'), Says('{"name": "Ana", "year": 0}'))
    model = opened(server)
    assert model.complete(ask(schema=PERSON)).data == {"name": "Ana", "year": 2024}
    assert server.chats[0]["format"] == PERSON
    with pytest.raises(MalformedOutputError, match="minimum"):
        model.complete(ask(schema=PERSON))


def test_a_conversation_with_tools(server: FakeOllama) -> None:
    server.enqueue(Says("", [Calls("find", {"name": "Ana"}), Calls("find", {"name": "Rui"})], thinking="Who?"))
    server.enqueue(Says("In Porto."))
    model, first = opened(server), ask(tools=(FIND,))
    reply = model.complete(first)
    assert reply.stop == "tools"
    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("find", {"name": "Ana"}),
        ("find", {"name": "Rui"}),
    ]
    results = (reply.calls[0].make_result("Ana: Porto"), reply.calls[1].make_result("nobody", failed=True))
    again = LlmRequest(messages=(*first.messages, reply.message(), *results), tools=(FIND,))
    assert model.complete(again).text == "In Porto."
    sent = server.chats[1]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool"]
    assert sent[1]["thinking"] == "Who?"
    assert sent[1]["tool_calls"][1] == {"function": {"name": "find", "arguments": {"name": "Rui"}}}
    assert sent[2] == {"role": "tool", "content": "Ana: Porto", "tool_name": "find"}
    assert sent[3]["content"] == "Error: nobody"
    assert server.chats[0]["tools"][0]["function"]["parameters"]["required"] == ["name"]


@pytest.mark.parametrize("text", ["<think>Hm, Porto?</think>\n\nIn Porto.", "In Porto."])
def test_thoughts_are_no_part_of_the_answer(server: FakeOllama, text: str) -> None:
    server.enqueue(Says(text, thinking="Let me see."))
    pieces, reply = streamed(opened(server), ask())
    assert "".join(pieces) == reply.text == "In Porto."


def test_a_model_is_asked_to_think_only_if_it_can(server: FakeOllama) -> None:
    opened(server).complete(ask(think=True, max_tokens=100))
    opened(server, "llama3").complete(ask(think=True))
    thinks, plain = server.chats
    assert (thinks["think"], thinks["options"]["num_predict"]) == (True, 100 + ollama.THOUGHT_TOKENS)
    assert "think" not in plain


@pytest.mark.parametrize(
    "reply, error, says, tries",
    [
        (Breaks(Says(LONG), 3, tidily=True), ModelUnavailableError, "broke off", 3),
        (Fails(500, "model requires more system memory"), ModelUnavailableError, "more system memory", 3),
        (Fails(503, "server busy, please try again"), ModelUnavailableError, "busy", 3),
        (Fails(429, "too many requests"), ModelUnavailableError, "too many", 3),
        (Fails(200, "an error was encountered", says=Says(LONG), after=2), ModelUnavailableError, "encountered", 3),
        (Fails(401, "unauthorized"), ModelUnavailableError, "401", 1),
        (Sends(b"<html>hello</html>", content_type="text/html"), ModelUnavailableError, "JSONDecodeError", 3),
        (Sends(b'{"done": tr'), ModelUnavailableError, "JSONDecodeError", 3),
        (Sends(b"[1, 2, 3]\n"), ModelUnavailableError, "AttributeError", 3),
        (Sends(b"", 302), ModelUnavailableError, "302", 1),
        (Sends(b'{"message": "hello"}\n'), MalformedOutputError, "not in Ollama's format", 1),
        (Says("", [Calls("find", "name=Ana")]), MalformedOutputError, "not in Ollama's format", 1),
        (Says("<think>and so on"), MalformedOutputError, "wrote nothing", 1),
    ],
)
def test_what_a_bad_server_says(
    server: FakeOllama, reply: Says, error: type[ModelError], says: str, tries: int
) -> None:
    server.answer = lambda body: reply
    with pytest.raises(error, match=says):
        opened(server).complete(ask(tools=(FIND,)))
    assert len(server.chats) == tries


def test_a_model_that_is_not_there(server: FakeOllama) -> None:
    with pytest.raises(ModelUnavailableError, match="ollama pull mistral") as caught:
        opened(server, "mistral").complete(ask())
    assert caught.value.lasting
    assert server.chats == []


def test_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOllama(QWEN) as gone:
        pass
    with pytest.raises(ModelUnavailableError, match=r"Start it: ollama serve"):
        opened(gone).complete(ask())
    found = list_models(OllamaSettings(host=gone.host))
    assert (found.models, found.absent) == ((), False)
    assert "ollama serve" in found.problem
    monkeypatch.setattr(ollama, "PORT", int(gone.host.rpartition(":")[2]))
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    found = list_models(None)
    assert found.absent, "who has no Ollama has no problem"
    assert "ollama pull" in found.problem


def test_what_runs_in_the_cloud_is_not_local(server: FakeOllama) -> None:
    assert opened(server).is_local and opened(server, "llama3").is_local
    for name in ("gpt-oss:120b-cloud", "mine"):
        model = opened(server, name)
        assert not model.is_local
        with pytest.raises(LocalOnlyError):
            model.complete(ask())
        assert model.complete(ask(local_only=False)).text == "Yes."
    assert len(server.chats) == 2


def test_a_server_elsewhere_gets_no_byte_of_what_must_stay(server: FakeOllama, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(ollama, "_ask", lambda url, path, body=None: asked.append(path) or {})
    model = Guarded("ollama:qwen3:4b", Model("qwen3:4b", OllamaSettings(host="http://192.0.2.7:11434")))
    with pytest.raises(LocalOnlyError):
        model.complete(ask())
    assert asked == []


@pytest.mark.parametrize(
    "named, url, local",
    [
        ("", "http://127.0.0.1:11434", True),
        ("0.0.0.0", "http://127.0.0.1:11434", True),
        ("0.0.0.0:8080", "http://127.0.0.1:8080", True),
        (":8080", "http://127.0.0.1:8080", True),
        ("localhost", "http://localhost:11434", True),
        ("127.0.0.2:9", "http://127.0.0.2:9", True),
        ("[::1]", "http://[::1]:11434", True),
        ("http://127.0.0.1/", "http://127.0.0.1:80", True),
        ("https://ai.example/v1", "https://ai.example:443/v1", False),
        ("192.168.1.5", "http://192.168.1.5:11434", False),
        ("127.0.0.1.example.com", "http://127.0.0.1.example.com:11434", False),
        ("http://127.0.0.1@evil.example", "http://evil.example:80", False),
        ("localhost.evil.example", "http://localhost.evil.example:11434", False),
    ],
)
def test_where_a_server_is(named: str, url: str, local: bool) -> None:
    assert ollama.locate(OllamaSettings(host=named)) == (url, local)


@pytest.mark.parametrize("named", ["http://[", "ftp://127.0.0.1", "127.0.0.1:port"])
def test_what_is_no_address(named: str) -> None:
    with pytest.raises(ModelUnavailableError, match="no address"):
        Model("m", OllamaSettings(host=named))
    assert "no address" in list_models(OllamaSettings(host=named)).problem


def test_neither_a_proxy_nor_a_redirect_takes_the_text_elsewhere(
    server: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.7:3128")
    assert opened(server).complete(ask()).text == "Yes."
    with FakeOllama(QWEN) as other:
        server.answer = lambda body: Fails(307, "moved", headers={"Location": f"{other.url}/api/chat"})
        with pytest.raises(ModelUnavailableError, match="307"):
            opened(server).complete(ask("a secret"))
        assert other.seen == []


def test_a_question_that_does_not_fit_is_not_cut_by_the_server(server: FakeOllama) -> None:
    with pytest.raises(OverBudgetError):
        opened(server, "llama3").complete(ask("word " * 8000))
    assert server.chats == []


def test_what_there_is(server: FakeOllama, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.host)
    found = list_models(None)
    assert [(one.model, one.is_local, one.context_tokens, one.loaded) for one in found.models] == [
        ("qwen3:4b", True, 8192, True),
        ("llama3:latest", True, 8192, False),
        ("gpt-oss:120b-cloud", False, 8192, False),
        ("mine:latest", False, 8192, False),
    ]
    assert found.models[0].version == QWEN.digest[:12]
    assert found.problem == ""
    server.version = "0.12.3"
    assert "update it to 0.17.1" in list_models(None).problem
    server.models.clear()
    assert "ollama pull" in list_models(None).problem


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"models": 3}', b'{"models": [1, {"name": null}]}'])
def test_something_else_listens_there(server: FakeOllama, body: bytes) -> None:
    server.route = lambda exchange: exchange.send(Sends(body))  # type: ignore[method-assign]
    assert list_models(OllamaSettings(host=server.url)).problem
    with pytest.raises(ModelUnavailableError):
        opened(server).complete(ask())


def test_the_client_is_imported_when_a_model_is_asked(server: FakeOllama) -> None:
    code = (
        "import sys\n"
        "from plugins.settings import OllamaSettings\n"
        "from plugins.llms.registry import Models\n"
        "from plugins.manager import load\n"
        "families = load().families\n"
        "assert not {'httpx', 'ollama', 'anthropic', 'jsonschema'} & {*sys.modules}\n"
        f"models = Models(families, {{'ollama': OllamaSettings(host={server.url!r})}})\n"
        "models.open('ollama:qwen3:4b').context_tokens\n"
        "assert models.list_models()['ollama'].models\n"
        "assert not {'ollama', 'anthropic', 'pydantic'} & {*sys.modules}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@given(st.text(max_size=60), st.text(max_size=60).filter(lambda text: not text.lstrip().startswith("<")), st.data())
def test_thoughts_are_left_out_however_they_come(thought: str, answer: str, data: st.DataObject) -> None:
    thought = thought.replace(CLOSE, "")
    whole = f"\n{OPEN}{thought}{CLOSE}\n\n{answer}"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert "".join(without_thoughts(pieces)) == answer.lstrip()


@given(st.lists(st.text("<think/> a\n", max_size=6), max_size=8))
def test_what_is_no_thought_is_said(pieces: list[str]) -> None:
    whole = "".join(pieces)
    if not whole.lstrip().startswith(OPEN):
        assert "".join(without_thoughts(pieces)) == whole


def test_a_thought_without_end_is_no_answer_and_is_not_kept() -> None:
    thought = (f"hm {number} " * 100 for number in range(10_000))
    tracemalloc.start()
    assert list(without_thoughts(itertools.chain([OPEN], thought))) == []
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()
