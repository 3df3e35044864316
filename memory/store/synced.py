"""The agreement of this computer with the others (`memory.sync`), and the marks of items forgotten on any of them.

A row of `synced` is an item under its key: the kind and a keyed hash, from which no text can be read. `seen` is which
entry of each computer the memory was made to match ({computer: counter}), `local` a mark of the item in the memory
then; FORGOTTEN_HERE if it was forgotten."""

import hmac
import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memory.store.connect import LISTED, Connection, get_meta, set_meta, to_json

FORGOTTEN_HERE = "forgotten"  # as `local`
_KEY, _ALLOWED = "sync_key", "sync_folders"  # in the table meta: the key of the hashes; the folders that are shared


class Agreement(NamedTuple):
    """The agreed version of an item: the entries seen, and its local mark."""

    seen: dict[str, int]
    local: str


def make_key(secret: bytes, kind: str, *parts: object) -> str:
    """Returns the key of an item, the same on every computer with the secret."""
    return (
        f"{kind}:{hmac.digest(secret, to_json([kind, *parts]).encode('utf-8', 'surrogatepass'), 'sha256').hex()[:32]}"
    )


def get_secret(conn: Connection) -> bytes | None:
    """Returns the key of the hashes; None if nothing is synchronised."""
    key = get_meta(conn, _KEY)
    return None if key is None else bytes.fromhex(key)


def set_secret(conn: Connection, secret: bytes) -> None:
    """Begins to synchronise with the computers that have this secret; with another one than before, from the start."""
    if get_secret(conn) != secret:
        conn.execute("DELETE FROM synced")
        set_meta(conn, _KEY, secret.hex())


def list_allowed(conn: Connection) -> list[str]:
    """Returns the folders whose text goes to the other computers though no model elsewhere may have it."""
    return list(json.loads(get_meta(conn, _ALLOWED) or "[]"))


def set_allowed(conn: Connection, folders: Iterable[str]) -> None:
    set_meta(conn, _ALLOWED, to_json(sorted(set(folders))))


def list_agreed(conn: Connection) -> dict[str, Agreement]:
    """Returns all rows by their keys."""
    rows = conn.execute("SELECT key, seen, local FROM synced")
    return {key: Agreement(json.loads(seen), local) for key, seen, local in rows}


def put(conn: Connection, rows: Mapping[str, Agreement | None]) -> None:
    """Writes rows by their keys; None removes one."""
    conn.executemany("DELETE FROM synced WHERE key = ?", [(key,) for key, row in rows.items() if row is None])
    conn.executemany(
        "INSERT OR REPLACE INTO synced(key, seen, local) VALUES (?, ?, ?)",
        [(key, to_json(row.seen), row.local) for key, row in rows.items() if row is not None],
    )


def note_forgotten(conn: Connection, kind: str, parts: Iterable[tuple[object, ...]]) -> None:
    """Notes that these items were forgotten, for the other computers; nothing if none are synchronised."""
    if (secret := get_secret(conn)) is not None:
        conn.executemany(
            "INSERT INTO synced(key, seen, local) VALUES (?, '{}', ?) ON CONFLICT DO UPDATE SET local = excluded.local",
            [(make_key(secret, kind, *each), FORGOTTEN_HERE) for each in parts],
        )


def is_forgotten(conn: Connection, kind: str, *parts: object) -> bool:
    """Whether this item was forgotten on any of the computers."""
    if (secret := get_secret(conn)) is None:
        return False
    query = "SELECT 1 FROM synced WHERE key = ? AND local = ?"
    return conn.execute(query, (make_key(secret, kind, *parts), FORGOTTEN_HERE)).fetchone() is not None


def allow_again(conn: Connection, kind: str, parts: Iterable[tuple[object, ...]]) -> None:
    """Allows these items on this computer again: a person wants them though they were forgotten."""
    if (secret := get_secret(conn)) is not None:
        keys = to_json([make_key(secret, kind, *each) for each in parts])
        conn.execute(f"UPDATE synced SET local = '' WHERE key IN {LISTED}", (keys,))
