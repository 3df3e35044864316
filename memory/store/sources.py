"""Sources, identified by their uri; watched folders, unreadable files, and the chats and mails among the sources. A
deleted source keeps its row until it is forgotten."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import AGENT_NOTES, FORGOTTEN, Document, Policy, Source
from memory.store import text
from memory.store.connect import (
    LISTED,
    SOURCE_COLUMNS,
    Connection,
    get_meta,
    id_list,
    insert_row,
    is_live,
    make_pattern,
    read_column,
    read_value,
    set_meta,
    source_from_row,
    to_json,
)
from memory.text.mentions import norm
from memory.text.words import document_of, to_nfc
from memory.time.timestamps import from_ms, to_wall
from memory.views import Skipped

MAIL_READER = "eml"
MAX_MAILS = 1_000  # mails looked at
MAX_VERSIONS = 100  # of a document

_READERS = "readers"  # in meta: the version of each reader
_CHAT_NAME = "coalesce(conversation, iif(kind = 'chat', title, NULL))"  # missing in older memories


def get(conn: Connection, uri: str) -> Source | None:
    """Returns the live source with that uri, or None."""
    return next(iter(_select(conn, "uri = ? AND t_deleted IS NULL", uri)), None)


def list_under(conn: Connection, prefix: str, mark: str = "") -> list[Source]:
    """Returns the live sources whose uri begins with `prefix` and contains `mark`, by uri."""
    where = "uri >= ?1 AND substr(uri, 1, ?2) = ?1 AND instr(uri, ?3) AND t_deleted IS NULL ORDER BY uri"
    return _select(conn, where, prefix, len(prefix), mark)


def list_below(conn: Connection, folder: str, after: str, limit: int) -> list[Source]:
    """Returns the next live sources, after uri `after`, below a folder (its uri with "/"); none with "#" in the uri."""
    below = "uri > ? AND uri > ? AND uri < ? AND instr(uri, '#') = 0 AND t_deleted IS NULL ORDER BY uri LIMIT ?"
    return _select(conn, below, after, *_bound(folder), limit)


def _select(conn: Connection, where: str, *values: int | str) -> list[Source]:
    return [source_from_row(row) for row in conn.execute(f"SELECT {SOURCE_COLUMNS} FROM source WHERE {where}", values)]


def list_uris(conn: Connection, folder: str, limit: int = -1) -> list[str]:
    """Returns the uris below a folder, whose uri ends with "/", deleted sources included; all, or `limit`."""
    query = "SELECT DISTINCT uri FROM source WHERE uri > ? AND uri < ? ORDER BY uri LIMIT ?"
    return read_column(conn, query, *_bound(folder), limit)


def list_equal(conn: Connection, uris: Sequence[str]) -> list[str]:
    """Returns other live sources with the same file content as these, by uri."""
    listed = to_json(list(uris))
    same = f"sha256 IN (SELECT sha256 FROM source WHERE uri IN {LISTED})"
    query = f"SELECT uri FROM source WHERE t_deleted IS NULL AND uri NOT IN {LISTED} AND {same} ORDER BY uri"
    return read_column(conn, query, listed, listed)


def count_under(conn: Connection, folder: str, ever: bool = False) -> int:
    """Returns the number of live sources below a folder, whose uri ends with "/"; `ever`: also of deleted ones."""
    query = "SELECT count(*) FROM source WHERE uri > ? AND uri < ? AND (? OR t_deleted IS NULL)"
    return int(read_value(conn, query, *_bound(folder), ever))


def count_retired(conn: Connection, folder: str, since: int) -> int:
    """Returns the number of files below a folder, whose uri ends with "/", deleted after a time."""
    file = "iif(instr(uri, '#'), substr(uri, 1, instr(uri, '#') - 1), uri)"
    query = f"SELECT count(DISTINCT {file}) FROM source WHERE uri > ? AND uri < ? AND t_deleted > ?"
    return int(read_value(conn, query, *_bound(folder), since))


def list_of_size(conn: Connection, sizes: Iterable[int]) -> list[Source]:
    """Returns the live sources of files of one of these sizes in bytes, by uri."""
    of_file = "t_deleted IS NULL AND sha256 IS NOT NULL AND kind IN ('file', 'chat')"
    return _select(conn, f"{of_file} AND size IN {LISTED} ORDER BY uri", to_json(sorted(sizes)))


def _bound(folder: str) -> tuple[str, str]:
    """Returns the bounds of all uris in a folder."""
    return folder, folder[:-1] + chr(ord("/") + 1)


def upsert(conn: Connection, document: Document, title: str, now: int) -> int:
    """Writes the document's source with its tags; returns its id. Restores a deleted source. Sets `t_ingested`."""
    values = {
        "kind": document.kind, "title": title, "reader": document.reader, "conversation": document.conversation,
        "policy": document.policy, "at": to_wall(document.at), "sha256": document.sha256, "size": document.size,
        "mtime_ns": document.mtime_ns, "properties": to_json(dict(document.properties)), "ref": document.ref,
        "t_ingested": now, "t_deleted": None,
    }  # fmt: skip
    newest = "SELECT id FROM source WHERE uri = ? ORDER BY t_deleted IS NOT NULL, id DESC LIMIT 1"
    location = to_nfc(document.location)
    if id := int(read_value(conn, newest, document.uri) or 0):
        stored = read_value(conn, "SELECT location FROM source WHERE id = ?", id)
        if not f"/{stored}".endswith(f"/{location}"):  # a file added on its own keeps the known folders
            _set_location(conn, id, location)
        changes = ", ".join(f"{name} = :{name}" for name in values)
        conn.execute(f"UPDATE source SET {changes} WHERE id = :id", values | {"id": id})
        conn.execute("DELETE FROM source_tag WHERE source_id = ?", (id,))
    else:
        id = insert_row(conn, "source", uri=document.uri, location=location, **values)
    conn.executemany("INSERT INTO source_tag VALUES (?, ?)", [(id, tag) for tag in dict.fromkeys(document.tags)])
    return id


