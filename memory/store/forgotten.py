"""Files that are not read again, because what they hold was forgotten.

Of a forgotten file there stays a hash of its content with a key that only this memory has: enough to know the same
content again under any name, and nothing that could be looked up elsewhere. Where the file itself still stands, its
path is among the skipped files.
"""

import hmac
import secrets
from collections.abc import Iterable

from memory.store.connect import Connection
from memory.store.rows import LISTED, to_json

KEY = "forgotten_key"  # in the table meta


def mark(conn: Connection, digests: Iterable[str], now: int) -> None:
    """Files with these contents (SHA-256, hex) are not read from now on."""
    rows = [(_mark(conn, digest), now) for digest in digests]
    conn.executemany("INSERT OR IGNORE INTO forgotten(mark, t) VALUES (?, ?)", rows)


def unmark(conn: Connection, digests: Iterable[str]) -> None:
    """Files with these contents may be read."""
    marks = to_json([_mark(conn, digest) for digest in digests])
    conn.execute(f"DELETE FROM forgotten WHERE mark IN {LISTED}", (marks,))


def is_marked(conn: Connection, digest: str) -> bool:
    """Whether a file with this content is not to be read."""
    if conn.execute("SELECT 1 FROM forgotten LIMIT 1").fetchone() is None:
        return False
    return conn.execute("SELECT 1 FROM forgotten WHERE mark = ?", (_mark(conn, digest),)).fetchone() is not None


def _mark(conn: Connection, digest: str) -> str:
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (KEY,)).fetchone()
    if row is None:
        row = (secrets.token_hex(32),)
        conn.execute("INSERT INTO meta(key, value) VALUES (?, ?)", (KEY, *row))
    return hmac.digest(bytes.fromhex(row[0]), digest.encode(), "sha256").hex()
