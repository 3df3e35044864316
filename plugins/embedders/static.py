"""The embedder that is always there: WordLlama's static word vectors, averaged. No model server, no torch.

The weights and the tokenizer lie in the wordllama package; they are read from there without importing it, which would
set up logging for the whole process and load an HTTP client. The vectors are those of
`WordLlama.load(dim=256).embed(text, norm=True)`; a test holds them together.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memory.errors import NotAvailableError
from memory.protocols import Vectors
from plugins.embedders.model import ModelEmbedder

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DIMENSION = 256
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_MAX_WORDS = 50_000  # that are known at a time: a few MB
_MAX_WORD_CHARS = 40
_MARKS = ("<s>", "</s>", "<unk>", "▁")  # which the tokenizer takes for its own
_PIECE = re.compile(r" *[^ ]+(?: +\Z)?| +")
_loading = threading.Lock()


class StaticEmbedder(ModelEmbedder):
    """256 dimensions, no prefixes. Loads on first use (0.2 s, 50 MB), once in a process, from any thread."""

    name, dimension = "", DIMENSION
    batch = 256
    lexical_weight = 0.5
    sentence_window = 1

    def __init__(self) -> None:
        self.name = f"wordllama-{DIMENSION}@{version('wordllama')}"
        self._known: dict[str, list[int]] = {}  # the ids of the tokens of words

    def _encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        reader, table = load_model()
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for start in range(0, len(texts), self.batch):
            for offset, ids in enumerate(self.tokenize(reader, texts[start : start + self.batch])):
                if ids:
                    vectors[start + offset] = table[ids].sum(axis=0)
        return vectors

    def tokenize(self, reader: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
        """Returns the token ids of each text, without begin and end marks. No token of this
        vocabulary spans a space, so a text has the tokens of its words, and most words are cached. That takes a tenth
        of the time."""
        known = self._known
        if len(known) > _MAX_WORDS:
            known = self._known = {}
        split = [_split(text) for text in texts]
        new = list({word for words in split for word in words if word not in known})
        read = reader.encode_batch_fast(new, add_special_tokens=False) if new else ()
        fresh: dict[str, list[int]] = {word: encoding.ids for word, encoding in zip(new, read, strict=True)}
        known.update((word, ids) for word, ids in fresh.items() if len(word) <= _MAX_WORD_CHARS)
        return [[id for word in words for id in known.get(word) or fresh.get(word, [])] for words in split]


def _split(text: str) -> list[str]:
    """Returns the pieces of a text that are encoded alone. The tokenizer puts a space before each text: of all but the
    first piece the one before it is left out."""
    if any(map(text.__contains__, _MARKS)):
        return [text]
    first, *others = _PIECE.findall(text) or [""]
    return [first, *(piece[1:] for piece in others)]


def load_model() -> tuple[Tokenizer, Vectors]:
    """Returns the tokenizer and the vectors of its tokens, (32000, 256) float32. NotAvailableError."""
    with _loading:
        return _read_model()


def _find_package() -> Path:
    spec = importlib.util.find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise NotAvailableError("The package wordllama is not installed. Install Palimpsest again.")
    return Path(next(iter(spec.submodule_search_locations)))


def tokenizer() -> Tokenizer:
    """Returns its tokenizer, for counting: that of Llama 2, 32,000 tokens. NotAvailableError."""
    from tokenizers import Tokenizer

    try:
        read = Tokenizer.from_file(str(_find_package() / _TOKENIZER))
    except Exception as error:  # tokenizers raises nothing narrower
        raise _make_error(error) from error
    read.no_padding()
    read.no_truncation()
    return read


@functools.cache
def _read_model() -> tuple[Tokenizer, Vectors]:
    from safetensors.numpy import load_file

    weights = _find_package() / _WEIGHTS
    try:
        table = load_file(weights)["embedding.weight"].astype(np.float32)
    except Exception as error:
        raise _make_error(error) from error
    return tokenizer(), table


def _make_error(error: Exception) -> NotAvailableError:
    return NotAvailableError(f"The embedder's files cannot be read ({error}). Install wordllama again.")