def last_read(conn: Connection, uri: str) -> tuple[int, int | None, int | None] | None:
    """Returns (ms UTC of the last reading, stated time, file time in ns) of a live source, or None."""
    row: tuple[int, int | None, int | None] | None = conn.execute(
        "SELECT t_ingested, at, mtime_ns FROM source WHERE uri = ? AND t_deleted IS NULL", (uri,)
    ).fetchone()
    return row


def set_contents(conn: Connection, contents: Mapping[str, tuple[str, int, int]]) -> None:
    """Records that live sources contain all of their files: uri -> hash, size, mtime_ns."""
    query = "UPDATE source SET sha256 = ?, size = ?, mtime_ns = ? WHERE uri = ? AND t_deleted IS NULL"
    conn.executemany(query, [(*content, uri) for uri, content in contents.items()])


def stamp(conn: Connection, stamps: Iterable[tuple[Source, int, int]]) -> None:
    """Records the new size and mtime_ns of files with unchanged content."""
    query = "UPDATE source SET size = ?, mtime_ns = ? WHERE id = ?"
    conn.executemany(query, [(size, mtime_ns, source.id) for source, size, mtime_ns in stamps])


def read_again(conn: Connection, readers: Mapping[str, int]) -> None:
    """Clears the content hashes of sources read by another version of their reader, so that they are read again.
    `readers`: current version by name."""
    before: dict[str, int] = json.loads(get_meta(conn, _READERS) or "{}")
    newer = [name for name, version in readers.items() if before.get(name, 1) != version]
    if newer:
        conn.execute(
            f"UPDATE source SET sha256 = NULL, size = NULL WHERE reader IN {LISTED} AND sha256 IS NOT NULL",
            (to_json(newer),),
        )
        set_meta(conn, _READERS, to_json({**before, **readers}))


def set_policy(conn: Connection, uri: str, policy: Policy) -> int:
    """Sets the policy of the source, or of all sources below that folder or in that file; returns their number."""
    return conn.execute(
        "UPDATE source SET policy = ?1"
        " WHERE policy <> ?1 AND (uri = ?2 OR substr(uri, 1, ?3) IN (?2 || '/', ?2 || '#'))",
        (policy, uri, len(uri) + 1),
    ).rowcount


def change_tags(conn: Connection, folder: str, former: Sequence[str], tags: Sequence[str]) -> None:
    """Replaces the tags `former` of live sources below a folder, whose uri ends with "/", with `tags`."""
    below = "(SELECT id FROM source WHERE uri > ? AND uri < ? AND t_deleted IS NULL)"
    delete = f"DELETE FROM source_tag WHERE tag = ? AND source_id IN {below}"
    conn.executemany(delete, [(tag, *_bound(folder)) for tag in set(former).difference(tags)])
    insert = f"INSERT OR IGNORE INTO source_tag SELECT id, ? FROM source WHERE id IN {below}"
    conn.executemany(insert, [(tag, *_bound(folder)) for tag in set(tags).difference(former)])


