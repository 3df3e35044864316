"""Seals: checksums of what cannot be made anew, by which a bit that flipped on the disk is noticed.

SQLite finds damage to the form of its pages, not to what stands in them: a letter of a note, a number of a vector. A
seal is the CRC-32 of the rows of one table whose ids share a block. Changing or removing a row takes the seal of its
block away (by triggers, in plain SQL, so that no program can write past them), and the night seals anew. A seal that
does not fit its rows is therefore damage; it stays, so that it is told until it is mended.

A step of the schema that makes one of these tables anew calls `watch`; any step takes all seals away.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import NamedTuple, TypeAlias
from zlib import crc32

from memory.store.connect import Connection

BLOCK = 16  # ids
AT_ONCE = 200  # blocks that are sealed in one transaction

Seal: TypeAlias = tuple[int, int]  # how many rows, and their checksum


class Sealed(NamedTuple):
    """A table whose rows are sealed, in blocks by the column `id`, in an `order` that is theirs alone; `rows`: only
    those. `noun` is a person's word for them."""

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
        "item_kind IN ('edge', 'node')",  # as its index says
    ),
    Sealed("alias", "the names of", "node_id", "node_id, norm", "node_id, norm, surface, origin, conf"),
    Sealed("vec", "vectors", "id", "id", "id, embedder_id, item_id, data, sha256"),
    Sealed("revision", "revisions", "id", "id", "id, old_kind, old_id, new_kind, new_id, reason, author, state"),
    Sealed("journal", "changes", "id", "id", "id, t, item_kind, item_id, field, old, new, episode_id, revision_id"),
    Sealed("message", "messages of chats", "id", "id", "id, conversation_id, role, text, state, t, citations"),
)  # fmt: skip


def watch(conn: Connection) -> None:
    """Makes the table of seals, and the triggers that take them away."""
    conn.execute(
        "CREATE TABLE IF NOT EXISTS seal(kind INTEGER NOT NULL, block INTEGER NOT NULL, n INTEGER NOT NULL,"
        " crc INTEGER NOT NULL, PRIMARY KEY(kind, block)) STRICT, WITHOUT ROWID"
    )
    for kind, one in enumerate(SEALED):
        for event, row in (("INSERT", "NEW"), ("UPDATE", "OLD"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
            if event == "INSERT" and one.order == one.id:
                continue  # it stands behind all that are sealed; these triggers are a fifteenth of reading a note
            name = f"unseal_{one.table}_{event}_{row}".lower()
            conn.execute(f"DROP TRIGGER IF EXISTS {name}")
            when = f" WHEN {row}.{one.rows}" if one.rows else ""
            conn.execute(
                f"CREATE TRIGGER {name} AFTER {event} ON {one.table}{when} BEGIN"
                f" DELETE FROM seal WHERE kind = {kind} AND block = {row}.{one.id} / {BLOCK}; END"
            )


def take_away(conn: Connection) -> None:
    """All seals: what they were made of may have another form now."""
    if conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'seal'").fetchone():
        conn.execute("DELETE FROM seal")


def find_damage(conn: Connection, part: int = 0, parts: int = 1) -> Iterator[str]:
    """A sentence for every block, of each `parts`-th one from `part` on, whose rows are not what was sealed."""
    for kind, one in enumerate(SEALED):
        sealed = _seals(conn, kind)
        blocks = dict(_read(conn, one, f"{one.id} / {BLOCK} % {parts} = {part}", sealed))
        for block, seal in sorted(sealed.items()):
            if block % parts == part and blocks.get(block) != seal:
                ids = f"{block * BLOCK} to {block * BLOCK + BLOCK - 1}"
                yield f"Something among {one.noun} {ids} is not as it was written: the disk has changed it."


def list_unsealed(conn: Connection) -> list[tuple[int, int]]:
    """The blocks, each with its kind, that have no seal or have gained rows since."""
    found = []
    for kind, one in enumerate(SEALED):
        sealed = {block: n for block, (n, _) in _seals(conn, kind).items()}
        counted = f"SELECT {one.id} / {BLOCK}, count(*) FROM {one.table} WHERE {one.rows or 1} GROUP BY 1"
        found += [(kind, block) for block, n in conn.execute(counted) if sealed.get(block, 0) < n]
    return found


def seal(conn: Connection, blocks: Iterable[tuple[int, int]]) -> None:
    """Seals these blocks as they are now."""
    for kind, block in blocks:
        one = SEALED[kind]
        for _, (n, crc) in _read(conn, one, f"{one.id} BETWEEN {block * BLOCK} AND {block * BLOCK + BLOCK - 1}"):
            conn.execute("INSERT OR REPLACE INTO seal(kind, block, n, crc) VALUES (?, ?, ?, ?)", (kind, block, n, crc))


def _seals(conn: Connection, kind: int) -> dict[int, Seal]:
    rows = conn.execute("SELECT block, n, crc FROM seal WHERE kind = ?", (kind,))
    return {block: (n, crc) for block, n, crc in rows}


def _read(
    conn: Connection, one: Sealed, which: str, sealed: Mapping[int, Seal] | None = None
) -> Iterator[tuple[int, Seal]]:
    """The blocks of a table, with the number and checksum of the rows of each; of those that are `sealed`, no more
    rows than were then."""
    before = conn.text_factory
    conn.text_factory = bytes  # damage may be no text
    try:
        query = f"SELECT {one.columns} FROM {one.table} WHERE {one.rows or 1} AND {which} ORDER BY {one.order}"
        place = [name.strip() for name in one.columns.split(",")].index(one.id)
        for block, rows in groupby(conn.execute(query), lambda row: row[place] // BLOCK):
            n, crc = 0, 0
            for row in islice(rows, sealed[block][0] if sealed and block in sealed else None):
                n, crc = n + 1, crc32(repr(row).encode(), crc)
            yield block, (n, crc)
    finally:
        conn.text_factory = before
