"""Returns free space in the file to the disk.

SQLite keeps the pages of deleted data and reuses them. Its incremental vacuum cuts surplus pages off, some per
transaction: it moves pages from the end of the file into free ones. A plain VACUUM would need as much memory as the
file is large."""

from memory.store.connect import Connection

INCREMENTAL = 2  # of PRAGMA auto_vacuum
WORTH_BYTES = 1 << 20
WORTH_SHARE = 0.1  # of the file; less is reused soon


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
