"""The files of a memory: protection from a write-ahead log of another file, from concurrent opening and from being
replaced; and copies, written, verified, then renamed.

A log survives a crash next to its file. If another file is then put there, for example a backup, SQLite applies the log
to it and destroys it. So each file has a unique name in `meta`, every copy a new one, and a note next to an open file
records the owner of the log and the generation of the file. Opening may create or upgrade tables, depending on the
contents of the file, so only one process opens it at a time.

Backups in their folder and copies made by upgrades are found there; other backups are remembered by path. So a person
learns which copies still contain forgotten data."""

import json
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from memory.errors import StoreBusyError, StoreDamagedError, StoreError, StoreFullError
from memory.store.connect import (
    FIRST_EDGE,
    LISTED,
    Connection,
    connect,
    create_private,
    driver,
    driver_errors,
    get_meta,
    set_meta,
    to_json,
)

APPLICATION_ID = int.from_bytes(b"Plmp", "big")
NOTE = "-owner"  # suffix of the note
NAME = "file"  # in the table meta
TURN_SECONDS = 60.0  # to wait for another process, which may copy an older file first


@contextmanager
def take_turn(path: Path) -> Iterator[None]:
    """Holds the lock for opening a memory of this folder. It locks the folder: closing a file releases all locks that
    SQLite has on it. Without such locks (Windows) it does not wait. StoreBusyError."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        deadline = time.monotonic() + TURN_SECONDS
        while True:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise StoreBusyError(f"Another program is opening {path}. Wait, and try again.") from error
            except OSError:  # a file system without locks
                break
            time.sleep(0.01)
        yield
    finally:
        os.close(folder)


def set_foreign_log_aside(path: Path) -> None:
    """Renames a log that belongs to another file, such that forgetting lists it with the copies. Nobody may have the
    file open."""
    if has_foreign_log(path):
        path.with_name(path.name + "-wal").rename(_find_free_name(path))
        path.with_name(path.name + "-shm").unlink(missing_ok=True)


def has_foreign_log(path: Path) -> bool:
    """Whether the log next to the file belongs to another file, or to a later state of this one, by the note."""
    log = path.with_name(path.name + "-wal")
    try:
        if not log.stat().st_size:
            return False
        owner, reached = json.loads(path.with_name(path.name + NOTE).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    name, generation, _ = _read_alone(path)
    return name is not None and (name != owner or generation < reached)


def note_owner(conn: Connection, path: Path) -> None:
    """Writes the note with the owner of the log while the memory is open; without disk space, nothing."""
    with suppress(driver().Error, OSError):
        if get_meta(conn, NAME) is None:
            rename_copy(conn)
        note = path.with_name(path.name + NOTE)
        create_private(note)
        note.write_text(json.dumps([get_meta(conn, NAME), _read_alone(path)[1]]), "utf-8")


def forget_owner(path: Path) -> None:
    """Removes the note, because the log is empty."""
    with suppress(OSError):
        path.with_name(path.name + NOTE).unlink(missing_ok=True)


def rename_copy(conn: Connection) -> None:
    """Gives a file a unique name."""
    set_meta(conn, NAME, secrets.token_hex(16))


class FileWatch:
    """Detects that the open file is no longer the one at its path. A file that is renamed, replaced or deleted stays
    open, but writes to it are lost; the inodes of the memory, its log and its folder show that. Another file's bytes in
    the open one (`cp backup memory.db`) keep the inode, but change the name or lower the generation; for these it reads
    the file only if its time or size changed, as after our own checkpoint."""

    def __init__(self, path: Path) -> None:
        self._path = path
        places = path.parent, path, path.with_name(path.name + "-wal")
        self._inodes = {place: _read_status(place)[0] for place in places}
        self._stamp = _read_status(path)[1]
        self._name, self._reached, _ = _read_alone(path)

    @property
    def is_replaced(self) -> bool:
        """Whether the paths now lead to other files or none. 7 us."""
        return any(_read_status(place)[0] != was for place, was in self._inodes.items())

    @property
    def is_elsewhere(self) -> bool:
        """Whether the folder was moved or deleted."""
        return _read_status(self._path.parent)[0] != self._inodes[self._path.parent]

    def is_overwritten(self) -> bool:
        """Checks the file; 2 us, or 0.3 ms if it must be read. Nobody may be writing. A partial checkpoint does not
        count."""
        stamp = _read_status(self._path)[1]
        if stamp == self._stamp:
            return False
        name, generation, is_foreign = _read_alone(self._path)
        if self._name is None or name is None:
            is_other = self._name is not None and is_foreign
        else:
            is_other = name != self._name or generation < self._reached
        if not is_other:
            self._stamp, self._name, self._reached = stamp, name or self._name, max(generation, self._reached)
        return is_other


def save_log(path: Path) -> Path | None:
    """Copies the log of a file overwritten while open and empties it, so that SQLite does not apply it on closing;
    returns the path of the copy, or None without disk space."""
    log = path.with_name(path.name + "-wal")
    aside = _find_free_name(path)
    try:
        create_private(aside)
        aside.write_bytes(log.read_bytes())
        os.truncate(log, 0)
    except OSError:
        return None
    return aside


def _read_status(path: Path) -> tuple[tuple[int, int], tuple[int, int]]:
    """Returns ((device, inode), (time, size)) of a file or folder; zeros if it is missing."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0), (0, 0)
    return (status.st_dev, status.st_ino), (status.st_mtime_ns, status.st_size)


