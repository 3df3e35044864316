"""Connections to a memory file, and the translation of the driver's errors.

Every connection comes from `connect`: foreign keys on, deleted text overwritten, each commit on the disk before it is
acknowledged, sqlite-vec loaded and further extensions disabled. The driver never opens a transaction by itself."""

import errno
import importlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import msgspec
import sqlite_vec

from memory.errors import StoreBusyError, StoreDamagedError, StoreError, StoreFullError

Connection: TypeAlias = sqlite3.Connection

OLDEST_SQLITE = (3, 42, 0)  # FTS5's secure-delete removes forgotten words from the index

_encode = msgspec.msgpack.Encoder().encode

WORTH_BYTES = 1 << 20  # of free space
WORTH_SHARE = 0.1  # of the file; less is reused soon
MAX_PREPARED = 512  # cached statements per connection; the driver's default of 128 is too small for one passage

PRAGMAS = (
    "busy_timeout = 5000",
    "synchronous = FULL",
    "foreign_keys = ON",
    "recursive_triggers = ON",  # a row that another one replaces is deleted also for triggers
    "secure_delete = ON",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "journal_size_limit = 67108864",
    "mmap_size = 0",
    "cache_size = -16384",
    "temp_store = MEMORY",
    "fullfsync = ON",  # macOS only: a plain fsync does not reach the disk there
    "checkpoint_fullfsync = ON",
)


@cache
def driver() -> Any:
    """The DB-API module: pysqlite3 if installed, else sqlite3; it must be able to load extensions."""
    for name in ("pysqlite3", "sqlite3"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if hasattr(module.Connection, "enable_load_extension") and module.sqlite_version_info >= OLDEST_SQLITE:
            return module
    raise StoreError(
        "This Python's SQLite cannot load extensions (or is older than 3.42), so vectors cannot be searched. "
        "Install pysqlite3 into the same environment: pip install pysqlite3. On Windows use the Python of python.org."
    )


def connect(path: Path, *, read_only: bool = False) -> Connection:
    """A connection for one thread at a time. `read_only` never changes a byte of the file."""
    uri = path.absolute().as_uri() + ("?mode=ro" if read_only else "?mode=rw")
    if read_only and not path.with_name(path.name + "-wal").exists():
        uri += "&immutable=1"  # no process has it open; otherwise SQLite would create an empty log
    conn: Connection = driver().connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, cached_statements=MAX_PREPARED
    )
    try:
        for pragma in PRAGMAS:
            conn.execute(f"PRAGMA {pragma}")
        conn.enable_load_extension(True)
        try:
            sqlite_vec.load(conn)
        finally:
            conn.enable_load_extension(False)
        conn.create_function("checksum", -1, checksum, deterministic=True)
    except BaseException:
        conn.close()
        raise
    return conn


def checksum(*values: object) -> int:
    """The checksum of the values of a row: 1 to 2^32."""
    return crc32(_encode(values)) + 1


def create_private(path: Path) -> None:
    """Creates an empty file readable by its owner only, and missing parent folders likewise. An existing file is left.
    OSError if that fails."""
    for folder in reversed(path.absolute().parents):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


@contextmanager
def driver_errors(path: Path) -> Iterator[None]:
    """Raises errors of the driver and the system as StoreError or a subclass."""
    try:
        yield
    except driver().Error as error:
        raise translate_error(error, path) from error
    except UnicodeDecodeError as error:  # the schema or an error message is damaged
        raise StoreDamagedError(f"{path} is damaged. To restore a backup of it: pal restore. {error.reason}") from error


def translate_error(error: Exception, path: Path) -> StoreError:
    """The StoreError for an error of the driver."""
    code = (getattr(error, "sqlite_errorname", None) or "").removeprefix("SQLITE_")
    if code.startswith(("BUSY", "LOCKED")):
        return StoreBusyError(f"Another program holds {path}. Close it, or wait, and try again.")
    if code.startswith("FULL"):
        return StoreFullError(f"The disk that holds {path} is full. This step was undone; make room and retry.")
    if code.startswith(("CORRUPT", "NOTADB")):
        return StoreDamagedError(f"{path} is damaged or is no memory. To restore a backup of it: pal restore. {error}")
    if code.startswith("CANTOPEN"):
        return StoreError(f"{path} cannot be opened. Check that its folder exists and may be written: {error}")
    if code.startswith(("READONLY", "PERM", "AUTH")):
        return StoreError(f"{path} may not be written. Check its owner and permissions: {error}")
    if code.startswith("IOERR"):
        return StoreError(f"The disk reported an error at {path}. This step was undone; look after the disk: {error}")
    return StoreError(f"The memory file {path} refused a step, which was undone: {error}")


def has_surplus(conn: Connection) -> bool:
    """Whether a large part of the file is free, because rows were deleted, so that rewriting it is worthwhile."""
    free, pages, page_bytes = (
        conn.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count", "page_size")
    )
    return bool(free * page_bytes >= max(WORTH_BYTES, WORTH_SHARE * pages * page_bytes))
