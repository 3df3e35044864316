"""The lines of an export: a kind of line for each table in `KINDS`, with the columns of the table as its fields.

A line is a row under its table's name; a node's line also contains its `episode`, `object` or `thesis`. Times are in ms
(docs/times.md), spans in characters, JSON as JSON. Fields without a value are omitted. All other tables are derived
and not exported.

FORMAT is independent of the schema version. A new column changes nothing if it may be NULL or is in `DEFAULTS`; other
changes increase FORMAT. Format 1 had instants where 2 has wall times, and norms without accents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from msgspec import NODEFAULT, Raw, Struct, defstruct

from memory.store.connect import Connection

FORMAT = 2


class Record(Struct, tag_field="type", forbid_unknown_fields=True, omit_defaults=True):
    """One line of an export; its type is the first field."""


class Header(Record, tag="palimpsest"):
    """The first line. `counts`: lines per kind; `secrets`: whether the masked secrets are included."""

    format: int
    version: str
    counts: dict[str, int]
    secrets: bool = False


class End(Record, tag="end"):
    """The last line: without it the export was cut off. `lines`: the number of lines before it."""

    lines: int


@dataclass(frozen=True, slots=True)
class Kind:
    """The rows of a `table` as lines of one kind: `order` (SQL) is their key if it is not the primary one, `rows` (SQL)
    filters them, `columns` (SQL) computes values of columns. Rows of a `node` kind are also rows of the table node."""

    table: str
    order: str = ""
    rows: str = "1"
    columns: Mapping[str, str] | None = None
    node: Literal["", "E", "O", "T"] = ""
    is_secret: bool = False

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
    Kind("meta"),
    Kind("source"),
    Kind("source_tag"),
    Kind("secret", is_secret=True),
    Kind("folder"),
    Kind("skip"),
    Kind("forgotten"),
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
_TYPES: Mapping[str, Any] = {"INTEGER": int, "TEXT": str, "REAL": float, "BLOB": bytes, "ANY": int | str}
_SEQUENCE = {"name": "TEXT", "seq": "INTEGER"}  # SQLite declares no types there
_NULL = Raw(b"null")


class RecordField(NamedTuple):
    """A field of a line, from a `column` of a `table`. `default`: NODEFAULT if it is required."""

    name: str
    table: str
    column: str
    type: Any
    default: Any


class Layout(NamedTuple):
    """The lines of a kind: their type, their fields in its order, and the columns that sort them."""

    record: type[Struct]
    fields: tuple[RecordField, ...]
    order: tuple[str, ...]


def read_layout(conn: Connection, kind: Kind) -> Layout:
    """The lines of a kind according to the schema of the file."""
    fields, key = [], {}
    for table in ("node", kind.table) if kind.node else (kind.table,):
        for _, column, declared, not_null, _, place in conn.execute(f"PRAGMA table_info({table})").fetchall():
            path = f"{table}.{column}"
            if place:
                key[place] = column
            if path in LEFT_OUT or (kind.node and column == "node_id"):
                continue
            is_required = not_null or place or not declared
            default = DEFAULTS.get(path, NODEFAULT if is_required else _NULL if path in JSON else None)
            type = Raw if path in JSON else _TYPES[declared or _SEQUENCE[column]]
            optional = type if is_required or type is Raw else type | None
            fields.append(RecordField(RENAMED.get(path, column), table, column, optional, default))
    fields.sort(key=lambda field: field.default is not NODEFAULT)
    declarations = [
        (field.name, field.type) if field.default is NODEFAULT else (field.name, field.type, field.default)
        for field in fields
    ]
    record = defstruct(kind.name, declarations, bases=(Record,), tag=kind.name)
    order = (kind.order,) if kind.order else tuple(key[place] for place in sorted(key)) or ("rowid",)
    return Layout(record, tuple(fields), order)
