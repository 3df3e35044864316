"""Rows as arrays: the live episodes, objects, theses and edges, all loaded at once; and arrays that grow.

Growing arrays never copy their contents: a write costs only its own rows. A view of an array never changes: rows are
appended after its end. Only the newest of several arrays that share a buffer can grow in place; others get a new
buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, SupportsInt, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory.store.connect import LISTED, LIVE, Connection, id_list, is_live
from memory.store.graph import EDGE_KINDS, NO_THINGS, EdgeKind

Scalar = TypeVar("Scalar", bound=np.generic)

LEAST_ROOM = 1024
SHARE = 4  # free part of a new buffer; untouched pages take no memory


class _Room(np.ndarray[Any, Any]):
    """The buffer shared by arrays; `used`: the length of the longest."""

    used = 0


def append_rows(old: NDArray[Scalar], values: Sequence[Any] | NDArray[Any]) -> NDArray[Scalar]:
    """Returns `old` (n, ...) followed by `values` (k, ...)."""
    if not len(values):
        return old
    size = len(old) + len(values)
    room = _find_room(old)
    if room is None or room.used != len(old) or len(room) < size:
        room = _make_room(old, size)
    room[len(old) : size] = values
    return _begin_of(room, size)


def with_room(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Returns a copy of an array that can grow."""
    return _begin_of(_make_room(array, len(array)), len(array))


def _find_room(array: NDArray[Any]) -> _Room | None:
    """Returns the buffer at whose start the array begins, or None."""
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


PIECE = 1 << 16  # rows converted to text at once


def read_numbers(
    conn: Connection, values: Sequence[str], table: str, key: str, rest: str
) -> Iterator[NDArray[np.int64]]:
    """Yields the integers of these SQL expressions in the rows of `table`, sorted by `key`, an indexed column, in
    pieces (len(values), any). `rest` (SQL) joins and filters.

    SQLite returns each piece as one text of hexadecimal digits: with a Python object per number, loading the graph of
    100,000 episodes took a third longer, and each row let waiting threads run."""
    ends = f"SELECT (SELECT min({key}) FROM {table}), (SELECT max({key}) FROM {table})"
    first, last = conn.execute(ends).fetchone()
    if first is None:
        return
    digits = "%016x" * len(values)
    query = (
        f"SELECT group_concat(line, '') FROM (SELECT printf('{digits}', {', '.join(values)}) AS line"
        f" FROM {table} {rest} AND {key} BETWEEN ? AND ? ORDER BY {key})"
    )
    for begin in range(first, last + 1, PIECE):
        (text,) = conn.execute(query, (begin, begin + PIECE - 1)).fetchone()
        if text:
            yield np.frombuffer(bytes.fromhex(text), ">i8").astype(np.int64).reshape(-1, len(values)).T


def read_columns(conn: Connection, values: Sequence[str], table: str, key: str, rest: str) -> NDArray[np.int64]:
    """Returns all pieces of `read_numbers` as one (len(values), any)."""
    pieces = read_numbers(conn, values, table, key, rest)
    return np.concatenate([np.zeros((len(values), 0), np.int64), *pieces], axis=1)


class EdgeArrays(NamedTuple):
    """Edges as columns of equal length, sorted by id. `support` is 32,767 at most; `title`: role "title"; `timed`: the
    validity is bounded."""

    id: NDArray[np.int32]
    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    support: NDArray[np.int16]
    title: NDArray[np.bool_]
    timed: NDArray[np.bool_]

    @classmethod
    def none(cls) -> EdgeArrays:
        """Returns no edges."""
        numbers, flags = np.empty(0, np.int32), np.empty(0, np.bool_)
        return cls(numbers, numbers, numbers, np.empty(0, np.int16), flags, flags)

    def plus(self, more: EdgeArrays) -> EdgeArrays:
        """Returns these edges and more with larger ids."""
        columns: zip[tuple[NDArray[Any], NDArray[Any]]] = zip(self, more, strict=True)
        return EdgeArrays._make(append_rows(mine, theirs) for mine, theirs in columns)

    def select(self, chosen: NDArray[np.bool_ | np.int64]) -> EdgeArrays:
        """Returns the chosen edges, in that order."""
        return EdgeArrays._make(column[chosen] for column in self)


