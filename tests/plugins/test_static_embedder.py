"""The default embedder gives wordllama's own vectors, faster, and survives what texts can hold."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.embedders import static
from plugins.embedders.model import MAX_CHARS
from plugins.embedders.static import StaticEmbedder, load_model
from tests.examples import examples

TEXTS = [
    "Ana works at Lumen since May.",
    "the rent",
    "# Heading\n\n- one\n- two   with  spaces\n",
    "Straße, Łódź, naïve, 日本語のテキスト, 🙂 and <s>markup</s>",
    "x",
    "word " * 900,
    "▁odd▁▁ underscore",
    "tab\tand\rreturn",
]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def test_vectors_are_wordllamas_own(embedder: StaticEmbedder) -> None:
    import wordllama

    package = Path(wordllama.__file__).parent
    original = wordllama.WordLlama.load(cache_dir=package, disable_download=True)
    theirs = original.embed(TEXTS, norm=True)
    ours = embedder.embed_documents(TEXTS)
    np.testing.assert_allclose(ours, theirs, atol=2e-6)


def test_vectors_have_shape_type_and_norm(embedder: StaticEmbedder) -> None:
    many = [f"note {number} about the flat" for number in range(embedder.batch + 3)]
    vectors = embedder.embed_documents(many)
    assert vectors.shape == (len(many), embedder.dimension) == (len(many), 256)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(vectors[-1], embedder.embed_query(many[-1]))
    assert embedder.embed_documents([]).shape == (0, 256)


def test_near_texts_have_near_vectors(embedder: StaticEmbedder) -> None:
    cat, kitten, invoice = embedder.embed_documents(["my cat is ill", "the kitten is sick", "invoice payment terms"])
    assert cat @ kitten > cat @ invoice + 0.2


def test_blank_texts_give_zeros(embedder: StaticEmbedder) -> None:
    vectors = embedder.embed_documents(["", " \n\t ", "word"])
    assert not vectors[:2].any() and vectors[2].any()
    assert not embedder.embed_query("").any()


def test_lone_surrogates_do_not_crash(embedder: StaticEmbedder) -> None:
    assert np.isfinite(embedder.embed_query("half a \ud83d smile")).all()


def test_a_very_long_text_counts_up_to_a_limit(embedder: StaticEmbedder) -> None:
    start = "a b c d e " * (MAX_CHARS // 10)
    np.testing.assert_array_equal(embedder.embed_query(start + "z" * 5_000_000), embedder.embed_query(start))


@examples(1)
@given(texts=st.lists(st.text(st.characters(exclude_categories=()), max_size=200), max_size=5))
def test_any_text_gives_a_unit_vector_or_zeros(texts: list[str]) -> None:
    vectors = SHARED.embed_documents(texts)
    norms = np.linalg.norm(vectors, axis=1)
    assert vectors.shape == (len(texts), 256)
    assert all(abs(norm - 1) < 1e-4 or norm == 0 for norm in norms)


SHARED = StaticEmbedder()


@examples(5)
@given(text=st.text(st.sampled_from("aA bB.,\n\t▁<s>é中😀\u00a0-'0"), max_size=60))
def test_words_have_the_tokens_that_their_text_has(text: str) -> None:
    reader, _ = load_model()
    whole = reader.encode(text, add_special_tokens=False).ids
    for _ in range(2):  # new, and known
        assert SHARED.tokenize(reader, [text]) == [whole]


def test_the_name_tells_model_dimension_and_version() -> None:
    assert StaticEmbedder().name == f"wordllama-256@{version('wordllama')}"


def test_threads_share_one_model() -> None:
    static._read_model.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(lambda text: StaticEmbedder().embed_query(text), ["the same words"] * 32))
    assert all((vector == vectors[0]).all() for vector in vectors)
    assert static._read_model.cache_info().misses == 1


def test_it_loads_without_home_network_or_logging(tmp_path: Path) -> None:
    code = (
        "import socket, sys, logging\n"
        "def refuse(*a, **k): raise AssertionError('the network was used')\n"
        "socket.socket = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from plugins.embedders.static import StaticEmbedder\n"
        "e = StaticEmbedder()\n"
        "assert 'tokenizers' not in sys.modules, 'loaded before it was used'\n"
        "assert e.embed_query('hello').any()\n"
        "assert 'wordllama' not in sys.modules and 'requests' not in sys.modules\n"
        "assert not logging.getLogger().handlers, 'it set up logging'\n"
    )
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    environment = {**os.environ, "HOME": str(home), "USERPROFILE": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    assert list(home.iterdir()) == []
