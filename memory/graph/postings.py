"""Sparse matrices with lookups by row, column and node id.

Plain numpy: scipy's matrices would add 114 MB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.store.arrays import append_rows, with_room

Ids = NDArray[np.int32]

LATE, LATE_SHARE = 20_000, 50  # maximum number of unsorted entries, or one in so many


Entries = tuple[NDArray[np.int64], Ids, Ids]
"""Entries of a matrix (e,): which of the columns asked for each belongs to, its row, and its place in the data."""


@dataclass(frozen=True, slots=True)
class SparseRows:
    """A matrix of `shape` (n, m) with z entries: `data` (z,) and their columns `indices` (z,), row by row; row i has
    those from `indptr[i]` to `indptr[i + 1]` (n + 1,)."""

    data: NDArray[Any]
    indices: Ids
    indptr: Ids
    shape: tuple[int, int]

    @classmethod
    def build(
        cls, data: NDArray[Any], indices: Sequence[int] | NDArray[Any], ends: Sequence[int] | NDArray[Any], width: int
    ) -> SparseRows:
        """From entries (z,) row by row; `ends` begins with 0."""
        return cls(data, np.asarray(indices, np.int32), np.asarray(ends, np.int32), (len(ends) - 1, width))

    @classmethod
    def empty(cls, rows: int = 0, dtype: type[np.generic] = np.float32) -> SparseRows:
        """Returns a matrix without columns for entries of a type."""
        return cls.build(np.empty(0, dtype), [], np.zeros(rows + 1, np.int32), 0)

    @classmethod
    def from_pairs(cls, rows: Ids, columns: Ids, shape: tuple[int, int]) -> SparseRows:
        """From entries (z,) in any order: sorted by row, then column; `data` is the index of each entry in the input.
        ValueError if one is outside."""
        if len(rows) and (min(rows.min(), columns.min()) < 0 or rows.max() >= shape[0] or columns.max() >= shape[1]):
            raise ValueError("an entry lies outside of its matrix")
        order = np.arange(len(rows), dtype=np.int32)
        step = np.diff(rows)
        if not ((step > 0) | ((step == 0) & (np.diff(columns) >= 0))).all():
            order = order_stably(columns)
            order = order[order_stably(rows[order])]
        return cls(order, columns[order], _find_ends(rows, shape[0]), shape)

    @property
    def size(self) -> int:
        """The number of entries."""
        return len(self.indices)

    def entries_of(self, rows: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns (index into `rows`, place) of the entries of these rows (r,)."""
        begin = self.indptr[rows]
        return flatten_slices(begin, self.indptr[rows + 1] - begin)

    def columns_of(self, rows: NDArray[np.integer[Any]]) -> Ids:
        """Returns the columns of all entries of these rows (r,), row by row."""
        return self.indices[self.entries_of(rows)[1]]

    def transpose(self) -> SparseRows:
        """Returns the transposed matrix (m, n)."""
        order = order_stably(self.indices)
        rows = np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.indptr))
        ends = _find_ends(self.indices, self.shape[1])
        return SparseRows(self.data[order], rows[order], ends, (self.shape[1], self.shape[0]))

    def stack(self, bottom: SparseRows, width: int) -> SparseRows:
        """This matrix above `bottom`, with `width` columns."""
        return SparseRows(
            append_rows(self.data, bottom.data),
            append_rows(self.indices, bottom.indices),
            append_rows(self.indptr, bottom.indptr[1:] + self.indptr[-1]),
            (self.shape[0] + bottom.shape[0], width),
        )

    def with_room(self) -> SparseRows:
        """Returns a copy that can grow."""
        return SparseRows(with_room(self.data), with_room(self.indices), with_room(self.indptr), self.shape)


