"""The open memory file: reading and writing.

The invariant: all changes go through `writing()`, one unit at a time. A unit is one transaction; after any error
nothing of it remains. When `writing()` ends without an error, the unit is on the disk. `reading()` never waits for a
writer and sees one snapshot. If another file replaces the memory, neither returns a connection any more."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from memory.errors import InvalidInputError, StoreBusyError, StoreError, StoreFullError, StoreMovedError
from memory.store import files, schema, seals
from memory.store.connect import (
    Connection,
    connect,
    create_private,
    driver,
    driver_errors,
    get_meta,
    set_meta,
    translate_error,
)
from memory.store.files import check_room, verified_copy

P = ParamSpec("P")
R = TypeVar("R")

WAIT_SECONDS = 5.0  # to wait for another program that writes
COPY_TRIES = 3  # to copy and compare one snapshot while others write
REWRITE_SHARE = 2.2  # of the file's size: the temporary file and the log
IDLE_READERS = 8  # idle connections kept open; each has up to 16 MB of pages


class Store:
    """One open memory file. Thread-safe."""

    def __init__(
        self,
        path: Path,
        writer: Connection,
        folder: tempfile.TemporaryDirectory[str] | None = None,
        is_read_only: bool = False,
    ) -> None:
        """Use `Store.open`."""
        self.path = path
        self.is_read_only = is_read_only
        self._writer = writer
        self._file = files.FileWatch(path)
        self._moved = False
        self._overwritten = False
        self._saved_log: Path | None = None  # of an overwritten file
        self._refusal = ""
        self._make_room: Callable[[], None] = lambda: None
        self._room_maker = threading.local()
        self._folder = folder
        self._unit = threading.RLock()  # locked while the writing connection is in use
        self._idle: list[Connection] = []
        self._pool = threading.Lock()
        self._local = threading.local()  # the read connection of this thread
        self._closed = False

    @classmethod
    def open(
        cls, path: Path | str, folder: tempfile.TemporaryDirectory[str] | None = None, wait_s: float = WAIT_SECONDS
    ) -> Store:
        """Opens the memory at `path`, creating it (0600) or upgrading an older file after a verified copy. ":memory:"
        uses a private temporary folder, because several connections need a file; a temporary `folder` is deleted with
        the store. Waits for another program that writes. Raises StoreError and its subclasses."""
        driver()
        file = Path(path)
        if str(path) == ":memory:":
            folder = tempfile.TemporaryDirectory(prefix="palimpsest-")
            file = Path(folder.name) / "memory.db"
        try:
            create_private(file)
            with files.take_turn(file):
                writer = _open_newest(file)
                writer.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
        except BaseException as error:
            if folder:
                folder.cleanup()
            if isinstance(error, OSError):
                raise StoreError(f"{file} cannot be opened: {error.strerror or error}. Check the path.") from error
            raise
        return cls(file, writer, folder)

    @classmethod
    def open_read_only(cls, path: Path) -> Store:
        """Opens a memory without changing a byte: `writing()` raises StoreError. For a file that cannot be
        written and nobody else has open. Raises like `open`, and StoreError for an older file."""
        driver()
        if not path.is_file():
            raise StoreError(f"There is no memory {path}.")
        if files.has_foreign_log(path):
            raise StoreError(f"Next to {path} is the log of another file. To move it away: pal daemon start")
        if schema.version_of(path, schema.STEPS) < len(schema.STEPS):
            raise StoreError(f"{path} is of an older Palimpsest. It is brought up to date when it can be written.")
        with driver_errors(path):
            return cls(path, connect(path, read_only=True), is_read_only=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yields a read-only connection in one transaction: a consistent snapshot. Nested calls in a thread get the
        same one. Keep it short: the write-ahead log grows while a snapshot is open."""
        current: Connection | None = getattr(self._local, "conn", None)
        if current is not None:
            with driver_errors(self.path):
                yield current
            return
        with driver_errors(self.path):
            conn = self._borrow()
            self._local.conn = conn
            try:
                conn.execute("BEGIN")
                conn.execute("SELECT 1 FROM meta").fetchone()  # the snapshot begins with the first read
                yield conn
            finally:
                self._local.conn = None
                self._give_back(conn)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yields the writing connection in one transaction: the block is written completely or, on any exception, not
        at all. Locked for the whole block, so do not call models or wait inside."""
        with self.quiet() as conn:
            self.check_writable()
            conn.execute("BEGIN IMMEDIATE")
            before = conn.total_changes
            try:
                yield conn
                if conn.total_changes != before:
                    seals.seal_new(conn)
                    conn.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
                self.verify_place()
                conn.execute("COMMIT")
            except BaseException:
                if conn.in_transaction:  # a full disk has already ended it
                    conn.execute("ROLLBACK")
                raise

    def check_writable(self) -> None:
        """Raises StoreError if it is only read, StoreFullError where `block_writes` refuses; does not wait."""
        if self.is_read_only:
            raise StoreError(f"{self.path} can only be read now, so nothing was kept.")
        if self._refusal and not getattr(self._room_maker, "works", False):
            raise StoreFullError(self._refusal)

    @contextmanager
    def quiet(self) -> Iterator[Connection]:
        """Yields the writing connection outside a transaction, while nobody writes: for copies, checks and
        checkpoints."""
        with self._unit:
            if self._closed:
                raise StoreError(f"{self.path} is closed. Open it again.")
            if self._writer.in_transaction:
                raise RuntimeError("a unit of writing cannot be opened inside another one")
            self.verify_place()
            with driver_errors(self.path):
                yield self._writer

    def read(self, verb: Callable[Concatenate[Connection, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs one verb in its own snapshot."""
        with self.reading() as conn:
            return verb(conn, *args, **kwargs)

    def write(self, verb: Callable[Concatenate[Connection, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs one verb in its own unit."""
        with self.writing() as conn:
            return verb(conn, *args, **kwargs)

    def backup(self, to: Path) -> int:
        """Copies the memory to `to`, verified and readable by its owner only; returns its size in bytes. Nobody waits:
        it is the copy of a snapshot, and of a quiet memory only if somebody wrote at each of COPY_TRIES beginnings.
        InvalidInputError if `to` exists; StoreDamagedError if the copy differs, and nothing remains at `to`."""
        if to.exists():
            raise InvalidInputError(f"{to} exists already. Choose another name; a backup never overwrites a file.")
        self.verify_place()
        for _ in range(COPY_TRIES):
            with self.reading() as snapshot, driver_errors(self.path), closing(connect(self.path)) as conn:
                if verified_copy(conn, self.path, to, snapshot):
                    return to.stat().st_size
        with self.quiet() as conn:
            verified_copy(conn, self.path, to)
        return to.stat().st_size

    def rewrite(self) -> None:
        """Rewrites the file in place (VACUUM), so that unused parts of its pages contain nothing. Writers wait. SQLite
        sorts the new pages into a temporary file, not into memory. StoreFullError without room."""
        with self.quiet(), closing(connect(self.path)) as conn:  # another one: a new temp_store drops the triggers
            check_room(self.path, self.path, REWRITE_SHARE)
            conn.execute("PRAGMA temp_store = FILE")
            conn.execute("VACUUM")

    def block_writes(self, reason: str, make_room: Callable[[], None]) -> None:
        """Makes `writing()` raise StoreFullError with this reason, except inside `allow_deletes()`, which calls
        `make_room`; "" ends that."""
        self._refusal, self._make_room = reason, make_room

    @contextmanager
    def allow_deletes(self) -> Iterator[None]:
        """Allows this thread to delete data while the disk is full."""
        if self._refusal:
            self._make_room()
        before = getattr(self._room_maker, "works", False)
        self._room_maker.works = True
        try:
            yield
        finally:
            self._room_maker.works = before

    def verify_place(self) -> None:
        """Raises StoreMovedError if `path` leads to another file than the open one, or if it was overwritten; the
        latter is checked while nobody writes."""
        self._moved = self._moved or self._file.is_replaced
        if not self._moved and not self.is_read_only and self._unit.acquire(blocking=False):
            try:
                self._moved = self._overwritten = self._file.is_overwritten()
            finally:
                self._unit.release()
        if self._moved:
            raise StoreMovedError(
                f"{self.path} was replaced or moved while it was open, so nothing is read from it or written to it any "
                "more. Open the present file: pal daemon restart."
            )

    @property
    def is_elsewhere(self) -> bool:
        """Whether the folder of the open file was moved or deleted."""
        return self._file.is_elsewhere

    def rescue(self, to: Path) -> Path:
        """Saves a replaced file: merges its log, so that the log does not destroy the new file, and writes a verified
        copy to `to`. Of an overwritten file only the log is saved, next to it. Returns the path of the saved file."""
        with self._unit, driver_errors(self.path):
            if self._overwritten:
                return self._save_log()
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            verified_copy(self._writer, self.path, to)
            return to

    def _save_log(self) -> Path:
        self._saved_log = self._saved_log or files.save_log(self.path)
        if self._saved_log is None:
            raise StoreFullError(f"There is no space next to {self.path} for its log. Free some space and retry.")
        return self._saved_log

    @property
    def generation(self) -> int:
        """Grows by one with each unit that changed something; within `reading()` that of the snapshot."""
        with self.reading() as conn:
            value: int = get_meta(conn, "generation")
            return value

    @property
    def log_bytes(self) -> int:
        """The length of the write-ahead log."""
        try:
            return self.path.with_name(self.path.name + "-wal").stat().st_size
        except OSError:
            return 0

    def checkpoint(self, seconds: float = 0.0) -> None:
        """Merges the write-ahead log into the file and empties it: deleted data is then gone from the disk. Writers
        wait. StoreBusyError if a reader keeps an older snapshot for longer than `seconds`."""
        with self.quiet() as conn:
            (usual_ms,) = conn.execute("PRAGMA busy_timeout").fetchone()
            conn.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
            try:
                blocked, _, _ = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                conn.execute(f"PRAGMA busy_timeout = {usual_ms}")
        if blocked:
            raise StoreBusyError(f"{self.path} is being read, so deleted text is still in its log. Try again.")

    def touch(self) -> None:
        """Commits a transaction that changes nothing that is read, for a program that copies transactions."""
        with self.writing() as conn:
            set_meta(conn, "touched", (get_meta(conn, "touched") or 0) + 1)

    def merge_log_after(self, pages: int) -> None:
        """Merges the write-ahead log into the file whenever it has that many pages; 0: another program does."""
        with self._unit:
            if not self._closed:
                self._writer.execute(f"PRAGMA wal_autocheckpoint = {pages}")

    def release_pages(self) -> None:
        """Frees the cached pages of idle connections, up to 16 MB each, after the current unit."""
        with self._unit:
            if not self._closed:
                self._writer.execute("PRAGMA shrink_memory")
        with self._pool:
            idle, self._idle = self._idle, []
        for conn in idle:
            conn.execute("PRAGMA shrink_memory")
            self._give_back(conn)

    def close(self) -> None:
        """Closes after the current unit; active readers close when they are done."""
        with self._unit:
            if self._closed:
                return
            with self._pool:
                self._closed = True
                idle, self._idle = self._idle, []
            for conn in idle:
                conn.close()
            try:
                if self._overwritten:
                    self._save_log()
                    return
                self._writer.execute("PRAGMA busy_timeout = 0")  # an active reader empties the log when it closes
                if not self.is_read_only:
                    blocked, _, _ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                    if not blocked:
                        files.forget_owner(self.path)
            except driver().Error as error:
                raise translate_error(error, self.path) from error
            finally:
                self._writer.close()
                if self._folder:
                    self._folder.cleanup()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _borrow(self) -> Connection:
        with self._pool:
            if self._closed:
                raise StoreError(f"{self.path} is closed. Open it again.")
            if self._moved:
                self.verify_place()
            if self._idle:
                return self._idle.pop()
        conn = connect(self.path, read_only=self.is_read_only)
        try:
            self.verify_place()  # otherwise it would belong to another file
        except StoreMovedError:
            conn.close()
            raise
        conn.execute("PRAGMA query_only = ON")
        return conn

    def _give_back(self, conn: Connection) -> None:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        with self._pool:
            if not self._closed and len(self._idle) < IDLE_READERS:
                self._idle.append(conn)
                return
        conn.close()
        if self._closed and not self.path.with_name(self.path.name + "-wal").exists():  # it was the last one
            files.forget_owner(self.path)


def _open_newest(file: Path) -> Connection:
    """Returns the writing connection to a file of the newest version."""
    files.set_foreign_log_aside(file)
    version = schema.version_of(file, schema.STEPS)
    with driver_errors(file):
        writer = connect(file)
        try:
            if version == 0:
                writer.execute("PRAGMA page_size = 8192")
            writer.execute("PRAGMA journal_mode = WAL")
            schema.upgrade(writer, file, version, schema.STEPS)
            seals.watch(writer)
            files.note_owner(writer, file)  # which opens the log, too
        except BaseException:
            writer.close()
            raise
    return writer
