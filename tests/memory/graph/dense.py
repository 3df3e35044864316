"""Sparse matrices written out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.graph.postings import SparseRows


def write_out(matrix: SparseRows) -> NDArray[Any]:
    """(n, m) with zeros."""
    rows, columns = np.divmod(np.arange(matrix.shape[0] * matrix.shape[1]), max(1, matrix.shape[1]))
    return matrix.values_at(rows, columns).reshape(matrix.shape)


def row_of(matrix: SparseRows, row: int) -> dict[int, Any]:
    """What stands in a row, by column."""
    here = slice(*matrix.indptr[row : row + 2])
    return dict(zip(matrix.indices[here].tolist(), matrix.data[here].tolist(), strict=True))
