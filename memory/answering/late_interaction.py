"""How near the words of a text are to those that a question asks with: "pays" is near to "rent", "fee" to "cost".

The vector of a whole sentence says what it is about; it does not say whether each thing that was asked is in it. So
each of the question's words is compared with each word of a sentence by their own vectors, and the nearest counts
(late interaction, Khattab & Zaharia 2020, eq. 3, with words for tokens). Vectors of words are kept: a memory says the
same few thousand words again and again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from memory.graph.arrays import Floats
from memory.protocols import Embedder

UNRELATED_COSINE, SYNONYM_COSINE = 0.3, 0.8  # cosines at which two words have nothing in common, and mean the same
MAX_CACHED_WORDS = 20_000  # vectors of words, of one embedder

_vectors: dict[str, dict[str, Floats]] = {}  # name of an embedder -> word -> vector


class LateInteraction:
    """Compares words with those asked, (n,) in number."""

    def __init__(self, embedder: Embedder, asked: Sequence[str]) -> None:
        self._embedder = embedder
        self._asked = self._vectors(asked)
        self._found: dict[str, Floats] = {}

    def read(self, words: Iterable[str]) -> None:
        """Compare all of these at once; what is asked of them later costs nothing."""
        new = sorted({word for word in words if word not in self._found})
        if new:
            cosines = self._vectors(new) @ self._asked.T
            near = np.clip((cosines - UNRELATED_COSINE) / (SYNONYM_COSINE - UNRELATED_COSINE), 0, 1).astype(np.float32)
            self._found.update(zip(new, near, strict=True))

    def nearest(self, words: Sequence[str]) -> Floats:
        """(n,) in [0, 1]: how near the nearest of `words` is to each of those asked; 0 if there are none."""
        self.read(words)
        if not words:
            return np.zeros(len(self._asked), np.float32)
        nearest: Floats = np.max([self._found[word] for word in words], axis=0)
        return nearest

    def _vectors(self, words: Sequence[str]) -> Floats:
        known = _vectors.setdefault(self._embedder.name, {})
        have = {word: vector for word in words if (vector := known.get(word)) is not None}
        new = [word for word in dict.fromkeys(words) if word not in have]
        if new:
            read = dict(zip(new, self._embedder.embed_documents(new), strict=True))
            have |= read
            if len(known) + len(read) > MAX_CACHED_WORDS:
                known.clear()
            known.update(read)
        rows = [have[word] for word in words]
        return np.stack(rows) if rows else np.zeros((0, self._embedder.dimension), np.float32)
