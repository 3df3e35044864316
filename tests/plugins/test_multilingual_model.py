"""A multilingual model by name: a tiny one of the e5 family's shape, built here."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memory import Memory
from plugins.manager import load

INSTALLED = importlib.util.find_spec("sentence_transformers") is not None
pytestmark = pytest.mark.skipif(not INSTALLED, reason="the extra `local` is not installed: pip install -e '.[local]'")

DIMENSION = 16
NOTES = {"猫": "うちの猫の名前はミケです。", "Katze": "Die Katze heißt Mimi.", "Хор": "Хор репетирует в четверг."}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def test_it_is_found_by_its_folder_and_told_which_text_asks(folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    embedder = load().embedder(f"st:{folder}")
    assert (embedder.dimension, embedder.query_prefix, embedder.document_prefix) == (DIMENSION, "query: ", "passage: ")
    theirs = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    texts = list(NOTES.values())
    ours = embedder.embed_documents(texts)
    expected = theirs.encode([f"passage: {text}" for text in texts], normalize_embeddings=True)
    np.testing.assert_allclose(ours, expected, atol=1e-5)
    expected = theirs.encode(["query: 猫の名前は"], normalize_embeddings=True)[0]
    np.testing.assert_allclose(embedder.embed_query("猫の名前は"), expected, atol=1e-5)
    assert not np.allclose(embedder.embed_query(texts[0]), ours[0], atol=1e-3)


def test_a_memory_lives_with_it(folder: Path, tmp_path: Path) -> None:
    plugins = load()
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=plugins.embedder("static")) as memory:
        for title, text in NOTES.items():
            memory.remember(text, title=title)
    embedder = plugins.embedder(f"st:{folder}")
    with Memory.open(path, embedder=plugins.embedder("static")) as memory:
        list(memory.maintenance.switch_embedder(embedder))
        assert memory.stats().embedder == embedder.name
        hits = memory.recall("猫の名前は何ですか").hits
        assert hits[0].episode.title == "猫" and hits[0].channels["vector"] > 0


def test_a_name_that_was_never_fetched_is_told_without_a_network(tmp_path: Path) -> None:
    code = (
        "from plugins.manager import load\n"
        "from memory.errors import NotAvailableError\n"
        "embedder = load().embedder('st:intfloat/multilingual-e5-small')\n"
        "assert embedder.query_prefix == 'query: '\n"
        "try: embedder.embed_query('hello')\n"
        "except NotAvailableError as error: print(error)\n"
    )
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    said = subprocess.run(
        [sys.executable, "-c", code], check=True, env=environment, capture_output=True, text=True, timeout=100
    ).stdout
    assert said.startswith("The model 'intfloat/multilingual-e5-small' is not on this machine and could not be fetched")
    assert "st:/path/to/the/model" in said and len(said.splitlines()) == 1
