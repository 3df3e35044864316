"""Embeddings of one question: each text is embedded once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory.protocols import Embedder, Vectors, Weighed

LEXICAL_WEIGHT = 0.7  # share of full text beside static vectors


class CachedEmbedder:
    """An embedder that embeds each text once. With `most`, it forgets all it knows before it keeps more texts than
    that. Several threads may use it; they may embed the same text twice."""

    def __init__(self, embedder: Embedder, most: int | None = None) -> None:
        self.embedder = embedder
        self.batch = embedder.batch
        self.query_prefix, self.document_prefix = embedder.query_prefix, embedder.document_prefix
        self.lexical_weight = embedder.lexical_weight if isinstance(embedder, Weighed) else LEXICAL_WEIGHT
        self._most = most
        self._queries: dict[str, Vectors] = {}
        self._documents: dict[str, Vectors] = {}

    @classmethod
    def wrap(cls, embedder: Embedder) -> CachedEmbedder:
        """The embedder itself if it is one already, else a new one around it."""
        return embedder if isinstance(embedder, CachedEmbedder) else cls(embedder)

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def dimension(self) -> int:
        return self.embedder.dimension

    def embed_query(self, text: str) -> Vectors:
        """text -> (d,)."""
        found = self._queries.get(text)
        if found is None:
            found = self._queries[text] = self.embedder.embed_query(text)
        return found

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """(n,) texts -> (n, d)."""
        known = {text: vector for text in texts if (vector := self._documents.get(text)) is not None}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            made = dict(zip(new, self.embedder.embed_documents(new), strict=True))
            if self._most is not None and len(self._documents) + len(made) > self._most:
                self._documents.clear()
            self._documents.update(made)
            known |= made
        return np.stack([known[text] for text in texts]) if texts else np.zeros((0, self.dimension), np.float32)
