"""Giving back to the disk what is free in the file.

A file keeps the pages of what was deleted and fills them again. Those that are too many are cut off by SQLite's
incremental vacuum, some in each transaction: it moves pages from the end of the file into the free ones. A file must
have been made for that; one that was not is rewritten once, when it is opened and nobody else has it open. A plain
VACUUM would want as much memory as the file is large.
"""

import shutil
from pathlib import Path

from memory.store import backup
from memory.store.connect import Connection, connect, driver

INCREMENTAL = 2  # of PRAGMA auto_vacuum
WORTH_BYTES = 1 << 20
WORTH_SHARE = 0.1  # of the file; less will be filled again soon


def make_compactable(conn: Connection, path: Path) -> Connection:
    """The connection to use from now on, which is a new one if the file at `path` was rewritten. Nothing is done where
    there is no need or no room for it, or another program has the file open. Outside a transaction, by the only
    connection of this process; leaves the log to the caller (`PRAGMA journal_mode`)."""
    if conn.execute("PRAGMA auto_vacuum").fetchone()[0] == INCREMENTAL:
        return conn
    if shutil.disk_usage(path.absolute().parent).free < 2 * path.stat().st_size or not _is_alone(conn):
        return conn
    whole = path.with_name(path.name + backup.REWRITTEN)
    conn.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")  # of the copy
    try:
        backup.verified_copy(conn, path, whole)
        conn.close()
        whole.replace(path)
        backup.sync(path.absolute().parent)
    finally:
        whole.unlink(missing_ok=True)
    return connect(path)


def _is_alone(conn: Connection) -> bool:
    """Whether nobody else has the file open. Then it has no log any more: that would be another file's."""
    (wait_ms,) = conn.execute("PRAGMA busy_timeout").fetchone()
    conn.execute("PRAGMA busy_timeout = 0")
    try:
        return bool(conn.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete")
    except driver().OperationalError:
        return False
    finally:
        conn.execute(f"PRAGMA busy_timeout = {wait_ms}")


def count_free(conn: Connection) -> int:
    """Bytes of the file that could be given back."""
    if conn.execute("PRAGMA auto_vacuum").fetchone()[0] != INCREMENTAL:
        return 0
    return _pages(conn, "freelist_count") * _pages(conn, "page_size")


def is_worth_it(conn: Connection) -> bool:
    """Whether so much is free that giving it back is worth the writing."""
    free = count_free(conn)
    return free >= WORTH_BYTES and free >= WORTH_SHARE * _pages(conn, "page_count") * _pages(conn, "page_size")


def cut_off(conn: Connection, pages: int) -> int:
    """Gives back so many pages; how many bytes are left to give. The file is shorter behind the next checkpoint."""
    conn.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()  # each row that is fetched is a page
    return count_free(conn)


def _pages(conn: Connection, name: str) -> int:
    return int(conn.execute(f"PRAGMA {name}").fetchone()[0])
