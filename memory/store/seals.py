"""Seals: checksums of data that cannot be recomputed, to detect bits that flipped on the disk.

SQLite detects damage to the structure of pages, not to their contents. A seal is the CRC-32 of the rows of one table
whose ids share a block. Triggers delete the seal of a block when one of its rows changes, in plain SQL, so that no
program can bypass them; the nightly job seals again. A wrong seal therefore means damage; it stays, so that the damage
is reported until repaired.

A schema step that recreates one of these tables calls `watch`; every step deletes all seals."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import NamedTuple, TypeAlias
from zlib import crc32

from memory.store.connect import Connection

BLOCK = 16  # ids per block
AT_ONCE = 200  # blocks sealed in one transaction

Seal: TypeAlias = tuple[int, int]  # (number of rows, checksum)


class Sealed(NamedTuple):
    """A table with sealed rows, in blocks by the column `id`, sorted by a unique `order`; `rows`: a filter. `noun`
    names the rows for people."""

    table: str
    noun: str
    id: str
    order: str
    columns: str
    rows: str = ""


SEALED = (
    Sealed(
        "source", "sources", "id", "id", "id, uri, kind, title, reader, conversation, policy, at, sha256, properties,"
        " location",
    ),
    Sealed("node", "passages and names", "id", "id", "id, kind, label, t_created, t_expired, expire_reason"),
    Sealed(
        "episode", "passages", "node_id", "node_id",
        "node_id, source_id, seq, text, sha256, words, speaker, event_from, event_to, since, until, line_from, line_to,"
        " line_map, refs, turns",
    ),
    Sealed(
        "thesis", "sentences", "node_id", "node_id",
        "node_id, episode_id, span_from, span_to, text, origin, modality, conf, valid_from, valid_to, superseded_by",
    ),
    Sealed(
        "edge", "facts", "id", "id",
        "id, src, dst, pred_id, role, conf, n_support, valid_from, valid_to, t_created, t_expired, expire_reason,"
        " superseded_by, modality",
        "kind = 'rel'",
    ),
    Sealed(
        "provenance", "the quotes of facts", "item_id", "item_id, item_kind, episode_id",
        "item_kind, item_id, episode_id, span_from, span_to, extractor",
        "item_kind IN ('edge', 'node')",  # as in its index
    ),
    Sealed("alias", "the names of", "node_id", "node_id, norm", "node_id, norm, surface, origin, conf"),
    Sealed("vec", "vectors", "id", "id", "id, embedder_id, item_id, data, sha256"),
    Sealed("revision", "revisions", "id", "id", "id, old_kind, old_id, new_kind, new_id, reason, author, state"),
    Sealed("journal", "changes", "id", "id", "id, t, item_kind, item_id, field, old, new, episode_id, revision_id"),
    Sealed("message", "messages of chats", "id", "id", "id, conversation_id, role, text, state, t, citations"),
)  # fmt: skip


def watch(conn: Connection) -> None:
    """Creates the table of seals and the triggers that delete them."""
    conn.execute(
        "CREATE TABLE IF NOT EXISTS seal(kind INTEGER NOT NULL, block INTEGER NOT NULL, n INTEGER NOT NULL,"
        " crc INTEGER NOT NULL, PRIMARY KEY(kind, block)) STRICT, WITHOUT ROWID"
    )
    for kind, table in enumerate(SEALED):
        for event, row in (("INSERT", "NEW"), ("UPDATE", "OLD"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
            if event == "INSERT" and table.order == table.id:
                continue  # a row changes after all that are sealed; these triggers take a fifteenth of reading a note
            name = f"unseal_{table.table}_{event}_{row}".lower()
            conn.execute(f"DROP TRIGGER IF EXISTS {name}")
            when = f" WHEN {row}.{table.rows}" if table.rows else ""
            conn.execute(
                f"CREATE TRIGGER {name} AFTER {event} ON {table.table}{when} BEGIN"
                f" DELETE FROM seal WHERE kind = {kind} AND block = {row}.{table.id} / {BLOCK}; END"
            )


def take_away(conn: Connection) -> None:
    """Deletes all seals, because the form of the rows may have changed."""
    if conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'seal'").fetchone():
        conn.execute("DELETE FROM seal")


def find_damage(conn: Connection, part: int = 0, parts: int = 1) -> Iterator[str]:
    """A sentence for each damaged block, checking every `parts`-th block from `part` on."""
    for kind, table in enumerate(SEALED):
        sealed = _list_seals(conn, kind)
        blocks = dict(_read(conn, table, f"{table.id} / {BLOCK} % {parts} = {part}", sealed))
        for block, seal in sorted(sealed.items()):
            if block % parts == part and blocks.get(block) != seal:
                ids = f"{block * BLOCK} to {block * BLOCK + BLOCK - 1}"
                yield f"Something among {table.noun} {ids} is not as it was written: the disk has changed it."


def list_unsealed(conn: Connection) -> list[tuple[int, int]]:
    """(kind, block) without a seal or with rows added since."""
    blocks = []
    for kind, table in enumerate(SEALED):
        sealed = {block: n for block, (n, _) in _list_seals(conn, kind).items()}
        counted = f"SELECT {table.id} / {BLOCK}, count(*) FROM {table.table} WHERE {table.rows or 1} GROUP BY 1"
        blocks += [(kind, block) for block, n in conn.execute(counted) if sealed.get(block, 0) < n]
    return blocks


def seal(conn: Connection, blocks: Iterable[tuple[int, int]]) -> None:
    """Seals the current contents of these blocks."""
    for kind, block in blocks:
        table = SEALED[kind]
        for _, (n, crc) in _read(conn, table, f"{table.id} BETWEEN {block * BLOCK} AND {block * BLOCK + BLOCK - 1}"):
            conn.execute("INSERT OR REPLACE INTO seal(kind, block, n, crc) VALUES (?, ?, ?, ?)", (kind, block, n, crc))


def _list_seals(conn: Connection, kind: int) -> dict[int, Seal]:
    rows = conn.execute("SELECT block, n, crc FROM seal WHERE kind = ?", (kind,))
    return {block: (n, crc) for block, n, crc in rows}


def _read(
    conn: Connection, table: Sealed, which: str, sealed: Mapping[int, Seal] | None = None
) -> Iterator[tuple[int, Seal]]:
    """(block, (number of rows, checksum)) of a table; of `sealed` blocks only the rows that were there then."""
    before = conn.text_factory
    conn.text_factory = bytes  # damaged data may be no text
    try:
        query = f"SELECT {table.columns} FROM {table.table} WHERE {table.rows or 1} AND {which} ORDER BY {table.order}"
        place = [name.strip() for name in table.columns.split(",")].index(table.id)
        for block, rows in groupby(conn.execute(query), lambda row: row[place] // BLOCK):
            n, crc = 0, 0
            for row in islice(rows, sealed[block][0] if sealed and block in sealed else None):
                n, crc = n + 1, crc32(repr(row).encode(), crc)
            yield block, (n, crc)
    finally:
        conn.text_factory = before
