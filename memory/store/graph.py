"""The hypergraph's rows: objects and aliases, theses, edges. Written in bulk, loaded at once, never walked here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, NamedTuple, SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.store import vectors
from memory.store.codec import id_list, to_json
from memory.store.connect import Connection

EdgeKind = Literal["rel", "member", "mention", "asserts", "next", "open", "syn"]
EDGE_KINDS: tuple[EdgeKind, ...] = ("rel", "member", "mention", "asserts", "next", "open", "syn")


class ObjectRow(NamedTuple):
    id: int
    label: str
    type: str | None = None
    description: str | None = None


class AliasRow(NamedTuple):
    """`norm` is the spelling that is looked up, `surface` the one that was read."""

    norm: str
    surface: str
    node_id: int
    origin: str
    conf: float = 1.0


class ThesisRow(NamedTuple):
    """`text` is None where it is the episode's words [span_from, span_to). Validity in milliseconds UTC."""

    id: int
    episode_id: int
    span_from: int | None
    span_to: int | None
    text: str | None = None
    origin: str = "sentence"
    modality: str = "asserted"
    polarity: int = 1
    conf: float = 1.0
    valid_from: int | None = None
    valid_to: int | None = None


class EdgeRow(NamedTuple):
    """For a mention `n_support` is how often, `role` "title" where the episode is titled by the object."""

    id: int
    kind: EdgeKind
    src: int
    dst: int
    n_support: int = 1
    role: str | None = None
    pred_id: int | None = None
    text: str | None = None
    conf: float = 1.0
    valid_from: int | None = None
    valid_to: int | None = None


class ObjectArrays(NamedTuple):
    """Objects as columns of one length, ids rising."""

    id: NDArray[np.int64]
    is_date: NDArray[np.bool_]


class EdgeArrays(NamedTuple):
    """Edges as columns of one length. `kind` indexes EDGE_KINDS."""

    id: NDArray[np.int64]
    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    kind: NDArray[np.int8]
    support: NDArray[np.int32]
    title: NDArray[np.bool_]


def allocate(conn: Connection, table: Literal["node", "edge"], n: int) -> int:
    """The first of `n` consecutive ids that nothing has or ever had."""
    (next_free,) = conn.execute(
        "UPDATE meta SET value = value + ? WHERE key = ? RETURNING value", (n, f"next_{table}")
    ).fetchone()
    return int(next_free) - n


def insert_objects(conn: Connection, rows: Sequence[ObjectRow], now: int) -> None:
    """Objects with their nodes."""
    conn.executemany(
        "INSERT INTO node(id, kind, label, t_created) VALUES (?, 'O', ?, ?)", [(row.id, row.label, now) for row in rows]
    )
    conn.executemany(
        "INSERT INTO object(node_id, type, description) VALUES (?, ?, ?)",
        [(row.id, row.type, row.description) for row in rows],
    )


def insert_aliases(conn: Connection, rows: Sequence[AliasRow]) -> None:
    """Aliases that are not known yet; a known one stays as it is."""
    conn.executemany("INSERT OR IGNORE INTO alias(norm, surface, node_id, origin, conf) VALUES (?, ?, ?, ?, ?)", rows)


