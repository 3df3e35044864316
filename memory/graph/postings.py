"""Sparse matrices, and how things are found in them: by row, by column, by the id of a node.

They are numpy's arrays alone: scipy has such matrices, too, and 114 MB beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.store.append_only import append_rows, with_room

Ids = NDArray[np.int32]

LATE, LATE_SHARE = 20_000, 50  # so many entries, or one in so many, may stand apart


Entries = tuple[NDArray[np.int64], Ids, Ids]
"""Entries of a matrix (e,): which of the columns asked for each belongs to, its row, and its place in the data."""


@dataclass(frozen=True, slots=True)
class SparseRows:
    """A matrix of `shape` (n, m) with z entries: `data` (z,) and their columns `indices` (z,), row after row; row i has
    those from `indptr[i]` to `indptr[i + 1]` (n + 1,)."""

    data: NDArray[Any]
    indices: Ids
    indptr: Ids
    shape: tuple[int, int]

    @classmethod
    def build(
        cls, data: NDArray[Any], indices: Sequence[int] | NDArray[Any], ends: Sequence[int] | NDArray[Any], width: int
    ) -> SparseRows:
        """Of entries (z,) row after row; `ends` begins with 0."""
        return cls(data, np.asarray(indices, np.int32), np.asarray(ends, np.int32), (len(ends) - 1, width))

    @classmethod
    def empty(cls, rows: int = 0, dtype: type[np.generic] = np.float32) -> SparseRows:
        """A matrix without columns, for entries of a kind."""
        return cls.build(np.empty(0, dtype), [], np.zeros(rows + 1, np.int32), 0)

    @classmethod
    def from_pairs(cls, rows: Ids, columns: Ids, shape: tuple[int, int]) -> SparseRows:
        """Of entries (z,) in any order: by row, then column, and `data` says which entry of those given each is.
        ValueError if one lies outside."""
        if len(rows) and (min(rows.min(), columns.min()) < 0 or rows.max() >= shape[0] or columns.max() >= shape[1]):
            raise ValueError("an entry lies outside of its matrix")
        order = np.arange(len(rows), dtype=np.int32)
        step = np.diff(rows)
        if not ((step > 0) | ((step == 0) & (np.diff(columns) >= 0))).all():
            order = order_stably(columns)
            order = order[order_stably(rows[order])]
        return cls(order, columns[order], _ends(rows, shape[0]), shape)

    @property
    def size(self) -> int:
        """How many entries it has."""
        return len(self.indices)

    def entries_of(self, rows: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The entries of these rows (r,): which of the rows each belongs to, and its place."""
        begin = self.indptr[rows]
        return flatten_slices(begin, self.indptr[rows + 1] - begin)

    def columns_of(self, rows: NDArray[np.integer[Any]]) -> Ids:
        """The columns of all entries of these rows (r,), one row after the other."""
        return self.indices[self.entries_of(rows)[1]]

    def values_at(self, rows: NDArray[np.integer[Any]], columns: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """(p,) what stands at these places, 0 where nothing does."""
        of, entries = self.entries_of(rows)
        there = self.indices[entries] == columns[of]
        values = np.zeros(len(rows), self.data.dtype)
        values[of[there]] = self.data[entries[there]]
        return values

    def transpose(self) -> SparseRows:
        """The matrix (m, n) whose rows are the columns of this one."""
        order = order_stably(self.indices)
        rows = np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.indptr))
        ends = _ends(self.indices, self.shape[1])
        return SparseRows(self.data[order], rows[order], ends, (self.shape[1], self.shape[0]))

    def stack(self, bottom: SparseRows, width: int) -> SparseRows:
        """Rows of `bottom` under those of this one, `width` columns."""
        return SparseRows(
            append_rows(self.data, bottom.data),
            append_rows(self.indices, bottom.indices),
            append_rows(self.indptr, bottom.indptr[1:] + self.indptr[-1]),
            (self.shape[0] + bottom.shape[0], width),
        )

    def with_room(self) -> SparseRows:
        """The same with room to grow."""
        return SparseRows(with_room(self.data), with_room(self.indices), with_room(self.indptr), self.shape)


def flatten_slices(begin: NDArray[Any], count: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(s,) where slices begin and how long they are -> which slice each of their places belongs to, and the places."""
    of = np.repeat(np.arange(len(begin)), count)
    places = np.arange(len(of)) + np.repeat(begin - np.cumsum(count) + count, count)
    return of, places


def order_stably(keys: Ids) -> Ids:
    """The order (z,) that sorts numbers >= 0 and leaves equal ones as they stand: by their halves, of 16 bits each,
    which numpy sorts in a pass over them. A million take 10 ms, a tenth of a sort of the whole numbers."""
    order = np.argsort(keys.astype(np.uint16), kind="stable").astype(np.int32)
    high = (keys >> 16).astype(np.uint16)
    return order[np.argsort(high[order], kind="stable")] if high.any() else order


def _ends(rows: Ids, n: int) -> Ids:
    """(n + 1,) where the entries of each of n rows begin, and the last ones end."""
    ends = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=n), out=ends[1:])
    return ends


class Postings:
    """A matrix (n, m) of which columns are looked up: for mentions, which episodes mention an object.

    What was there when the postings were made is sorted once; what is written afterwards is few and sorted anew each
    time, until it is worth doing it all again."""

    def __init__(self, matrix: SparseRows, before: Postings | None = None) -> None:
        """`before`: the postings of a matrix whose rows this one begins with."""
        if before is not None and matrix.size - before._sorted.size <= max(LATE, matrix.size // LATE_SHARE):
            self._sorted: SparseRows = before._sorted  # the first rows by column; its data are places of entries
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
