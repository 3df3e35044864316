"""The mentions read backwards: which episodes mention an object, and how much all mentions of it weigh.

What was there when the postings were made is sorted once; what is written afterwards is few and sorted anew each time,
until it is worth doing it all again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

Ids = NDArray[np.int32]

LATE, LATE_SHARE = 20_000, 50  # so many entries, or one in so many, may stand apart


class Entries(NamedTuple):
    """Entries of a matrix: `of` (e,) which of the columns asked for, `rows` (e,), `entries` (e,) places in its data."""

    of: NDArray[np.int64]
    rows: Ids
    entries: Ids


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The first `n` rows of a matrix by column: `starts` (m + 1,), `rows` and `entries` by column, then row."""

    n: int
    starts: NDArray[Any]
    rows: Ids
    entries: Ids


class Postings:
    """A matrix (n, m) of which columns are looked up."""

    def __init__(self, matrix: sparse.csr_matrix, before: Postings | None = None) -> None:
        """`before`: the postings of a matrix whose rows this one begins with."""
        self._first: _Sorted = _sorted(matrix) if before is None or _too_late(before._first, matrix) else before._first
        start = int(matrix.indptr[self._first.n])
        late = matrix.indices[start:]
        order = np.argsort(late, kind="stable").astype(np.int32)
        self._late_columns = late[order]
        self._late_entries = order + np.int32(start)
        rows = np.repeat(
            np.arange(self._first.n, matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr[self._first.n :])
        )
        self._late_rows = rows[order]

    def find(self, columns: NDArray[np.integer[Any]]) -> Entries:
        """The entries of these columns (c,): those of a column in the order of its rows."""
        inside = np.minimum(columns, max(0, len(self._first.starts) - 2))
        old = columns < len(self._first.starts) - 1
        begin = np.where(old, self._first.starts[inside], 0)
        count = np.where(old, self._first.starts[np.minimum(inside + 1, len(self._first.starts) - 1)], 0) - begin
        of, places = flatten_slices(begin, count)
        found = Entries(of, self._first.rows[places], self._first.entries[places])
        if not len(self._late_columns):
            return found
        begin = np.searchsorted(self._late_columns, columns)
        late_of, late = flatten_slices(begin, np.searchsorted(self._late_columns, columns, side="right") - begin)
        if not len(late):
            return found
        of = np.concatenate([of, late_of])
        order = np.argsort(of, kind="stable")
        return Entries(
            of[order],
            np.concatenate([found.rows, self._late_rows[late]])[order],
            np.concatenate([found.entries, self._late_entries[late]])[order],
        )


def flatten_slices(begin: NDArray[Any], count: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(s,) where slices begin and how long they are -> which slice each of their places belongs to, and the places."""
    of = np.repeat(np.arange(len(begin)), count)
    places = np.arange(len(of)) + np.repeat(begin - np.cumsum(count) + count, count)
    return of, places


def _sorted(matrix: sparse.csr_matrix) -> _Sorted:
    numbered = (np.arange(matrix.nnz, dtype=np.int32), matrix.indices, matrix.indptr)
    columns = sparse.csr_matrix(numbered, shape=matrix.shape).tocsc()
    return _Sorted(matrix.shape[0], columns.indptr, columns.indices, columns.data)


def _too_late(first: _Sorted, matrix: sparse.csr_matrix) -> bool:
    return bool(matrix.nnz - len(first.rows) > max(LATE, matrix.nnz // LATE_SHARE))
