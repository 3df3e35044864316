"""The rows of a memory as lines of JSON, in an order that depends on nothing but what is in it.

They are read one after the other from one snapshot, and never held: a memory of any size takes the same room. What the
lines are is in `memory.store.records`; `memory.store.load` makes a memory of them.
"""

from collections.abc import Callable, Iterator, Sequence
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
    """The last line, behind so many others."""
    return _encode(End(lines)) + b"\n"


def count_rows(conn: Connection, kind: Kind, secrets: bool = False) -> int:
    """How many lines there are of a kind."""
    return int(conn.execute(f"SELECT count(*) FROM {kind.table} r WHERE {_which(kind, secrets)}").fetchone()[0])


def read_pieces(conn: Connection, kind: Kind, secrets: bool = False) -> Iterator[tuple[bytes, int]]:
    """The lines of a kind, as pieces of some kB, each with how many are in it."""
    make, piece, number = _maker(kind), bytearray(), 0
    order = ", ".join(f"r.{column}" for column in _key(kind).split(", "))
    query = f"SELECT {', '.join(_columns(kind))} FROM {kind.table} r {_join(kind)} WHERE {_which(kind, secrets)}"
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


def _maker(kind: Kind) -> Callable[[tuple[Any, ...]], msgspec.Struct]:
    """What makes a row a line."""
    record = kind.record
    raw = [place for place, of in enumerate(get_type_hints(record).values()) if of is Raw]
    if not raw:
        return lambda row: record(*row)

    def make(row: tuple[Any, ...]) -> msgspec.Struct:
        values = list(row)
        for place in raw:
            values[place] = _splice(values[place])
        return record(*values)

    return make


def _splice(text: str | None) -> Raw:
    """JSON as it stands in the table, on one line; a line feed in it is never part of a value."""
    return Raw(b"null" if text is None else text.replace("\n", " ").encode())


def _columns(kind: Kind) -> Iterator[str]:
    own = kind.columns or {}
    for name, of in get_type_hints(kind.record).items():
        if name in own:
            yield own[name]
        elif kind.node and (name == "id" or name in NODE_FIELDS):
            yield f"n.{name}"
        elif of is Raw:  # what is no JSON is a JSON text; `load` takes either
            yield f"iif(r.{name} IS NULL OR json_valid(r.{name}), r.{name}, json_quote(r.{name}))"
        else:
            yield f"r.{name}"


def _join(kind: Kind) -> str:
    return "JOIN node n ON n.id = r.node_id" if kind.node else ""


def _key(kind: Kind) -> str:
    return "node_id" if kind.node else kind.order


def _which(kind: Kind, secrets: bool) -> str:
    if kind.table == "meta":
        return f"r.key IN {_listed((*KEPT_META, SECRET_META) if secrets else KEPT_META)}"
    return kind.rows


def _listed(names: Sequence[str]) -> str:
    return f"({', '.join(map(repr, names))})"
