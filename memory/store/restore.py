"""Replaces a memory with a backup or an export: verified first, and the old files are kept.

A write-ahead log belongs to one file; SQLite would apply it to any other file of that name and destroy it. So the log
moves with the replaced file. Every line of an export is validated; errors name its number."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import MsgspecError, Raw, ValidationError
from msgspec.json import Decoder, decode

from memory.errors import InvalidInputError, StoreDamagedError, StoreNewerError
from memory.store import check, graph, seals, text
from memory.store.connect import Connection, connect, create_private, driver, driver_errors
from memory.store.export import FORMAT, KINDS, Column, Header, Kind, list_columns
from memory.store.files import NOTE, sync
from memory.store.store import Store

LOGS = ("-wal", "-shm", NOTE)  # suffixes of files next to an open memory, or after a crash
CHECKSUM = ".sha256"  # of a backup, in the format of sha256sum, in a file next to it


def write_checksum(backup: Path) -> None:
    """Writes the SHA-256 of a backup into a file next to it."""
    checksum = checksum_path(backup)
    create_private(checksum)
    checksum.write_text(f"{_hash_file(backup)}  {backup.name}\n", "utf-8")
    sync(checksum)


def checksum_path(backup: Path) -> Path:
    """Returns the path of the checksum of a backup."""
    return backup.with_name(backup.name + CHECKSUM)


def restore(backup: Path, memory: Path, former_path: Path) -> None:
    """Replaces the memory file with the backup; its old files move to `former_path`. Nobody may have either open. If
    killed on the way, both still exist and it can be repeated. InvalidInputError without a backup, or if `former_path`
    exists; StoreDamagedError for a damaged backup, and nothing has changed."""
    if not backup.is_file():
        raise InvalidInputError(f"There is no backup {backup}.")
    checksum = checksum_path(backup)
    if checksum.exists() and checksum.read_text("utf-8").split()[:1] != [_hash_file(backup)]:
        raise StoreDamagedError(f"{backup} is damaged: its checksum differs. Nothing was changed.")
    with _replacing(memory, former_path, f"{backup} is damaged.") as ready:
        shutil.copyfile(backup, ready)


def rehearse(backup: Path, folder: Path) -> None:
    """Restores a backup into an empty folder, and counts what it has."""
    file = folder / "memory.db"
    restore(backup, file, folder / "kept.db")
    with Store.open_read_only(file) as restored:
        restored.read(check.count_live, file, "")


@contextmanager
def _replacing(memory: Path, former_path: Path, problem: str) -> Iterator[Path]:
    """Yields an empty file next to a memory, to be filled; checks it and gives it the name of the memory, whose old
    files move to `former_path`. StoreDamagedError, with the `problem`; InvalidInputError if `former_path` exists."""
    ready = memory.with_name(f".{memory.name}.restored")
    _discard(ready)
    create_private(ready)
    try:
        yield ready
        with Store.open(ready) as store:  # also upgrades an older version
            problems = check.check(store).problems
            store.checkpoint()
        if problems:
            raise StoreDamagedError(f"{problem} Nothing was changed. {problems[0]}")
        if former_path.exists():
            raise InvalidInputError(f"{former_path} exists already.")
        sync(ready)
        _keep(memory, former_path)
        ready.replace(memory)
        sync(memory.absolute().parent)
    finally:
        _discard(ready)


def _discard(file: Path) -> None:
    """Deletes a file that nobody has open, and its logs."""
    for name in (file.name, *(file.name + log for log in LOGS)):
        file.with_name(name).unlink(missing_ok=True)


def _keep(memory: Path, former_path: Path) -> None:
    """Gives a memory's file and its log second names, so that a memory exists at any moment."""
    if not memory.exists():
        return
    create_private(former_path)
    former_path.unlink()
    try:
        os.link(memory, former_path)
    except OSError:  # a file system without links, or another file system
        create_private(former_path)
        shutil.copyfile(memory, former_path)
    for log in LOGS:
        log_path = memory.with_name(memory.name + log)
        if log_path.exists():
            shutil.move(log_path, former_path.with_name(former_path.name + log))
    sync(former_path.absolute().parent)


def _hash_file(file: Path) -> str:
    with file.open("rb") as read:
        return hashlib.file_digest(read, "sha256").hexdigest()


MAX_LINE_BYTES = 256 << 20  # a passage has some kB; a file without line feeds is no export
AT_ONCE = 5000  # lines between progress reports
FOREIGN = "It is no export of Palimpsest. To read it as a note, a table or a chat: pal add FILE."

Progress = Callable[[int, int], None]
Numbered = Iterator[tuple[int, bytes]]

_read_line = Decoder(dict[str, Raw]).decode
_TYPES = {"INTEGER": int, "TEXT": str, "REAL": float, "BLOB": bytes, "ANY": int | str}
_PARSERS = {type: Decoder(of | None).decode for type, of in _TYPES.items()}


class _Table:
    """How lines of a kind become rows: the fields of a line are the parameters of its `statements`."""

    def __init__(self, conn: Connection, kind: Kind) -> None:
        self._columns, order = list_columns(conn, kind)
        self.number = 0  # lines so far
        self.statements = []
        if kind.table in ("meta", "sqlite_sequence"):  # a new file has rows of them
            self.statements.append(f"DELETE FROM {kind.table} WHERE {order[0]} = :{order[0]}")
        for table in ("node", kind.table) if kind.node else (kind.table,):
            values = {column.name: f":{column.field}" for column in self._columns if column.table == table}
            if kind.node:
                values |= {"kind": f"'{kind.node}'"} if table == "node" else {"node_id": ":id"}
            self.statements.append(f"INSERT INTO {table}({', '.join(values)}) VALUES ({', '.join(values.values())})")

    def parse(self, fields: dict[str, Raw]) -> dict[str, Any]:
        """Returns the values of a line. ValidationError."""
        values = {column.field: _parse_field(column, fields.pop(column.field, None)) for column in self._columns}
        if fields:
            raise ValidationError(f"It has an unknown field {next(iter(fields))!r}")
        return values


