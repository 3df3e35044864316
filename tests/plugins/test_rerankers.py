"""Cross-encoders: a tiny one with random weights as transformers saves it, and one as an ONNX file."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from memory.errors import NotAvailableError, PalimpsestError
from plugins.manager import load
from plugins.rerankers.cross_encoder import CrossEncoder
from tests.plugins.onnx_files import WORDS, write_cross_encoder, write_json, write_tokenizer

TEXTS = ["oak oak mast", "fog", "the crane", "", "\ud800 rent " * 3000]
with_onnx = pytest.mark.skipif(not importlib.util.find_spec("onnxruntime"), reason="the extra `onnx` is not installed")
with_local = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="the extra `local` is not installed")


@with_onnx
def test_an_onnx_file_scores_pairs(tmp_path: Path) -> None:
    worth = np.arange(len(WORDS), dtype=np.float32)
    worth[:4] = 0
    reranker = load().reranker(f"cross-encoder:{write_cross_encoder(tmp_path, worth)}")
    assert reranker is not None and reranker.name == f"cross-encoder:{tmp_path}"
    scores = reranker.score("harbour", TEXTS)
    at = {word: float(worth[n]) for n, word in enumerate(WORDS)}
    expected = [at["harbour"] + at["oak"] * 2 + at["mast"], at["harbour"] + at["fog"], at["harbour"] + at["crane"]]
    assert [*scores[:4]] == [*expected, at["harbour"]]


@with_onnx
def test_a_model_that_tells_several_things_is_no_reranker(tmp_path: Path) -> None:
    table = np.ones((len(WORDS), 3), np.float32)
    with pytest.raises(NotAvailableError, match="gives 3 numbers for a passage"):
        CrossEncoder(str(write_cross_encoder(tmp_path, table))).score("harbour", TEXTS)


@with_local
def test_a_saved_model_scores_as_the_library_does(tmp_path: Path) -> None:
    import torch
    from sentence_transformers import CrossEncoder as Library
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.manual_seed(1)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(WORDS), max_position_embeddings=64, num_labels=1, **shape)
    BertForSequenceClassification(config).save_pretrained(tmp_path)
    write_tokenizer(tmp_path / "words.json")
    PreTrainedTokenizerFast(
        tokenizer_file=str(tmp_path / "words.json"), pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", model_max_length=64,
    ).save_pretrained(tmp_path)  # fmt: skip
    scores = CrossEncoder(str(tmp_path)).score("harbour", TEXTS[:4])
    theirs = Library(str(tmp_path), device="cpu").predict([("harbour", text) for text in TEXTS[:4]])
    np.testing.assert_allclose(scores, theirs, atol=1e-5)
    assert len(set(scores)) == 4


def test_what_cannot_be_used_is_told_when_it_is_asked(tmp_path: Path) -> None:
    def why_not(name: str) -> str:
        reranker = load().reranker(name)
        assert reranker is not None
        with pytest.raises(PalimpsestError) as caught:
            reranker.score("harbour", TEXTS)
        said = str(caught.value.args[0])
        assert getattr(reranker, "problem", said) == said, "it is known before it is asked"
        return said

    assert load().reranker("none") is None
    assert "There is no reranker called 'nope'. Known: cross-encoder:..." in why_not("nope")
    assert "There is no folder /no/where" in why_not("cross-encoder:/no/where")
    write_json(tmp_path / "config.json", {})
    assert str(tmp_path) in why_not(f"cross-encoder:{tmp_path}")
