"""Sparse matrices written out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.graph.postings import SparseRows


def write_out(matrix: SparseRows) -> NDArray[Any]:
    """(n, m) with zeros."""
    whole = np.zeros(matrix.shape, matrix.data.dtype)
    whole[np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices] = matrix.data
    return whole


def row_of(matrix: SparseRows, row: int) -> dict[int, Any]:
    """What stands in a row, by column."""
    here = slice(*matrix.indptr[row : row + 2])
    return dict(zip(matrix.indices[here].tolist(), matrix.data[here].tolist(), strict=True))
