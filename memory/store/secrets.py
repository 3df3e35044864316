"""The secrets removed from texts, by their placeholders, and the key of these.

Secrets are stored here only: no index, vector or fact contains them. A secret is deleted with its source, with an edit
that removes it, and with the last passage that contained it."""

from collections.abc import Iterable, Sequence

from memory.store.connect import Connection
from memory.store.rows import LISTED, get_meta, id_list, is_live, to_json
from memory.text.placeholders import MaskedSecret
from memory.views import SecretPlace

KEY = "mask_key"  # in the table meta


def get_key(conn: Connection) -> bytes:
    """The key of this memory's placeholders."""
    return bytes.fromhex(get_meta(conn, KEY))


def keep(conn: Connection, source_id: int, secrets: Sequence[MaskedSecret]) -> None:
    """Replaces the secrets of a source; only changed rows are written."""
    rows = {secret.placeholder: (secret.kind, secret.value, secret.line) for secret in secrets}
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
    """Deletes secrets of these sources whose placeholder is in no live passage."""
    conn.execute(
        f"DELETE FROM secret WHERE source_id IN {LISTED} AND NOT EXISTS (SELECT 1 FROM episode e"
        f" JOIN node n ON n.id = e.node_id AND {is_live('n')}"
        "  WHERE e.source_id = secret.source_id AND (instr(e.text, placeholder) OR instr(n.label, placeholder)))",
        (id_list(source_ids),),
    )


def find(conn: Connection, placeholders: Iterable[str]) -> dict[str, str]:
    """{placeholder: secret} of the known ones."""
    query = f"SELECT placeholder, value FROM secret WHERE placeholder IN {LISTED}"
    return dict(conn.execute(query, (to_json(sorted(set(placeholders))),)).fetchall())


def list_places(conn: Connection) -> list[SecretPlace]:
    """The places of all secrets, by uri and line."""
    query = "SELECT uri, line, s.kind FROM secret s JOIN source ON source.id = source_id ORDER BY uri, line, s.kind"
    return [SecretPlace(*row) for row in conn.execute(query)]
