"""Whose log is it, and whose turn? A write-ahead log belongs to one file, and SQLite does not look to which.

After a crash the log stays beside the file. If somebody then puts another file in its place, a backup by hand, SQLite
plays the log into that and ruins it. So each file has a name of its own in `meta`, every copy another one, and while a
file is open a note beside it says whose log that is, and how far the file itself had come.

Whoever opens a memory may have to make its tables or bring it up to date, and decides that by what is in the file; so
it is opened by one after the other.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from memory.errors import StoreBusyError
from memory.store.connect import Connection, create_private, driver

APPLICATION_ID = int.from_bytes(b"Plmp", "big")
NOTE = "-owner"  # of the file, beside it
NAME = "file"  # in the table meta
TURN_SECONDS = 60.0  # to wait for: an older file is copied first


@contextmanager
def take_turn(path: Path) -> Iterator[None]:
    """Nobody else opens a memory of this folder meanwhile. The system's lock is on the folder, not the file: whoever
    closes a file gives up all the locks that SQLite has on it. Without such locks (Windows) nobody is waited for.
    StoreBusyError."""
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


def set_foreign_log_aside(path: Path) -> Path | None:
    """Renames a log that belongs to another file than stands there now; its new name, under which forgetting names it
    with the copies. Nobody may have it open."""
    if not has_foreign_log(path):
        return None
    aside = _aside(path)
    path.with_name(path.name + "-wal").rename(aside)
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    return aside


def has_foreign_log(path: Path) -> bool:
    """Whether there is a log beside the file, and the note says that it is another's, or of a later state of it."""
    log = path.with_name(path.name + "-wal")
    try:
        if not log.stat().st_size:
            return False
        owner, reached = json.loads(path.with_name(path.name + NOTE).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    name, generation = _read_alone(path)
    return name is not None and (name != owner or generation < reached)


def note_owner(conn: Connection, path: Path) -> None:
    """Notes whose log there will be, in a file that is there while the memory is open. Without room for it, nothing."""
    with suppress(driver().Error, OSError):
        row = conn.execute("SELECT value FROM meta WHERE key = ?", (NAME,)).fetchone()
        if row is None:
            rename_copy(conn)
            row = conn.execute("SELECT value FROM meta WHERE key = ?", (NAME,)).fetchone()
        note = path.with_name(path.name + NOTE)
        create_private(note)
        note.write_text(json.dumps([row[0], _read_alone(path)[1]]), "utf-8")


def forget_owner(path: Path) -> None:
    """The log is empty now."""
    with suppress(OSError):
        path.with_name(path.name + NOTE).unlink(missing_ok=True)


def rename_copy(conn: Connection) -> None:
    """Gives a file a name that no other one has."""
    conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (NAME, secrets.token_hex(16)))


class FileWatch:
    """Notices that another file's bytes were written into the open one (`cp backup memory.db`): its inode stays, the
    name in it does not, or its generation falls. It is read only where its time or size is another than at the last
    look, as behind a checkpoint of our own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = _stamp(path)
        self._name, self._reached = _read_alone(path)

    def is_overwritten(self) -> bool:
        """Looks; 2 us, or 0.3 ms where it has to read. Nobody may be writing to the file. Only what is sure counts: a
        checkpoint may have written some pages and not others."""
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return False
        name, generation = _read_alone(self._path)
        if self._name is None or name is None:
            is_other = self._name is not None and _is_foreign(self._path)
        else:
            is_other = name != self._name or generation < self._reached
        if not is_other:
            self._stamp, self._name, self._reached = stamp, name or self._name, max(generation, self._reached)
        return is_other


def _is_foreign(path: Path) -> bool:
    """Whether the file's first page is none of a memory. SQLite looks: who else closes the file gives up its locks."""
    uri = path.absolute().as_uri() + "?mode=ro&immutable=1"
    try:
        with closing(driver().connect(uri, uri=True)) as conn:
            found: int = conn.execute("PRAGMA application_id").fetchone()[0]
            return found != APPLICATION_ID
    except driver().Error as error:
        return getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB"


def save_log(path: Path) -> Path | None:
    """Keeps the log of a file that was overwritten while it is open, and empties it, so that SQLite, which writes it
    into the file when that is closed, finds nothing to write. None where there is no room for that."""
    log = path.with_name(path.name + "-wal")
    aside = _aside(path)
    try:
        create_private(aside)
        aside.write_bytes(log.read_bytes())
        os.truncate(log, 0)
    except OSError:
        return None
    return aside


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.{datetime.now():%Y%m%d-%H%M%S}.log.bak")


def _read_alone(path: Path) -> tuple[str | None, int]:
    """The name and generation that stand in the file itself, without its log; None where it does not tell."""
    uri = path.absolute().as_uri() + "?mode=ro&immutable=1"
    try:
        with closing(driver().connect(uri, uri=True)) as conn:
            known = dict(conn.execute("SELECT key, value FROM meta WHERE key IN (?, 'generation')", (NAME,)))
            return known.get(NAME), int(known.get("generation", 0))
    except (driver().Error, ValueError, TypeError):
        return None, 0
