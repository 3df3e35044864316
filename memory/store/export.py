"""The rows of a memory as JSON lines, in an order that depends on its contents only.

Rows are streamed from one snapshot: memory use is independent of size. `memory.store.records` defines the lines;
`memory.store.load` reads them."""

from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

import msgspec
from msgspec import Raw

from memory.errors import StoreDamagedError
from memory.store.connect import Connection, driver
from memory.store.records import FORMAT, KEPT_META, NODE_FIELDS, SECRET_META, End, Header, Kind

PIECE_BYTES = 1 << 16

_encode = msgspec.json.Encoder().encode


def write_header(version: str, counts: dict[str, int], secrets: bool) -> bytes:
    """The first line."""
    return _encode(Header(FORMAT, version, counts, secrets)) + b"\n"


def write_end(lines: int) -> bytes:
    """The last line, after `lines` others."""
    return _encode(End(lines)) + b"\n"


def count_rows(conn: Connection, kind: Kind, secrets: bool = False) -> int:
    """The number of lines of a kind."""
    return int(conn.execute(f"SELECT count(*) FROM {kind.table} r WHERE {_filter_rows(kind, secrets)}").fetchone()[0])


def read_pieces(conn: Connection, kind: Kind, secrets: bool = False) -> Iterator[tuple[bytes, int]]:
    """The lines of a kind in pieces of some kB, each with its number of lines."""
    make, piece, number = _find_maker(kind), bytearray(), 0
    key, join = ("node_id", "JOIN node n ON n.id = r.node_id") if kind.node else (kind.order, "")
    order = ", ".join(f"r.{column}" for column in key.split(", "))
    columns = ", ".join(_list_columns(kind))
    query = f"SELECT {columns} FROM {kind.table} r {join} WHERE {_filter_rows(kind, secrets)}"
    try:
        for row in conn.execute(f"{query} ORDER BY {order}"):
            piece += _encode(make(row))
            piece += b"\n"
            number += 1
            if len(piece) > PIECE_BYTES:
                yield bytes(piece), number
                piece, number = bytearray(), 0
    except driver().OperationalError as error:
        raise StoreDamagedError(
            f"A row of {kind.table} cannot be read ({error}). See what is wrong: pal check"
        ) from error
    if piece:
        yield bytes(piece), number


def _find_maker(kind: Kind) -> Callable[[tuple[Any, ...]], msgspec.Struct]:
    """The function from a row to its line."""
    record = kind.record
    raw = [place for place, type in enumerate(get_type_hints(record).values()) if type is Raw]
    if not raw:
        return lambda row: record(*row)

    def make(row: tuple[Any, ...]) -> msgspec.Struct:
        values = list(row)
        for place in raw:
            values[place] = _splice(values[place])
        return record(*values)

    return make


def _splice(text: str | None) -> Raw:
    """JSON from the table in one line; line feeds in it are never part of a value."""
    return Raw(b"null" if text is None else text.replace("\n", " ").encode())


def _list_columns(kind: Kind) -> Iterator[str]:
    own = kind.columns or {}
    for name, type in get_type_hints(kind.record).items():
        if name in own:
            yield own[name]
        elif kind.node and (name == "id" or name in NODE_FIELDS):
            yield f"n.{name}"
        elif type is Raw:  # text that is no JSON is quoted; `load` accepts both
            yield f"iif(r.{name} IS NULL OR json_valid(r.{name}), r.{name}, json_quote(r.{name}))"
        else:
            yield f"r.{name}"


def _filter_rows(kind: Kind, secrets: bool) -> str:
    if kind.table == "meta":
        names = (*KEPT_META, SECRET_META) if secrets else KEPT_META
        return f"r.key IN ({', '.join(map(repr, names))})"
    return kind.rows
