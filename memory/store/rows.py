"""Rows: the visibility predicate of questions, and the conversion between columns and values.

The bi-temporal predicate is defined here only. *Valid* time is when a fact was true, [valid_from, valid_to), NULL for
an open end. *Transaction* time is when this memory believed it, [t_created, t_expired). A question asks about
the world at time v as the memory knew it at time t."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, SupportsInt, TypeVar

from memory.nouns import Citation, Source
from memory.store.connect import Connection
from memory.time.timestamps import from_wall, to_wall

K = TypeVar("K")
V = TypeVar("V")

LIVE = "t_expired IS NULL"  # SQL: this memory believes the row now
LISTED = "(SELECT value FROM json_each(?))"  # SQL: the values of a list in JSON
FIRST_EDGE = 1 << 30  # node ids begin at 1, so the id of a fact distinguishes relation and thesis


def is_live(alias: str) -> str:
    """SQL: the row `alias` (of node or edge) is believed now."""
    return f"{alias}.{LIVE}"


def is_recorded(alias: str, t_param: str) -> str:
    """SQL: the row `alias` (with t_created, t_expired) was believed at store time `t_param`."""
    return f"({alias}.t_created <= {t_param} AND ({is_live(alias)} OR {alias}.t_expired > {t_param}))"


def valid(alias: str, v_param: str) -> str:
    """SQL: the row `alias` (with valid_from, valid_to) was true in the world at time `v_param`."""
    return (
        f"(({alias}.valid_from IS NULL OR {alias}.valid_from <= {v_param})"
        f" AND ({alias}.valid_to IS NULL OR {alias}.valid_to > {v_param}))"
    )


def visible(alias: str, t_param: str, v_param: str) -> str:
    """SQL: visible at store time `t_param` and world time `v_param`, placeholders such as ":known_on"."""
    return f"({is_recorded(alias, t_param)} AND {valid(alias, v_param)})"


def is_asserted(alias: str) -> str:
    """SQL: an episode believed now is evidence of the relation `alias`."""
    return (
        "EXISTS (SELECT 1 FROM provenance v JOIN node asserting ON asserting.id = v.episode_id"
        f" AND {is_live('asserting')} WHERE v.item_kind = 'edge' AND v.item_id = {alias}.id)"
    )


def id_list(ids: Iterable[SupportsInt]) -> str:
    """Ids as JSON for `IN {LISTED}`: any number in one parameter."""
    return json.dumps([int(id) for id in ids])


def select_ids(conn: Connection, query: str, *values: int | str | None) -> list[int]:
    """The first column of the rows of a query."""
    return [row[0] for row in conn.execute(query, values)]


def read_value(conn: Connection, query: str, *values: int | str | None) -> Any:
    """The first column of the first row of a query, or None."""
    row = conn.execute(query, values).fetchone()
    return row and row[0]


def group_rows(rows: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """{first column: all second columns in order} of rows with two columns."""
    groups: dict[K, list[V]] = {}
    for key, value in rows:
        groups.setdefault(key, []).append(value)
    return groups


def insert_row(conn: Connection, table: str, **values: Any) -> int:
    """Inserts a row; returns its id."""
    marks = ", ".join("?" * len(values))
    query = f"INSERT INTO {table}({', '.join(values)}) VALUES ({marks}) RETURNING rowid"
    return int(conn.execute(query, tuple(values.values())).fetchone()[0])


def get_meta(conn: Connection, key: str) -> Any:
    """A value of the table meta, or None."""
    return read_value(conn, "SELECT value FROM meta WHERE key = ?", key)


def set_meta(conn: Connection, key: str, value: int | str | None) -> None:
    """Changes a value of the table meta; None deletes it."""
    if value is None:
        conn.execute("DELETE FROM meta WHERE key = ?", (key,))
    else:
        conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (key, value))


def make_pattern(words: str) -> str:
    r"""The pattern for LIKE ... ESCAPE '\' that these words match anywhere in a text."""
    return "%" + words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def citations_to_json(citations: Sequence[Citation]) -> str:
    names = [field.name for field in fields(Citation)]
    return to_json([{name: getattr(row, name) for name in names} | {"at": to_wall(row.at)} for row in citations])


def citations_from_json(stored: str | None) -> tuple[Citation, ...]:
    return tuple(Citation(**(fields | {"at": from_wall(fields["at"])})) for fields in json.loads(stored or "[]"))


SOURCE_COLUMNS = "id, uri, kind, title, reader, conversation, policy, at, sha256, size, mtime_ns, location"


def source_from_row(row: Sequence[Any]) -> Source:
    """A Source from the values of SOURCE_COLUMNS."""
    id, uri, kind, title, reader, conversation, policy, at, *rest = row
    return Source(id, uri, kind, title, reader, conversation, policy, from_wall(at), *rest)