def flatten_slices(begin: NDArray[Any], count: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns (index of the slice, place) of each place (s,) in slices with these starts and lengths."""
    owners = np.repeat(np.arange(len(begin)), count)
    places = np.arange(len(owners)) + np.repeat(begin - np.cumsum(count) + count, count)
    return owners, places


def order_stably(keys: Ids) -> Ids:
    """Returns the stable order (z,) of numbers >= 0, sorted by their 16-bit halves in numpy's linear time: 10 ms for a
    million, a tenth of sorting whole numbers."""
    order = np.argsort(keys.astype(np.uint16), kind="stable").astype(np.int32)
    high = (keys >> 16).astype(np.uint16)
    return order[np.argsort(high[order], kind="stable")] if high.any() else order


def _find_ends(rows: Ids, n: int) -> Ids:
    """Returns (n + 1,) the start of the entries of each of n rows, and the end of the last."""
    ends = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=n), out=ends[1:])
    return ends


class Postings:
    """The columns of a matrix (n, m): for mentions, the episodes that mention an object.

    The initial entries are sorted once. Later ones are few and sorted on each change, until a full sort is worth it."""

    def __init__(self, matrix: SparseRows, before: Postings | None = None) -> None:
        """`before`: the postings of the first rows of this matrix."""
        if before is not None and matrix.size - before._sorted.size <= max(LATE, matrix.size // LATE_SHARE):
            self._sorted: SparseRows = before._sorted  # the first rows by column; values are places of entries
        else:
            self._sorted = replace(matrix, data=np.arange(matrix.size, dtype=np.int32)).transpose()
        n = self._sorted.shape[1]
        start = int(matrix.indptr[n])
        late = matrix.indices[start:]
        order = order_stably(late)
        self._late_columns = late[order]
        self._late_entries = order + np.int32(start)
        rows = np.repeat(np.arange(n, matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr[n:]))
        self._late_rows = rows[order]

    def find(self, columns: NDArray[np.integer[Any]]) -> Entries:
        """Returns the entries of these columns (c,), those of a column sorted by row."""
        starts = self._sorted.indptr
        last = len(starts) - 1
        begin = starts[np.minimum(columns, last)]  # a newer column has none yet
        positions, places = flatten_slices(begin, starts[np.minimum(columns + 1, last)] - begin)
        rows, entries = self._sorted.indices[places], self._sorted.data[places]
        if not len(self._late_columns):
            return positions, rows, entries
        begin = np.searchsorted(self._late_columns, columns)
        late_of, late = flatten_slices(begin, np.searchsorted(self._late_columns, columns, side="right") - begin)
        if not len(late):
            return positions, rows, entries
        positions = np.concatenate([positions, late_of])
        order = np.argsort(positions, kind="stable")
        rows = np.concatenate([rows, self._late_rows[late]])
        return positions[order], rows[order], np.concatenate([entries, self._late_entries[late]])[order]


class IdIndex(Mapping[int, int]):
    """Node id -> place: a mapping that takes 4 bytes per id. `ids` are the nodes by place; the last occurrence counts.
    `among` (len(ids),) marks the present ones."""

    def __init__(
        self, by_id: NDArray[np.int32], ids: NDArray[np.integer[Any]], among: NDArray[np.bool_] | None = None
    ) -> None:
        self.by_id = by_id
        self._ids = ids
        self._among = among

    @classmethod
    def build(cls, ids: NDArray[np.integer[Any]], among: NDArray[np.bool_] | None = None) -> IdIndex:
        """Returns the index of these nodes."""
        by_id = np.full(1 + int(ids.max(initial=-1)), -1, np.int32)
        by_id[ids] = np.arange(len(ids), dtype=np.int32)
        return cls(by_id, ids, among)

    def extend(self, ids: NDArray[np.integer[Any]], among: NDArray[np.bool_] | None = None) -> IdIndex:
        """Returns the index of `ids`, which begin with the current nodes, like `among`."""
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
        """(v,) node ids -> (v,) places, -1 if missing."""
        places = np.full(len(nodes), -1, np.int32)
        in_range = (nodes >= 0) & (nodes < len(self.by_id))
        places[in_range] = self.by_id[nodes[in_range]]
        if self._among is not None:
            present = places >= 0
            places[present] = np.where(self._among[places[present]], places[present], -1)
        return places

    def __getitem__(self, node: int) -> int:
        place = int(self.by_id[node]) if 0 <= node < len(self.by_id) else -1
        if place < 0 or (self._among is not None and not self._among[place]):
            raise KeyError(node)
        return place

    def __iter__(self) -> Iterator[int]:
        yield from (self._ids if self._among is None else self._ids[self._among]).tolist()

    def __len__(self) -> int:
        return len(self._ids) if self._among is None else int(np.count_nonzero(self._among))
