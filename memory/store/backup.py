"""Copies of a memory that can be trusted: made in one step, checked, and only then given their name."""

from __future__ import annotations

import os
from pathlib import Path

from memory.errors import StoreDamagedError
from memory.store.connect import Connection, connect, create_private, driver_errors


def verified_copy(conn: Connection, path: Path, to: Path) -> None:
    """`VACUUM INTO` a temporary name beside `to`, compare, sync, rename. `conn` is outside a transaction.

    StoreDamagedError if the copy is not equal, in which case nothing is left at `to`.
    """
    temporary = to.with_name(f".{to.name}.{os.getpid()}.part")
    temporary.unlink(missing_ok=True)
    create_private(temporary)  # SQLite would create it readable by everyone
    try:
        with driver_errors(path):
            conn.execute("VACUUM INTO ?", (str(temporary),))
        with driver_errors(temporary):
            copy = connect(temporary, read_only=True)
            try:
                _compare(conn, copy, path)
            finally:
                copy.close()
        _sync(temporary)
        temporary.replace(to)
        _sync(to.absolute().parent)
    finally:
        temporary.unlink(missing_ok=True)


def _compare(conn: Connection, copy: Connection, path: Path) -> None:
    verdict = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise StoreDamagedError(f"The copy of {path} failed its check and was dropped: {verdict}")
    for table in _tables(conn):
        counts = [one.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for one in (conn, copy)]
        if counts[0] != counts[1]:
            raise StoreDamagedError(f"The copy of {path} lacks rows of {table} and was dropped.")


def _tables(conn: Connection) -> list[str]:
    """Ordinary tables, the shadow tables of full text and vec0 included."""
    rows = conn.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    return [name for (name,) in rows]


def _sync(path: Path) -> None:
    """fsync of a file or, where the system can, of a folder."""
    if path.is_dir() and os.name == "nt":
        return  # a folder cannot be opened there, and a rename is durable by itself
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