def _find_free_name(path: Path) -> Path:
    return path.with_name(f"{path.name}.{datetime.now():%Y%m%d-%H%M%S}.log.bak")


def _read_alone(path: Path) -> tuple[str | None, int, bool]:
    """Returns (name, generation, whether it is no memory) from the file itself, without its log; None without a name.
    SQLite reads it: otherwise closing would release its locks."""
    uri, is_foreign = path.absolute().as_uri() + "?mode=ro&immutable=1", False
    try:
        with closing(driver().connect(uri, uri=True)) as conn:
            is_foreign = conn.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID
            values = dict(conn.execute("SELECT key, value FROM meta WHERE key IN (?, 'generation')", (NAME,)))
            return values.get(NAME), int(values.get("generation", 0)), is_foreign
    except (driver().Error, ValueError, TypeError) as error:
        return None, 0, is_foreign or getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB"


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
    """Raises StoreFullError if there is no room for a copy that takes `share` times the size of the file at `path`."""
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
    """Calls fsync for a file or folder."""
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
    """Returns (query, values) that test a copy for that episode, fact (both by id), object (by name) or one of these
    sources (by uri). Call before forgetting: a copy may have a source under an earlier name."""
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
    """Returns the existing copies of the memory file `memory`, sorted by path, including unfinished ones."""
    paths = {Path(path) for path in _list_noted(conn)}
    paths |= {*backups.glob("*.db"), *memory.parent.glob(f"{memory.name}.*.bak")}
    paths |= find_unfinished(conn, memory, backups)
    return sorted(path for path in paths if path.is_file())


def find_unfinished(conn: Connection, memory: Path, backups: Path) -> set[Path]:
    """Returns files of copies or restores that are in progress or were killed."""
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
    """Returns the copies in which the query finds a row, and the unreadable ones."""
    return [path for path in copies if _has_row(path, query, values)]


def _has_row(path: Path, query: str, values: tuple[Any, ...]) -> bool:
    try:
        with driver_errors(path), closing(connect(path, read_only=True)) as conn:
            return conn.execute(f"{query} LIMIT 1", values).fetchone() is not None
    except StoreError:
        return True


def _list_noted(conn: Connection) -> list[str]:
    return list(dict.fromkeys(json.loads(get_meta(conn, COPIES) or "[]")))
