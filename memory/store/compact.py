"""Returns free space in the file to the disk.

SQLite keeps the pages of deleted data and reuses them. Its incremental vacuum cuts surplus pages off, some per
transaction: it moves pages from the end of the file into free ones. A file made without that option is rewritten once,
when it is opened by nobody else. A plain VACUUM would need as much memory as the file is large."""

import shutil
from pathlib import Path

from memory.store import backup
from memory.store.connect import Connection, connect, driver

INCREMENTAL = 2  # of PRAGMA auto_vacuum
WORTH_BYTES = 1 << 20
WORTH_SHARE = 0.1  # of the file; less is reused soon


def make_compactable(conn: Connection, path: Path) -> Connection:
    """The connection to use from now on, a new one if the file at `path` was rewritten. Does nothing without need or
    room, or while another program has the file open. Call outside a transaction, with the only connection of this
    process; the caller sets the log mode (`PRAGMA journal_mode`)."""
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
    """Whether no other program has the file open; then it has no log, which would belong to the old file."""
    (wait_ms,) = conn.execute("PRAGMA busy_timeout").fetchone()
    conn.execute("PRAGMA busy_timeout = 0")
    try:
        return bool(conn.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete")
    except driver().OperationalError:
        return False
    finally:
        conn.execute(f"PRAGMA busy_timeout = {wait_ms}")


def count_free(conn: Connection) -> int:
    """Bytes of the file that can be returned."""
    if conn.execute("PRAGMA auto_vacuum").fetchone()[0] != INCREMENTAL:
        return 0
    return _ask(conn, "freelist_count") * _ask(conn, "page_size")


def is_worth_it(conn: Connection) -> bool:
    """Whether enough is free to justify the writing."""
    free = count_free(conn)
    return free >= WORTH_BYTES and free >= WORTH_SHARE * _ask(conn, "page_count") * _ask(conn, "page_size")


def cut_off(conn: Connection, pages: int) -> int:
    """Returns `pages` pages; the bytes left to return. The file gets shorter with the next checkpoint."""
    conn.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()  # each fetched row is a page
    return count_free(conn)


def _ask(conn: Connection, name: str) -> int:
    return int(conn.execute(f"PRAGMA {name}").fetchone()[0])
