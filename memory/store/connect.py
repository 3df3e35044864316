"""Connections to a memory file, the driver's errors, and what all queries share: visibility, columns and values.

Every connection comes from `connect`: foreign keys on, deleted text overwritten, each commit on the disk before it is
acknowledged, sqlite-vec loaded and further extensions disabled. The driver never opens a transaction by itself.

The bi-temporal predicate is defined here only. *Valid* time is when a fact was true, [valid_from, valid_to), NULL for
an open end. *Transaction* time is when this memory believed it, [t_created, t_expired). A question asks about
the world at time v as the memory knew it at time t."""

import errno
import importlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, SupportsInt, TypeAlias, TypeVar
from zlib import crc32

import msgspec
import sqlite_vec

from memory.errors import StoreBusyError, StoreDamagedError, StoreError, StoreFullError
from memory.nouns import Citation, Source
from memory.time.timestamps import from_wall, to_wall

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
    """Returns the DB-API module: pysqlite3 if installed, else sqlite3; it must be able to load extensions."""
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
    """Returns a connection for one thread at a time. `read_only` never changes a byte of the file."""
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
    """Returns the checksum of the values of a row: 1 to 2^32."""
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
    """Returns the StoreError for an error of the driver."""
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
        read_value(conn, f"PRAGMA {name}") for name in ("freelist_count", "page_count", "page_size")
    )
    return bool(free * page_bytes >= max(WORTH_BYTES, WORTH_SHARE * pages * page_bytes))


K = TypeVar("K")
V = TypeVar("V")

LIVE = "t_expired IS NULL"  # SQL: this memory believes the row now
LISTED = "(SELECT value FROM json_each(?))"  # SQL: the values of a list in JSON
FIRST_EDGE = 1 << 30  # node ids begin at 1, so the id of a fact distinguishes relation and thesis


def is_live(alias: str) -> str:
    """Returns SQL: the row `alias` (of node or edge) is believed now."""
    return f"{alias}.{LIVE}"


def is_recorded(alias: str, t_param: str) -> str:
    """Returns SQL: the row `alias` (with t_created, t_expired) was believed at store time `t_param`."""
    return f"({alias}.t_created <= {t_param} AND ({is_live(alias)} OR {alias}.t_expired > {t_param}))"


def valid(alias: str, v_param: str) -> str:
    """Returns SQL: the row `alias` (with valid_from, valid_to) was true in the world at time `v_param`."""
    return (
        f"(({alias}.valid_from IS NULL OR {alias}.valid_from <= {v_param})"
        f" AND ({alias}.valid_to IS NULL OR {alias}.valid_to > {v_param}))"
    )


def visible(alias: str, t_param: str, v_param: str) -> str:
    """Returns SQL: visible at store time `t_param` and world time `v_param`, placeholders such as ":known_on"."""
    return f"({is_recorded(alias, t_param)} AND {valid(alias, v_param)})"


def is_asserted(alias: str) -> str:
    """Returns SQL: an episode believed now is evidence of the relation `alias`."""
    return (
        "EXISTS (SELECT 1 FROM provenance v JOIN node asserting ON asserting.id = v.episode_id"
        f" AND {is_live('asserting')} WHERE v.item_kind = 'edge' AND v.item_id = {alias}.id)"
    )


def id_list(ids: Iterable[SupportsInt]) -> str:
    """Returns ids as JSON for `IN {LISTED}`: any number in one parameter."""
    return json.dumps([int(id) for id in ids])


def read_column(conn: Connection, query: str, *values: int | str | None) -> list[Any]:
    """Returns the first column of the rows of a query."""
    return [row[0] for row in conn.execute(query, values)]


def read_value(conn: Connection, query: str, *values: int | str | None) -> Any:
    """Returns the first column of the first row of a query, or None."""
    row = conn.execute(query, values).fetchone()
    return row and row[0]


def group_rows(rows: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Returns {first column: all second columns in order} of rows with two columns."""
    groups: dict[K, list[V]] = {}
    for key, value in rows:
        groups.setdefault(key, []).append(value)
    return groups


def insert_row(conn: Connection, table: str, **values: Any) -> int:
    """Inserts a row; returns its id."""
    marks = ", ".join("?" * len(values))
    query = f"INSERT INTO {table}({', '.join(values)}) VALUES ({marks}) RETURNING rowid"
    return int(conn.execute(query, tuple(values.values())).fetchone()[0])


def get_meta(conn: Connection, key: str) -> Any:
    """Returns a value of the table meta, or None."""
    return read_value(conn, "SELECT value FROM meta WHERE key = ?", key)


def set_meta(conn: Connection, key: str, value: int | str | None) -> None:
    """Changes a value of the table meta; None deletes it."""
    if value is None:
        conn.execute("DELETE FROM meta WHERE key = ?", (key,))
    else:
        conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (key, value))


def make_pattern(words: str) -> str:
    r"""Returns the pattern for LIKE ... ESCAPE '\' that these words match anywhere in a text."""
    return "%" + words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def citations_to_json(citations: Sequence[Citation]) -> str:
    return to_json([asdict(row) | {"at": to_wall(row.at)} for row in citations])


def citations_from_json(stored: str | None) -> tuple[Citation, ...]:
    return tuple(Citation(**(fields | {"at": from_wall(fields["at"])})) for fields in json.loads(stored or "[]"))


SOURCE_COLUMNS = "id, uri, kind, title, reader, conversation, policy, at, sha256, size, mtime_ns, location"


def source_from_row(row: Sequence[Any]) -> Source:
    """Returns a Source from the values of SOURCE_COLUMNS."""
    id, uri, kind, title, reader, conversation, policy, at, *rest = row
    return Source(id, uri, kind, title, reader, conversation, policy, from_wall(at), *rest)
