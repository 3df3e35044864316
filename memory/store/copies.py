"""Copies of the memory that still hold what is forgotten: they are the person's to delete, so they are named.

Backups in their own folder and the copies that upgrades leave are found there; a backup that was put elsewhere is
remembered by its path.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memory.errors import StoreError
from memory.store.codec import to_json
from memory.store.connect import Connection, connect, driver_errors
from memory.store.schema_first import FIRST_EDGE

KEY = "copies"  # in the table meta: paths of backups that were put elsewhere


class Wanted(NamedTuple):
    """A question to a copy: whether it has a row."""

    query: str
    values: tuple[Any, ...]


def source(conn: Connection, uris: Sequence[str]) -> Wanted:
    """Sources by their uris. To be asked before they are forgotten: a copy may have one under an earlier name."""
    listed = to_json(list(uris))
    ids = [id for (id,) in conn.execute(f"SELECT id FROM source WHERE uri IN {_LIST}", (listed,))]
    return Wanted(f"SELECT 1 FROM source WHERE uri IN {_LIST} OR id IN {_LIST}", (listed, to_json(ids)))


def object(norm: str) -> Wanted:
    """An object by a name."""
    return Wanted("SELECT 1 FROM alias WHERE norm = ?", (norm,))


def episode(id: int) -> Wanted:
    return Wanted("SELECT 1 FROM node WHERE id = ? AND kind = 'E'", (id,))


def fact(id: int) -> Wanted:
    if id >= FIRST_EDGE:
        return Wanted("SELECT 1 FROM edge WHERE id = ? AND kind = 'rel'", (id,))
    return Wanted("SELECT 1 FROM node WHERE id = ? AND kind = 'T'", (id,))


def note(conn: Connection, path: Path) -> None:
    """Remembers where a backup was put."""
    conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (KEY, to_json([*_noted(conn), str(path)])))


def known(conn: Connection, memory: Path, backups: Path) -> list[Path]:
    """All copies of the memory file `memory` that are there now, by path."""
    found = {Path(path) for path in _noted(conn)}
    found |= {*backups.glob("*.db"), *memory.parent.glob(f"{memory.name}.*.bak")}
    return sorted(path for path in found if path.is_file())


def holding(copies: Iterable[Path], wanted: Wanted) -> list[Path]:
    """Those that have it; and those that cannot be read, which may."""
    return [path for path in copies if _holds(path, wanted)]


def _holds(path: Path, wanted: Wanted) -> bool:
    try:
        with driver_errors(path):
            conn = connect(path, read_only=True)
            try:
                return conn.execute(f"{wanted.query} LIMIT 1", wanted.values).fetchone() is not None
            finally:
                conn.close()
    except StoreError:
        return True


def _noted(conn: Connection) -> list[str]:
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (KEY,)).fetchone()
    return list(dict.fromkeys(json.loads(row[0]))) if row else []


_LIST = "(SELECT value FROM json_each(?))"