def live_objects(conn: Connection) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Returns (ids (n,), sorted; whether each is of NO_THINGS) of the live objects."""
    rest = f"JOIN object o ON o.node_id = n.id WHERE {is_live('n')}"
    listed = ", ".join(f"'{type}'" for type in NO_THINGS)
    id, is_none = read_columns(conn, ("n.id", f"ifnull(o.type, '') IN ({listed})"), "node n", "n.id", rest)
    return id.copy(), is_none.astype(np.bool_)


def live_edges(conn: Connection) -> dict[EdgeKind, EdgeArrays]:
    """Returns the live edges of each kind, by id. Packs a row into two numbers and tests the commonest kinds first,
    because there are many. Node ids are below 2^30."""
    often: tuple[EdgeKind, ...] = ("member", "mention", "asserts")
    kinds = sorted(enumerate(EDGE_KINDS), key=lambda kind: kind[1] not in often)
    code = " ".join(f"WHEN '{kind}' THEN {number}" for number, kind in kinds)
    is_timed = "(valid_from IS NOT NULL OR valid_to IS NOT NULL)"
    packed_row = (
        "(src << 30) + dst",
        f"(id << 32) + (min(n_support, 0x7fff) << 5) + (role IS 'title') * 16 + {is_timed} * 8 + CASE kind {code} END",
    )
    by_kind = {kind: EdgeArrays.none() for kind in EDGE_KINDS}
    for ends, packed in read_numbers(conn, packed_row, "edge", "id", f"WHERE {LIVE}"):
        whole = EdgeArrays(
            (packed >> 32).astype(np.int32),
            (ends >> 30).astype(np.int32),
            (ends & (1 << 30) - 1).astype(np.int32),
            (packed >> 5 & 0x7FFF).astype(np.int16),
            (packed & 16).astype(np.bool_),
            (packed & 8).astype(np.bool_),
        )
        for number, kind in enumerate(EDGE_KINDS):
            by_kind[kind] = by_kind[kind].plus(whole.select((packed & 7) == number))
    return by_kind


def live_theses(conn: Connection) -> NDArray[np.int64]:
    """Returns (4, n) the live theses, by id: id, episode, valid from and to in ms UTC; the least and greatest int64 if
    unbounded."""
    least, greatest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    values = ("t.node_id", "t.episode_id", f"ifnull(t.valid_from, {least})", f"ifnull(t.valid_to, {greatest})")
    rest = f"JOIN node n ON n.id = t.node_id WHERE {is_live('n')}"
    return read_columns(conn, values, "thesis t", "t.node_id", rest)


def validity(conn: Connection, edge_ids: Sequence[SupportsInt]) -> dict[int, tuple[int | None, int | None]]:
    """Returns {edge: (valid from, valid to)} in ms UTC."""
    rows = conn.execute(f"SELECT id, valid_from, valid_to FROM edge WHERE id IN {LISTED}", (id_list(edge_ids),))
    return {id: (start, end) for id, start, end in rows}


def evidence_of_edges(conn: Connection) -> NDArray[np.int64]:
    """Returns (p, 2) (edge, episode): the evidence of live edges."""
    rest = f"JOIN edge e ON e.id = p.item_id WHERE p.item_kind = 'edge' AND {is_live('e')}"
    edges, episodes = read_columns(conn, ("p.item_id", "p.episode_id"), "provenance p", "p.episode_id", rest)
    return np.stack([edges, episodes], axis=1)[np.lexsort((episodes, edges))]


def live_episodes(conn: Connection) -> dict[str, NDArray[Any]]:
    """Returns the live episodes, by id, as the columns of `memory.graph.arrays.Graph` that begin with an episode.
    `event_from` in ms UTC, the least int64 if unknown."""
    about = f"ifnull(e.event_from, {np.iinfo(np.int64).min})"
    values = ("e.node_id", "e.source_id", "e.seq", about, "s.kind = 'chat'", "e.words")
    rest = f"JOIN node n ON n.id = e.node_id JOIN source s ON s.id = e.source_id WHERE {is_live('n')}"
    id, source_id, seq, event_from, is_chat, words = read_columns(conn, values, "episode e", "e.node_id", rest)
    return {
        "episode_ids": id, "source_ids": source_id, "seqs": seq, "event_from": event_from,
        "is_chat": is_chat.astype(np.bool_), "words": words, "alive": np.ones(len(id), np.bool_),
    }  # fmt: skip
