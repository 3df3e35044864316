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
    aside = path.with_name(f"{path.name}.{datetime.now():%Y%m%d-%H%M%S}.log.bak")
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


def _read_alone(path: Path) -> tuple[str | None, int]:
    """The name and generation that stand in the file itself, without its log; None where it does not tell."""
    uri = path.absolute().as_uri() + "?mode=ro&immutable=1"
    try:
        with closing(driver().connect(uri, uri=True)) as conn:
            known = dict(conn.execute("SELECT key, value FROM meta WHERE key IN (?, 'generation')", (NAME,)))
            return known.get(NAME), int(known.get("generation", 0))
    except (driver().Error, ValueError, TypeError):
        return None, 0
