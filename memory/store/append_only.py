"""Growing arrays that never copy their contents: a write costs only its own rows.

A view of an array never changes: rows are appended after its end. Only the newest of several arrays that share a buffer
can grow in place; others get a new buffer."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

LEAST_ROOM = 1024
SHARE = 4  # free part of a new buffer; untouched pages take no memory


class _Room(np.ndarray[Any, Any]):
    """The buffer shared by arrays; `used`: the length of the longest."""

    used = 0


def append_rows(old: NDArray[Scalar], values: Sequence[Any] | NDArray[Any]) -> NDArray[Scalar]:
    """`old` (n, ...) followed by `values` (k, ...)."""
    if not len(values):
        return old
    size = len(old) + len(values)
    room = _find_room(old)
    if room is None or room.used != len(old) or len(room) < size:
        room = _make_room(old, size)
    room[len(old) : size] = values
    return _begin_of(room, size)


def with_room(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """A copy of an array that can grow."""
    return _begin_of(_make_room(array, len(array)), len(array))


def _find_room(array: NDArray[Any]) -> _Room | None:
    """The buffer at whose start the array begins, or None."""
    room = array.base
    while isinstance(room, np.ndarray) and not isinstance(room, _Room):
        room = room.base
    if not isinstance(room, _Room) or room.dtype != array.dtype or room.shape[1:] != array.shape[1:]:
        return None
    return room if room.ctypes.data == array.ctypes.data and array.flags.c_contiguous else None


def _make_room(array: NDArray[Any], size: int) -> _Room:
    room = _Room((size + max(LEAST_ROOM, size // SHARE), *array.shape[1:]), array.dtype)
    room[: len(array)] = array
    return room


def _begin_of(room: _Room, size: int) -> NDArray[Any]:
    room.used = size
    return np.ndarray((size, *room.shape[1:]), room.dtype, buffer=room)
