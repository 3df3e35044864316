"""The rows of a memory as JSON lines, in an order that depends on its contents only.

Rows are streamed from one snapshot: memory use is independent of size. `memory.store.records` defines the lines;
`memory.store.load` reads them."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Raw

from memory.errors import StoreDamagedError
from memory.store.connect import Connection, driver
from memory.store.records import FORMAT, KEPT_META, SECRET_META, End, Header, Kind, RecordField, read_layout

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
    layout = read_layout(conn, kind)
    join = "JOIN node n ON n.id = r.node_id" if kind.node else ""
    columns = ", ".join(_make_column(kind, field) for field in layout.fields)
    order = ", ".join(f"r.{column}" for column in layout.order)
    query = f"SELECT {columns} FROM {kind.table} r {join} WHERE {_filter_rows(kind, secrets)} ORDER BY {order}"
    raw = [place for place, field in enumerate(layout.fields) if field.type is Raw]

    def make(row: tuple[Any, ...]) -> bytes:
        values = list(row)
        for place in raw:
            values[place] = _splice(values[place])
        return _encode(layout.record(*values)) + b"\n"

    try:
        yield from join_lines(map(make, conn.execute(query)))
    except driver().OperationalError as error:
        raise StoreDamagedError(
            f"A row of {kind.table} cannot be read ({error}). See what is wrong: pal check"
        ) from error


def join_lines(lines: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Pieces of some kB, each with its number of lines."""
    piece, number = bytearray(), 0
    for line in lines:
        piece += line
        number += 1
        if len(piece) > PIECE_BYTES:
            yield bytes(piece), number
            piece, number = bytearray(), 0
    if piece:
        yield bytes(piece), number


def _splice(text: str | None) -> Raw:
    """JSON from the table in one line; line feeds in it are never part of a value."""
    return Raw(b"null" if text is None else text.replace("\n", " ").encode())


def _make_column(kind: Kind, field: RecordField) -> str:
    column = f"{'n' if kind.node and field.table == 'node' else 'r'}.{field.column}"
    if field.type is Raw:  # text that is no JSON is quoted; `load` accepts both
        return f"iif({column} IS NULL OR json_valid({column}), {column}, json_quote({column}))"
    return (kind.columns or {}).get(field.column, column)


def _filter_rows(kind: Kind, secrets: bool) -> str:
    if kind.table == "meta":
        names = (*KEPT_META, SECRET_META) if secrets else KEPT_META
        return f"r.key IN ({', '.join(map(repr, names))})"
    return kind.rows
