"""Copies of a memory: written, verified, then renamed; and which of them still contain forgotten data, so that the
person can delete them.

Backups in their folder and copies made by upgrades are found there; other backups are remembered by path."""

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from memory.errors import StoreDamagedError, StoreError, StoreFullError
from memory.store.connect import Connection, connect, create_private, driver_errors
from memory.store.ownership import rename_copy
from memory.store.rows import FIRST_EDGE, LISTED, get_meta, set_meta, to_json

COPIES = "copies"  # in the table meta: paths of backups outside the folder


def verified_copy(conn: Connection, path: Path, to: Path, snapshot: Connection | None = None) -> bool:
    """Runs `VACUUM INTO` a temporary name in the folder of `to`, compares, syncs, renames. `conn` is outside a
    transaction. StoreDamagedError if the copy differs; then nothing remains at `to`.

    The copy is compared with `snapshot`, a connection in a transaction, if others may write meanwhile. False, and
    nothing at `to`, if somebody wrote between the two."""
    check_room(path, to, 1.2)
    temporary = to.with_name(f".{to.name}.{os.getpid()}.part")
    temporary.unlink(missing_ok=True)
    create_private(temporary)  # SQLite would create it readable by everyone
    try:
        with driver_errors(path):
            conn.execute("VACUUM INTO ?", (str(temporary),))
        with driver_errors(temporary), closing(connect(temporary)) as copy:
            if snapshot and get_meta(copy, "generation") != get_meta(snapshot, "generation"):
                return False
            _compare(snapshot or conn, copy, path)
            rename_copy(copy)  # the log of the file it was copied from
        sync(temporary)
        temporary.replace(to)
        sync(to.absolute().parent)
        return True
    finally:
        temporary.unlink(missing_ok=True)


def check_room(path: Path, to: Path, share: float) -> None:
    """StoreFullError if there is no room for a copy that takes `share` times the size of the file at `path`."""
    folder = next(folder for folder in to.absolute().parents if folder.is_dir())
    free, needed = shutil.disk_usage(folder).free, int(path.stat().st_size * share)
    if path.exists() and free < needed:
        raise StoreFullError(
            f"A copy of {path} takes {needed >> 20:,} MB, and {free >> 20:,} MB are free at {folder}. Make room, or "
            "put it on another disk: pal backup TO"
        )


def _compare(conn: Connection, copy: Connection, path: Path) -> None:
    verdict = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise StoreDamagedError(f"The copy of {path} failed its check and was dropped: {verdict}")
    ordinary = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    for (table,) in conn.execute(ordinary).fetchall():  # includes the shadow tables of full text and vec0
        counts = [connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for connection in (conn, copy)]
        if counts[0] != counts[1]:
            raise StoreDamagedError(f"The copy of {path} lacks rows of {table} and was dropped.")


def sync(path: Path) -> None:
    """fsync of a file or, where the system supports it, of a folder."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open a folder; a rename is durable there
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def find_rows(
    conn: Connection,
    sources: Sequence[str] = (),
    object: str | None = None,
    fact: int | None = None,
    episode: int | None = None,
) -> tuple[str, tuple[Any, ...]]:
    """(query, values) that test a copy for that episode, fact (both by id), object (by name) or one of these sources
    (by uri). Call before forgetting: a copy may have a source under an earlier name."""
    if episode is not None:
        return "SELECT 1 FROM node WHERE id = ? AND kind = 'E'", (episode,)
    if fact is not None:
        table, kind = ("edge", "rel") if fact >= FIRST_EDGE else ("node", "T")
        return f"SELECT 1 FROM {table} WHERE id = ? AND kind = '{kind}'", (fact,)
    if object is not None:
        return "SELECT 1 FROM alias WHERE norm = ?", (object,)
    listed = to_json(list(sources))
    ids = [id for (id,) in conn.execute(f"SELECT id FROM source WHERE uri IN {LISTED}", (listed,))]
    return f"SELECT 1 FROM source WHERE uri IN {LISTED} OR id IN {LISTED}", (listed, to_json(ids))


def note_copy(conn: Connection, path: Path) -> None:
    """Remembers the path of a backup."""
    set_meta(conn, COPIES, to_json([*_list_noted(conn), str(path)]))


def known_copies(conn: Connection, memory: Path, backups: Path) -> list[Path]:
    """The existing copies of the memory file `memory`, sorted by path, including unfinished ones."""
    paths = {Path(path) for path in _list_noted(conn)}
    paths |= {*backups.glob("*.db"), *memory.parent.glob(f"{memory.name}.*.bak")}
    paths |= find_unfinished(conn, memory, backups)
    return sorted(path for path in paths if path.is_file())


def find_unfinished(conn: Connection, memory: Path, backups: Path) -> set[Path]:
    """Files of copies or restores that are in progress or were killed."""
    paths = {*backups.glob(".*.db.*.part*"), *memory.parent.glob(f".{memory.name}.*.part*")}
    paths |= {*memory.parent.glob(f".{memory.name}.restored*")}
    for noted in map(Path, _list_noted(conn)):
        paths |= {*noted.parent.glob(f".{noted.name}.*.part*")}
    return paths


def discard_unfinished(conn: Connection, memory: Path, backups: Path) -> int:
    """Removes the files of killed copies; returns their number. No copy may be in progress."""
    paths = find_unfinished(conn, memory, backups)
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)


def copies_with(copies: Iterable[Path], query: str, values: tuple[Any, ...]) -> list[Path]:
    """The copies in which the query finds a row, and the unreadable ones."""
    return [path for path in copies if _has_row(path, query, values)]


def _has_row(path: Path, query: str, values: tuple[Any, ...]) -> bool:
    try:
        with driver_errors(path), closing(connect(path, read_only=True)) as conn:
            return conn.execute(f"{query} LIMIT 1", values).fetchone() is not None
    except StoreError:
        return True


def _list_noted(conn: Connection) -> list[str]:
    return list(dict.fromkeys(json.loads(get_meta(conn, COPIES) or "[]")))
