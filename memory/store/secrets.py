"""The secrets that were taken out of texts, by the placeholders that stand there, and the key of these.

They stand here and nowhere else in the file: no index, no vector and no fact knows them. A secret is kept as long as
its source says it: it goes with the source, with an edit that takes it out, with the last passage that had it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memory.store.connect import Connection
from memory.store.rows import LISTED, id_list, is_live, to_json
from memory.text.placeholders import MaskedSecret

KEY = "mask_key"  # in the table meta


class SecretPlace(NamedTuple):
    """Where a secret stands: the uri of its source, its line there if it has any, its kind."""

    uri: str
    line: int | None
    kind: str


def get_key(conn: Connection) -> bytes:
    """What the placeholders of this memory depend on."""
    (value,) = conn.execute("SELECT value FROM meta WHERE key = ?", (KEY,)).fetchone()
    return bytes.fromhex(value)


def keep(conn: Connection, source_id: int, held: Sequence[MaskedSecret]) -> None:
    """A source holds these secrets now, and no others; only rows that differ are written."""
    rows = {one.placeholder: (one.kind, one.value, one.line) for one in held}
    query = "SELECT placeholder, kind, value, line FROM secret WHERE source_id = ?"
    stored = {placeholder: tuple(row) for placeholder, *row in conn.execute(query, (source_id,))}
    gone = to_json(sorted(stored.keys() - rows.keys()))
    if stored.keys() - rows.keys():
        conn.execute(f"DELETE FROM secret WHERE source_id = ? AND placeholder IN {LISTED}", (source_id, gone))
    conn.executemany(
        "INSERT OR REPLACE INTO secret(source_id, placeholder, kind, value, line) VALUES (?, ?, ?, ?, ?)",
        [(source_id, placeholder, *row) for placeholder, row in rows.items() if stored.get(placeholder) != row],
    )


def remove_unseen(conn: Connection, source_ids: Iterable[int]) -> None:
    """Removes the secrets of these sources whose placeholder no live passage has any more."""
    conn.execute(
        f"DELETE FROM secret WHERE source_id IN {LISTED} AND NOT EXISTS (SELECT 1 FROM episode e"
        f" JOIN node n ON n.id = e.node_id AND {is_live('n')}"
        "  WHERE e.source_id = secret.source_id AND (instr(e.text, placeholder) OR instr(n.label, placeholder)))",
        (id_list(source_ids),),
    )


def find(conn: Connection, placeholders: Iterable[str]) -> dict[str, str]:
    """Placeholder -> the secret that it stands for, of those that are kept."""
    query = f"SELECT placeholder, value FROM secret WHERE placeholder IN {LISTED}"
    return dict(conn.execute(query, (to_json(sorted(set(placeholders))),)).fetchall())


def list_places(conn: Connection) -> list[SecretPlace]:
    """Where the secrets that are kept stand, by uri and line."""
    query = "SELECT uri, line, s.kind FROM secret s JOIN source ON source.id = source_id ORDER BY uri, line, s.kind"
    return [SecretPlace(*row) for row in conn.execute(query)]
