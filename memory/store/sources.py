"""Sources: where text came from. Known by its uri; one that has gone keeps its row until it is forgotten."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Document, Policy, Source
from memory.store import episodes
from memory.store.codec import SOURCE_COLUMNS, source_from_row, to_json
from memory.store.connect import Connection
from memory.store.visibility import is_live
from memory.time.timestamps import to_ms

_READERS = "readers"  # in meta: the version of each


class Listed(NamedTuple):
    """A source as a list shows it."""

    source: Source
    episodes: int
    tags: tuple[str, ...]


def get(conn: Connection, uri: str) -> Source | None:
    """The live source with that uri."""
    row = conn.execute(f"SELECT {SOURCE_COLUMNS} FROM source WHERE uri = ? AND t_deleted IS NULL", (uri,)).fetchone()
    return source_from_row(row) if row else None


def by_id(conn: Connection, id: int) -> Source:
    """Also one that has gone. NotFoundError."""
    row = conn.execute(f"SELECT {SOURCE_COLUMNS} FROM source WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise NotFoundError(f"There is no source {id}.")
    return source_from_row(row)


def list_under(conn: Connection, prefix: str) -> list[Source]:
    """The live sources whose uri begins with `prefix`, by uri."""
    rows = conn.execute(
        f"SELECT {SOURCE_COLUMNS} FROM source"
        " WHERE uri >= ? AND substr(uri, 1, ?) = ? AND t_deleted IS NULL ORDER BY uri",
        (prefix, len(prefix), prefix),
    )
    return [source_from_row(row) for row in rows]


def tags_of(conn: Connection, id: int) -> tuple[str, ...]:
    return tuple(tag for (tag,) in conn.execute("SELECT tag FROM source_tag WHERE source_id = ? ORDER BY tag", (id,)))


def upsert(conn: Connection, document: Document, title: str, now: int) -> int:
    """Writes what is known of the document's source, tags included; returns its id. A source that had gone comes back.

    `t_ingested` becomes `now`.
    """
    values = (
        document.kind, title, document.reader, document.conversation, document.policy, to_ms(document.at),
        document.sha256, document.size, document.mtime_ns, to_json(dict(document.properties)), document.ref, now,
    )  # fmt: skip
    known = conn.execute(
        "SELECT id FROM source WHERE uri = ? ORDER BY t_deleted IS NOT NULL, id DESC LIMIT 1", (document.uri,)
    ).fetchone()
    if known:
        id: int = known[0]
        conn.execute(
            "UPDATE source SET kind = ?, title = ?, reader = ?, conversation = ?, policy = ?, at = ?, sha256 = ?,"
            " size = ?, mtime_ns = ?, properties = ?, ref = ?, t_ingested = ?, t_deleted = NULL WHERE id = ?",
            (*values, id),
        )
        conn.execute("DELETE FROM source_tag WHERE source_id = ?", (id,))
    else:
        (id,) = conn.execute(
            "INSERT INTO source(kind, title, reader, conversation, policy, at, sha256, size, mtime_ns, properties, ref,"
            " t_ingested, uri) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (*values, document.uri),
        ).fetchone()
    conn.executemany("INSERT INTO source_tag VALUES (?, ?)", [(id, tag) for tag in dict.fromkeys(document.tags)])
    return id


def stamp(conn: Connection, id: int, size: int | None, mtime_ns: int | None) -> None:
    """Notes that the file was looked at and its content is the same, although its date or size on disk is not."""
    conn.execute("UPDATE source SET size = ?, mtime_ns = ? WHERE id = ?", (size, mtime_ns, id))


def read_anew(conn: Connection, readers: Mapping[str, int]) -> None:
    """Of sources that another version of their reader has read it is no longer known what their files hold, so that
    these are read again. `readers`: the versions that there are now, by name."""
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (_READERS,)).fetchone()
    before: dict[str, int] = json.loads(row[0]) if row else {}
    newer = [name for name, version in readers.items() if before.get(name, 1) != version]
    if newer:
        conn.execute(
            "UPDATE source SET sha256 = NULL, size = NULL WHERE reader IN (SELECT value FROM json_each(?))"
            " AND sha256 IS NOT NULL",
            (to_json(newer),),
        )
        conn.execute(
            "INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (_READERS, to_json({**before, **readers}))
        )


def set_policy(conn: Connection, uri: str, policy: Policy) -> int:
    """Changes where text may go: of the source, or of all below that folder or in that file; returns how many."""
    return conn.execute(
        "UPDATE source SET policy = ?1"
        " WHERE policy <> ?1 AND (uri = ?2 OR substr(uri, 1, ?3) IN (?2 || '/', ?2 || '#'))",
        (policy, uri, len(uri) + 1),
    ).rowcount


def open_ids(conn: Connection) -> list[int]:
    """The sources whose text may leave this machine, by id."""
    return [id for (id,) in conn.execute("SELECT id FROM source WHERE policy = 'any' ORDER BY id")]


def rename(conn: Connection, old_uri: str, new_uri: str) -> int:
    """A moved file keeps its identity; returns its id. NotFoundError; InvalidInputError if the new uri is taken."""
    source = get(conn, old_uri)
    if source is None:
        raise NotFoundError(f"There is no source {old_uri}.")
    if get(conn, new_uri) is not None:
        raise InvalidInputError(f"{new_uri} is a source already, so {old_uri} cannot take its name.")
    conn.execute("UPDATE source SET uri = ? WHERE id = ?", (new_uri, source.id))
    return source.id


def retire(conn: Connection, id: int, now: int) -> episodes.Retired:
    """The source has gone: it and its episodes are no longer seen, but stay until they are forgotten."""
    conn.execute("UPDATE source SET t_deleted = ? WHERE id = ? AND t_deleted IS NULL", (now, id))
    live = [row.id for row in episodes.of_source(conn, id)]
    return episodes.retire_many(conn, live, now, "source_deleted")


def list_sources(conn: Connection, query: str = "", limit: int = 50, offset: int = 0) -> list[Listed]:
    """Live sources, newest ingested first, but before them the one whose uri is `query`.

    `query` is looked for in uri and title, in upper or lower case.
    """
    rows = conn.execute(
        f"SELECT {SOURCE_COLUMNS}, (SELECT count(*) FROM episode e JOIN node n ON n.id = e.node_id"
        f"  WHERE e.source_id = source.id AND {is_live('n')})"
        f" FROM source WHERE {_MATCHES} ORDER BY uri = :query DESC, t_ingested DESC, id DESC"
        " LIMIT :limit OFFSET :offset",
        {"like": _like(query), "query": query, "limit": limit, "offset": offset},
    ).fetchall()
    return [Listed(source_from_row(row[:-1]), row[-1], tags_of(conn, row[0])) for row in rows]


def count(conn: Connection, query: str = "") -> int:
    """How many `list_sources` would give without a limit."""
    found: int = conn.execute(f"SELECT count(*) FROM source WHERE {_MATCHES}", {"like": _like(query)}).fetchone()[0]
    return found


_MATCHES = r"t_deleted IS NULL AND (uri LIKE :like ESCAPE '\' OR title LIKE :like ESCAPE '\')"


def _like(query: str) -> str:
    return "%" + query.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
