"""Cross-encoders as ONNX files; one that PyTorch reads is tried with the other models of that kind."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from memory.errors import NotAvailableError, PalimpsestError
from plugins.embedders.cross_encoder import CrossEncoder
from plugins.manager import load
from tests.plugins.onnx_files import WORDS, write_cross_encoder

TEXTS = ["oak oak mast", "fog", "the crane", "", "\ud800 rent " * 3000]
with_onnx = pytest.mark.skipif(not importlib.util.find_spec("onnxruntime"), reason="the extra `onnx` is not installed")


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


def test_what_cannot_be_used_is_told_when_it_is_asked() -> None:
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