def insert_theses(conn: Connection, rows: Sequence[ThesisRow], now: int) -> None:
    """Theses with their nodes, after their episodes. Full text follows with `text.add_theses`."""
    conn.executemany(f"INSERT INTO node(id, kind, t_created) VALUES (?, 'T', {int(now)})", [(row.id,) for row in rows])
    conn.executemany(
        "INSERT INTO thesis(node_id, episode_id, span_from, span_to, text, origin, modality, polarity, conf,"
        " valid_from, valid_to) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def insert_edges(conn: Connection, rows: Sequence[EdgeRow], now: int) -> None:
    """Edges between nodes that are there. The same edge may live only once.

    Nearly all have defaults behind `n_support`, and leaving those to SQLite halves the time: the driver takes about a
    microsecond for each NULL that it binds.
    """
    plain, full = [], []
    for row in rows:
        if row[5:] == _EDGE_DEFAULTS:
            plain.append(row[:5])
        else:
            full.append(row)
    conn.executemany(
        f"INSERT INTO edge(id, kind, src, dst, n_support, t_created) VALUES (?, ?, ?, ?, ?, {int(now)})", plain
    )
    conn.executemany(
        "INSERT INTO edge(id, kind, src, dst, n_support, role, pred_id, text, conf, valid_from, valid_to, t_created)"
        f" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {int(now)})",
        full,
    )


_EDGE_DEFAULTS = tuple(EdgeRow._field_defaults.values())[1:]


def objects_by_norm(conn: Connection, norms: Sequence[str]) -> dict[str, list[int]]:
    """Live objects under each alias; the surest, then the oldest, first. An unknown norm is left out."""
    found: dict[str, list[int]] = {}
    for norm, id in conn.execute(
        "SELECT a.norm, a.node_id FROM alias a JOIN node n ON n.id = a.node_id"
        " WHERE a.norm IN (SELECT value FROM json_each(?)) AND n.t_expired IS NULL"
        " ORDER BY a.norm, a.conf DESC, a.node_id",
        (json.dumps(list(norms)),),  # in ASCII: a name may hold half a surrogate pair
    ):
        found.setdefault(norm, []).append(id)
    return found


def object_labels(conn: Connection, ids: Sequence[SupportsInt]) -> dict[int, str]:
    """id -> name, of objects."""
    return dict(
        conn.execute(
            "SELECT id, label FROM node WHERE kind = 'O' AND id IN (SELECT value FROM json_each(?))", (id_list(ids),)
        ).fetchall()
    )


def live_objects(conn: Connection) -> ObjectArrays:
    """The live objects, by id."""
    rows = conn.execute(
        "SELECT n.id, o.type IS 'date' FROM node n JOIN object o ON o.node_id = n.id"
        " WHERE n.t_expired IS NULL ORDER BY n.id"
    ).fetchall()
    id, is_date = np.array(rows, np.int64).reshape(-1, 2).T
    return ObjectArrays(id.copy(), is_date.astype(np.bool_))


def live_edges(conn: Connection, kinds: Sequence[EdgeKind] = EDGE_KINDS, since_id: int = 0) -> EdgeArrays:
    """The live edges of these kinds with an id above `since_id`, by id."""
    code = " ".join(f"WHEN '{kind}' THEN {number}" for number, kind in enumerate(EDGE_KINDS))
    cursor = conn.execute(
        f"SELECT id, src, dst, CASE kind {code} END, n_support, role IS 'title' FROM edge"
        " WHERE id > ? AND t_expired IS NULL AND kind IN (SELECT value FROM json_each(?)) ORDER BY id",
        (since_id, to_json(list(kinds))),
    )
    pieces = [np.zeros((0, 6), np.int64)]
    while rows := cursor.fetchmany(20_000):
        pieces.append(np.array(rows, np.int64))
    id, src, dst, kind, support, title = np.concatenate(pieces).T
    return EdgeArrays(
        id.copy(), src.copy(), dst.copy(), kind.astype(np.int8), support.astype(np.int32), title.astype(np.bool_)
    )


def edges_from(conn: Connection, nodes: Sequence[SupportsInt], kind: EdgeKind) -> list[EdgeRow]:
    """The live edges of a kind that begin at these nodes, by id."""
    rows = conn.execute(
        "SELECT id, kind, src, dst, n_support, role, pred_id, text, conf, valid_from, valid_to FROM edge"
        " WHERE src IN (SELECT value FROM json_each(?)) AND kind = ? AND t_expired IS NULL ORDER BY id",
        (id_list(nodes), kind),
    )
    return [EdgeRow(*row) for row in rows]


def retire_edges(conn: Connection, ids: Sequence[SupportsInt], now: int, reason: str) -> None:
    """Takes edges out of sight, with what was learnt on them. Ids that are not live are ignored."""
    conn.execute(
        "UPDATE edge SET t_expired = ?, expire_reason = ? WHERE id IN (SELECT value FROM json_each(?))"
        " AND t_expired IS NULL",
        (now, reason, id_list(ids)),
    )
    conn.execute("DELETE FROM edge_memory WHERE edge_id IN (SELECT value FROM json_each(?))", (id_list(ids),))
    vectors.delete_many(conn, "edge", ids)