def open_ids(conn: Connection) -> list[int]:
    """Returns the ids of sources whose text may leave this machine."""
    return read_column(conn, "SELECT id FROM source WHERE policy = 'any' ORDER BY id")


def rename(conn: Connection, old_uri: str, new_uri: str) -> int:
    """Changes the uri of a moved file; returns its id. NotFoundError; InvalidInputError if the new uri is taken."""
    source = get(conn, old_uri)
    if source is None:
        raise NotFoundError(f"There is no source {old_uri}.")
    if get(conn, new_uri) is not None:
        raise InvalidInputError(f"{new_uri} is a source already, so {old_uri} cannot take its name.")
    conn.execute("UPDATE source SET uri = ? WHERE id = ?", (new_uri, source.id))
    _set_location(conn, source.id, _move_location(source, new_uri))
    return source.id


def _move_location(source: Source, new_uri: str) -> str:
    """Returns the location of a moved file: below the same root, else its new name only."""
    if not source.location:
        return ""
    old, new = (uri.partition("#")[0] for uri in (source.uri, new_uri))
    root = to_nfc(old).removesuffix(source.location)
    return to_nfc(new).removeprefix(root) if to_nfc(new).startswith(root) else to_nfc(new).rpartition("/")[2]


def _set_location(conn: Connection, id: int, location: str) -> None:
    """Stores the location of a source and updates the full text. Full text removes words as its view shows them, so the
    passages are removed first."""
    live = f"SELECT node_id FROM episode JOIN node n ON n.id = node_id WHERE source_id = ? AND {is_live('n')}"
    passages = read_column(conn, live, id)
    text.remove(conn, passages)
    conn.execute("UPDATE source SET location = ? WHERE id = ?", (location, id))
    text.add(conn, passages)


# Folders and files ---------------------------------------------------------------------------------------------


def watch_folder(
    conn: Connection, path: str, now: int, policy: Policy = "local", options: Mapping[str, Any] | None = None
) -> None:
    """Watches `path`, or changes the policy and options of a watched one."""
    conn.execute(
        "INSERT INTO folder(path, policy, added, options) VALUES (?, ?, ?, ?)"
        " ON CONFLICT(path) DO UPDATE SET policy = excluded.policy, options = excluded.options",
        (path, policy, now, to_json(dict(options or {}))),
    )


def unwatch_folder(conn: Connection, path: str, uri: str) -> None:
    """Stops watching a folder and clears its list of skipped files, except forgotten ones. What was read stays."""
    conn.execute("DELETE FROM folder WHERE path = ?", (path,))
    conn.execute("DELETE FROM skip WHERE substr(uri, 1, length(?1)) = ?1 AND reason <> ?2", (uri + "/", FORGOTTEN))


def list_folders(conn: Connection) -> list[tuple[str, Policy, dict[str, Any]]]:
    """Returns (path, policy, options) of all watched folders, by path."""
    rows = conn.execute("SELECT path, policy, options FROM folder ORDER BY path")
    return [(path, policy, json.loads(options)) for path, policy, options in rows]


def folder_policy(conn: Connection, path: str) -> Policy | None:
    """Returns the policy of the watched folder that is or contains `path`, or None."""
    above = {path, *(path[:end] for end, char in enumerate(path) if char == "/")}
    return next((policy for watched, policy, _ in list_folders(conn) if watched in above), None)


def skip(conn: Connection, uri: str, reason: str, now: int) -> None:
    conn.execute("INSERT OR REPLACE INTO skip(uri, reason, t) VALUES (?, ?, ?)", (uri, reason, now))


def unskip(conn: Connection, uris: Iterable[str]) -> None:
    """Removes files from the list: they were read or deleted."""
    conn.executemany("DELETE FROM skip WHERE uri = ?", [(uri,) for uri in uris])


def list_skipped(conn: Connection, limit: int = -1) -> list[Skipped]:
    """Lists skipped files, newest first; all, or `limit`."""
    return search_skipped(conn, "", limit)[0]


def search_skipped(conn: Connection, query: str, limit: int) -> tuple[list[Skipped], int]:
    """Returns (files with `query` in uri or reason, regardless of case, newest first; total)."""
    matching = r"FROM skip WHERE uri LIKE :like ESCAPE '\' OR reason LIKE :like ESCAPE '\'"
    values = {"like": make_pattern(query), "limit": limit}
    rows = conn.execute(f"SELECT uri, reason, t {matching} ORDER BY t DESC, uri LIMIT :limit", values)
    skipped = [Skipped(uri, reason, from_ms(t)) for uri, reason, t in rows]
    (total,) = conn.execute(f"SELECT count(*) {matching}", values).fetchone()
    return skipped, total