def load(
    file: BinaryIO, memory: Path, former_path: Path, progress: Progress = lambda done, total: None
) -> dict[str, int]:
    """Replaces the memory at `memory`, which nobody has open, with an export from an open file; the old files move to
    `former_path`. Returns the number of lines of each kind. Its vectors are missing: `Maintenance.switch_embedder`.
    `progress` gets (lines done, total). InvalidInputError, with the line number, for an invalid export;
    StoreNewerError for a later format. Then nothing has changed."""
    with _replacing(memory, former_path, "The export is inconsistent.") as ready:
        Store.open(ready).close()
        with driver_errors(ready), closing(connect(ready)) as conn:
            for pragma in ("foreign_keys = OFF", "synchronous = OFF", "secure_delete = OFF", "cache_size = -65536"):
                conn.execute(f"PRAGMA {pragma}")  # for speed: after a crash the file is discarded
            conn.execute("BEGIN IMMEDIATE")
            header = _write(conn, _read_lines(file), progress)
            for table, row, parent, _ in conn.execute("PRAGMA foreign_key_check"):
                what = f"row {row} of the kind {table} refers to a missing {parent}"
                raise InvalidInputError(f"The export is inconsistent: {what}. Nothing was kept.")
            graph.fold_aliases(conn)
            text.rebuild(conn)
            seals.renew(conn, seals.SEALED)
            conn.execute("COMMIT")
    return header.counts


def _read_lines(file: BinaryIO) -> Numbered:
    """Returns (number, line with its line feed) of an open file. InvalidInputError for a line that is too long."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise _make_error(number, "It is too long for a line of an export.")
        yield number, line


def _write(conn: Connection, lines: Numbered, progress: Progress) -> Header:
    tables = {kind.name: _Table(conn, kind) for kind in KINDS}
    header, number = _read_header(lines), 1
    total = sum(header.counts.values())
    for number, line in lines:
        try:
            fields = _read_line(line)
            kind = decode(fields.pop("type", b"null"), type=str)
            if kind == "end":
                return _finish(header, decode(line)["lines"], tables, number, next(lines, None))
            if kind not in tables:
                raise ValidationError(f"Invalid value {kind!r}")
            values = tables[kind].parse(fields)
        except (MsgspecError, UnicodeDecodeError, KeyError) as error:
            if not line.endswith(b"\n"):
                break
            raise _make_error(number, f"It is damaged: {error}.") from error
        try:
            for statement in tables[kind].statements:
                conn.execute(statement, values)
        except (driver().IntegrityError, OverflowError, UnicodeError) as error:
            raise _make_error(number, f"It contradicts earlier lines: {error}.") from error
        tables[kind].number += 1
        if number % AT_ONCE == 0:
            progress(number, total)
    raise InvalidInputError(f"The export was cut off at line {number:,}. Nothing was kept.")


def _read_header(lines: Numbered) -> Header:
    first = next(lines, (1, b""))[1]
    try:
        head = decode(first, type=dict[str, Any])
    except (MsgspecError, UnicodeDecodeError):
        head = {}
    if head.get("type") != "palimpsest":
        raise _make_error(1, FOREIGN)
    if isinstance(head.get("format"), int) and head["format"] > FORMAT:
        raise StoreNewerError(
            f"Line 1: the export was written by a newer Palimpsest (format {head['format']}; this one knows {FORMAT})."
            " Update Palimpsest. Nothing was changed."
        )
    if head.get("format") == FORMAT - 1:
        raise _make_error(1, "The export is from before the first release, and its times mean something else.")
    try:
        return decode(first, type=Header)
    except (MsgspecError, UnicodeDecodeError) as error:
        raise _make_error(1, f"It is damaged: {error}.") from error


def _finish(
    header: Header, n_lines: int, tables: dict[str, _Table], number: int, extra: tuple[int, bytes] | None
) -> Header:
    """Returns the header, if the counts that it declares are correct."""
    if extra is not None:
        raise _make_error(extra[0], "There are more lines after the end.")
    for name, total in header.counts.items():
        read = tables[name].number if name in tables else 0
        if read != total:
            raise _make_error(number, f"{read:,} lines of the kind {name} come before it instead of {total:,}.")
    if n_lines != number - 1:
        raise _make_error(number, f"{number - 1:,} lines come before it instead of {n_lines:,}.")
    return header


def _parse_field(column: Column, raw: Raw | None) -> Any:
    """Returns the value of a field for the table. ValidationError."""
    if raw is None:
        value = column.default
    elif column.type == "JSON":
        written = bytes(raw).decode()
        value = decode(raw, type=str | None) if written == "null" or written.startswith('"') else written
    else:
        value = _PARSERS[column.type](raw)
    if value is None and column.required:
        raise ValidationError(f"The field {column.field!r} is missing")
    return value


def _make_error(number: int, why: str) -> InvalidInputError:
    return InvalidInputError(f"Line {number:,}: {why} Nothing was kept.")
