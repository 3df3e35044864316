"""The mentions read backwards: which episodes mention an object, and how much all mentions of it weigh.

What was there when the postings were made is sorted once; what is written afterwards is few and sorted anew each time,
until it is worth doing it all again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from memory.store.append_only import append_rows

Ids = NDArray[np.int32]

LATE, LATE_SHARE = 20_000, 50  # so many entries, or one in so many, may stand apart


Entries = tuple[NDArray[np.int64], Ids, Ids]
"""Entries of a matrix (e,): which of the columns asked for each belongs to, its row, and its place in the data."""


class Postings:
    """A matrix (n, m) of which columns are looked up."""

    def __init__(self, matrix: sparse.csr_matrix, before: Postings | None = None) -> None:
        """`before`: the postings of a matrix whose rows this one begins with."""
        if before is not None and matrix.nnz - before._sorted.nnz <= max(LATE, matrix.nnz // LATE_SHARE):
            self._sorted: sparse.csc_matrix = before._sorted  # the first rows by column; its data are places of entries
        else:
            places = np.arange(matrix.nnz, dtype=np.int32)
            self._sorted = sparse.csr_matrix((places, matrix.indices, matrix.indptr), shape=matrix.shape).tocsc()
        n: int = self._sorted.shape[0]
        start = int(matrix.indptr[n])
        late = matrix.indices[start:]
        order = np.argsort(late, kind="stable").astype(np.int32)
        self._late_columns = late[order]
        self._late_entries = order + np.int32(start)
        rows = np.repeat(np.arange(n, matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr[n:]))
        self._late_rows = rows[order]

    def find(self, columns: NDArray[np.integer[Any]]) -> Entries:
        """The entries of these columns (c,): those of a column in the order of its rows."""
        starts = self._sorted.indptr
        last = len(starts) - 1
        begin = starts[np.minimum(columns, last)]  # a column that is newer has none yet
        of, places = flatten_slices(begin, starts[np.minimum(columns + 1, last)] - begin)
        rows, entries = self._sorted.indices[places], self._sorted.data[places]
        if not len(self._late_columns):
            return of, rows, entries
        begin = np.searchsorted(self._late_columns, columns)
        late_of, late = flatten_slices(begin, np.searchsorted(self._late_columns, columns, side="right") - begin)
        if not len(late):
            return of, rows, entries
        of = np.concatenate([of, late_of])
        order = np.argsort(of, kind="stable")
        rows = np.concatenate([rows, self._late_rows[late]])
        return of[order], rows[order], np.concatenate([entries, self._late_entries[late]])[order]


def flatten_slices(begin: NDArray[Any], count: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(s,) where slices begin and how long they are -> which slice each of their places belongs to, and the places."""
    of = np.repeat(np.arange(len(begin)), count)
    places = np.arange(len(of)) + np.repeat(begin - np.cumsum(count) + count, count)
    return of, places


class IdIndex(Mapping[int, int]):
    """Node id -> place, of nodes that have one: a mapping that costs 4 bytes an id. `ids` are the nodes in the order of
    their places, of which the later of two counts; `among` (len(ids),) says which are there at all, if not all are."""

    def __init__(
        self, by_id: NDArray[np.int32], ids: NDArray[np.integer[Any]], among: NDArray[np.bool_] | None = None
    ) -> None:
        self.by_id = by_id
        self._ids = ids
        self._among = among

    @classmethod
    def build(cls, ids: NDArray[np.integer[Any]], among: NDArray[np.bool_] | None = None) -> IdIndex:
        """The places of these nodes."""
        by_id = np.full(1 + int(ids.max(initial=-1)), -1, np.int32)
        by_id[ids] = np.arange(len(ids), dtype=np.int32)
        return cls(by_id, ids, among)

    def extend(self, ids: NDArray[np.integer[Any]], among: NDArray[np.bool_] | None = None) -> IdIndex:
        """The places of `ids`, which begin with these nodes, as does `among`."""
        new = ids[len(self._ids) :]
        size = len(self.by_id)
        beyond = np.full(max(0, 1 + int(new.max(initial=-1)) - size), -1, np.int32)
        late = new >= size
        places = np.arange(len(self._ids), len(ids), dtype=np.int32)
        beyond[new[late] - size] = places[late]
        by_id = self.by_id if late.all() else self.by_id.copy()
        by_id[new[~late]] = places[~late]
        return IdIndex(append_rows(by_id, beyond), ids, among)

    def find(self, nodes: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """(v,) node ids -> (v,) places, -1 for one that is not there."""
        found = np.full(len(nodes), -1, np.int32)
        known = (nodes >= 0) & (nodes < len(self.by_id))
        found[known] = self.by_id[nodes[known]]
        if self._among is not None:
            there = found >= 0
            found[there] = np.where(self._among[found[there]], found[there], -1)
        return found

    def __getitem__(self, node: int) -> int:
        place = int(self.by_id[node]) if 0 <= node < len(self.by_id) else -1
        if place < 0 or (self._among is not None and not self._among[place]):
            raise KeyError(node)
        return place

    def __iter__(self) -> Iterator[int]:
        yield from (self._ids if self._among is None else self._ids[self._among]).tolist()

    def __len__(self) -> int:
        return len(self._ids) if self._among is None else int(np.count_nonzero(self._among))
