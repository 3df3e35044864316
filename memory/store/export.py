"""Exports the rows of a memory as JSON lines, in an order that depends on its contents only.

A line is a row, with its table as `type` and the columns as fields; a node's line also contains its `episode`, `object`
or `thesis`. Times are in ms (docs/times.md), spans in characters, JSON as JSON. Fields without a value are omitted. All
tables that are not in `KINDS` are derived and not exported. `memory.store.restore` reads the lines.

FORMAT is independent of the schema version. A new column changes nothing if it may be NULL or is in `DEFAULTS`; other
changes increase FORMAT.

Rows are streamed from one snapshot: memory use is independent of size."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Raw

from memory.errors import StoreDamagedError
from memory.store.connect import Connection, driver

FORMAT = 2
PIECE_BYTES = 1 << 16

_encode = msgspec.json.Encoder().encode


class Header(msgspec.Struct, tag="palimpsest", tag_field="type", omit_defaults=True):
    """The first line. `counts`: lines per kind; `secrets`: whether the masked secrets are included."""

    format: int
    version: str
    counts: dict[str, int]
    secrets: bool = False


class Kind(NamedTuple):
    """The rows of a `table` as lines of one kind: `order` (SQL) is their key if it is not the primary one, `rows` (SQL)
    filters them, `columns` (SQL) computes values of columns. Rows of a `node` kind are also rows of the table node."""

    table: str
    order: str = ""
    rows: str = "1"
    columns: Mapping[str, str] = MappingProxyType({})
    node: Literal["", "E", "O", "T"] = ""

    @property
    def name(self) -> str:
        """The `type` of the lines."""
        return self.table.removeprefix("sqlite_")


KEPT_META = ("next_node", "next_edge", "owner", "readers", "forgotten_key", "copies")
SECRET_META = "mask_key"  # the key of the placeholders of secrets
COUNTED = (
    "('conversation', 'folder', 'job', 'message', 'revision', 'source', 'trace')"  # tables whose ids are never reused
)
_LEASED = "state = 'leased'"  # leased by a process that does not read the export

KINDS = (
    *map(Kind, ("meta", "source", "source_tag", "secret", "folder", "skip", "forgotten")),
    Kind("episode", node="E"),
    Kind("object", node="O"),
    Kind("alias"),
    Kind("thesis", node="T"),
    *map(Kind, ("predicate", "edge", "provenance", "revision", "journal", "extraction")),
    Kind("embedder", "name", "center IS NOT NULL OR lam_mem IS NOT NULL"),  # what it learnt from all questions
    *map(Kind, ("trace", "trace_step", "trace_edge", "trace_visit", "train_label", "ml_model")),
    *map(Kind, ("llm_probe", "llm_use", "conversation", "message")),
    Kind(
        "job",
        columns={
            "state": f"iif({_LEASED}, 'queued', state)",
            "attempts": f"iif({_LEASED}, max(attempts - 1, 0), attempts)",
        },
    ),
    Kind("sqlite_sequence", "name", f"name IN {COUNTED}"),  # the largest id that a table ever had
)

LEFT_OUT = {  # columns without a field
    "node.kind",  # is the kind of the line
    "alias.folded",  # derived from the norm
    "embedder.id", "embedder.active",  # assigned with its vectors
    "job.boot_id",  # the process that leases it
}  # fmt: skip
RENAMED = {"object.type": "kind"}  # the field `type` is the kind of the line
DEFAULTS: Mapping[str, Any] = {"source.location": ""}  # values of NOT NULL columns that earlier exports do not have
JSON = {
    "source.properties", "folder.options", "episode.line_map", "episode.refs", "episode.turns", "trace.plan",
    "trace.citations", "trace.missing", "trace_step.detail", "ml_model.metrics", "llm_probe.grades",
    "message.citations", "job.payload",
}  # fmt: skip
_SEQUENCE = {"name": "TEXT", "seq": "INTEGER"}  # SQLite declares no types there


class Column(NamedTuple):
    """A column of a `table`, the `field` that has it in a line, its declared `type` or "JSON"; and the value of a
    missing field, unless it is `required`."""

    field: str
    table: str
    name: str
    type: str
    required: bool
    default: Any = None


def list_columns(conn: Connection, kind: Kind) -> tuple[list[Column], tuple[str, ...]]:
    """Returns (the columns of a kind according to the schema of the file, those that sort its lines)."""
    columns, key = [], {}
    for table in ("node", kind.table) if kind.node else (kind.table,):
        for _, name, declared, not_null, _, place in conn.execute(f"PRAGMA table_info({table})").fetchall():
            path = f"{table}.{name}"
            if place:
                key[place] = name
            if path not in LEFT_OUT and not (kind.node and name == "node_id"):
                required = path not in DEFAULTS and bool(not_null or place or not declared)
                type = "JSON" if path in JSON else declared or _SEQUENCE[name]
                columns.append(Column(RENAMED.get(path, name), table, name, type, required, DEFAULTS.get(path)))
    return columns, (kind.order,) if kind.order else tuple(key[place] for place in sorted(key)) or ("rowid",)


def write_header(version: str, counts: dict[str, int], secrets: bool = False) -> bytes:
    """Returns the first line."""
    return _encode(Header(FORMAT, version, counts, secrets)) + b"\n"


def write_end(lines: int) -> bytes:
    """Returns the last line, after `lines` others; without it the export was cut off."""
    return _encode({"type": "end", "lines": lines}) + b"\n"


def count_rows(conn: Connection, kind: Kind, secrets: bool = False) -> int:
    """Returns the number of lines of a kind."""
    return int(conn.execute(f"SELECT count(*) FROM {kind.table} r WHERE {_filter_rows(kind, secrets)}").fetchone()[0])


def read_pieces(conn: Connection, kind: Kind, secrets: bool = False) -> Iterator[tuple[bytes, int]]:
    """Yields the lines of a kind in pieces of some kB, each with its number of lines."""
    columns, order = list_columns(conn, kind)
    join = "JOIN node n ON n.id = r.node_id" if kind.node else ""
    query = (
        f"SELECT {', '.join(_select_column(kind, column) for column in columns)} FROM {kind.table} r {join}"
        f" WHERE {_filter_rows(kind, secrets)} ORDER BY {', '.join(f'r.{name}' for name in order)}"
    )

    def make(row: tuple[Any, ...]) -> bytes:
        fields = {
            column.field: Raw(value.replace("\n", " ").encode()) if column.type == "JSON" else value
            for column, value in zip(columns, row, strict=True)
            if column.required or value != column.default
        }
        return _encode({"type": kind.name, **fields}) + b"\n"

    try:
        yield from join_lines(map(make, conn.execute(query)))
    except driver().OperationalError as error:
        raise StoreDamagedError(
            f"A row of {kind.table} cannot be read ({error}). See what is wrong: pal check"
        ) from error


def join_lines(lines: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yields pieces of some kB, each with its number of lines."""
    piece, number = bytearray(), 0
    for line in lines:
        piece += line
        number += 1
        if len(piece) > PIECE_BYTES:
            yield bytes(piece), number
            piece, number = bytearray(), 0
    if piece:
        yield bytes(piece), number


def _select_column(kind: Kind, column: Column) -> str:
    name = f"{'n' if kind.node and column.table == 'node' else 'r'}.{column.name}"
    if column.type == "JSON":  # text that is no JSON is quoted; `load` accepts both
        return f"iif({name} IS NULL OR json_valid({name}), {name}, json_quote({name}))"
    return kind.columns.get(column.name, name)


def _filter_rows(kind: Kind, secrets: bool) -> str:
    if kind.table == "meta":
        names = (*KEPT_META, SECRET_META) if secrets else KEPT_META
        return f"r.key IN ({', '.join(map(repr, names))})"
    return kind.rows