# Chats and mails -----------------------------------------------------------------------------------------------


def chat_names(conn: Connection) -> list[str]:
    """Returns the names of the live chats, last read first."""
    query = f"SELECT {_CHAT_NAME} AS name FROM source WHERE t_deleted IS NULL AND name IS NOT NULL GROUP BY name"
    return read_column(conn, f"{query} ORDER BY max(t_ingested) DESC, max(id) DESC")


def chat_sources(conn: Connection, name: str) -> list[int]:
    """Returns the ids of the live sources of chats with that name, regardless of case and spaces."""
    meant = [spelling for spelling in chat_names(conn) if fold_name(spelling) == fold_name(name)]
    query = f"SELECT id FROM source WHERE t_deleted IS NULL AND {_CHAT_NAME} IN {LISTED} ORDER BY id"
    return read_column(conn, query, to_json(meant))


def fold_name(name: str) -> str:
    """Returns the form in which names of chats are compared."""
    return " ".join(to_nfc(name).casefold().split())


def uris_of(conn: Connection, ids: Collection[int]) -> dict[int, str]:
    """Returns {id: uri} of these sources."""
    return dict(conn.execute(f"SELECT id, uri FROM source WHERE id IN {LISTED}", (id_list(sorted(ids)),)).fetchall())


def titles_of(conn: Connection, ids: Collection[int]) -> set[tuple[str, str]]:
    """Returns (folder, title in norm form) of the files among these sources."""
    rows = conn.execute(
        f"SELECT uri, title FROM source WHERE kind = 'file' AND id IN {LISTED}", (id_list(sorted(ids)),)
    )
    return {(uri.partition("#")[0].rpartition("/")[0], norm(title)) for uri, title in rows}


def list_versions(conn: Connection, source: int) -> list[int]:
    """Returns the ids of the versions of one document, by name: "Rates.md", "Rates v2.md"."""
    base, suffix, _ = document_of(read_value(conn, "SELECT uri FROM source WHERE id = ?", source))
    query = "SELECT id, uri FROM source WHERE uri >= ? AND uri < ? ORDER BY id"
    rows = conn.execute(query, (base, f"{base}\U0010ffff"))
    versions = (id for id, other in rows if document_of(other)[:2] == (base, suffix))
    return sorted({source, *islice(versions, MAX_VERSIONS)})


def mail_people(conn: Connection) -> list[tuple[str, str]]:
    """Returns (From, To) of the latest live mails; "" if missing."""
    return conn.execute(
        "SELECT ifnull(properties ->> 'from', ''), ifnull(properties ->> 'to', '') FROM source"
        " WHERE reader = 'eml' AND t_deleted IS NULL ORDER BY at DESC, uri LIMIT ?",  # as in the index source_mail
        (MAX_MAILS,),
    ).fetchall()


def written_by_agents(conn: Connection, ids: Collection[int]) -> set[int]:
    """Returns those of these sources that an agent wrote."""
    query = f"SELECT id FROM source WHERE id IN {LISTED} AND substr(uri, 1, ?) = ?"
    return set(read_column(conn, query, id_list(sorted(ids)), len(AGENT_NOTES), AGENT_NOTES))


def list_titled(conn: Connection, titles: Sequence[str]) -> list[tuple[str, dict[str, Any], str]]:
    """Returns (uri, properties, first passage) of the owner's live notes with one of these titles; notes entered
    directly (`note:`) come first."""
    rows = conn.execute(
        "SELECT s.uri, s.properties, e.text FROM source s JOIN episode e ON e.source_id = s.id AND e.seq = 0"
        f" JOIN node n ON n.id = e.node_id AND {is_live('n')} WHERE s.t_deleted IS NULL"
        f" AND s.title IN {LISTED} AND e.speaker IS NULL AND substr(s.uri, 1, ?) <> ?"
        " ORDER BY s.uri NOT LIKE 'note:%', s.uri",
        (to_json(list(titles)), len(AGENT_NOTES), AGENT_NOTES),
    ).fetchall()
    return [(uri, json.loads(properties or "{}"), text) for uri, properties, text in rows]


def find_beginning(conn: Connection) -> int | None:
    """Returns when the first live source was read (ms UTC), or None."""
    first: int | None = read_value(conn, "SELECT min(t_ingested) FROM source")
    return first
