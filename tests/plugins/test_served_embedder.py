"""Embedders of servers on this machine: what they are sent, what they say badly, and that nothing goes elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from memory.errors import (
    InvalidInputError,
    LocalOnlyError,
    MalformedOutputError,
    ModelError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from memory.protocols import Embedder
from plugins.embedders import served
from plugins.embedders.served import OllamaEmbedder, OpenAIEmbedder, ServedEmbedder
from plugins.manager import load
from plugins.settings import OllamaSettings, OpenAISettings
from tests.fakes import Breaks, Fails, FakeOllama, FakeOpenAI, Hangs, OllamaModel, Says, Sends, ServedModel
from tests.fakes.openai import Kind
from tests.fakes.server import FakeServer
from tests.fakes.vectors import Spoiled, Vectors, embed

TEXTS = ["The harbour office stands beside the crane.", "The keel is made of oak.", "fog"]
LOCAL = OllamaModel("bge-m3", capabilities=("embedding",))
CLOUD = OllamaModel("big-embed:cloud", capabilities=("embedding",), remote_host="https://ollama.com")
CHATTY = OllamaModel("qwen3:4b")


@dataclass
class At:
    """A server that embeds, and how its embedder is made."""

    server: FakeServer
    vectors: Vectors
    open: Callable[..., ServedEmbedder]
    bodies: Callable[[], list[Any]]


@pytest.fixture(params=["ollama", "openai"])
def at(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[At]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with FakeOllama(LOCAL, CLOUD, CHATTY) as ollama, FakeOpenAI(ServedModel("bge-m3", embeds=True)) as openai:
        server: Any = ollama if request.param == "ollama" else openai
        path = "/api/embed" if request.param == "ollama" else "/v1/embeddings"

        def opened(named: str = "bge-m3", **more: Any) -> ServedEmbedder:
            if request.param == "ollama":
                return OllamaEmbedder(named, OllamaSettings(host=server.url, **more))
            return OpenAIEmbedder(named, OpenAISettings(url=server.url, **more))

        yield At(server, server.vectors, opened, lambda: [one.body for one in server.seen if one.path == path])


def test_vectors_are_the_servers_in_the_order_of_the_texts(at: At) -> None:
    embedder = at.open()
    assert isinstance(embedder, Embedder)
    vectors = embedder.embed_documents([*TEXTS, "", " \n", "\ud800 half"])
    assert (vectors.shape, vectors.dtype, embedder.dimension) == ((6, 16), np.float32, 16)
    np.testing.assert_allclose(vectors[:3], [embed(text) for text in TEXTS], atol=1e-6)
    assert not vectors[3:5].any() and vectors[5].any()
    np.testing.assert_allclose(embedder.embed_query(TEXTS[0]), vectors[0], atol=1e-6)
    assert embedder.embed_documents([]).shape == (0, 16)
    assert at.bodies()[1]["input"] == [*TEXTS, "? half"], "what is blank is not sent"
    assert embedder.problem == ""


def test_what_ollama_is_sent() -> None:
    with FakeOllama(LOCAL) as server:
        OllamaEmbedder("bge-m3", OllamaSettings(host=server.url)).embed_query("Where?")
        body = server.seen[-1].body
    assert body == {"model": "bge-m3", "input": ["Where?"], "truncate": True, "keep_alive": "10m"}


def test_a_family_has_its_prefixes_and_the_first_dimensions_may_be_kept() -> None:
    with FakeOllama(OllamaModel("nomic-embed-text:v1.5", capabilities=("embedding",))) as server:
        embedder = OllamaEmbedder("nomic-embed-text:v1.5@4", OllamaSettings(host=server.url))
        assert embedder.name.startswith("ollama:nomic-embed-text:v1.5@4#")
        assert embedder.name.endswith(" [search_query: |search_document: ]")
        vector = embedder.embed_query("the mast")
        assert server.seen[-1].body["input"] == ["search_query: the mast"]
        short = np.array(embed("search_query: the mast")[:4])
        np.testing.assert_allclose(vector, short / np.linalg.norm(short), atol=1e-6)
        with pytest.raises(InvalidInputError, match="has 16 dimensions; 17"):
            OllamaEmbedder("nomic-embed-text:v1.5@17", OllamaSettings(host=server.url)).name  # noqa: B018


def test_its_name_finds_it_again_without_its_server() -> None:
    @dataclass
    class Sections:
        ollama: OllamaSettings

    with FakeOllama(LOCAL) as server:
        here = Sections(OllamaSettings(host=server.url))
        named = load(settings=here).embedder("ollama:bge-m3").name
        asked = len(server.seen)
        again = load(settings=here).embedder_of(named)
        assert again is not None and (again.name, again.dimension) == (named, 16)
        assert len(server.seen) == asked, "nobody was asked"
        np.testing.assert_allclose(again.embed_query("fog"), embed("fog"), atol=1e-6)
        server.models["bge-m3"] = replace(LOCAL, build="another")
        other = load(settings=here).embedder_of(named)
        assert other is not None
        with pytest.raises(
            ModelUnavailableError, match=r"differs from the model that made the vectors.* pal embedder ollama:bge-m3"
        ):
            other.embed_query("fog")
        assert load(settings=here).embedder("ollama:bge-m3").name != named


HALF = Breaks(Says(""))
NOT_A_NUMBER = Sends(b'{"embeddings": [[NaN]], "data": [{"index": 0, "embedding": [NaN]}]}')


@pytest.mark.parametrize(
    ("spoiled", "error", "words"),
    [
        (Fails(500, "out of memory"), ModelUnavailableError, "out of memory"),
        (Fails(503, "Loading model"), ModelUnavailableError, "Loading model"),
        (HALF, ModelUnavailableError, "broke off"),
        (Sends(b"<html>hello</html>"), MalformedOutputError, "are no vectors"),
        (Sends(b"[[[[[" * 100_000), MalformedOutputError, "are no vectors"),
        (Sends(b"{}"), MalformedOutputError, "are no vectors"),
        (Sends(b'{"embeddings": [], "data": []}'), MalformedOutputError, "one vector of 16 numbers for each text"),
        (NOT_A_NUMBER, MalformedOutputError, "vector"),
        (Sends(b'{"embeddings": ["x"], "data": [{"index": 0, "embedding": "x"}]}'), MalformedOutputError, "vector"),
        (Sends(b'{"embeddings": [], "data": [{"index": 7, "embedding": []}]}'), MalformedOutputError, "vector"),
    ],
)
def test_what_a_bad_server_says(at: At, spoiled: Spoiled, error: type[ModelError], words: str) -> None:
    embedder = at.open()
    assert embedder.dimension == 16
    at.vectors.spoil(spoiled, spoiled)
    with pytest.raises(error, match=words):
        embedder.embed_documents(TEXTS[:1])
    assert words in embedder.problem
    at.vectors.spoil(spoiled)
    np.testing.assert_allclose(embedder.embed_documents(TEXTS), [embed(text) for text in TEXTS], atol=1e-6)
    assert embedder.problem == "", "a second try went well"
    at.vectors.spoil(spoiled)
    with pytest.raises(error, match=words):
        embedder.embed_query("fog")


@pytest.mark.parametrize("change", [lambda found: [one[:9] for one in found], lambda found: found[1:]])
def test_another_dimension_or_number_of_vectors_is_refused(at: At, change: Callable[[list[Any]], list[Any]]) -> None:
    embedder = at.open()
    assert embedder.dimension == 16
    at.vectors.change = change
    with pytest.raises(MalformedOutputError, match="one vector of 16 numbers for each text"):
        embedder.embed_documents(TEXTS)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_what_is_no_number_is_refused(at: At, number: str) -> None:
    embedder = at.open()
    row = json.dumps([0.5] * 15)[:-1] + f", {number}]"
    said = f'{{"embeddings": [{row}], "data": [{{"index": 0, "embedding": {row}}}]}}'
    assert embedder.dimension == 16
    at.vectors.spoil(*[Sends(said.encode())] * 2)
    with pytest.raises(MalformedOutputError, match="are no numbers"):
        embedder.embed_documents(TEXTS[:1])


def test_a_question_does_not_wait_for_a_server_that_is_slow(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "QUERY_SECONDS", 0.2)
    embedder = at.open()
    assert embedder.dimension == 16
    at.vectors.spoil(Hangs())
    with pytest.raises(ModelTimeoutError):
        embedder.embed_query("fog")
    asked = len(at.bodies())
    with pytest.raises(ModelUnavailableError):
        embedder.embed_query("fog")
    assert len(at.bodies()) == asked, "it rests"
    assert embedder.embed_documents(["fog"]).any(), "who can wait asks"
    assert embedder.embed_query("fog").any()


def test_reading_waits_as_long_as_the_settings_say(at: At) -> None:
    embedder = at.open(first_token_s=0.2)
    assert embedder.dimension == 16
    at.vectors.spoil(Hangs())
    with pytest.raises(ModelTimeoutError):
        embedder.embed_documents(["fog"])


@pytest.mark.parametrize("kind", ["llama.cpp", "vLLM"])
def test_a_text_that_is_too_long_for_the_model_is_cut(kind: Kind) -> None:
    with FakeOpenAI(ServedModel("bge-m3", embeds=True), kind=kind) as server:
        server.vectors.most_words = 100
        embedder = OpenAIEmbedder("bge-m3", OpenAISettings(url=server.url))
        long = "harbour " * 300
        vectors = embedder.embed_documents([long, "fog"])
        np.testing.assert_allclose(vectors, [embed("harbour"), embed("fog")], atol=1e-2)
        server.vectors.most_words = 1
        with pytest.raises(ModelError, match="too long"):
            embedder.embed_documents(["oak " * 500])


def test_a_model_elsewhere_gets_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOllama(CLOUD) as server:
        embedder = OllamaEmbedder("big-embed:cloud", OllamaSettings(host=server.url))
        with pytest.raises(LocalOnlyError, match="does not run on this machine"):
            embedder.embed_documents(["a secret"])
        with pytest.raises(LocalOnlyError):
            embedder.name  # noqa: B018
        assert not [seen for seen in server.seen if seen.path == "/api/embed"]
    for make in (
        lambda: OllamaEmbedder("bge-m3", OllamaSettings(host="http://192.168.1.9:11434")),
        lambda: OpenAIEmbedder("text-embedding-3-small", OpenAISettings(url="https://api.openai.com/v1")),
    ):
        with pytest.raises(LocalOnlyError, match="is not this machine"):
            make()


def test_one_that_comes_to_run_elsewhere_gets_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.llms.transport.FRESH_SECONDS", 0.0)
    with FakeOllama(LOCAL) as server:
        embedder = OllamaEmbedder("bge-m3", OllamaSettings(host=server.url))
        assert embedder.embed_query("fog").any()
        server.models["bge-m3"] = replace(LOCAL, remote_host="https://ollama.com")
        sent = len([seen for seen in server.seen if seen.path == "/api/embed"])
        with pytest.raises(LocalOnlyError):
            embedder.embed_query("a secret")
        assert len([seen for seen in server.seen if seen.path == "/api/embed"]) == sent


def test_an_ollama_behind_the_other_protocol_is_refused() -> None:
    with FakeOpenAI(ServedModel("bge-m3", embeds=True), kind="Ollama") as server:
        with pytest.raises(ModelUnavailableError, match="ollama:MODEL"):
            OpenAIEmbedder("bge-m3", OpenAISettings(url=server.url)).embed_query("fog")
        assert not [seen for seen in server.seen if seen.path == "/v1/embeddings"]


def test_a_key_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    with FakeOpenAI(ServedModel("bge-m3", embeds=True), key="sk-mine") as server:
        assert OpenAIEmbedder("bge-m3", OpenAISettings(url=server.url)).embed_query("fog").any()


def test_what_cannot_be_used_is_reported(at: At) -> None:
    with pytest.raises(ModelUnavailableError, match="has no model 'nope'"):
        at.open("nope").embed_query("fog")
    with FakeOllama(CHATTY) as ollama, FakeOpenAI(ServedModel("qwen3-4b")) as openai:
        with pytest.raises(ModelUnavailableError, match="does not support embeddings"):
            OllamaEmbedder("qwen3:4b", OllamaSettings(host=ollama.url)).embed_query("fog")
        with pytest.raises(ModelUnavailableError, match="--embeddings"):
            OpenAIEmbedder("qwen3-4b", OpenAISettings(url=openai.url)).embed_query("fog")
        gone = ollama.url
    with pytest.raises(ModelUnavailableError, match="ollama serve"):
        OllamaEmbedder("bge-m3", OllamaSettings(host=gone)).embed_query("fog")
    with pytest.raises(ModelUnavailableError, match="pal models connect openai"):
        OpenAIEmbedder("bge-m3", OpenAISettings()).embed_query("fog")
