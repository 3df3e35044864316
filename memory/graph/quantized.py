"""Many vectors in little memory: their signs find near ones, one byte per value ranks them.

Similar vectors have similar signs. Comparing signs counts bits, 32 bytes for 256 values; the best are compared again by
values rounded to a byte, with an error of the cosine below 0.01. Nothing is trained, so results are independent of the
order of insertion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.graph.arrays import Bools, Floats, Ints
from memory.protocols import Vectors
from memory.store.arrays import append_rows, with_room

LEAST_NEAR, SHARE_NEAR = 4000, 100  # minimum, and share, of vectors compared by values
BLOCK = 1 << 15  # rows whose signs are compared at once, to fit the cache
PIECE = 1 << 13  # rows rounded at once


@dataclass(frozen=True, slots=True)
class QuantizedVectors:
    """n vectors of d values. `words`: an array (n,) per 64 signs; `codes` (n, d) and `scales` (n,): the values are
    `codes * scales`, zero without a vector."""

    words: tuple[NDArray[np.uint64], ...]
    codes: NDArray[np.int8]
    scales: Floats

    @classmethod
    def zeros(cls, n: int, d: int) -> QuantizedVectors:
        """n empty rows; `put` them before the first search."""
        words = tuple(with_room(np.zeros(n, np.uint64)) for _ in range(-(-d // 64)))
        return cls(words, with_room(np.zeros((n, d), np.int8)), with_room(np.zeros(n, np.float32)))

    @classmethod
    def build(cls, matrix: Vectors) -> QuantizedVectors:
        """The rows of `matrix` (n, d)."""
        made = cls.zeros(*matrix.shape)
        for start in range(0, len(matrix), PIECE):
            rows = np.arange(start, min(start + PIECE, len(matrix)))
            made.put(rows, matrix[rows])
        return made

    def put(self, rows: NDArray[np.integer[Any]], matrix: Vectors) -> None:
        """Writes vectors (r, d) into rows (r,)."""
        words, codes, scales = _quantize(matrix)
        for old, new in zip(self.words, words, strict=True):
            old[rows] = new
        self.codes[rows], self.scales[rows] = codes, scales

    def with_rows(self, matrix: Vectors) -> QuantizedVectors:
        """These rows followed by `matrix` (k, d)."""
        words, codes, scales = _quantize(matrix)
        return QuantizedVectors(
            tuple(append_rows(old, new) for old, new in zip(self.words, words, strict=True)),
            append_rows(self.codes, codes),
            append_rows(self.scales, scales),
        )

    def vectors(self, rows: NDArray[np.integer[Any]]) -> Vectors:
        """(r,) -> (r, d), rounded."""
        rounded: Vectors = self.codes[rows] * self.scales[rows, None]
        return rounded

    def nearest(self, query: Floats, allowed: Bools, others: NDArray[np.integer[Any]]) -> tuple[Ints, Floats]:
        """(rows (r,) sorted, cosines (r,)) of the allowed rows nearest to a vector (d,), and of `others` (o,). A zero
        vector has no neighbours."""
        if not query.any():
            rows = np.unique(others).astype(np.int64)
            return rows, np.zeros(len(rows), np.float32)
        asked = _pack_signs(query[None])[:, 0]
        distances = np.empty(len(self.scales), np.uint16)
        for start in range(0, len(distances), BLOCK):
            part = distances[start : start + BLOCK]
            part[:] = 0
            for words, word in zip(self.words, asked, strict=True):
                part += np.bitwise_count(words[start : start + BLOCK] ^ word)
        if not allowed.all():
            distances[~allowed] = 64 * len(asked) + 1
        most = max(LEAST_NEAR, len(distances) // SHARE_NEAR)
        nearer = np.cumsum(np.bincount(distances, minlength=64 * len(asked) + 2)[:-1])
        limit = min(int(np.searchsorted(nearer, most)), 64 * len(asked))
        chosen = distances <= limit
        chosen[others] = True
        rows = np.flatnonzero(chosen)
        cosines: Floats = (self.codes[rows].astype(np.float32) @ query) * self.scales[rows]
        return rows, cosines


def _quantize(matrix: Vectors) -> tuple[NDArray[np.uint64], NDArray[np.int8], Floats]:
    scales = (np.abs(matrix).max(axis=1, initial=0) / 127).astype(np.float32)
    codes = np.rint(matrix / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    return _pack_signs(matrix), codes, scales


def _pack_signs(matrix: Vectors) -> NDArray[np.uint64]:
    """(n, d) -> (d / 64 rounded up, n) the signs of each vector, 64 per word."""
    missing = -matrix.shape[1] % 64
    packed = np.packbits(np.pad(matrix > 0, ((0, 0), (0, missing))), axis=1)
    words: NDArray[np.uint64] = np.ascontiguousarray(packed.view(np.uint64).T)
    return words
