"""What embedders of models have in common: texts without words, texts that are too long, and words before each text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from memory.protocols import Vectors

MAX_CHARS = 20_000  # of a text that a model gets to see; it reads 256 to 8,192 tokens of them


def clean_text(text: str) -> str:
    """What a model gets to see of a text: no lone surrogates, which tokenizers refuse."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode()


class ModelEmbedder(ABC):
    """An embedder (`memory.protocols.Embedder`) by a model."""

    batch = 32
    lexical_weight = 0.4  # measured with all-MiniLM-L6-v2, see docs/decisions.md
    sentence_window = 3
    query_prefix = ""
    document_prefix = ""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def dimension(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """(n,) texts -> (n, dimension) float32, rows of norm 1; a blank text gives zeros, a long one counts MAX_CHARS
        characters and as many tokens as the model reads."""
        return self._embed(texts, is_query=False)

    def embed_query(self, text: str) -> Vectors:
        """text -> (dimension,) float32 of norm 1, or zeros if it is blank."""
        vector: Vectors = self._embed([text], is_query=True)[0]
        return vector

    def _embed(self, texts: Sequence[str], is_query: bool) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        rows = [row for row, text in enumerate(texts) if text and not text.isspace()]
        if rows:
            vectors[rows] = self._encode([clean_text(texts[row]) for row in rows], is_query)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, norms, out=vectors, where=norms > 0)
        return vectors

    def _prefix(self, is_query: bool) -> str:
        return self.query_prefix if is_query else self.document_prefix

    @abstractmethod
    def _encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        """Vectors of any length of texts that contain words, each with the prefix before it: (n,) -> (n, dimension)."""
