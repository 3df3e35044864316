"""Arrays that grow at their end without a copy of what they hold, so that a write costs its own rows and not all.

Who holds an array never sees it change: what is added stands behind its end, and only the newest of several arrays that
share their room may go on there; any other gets a room of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

LEAST_ROOM = 1024
SHARE = 4  # a new room has this part of its contents free: pages that nobody has written to take no memory


class _Room(np.ndarray[Any, Any]):
    """The memory behind arrays that share it; `used`: how long the longest of them is."""

    used = 0


def append_rows(old: NDArray[Scalar], values: Sequence[Any] | NDArray[Any]) -> NDArray[Scalar]:
    """`old` (n, ...) with `values` (k, ...) behind it."""
    if not len(values):
        return old
    size = len(old) + len(values)
    room = _room_of(old)
    if room is None or room.used != len(old) or len(room) < size:
        room = _with_room(old, size)
    room[len(old) : size] = values
    return _begin_of(room, size)


def with_room(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """A copy of an array that has room to grow."""
    return _begin_of(_with_room(array, len(array)), len(array))


def _room_of(array: NDArray[Any]) -> _Room | None:
    """The room that the array begins; scipy's matrices hold views of what they are given."""
    room = array.base
    while isinstance(room, np.ndarray) and not isinstance(room, _Room):
        room = room.base
    if not isinstance(room, _Room) or room.dtype != array.dtype or room.shape[1:] != array.shape[1:]:
        return None
    return room if room.ctypes.data == array.ctypes.data and array.flags.c_contiguous else None


def _with_room(array: NDArray[Any], size: int) -> _Room:
    room = _Room((size + max(LEAST_ROOM, size // SHARE), *array.shape[1:]), array.dtype)
    room[: len(array)] = array
    return room


def _begin_of(room: _Room, size: int) -> NDArray[Any]:
    room.used = size
    return np.ndarray((size, *room.shape[1:]), room.dtype, buffer=room)


def stack_rows(top: sparse.csr_matrix, bottom: sparse.csr_matrix, width: int) -> sparse.csr_matrix:
    """Rows of `bottom` under those of `top`, `width` columns."""
    return sparse.csr_matrix(
        (
            append_rows(top.data, bottom.data),
            append_rows(top.indices, bottom.indices),
            append_rows(top.indptr, bottom.indptr[1:] + top.indptr[-1]),
        ),
        shape=(top.shape[0] + bottom.shape[0], width),
    )


class IdIndex(Mapping[int, int]):
    """Node id -> place, of nodes that have one: a mapping that costs 4 bytes an id.

    `ids` are the nodes in the order of their places, of which the later of two counts; `among` (len(ids),) says which
    are there at all, if not all are.
    """

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
