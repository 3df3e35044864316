"""Contents of forgotten files, which are not read again.

A hash of the content with a key of this memory remains: enough to recognize the content under any name, useless for a
lookup elsewhere. If the file still exists, its path is in the list of skipped files."""

import hmac
import secrets
from collections.abc import Iterable

from memory.store.connect import Connection
from memory.store.rows import LISTED, to_json

KEY = "forgotten_key"  # in the table meta


def mark(conn: Connection, digests: Iterable[str], now: int) -> None:
    """Excludes files with these contents (SHA-256, hex) from reading."""
    rows = [(_mark(conn, digest), now) for digest in digests]
    conn.executemany("INSERT OR IGNORE INTO forgotten(mark, t) VALUES (?, ?)", rows)


def unmark(conn: Connection, digests: Iterable[str]) -> None:
    """Allows reading files with these contents."""
    marks = to_json([_mark(conn, digest) for digest in digests])
    conn.execute(f"DELETE FROM forgotten WHERE mark IN {LISTED}", (marks,))


def is_marked(conn: Connection, digest: str) -> bool:
    """Whether a file with this content must not be read."""
    if conn.execute("SELECT 1 FROM forgotten LIMIT 1").fetchone() is None:
        return False
    return conn.execute("SELECT 1 FROM forgotten WHERE mark = ?", (_mark(conn, digest),)).fetchone() is not None


def _mark(conn: Connection, digest: str) -> str:
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (KEY,)).fetchone()
    if row is None:
        row = (secrets.token_hex(32),)
        conn.execute("INSERT INTO meta(key, value) VALUES (?, ?)", (KEY, *row))
    return hmac.digest(bytes.fromhex(row[0]), digest.encode(), "sha256").hex()
