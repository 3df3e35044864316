"""Loads an export into a new memory file, which is verified and only then renamed.

Every line is validated; errors name its number. An incomplete export changes nothing."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Raw

from memory.errors import InvalidInputError, StoreDamagedError, StoreNewerError
from memory.store import check, graph, restore, schema, seals, text
from memory.store.connect import Connection, connect, driver, driver_errors
from memory.store.records import FORMAT, KINDS, End, Header, Kind, Layout, read_layout
from memory.store.store import Store

MAX_LINE_BYTES = 256 << 20  # a passage has some kB; a file without line feeds is no export
AT_ONCE = 5000  # lines between progress reports
FOREIGN = "It is no export of Palimpsest. To read it as a note, a table or a chat: pal add FILE."

Progress = Callable[[int, int], None]


def load(file: BinaryIO, memory: Path, former_path: Path, progress: Progress = lambda done, total: None) -> Header:
    """Replaces the memory at `memory`, which nobody has open, with an export from an open file; the old files move to
    `former_path`. `progress` gets (lines done, total). InvalidInputError, with the line number, for an invalid export;
    StoreNewerError for a later format. Then nothing has changed."""
    ready = restore.begin(memory)
    try:
        Store.open(ready).close()
        with driver_errors(ready), closing(_open_unguarded(ready)) as conn:
            conn.execute("BEGIN IMMEDIATE")
            header = _write(conn, _read_lines(file), progress)
            _verify_references(conn)
            if header.format == 1:
                schema.normalize_aliases(conn)
                schema.keep_wall_times(conn)
            graph.fold_aliases(conn)
            text.rebuild(conn)
            seals.renew(conn, seals.SEALED)
            conn.execute("COMMIT")
        with Store.open(ready) as store:
            problems = check.check(store).problems
            store.checkpoint()
        if problems:
            raise StoreDamagedError(f"The export is inconsistent. Nothing was changed. {problems[0]}")
        restore.put_in_place(ready, memory, former_path)
        return header
    finally:
        restore.discard(ready)


def _read_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of an open file with their line feeds. InvalidInputError for a line that is too long."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise _make_error(number, "It is too long for a line of an export.")
        yield line


def _open_unguarded(path: Path) -> Connection:
    """A fast connection to a new file, which is discarded after a crash."""
    conn = connect(path)
    for pragma in ("foreign_keys = OFF", "synchronous = OFF", "secure_delete = OFF", "cache_size = -65536"):
        conn.execute(f"PRAGMA {pragma}")
    return conn


def _write(conn: Connection, lines: Iterable[bytes], progress: Progress) -> Header:
    layouts = [read_layout(conn, kind) for kind in KINDS]
    records: Any = reduce(or_, (layout.record for layout in layouts), End | Header)
    decode = msgspec.json.Decoder(records).decode
    statements = {layout.record: _make_statements(kind, layout) for kind, layout in zip(KINDS, layouts, strict=True)}
    numbered = enumerate(lines, 1)
    header, counts, number = _read_header(numbered), dict.fromkeys((kind.name for kind in KINDS), 0), 1
    total = sum(header.counts.values())
    for number, line in numbered:
        try:
            record = decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            if not line.endswith(b"\n"):
                break
            raise _make_error(number, f"It is damaged: {error}.") from error
        if isinstance(record, End):
            return _finish(header, record, counts, number, next(numbered, None))
        try:
            values = {
                name: _unsplice(value) if isinstance(value, Raw) else value
                for name, value in msgspec.structs.asdict(record).items()
            }
            for statement in statements[type(record)]:
                conn.execute(statement, values)
        except (driver().IntegrityError, OverflowError, UnicodeError, KeyError) as error:
            raise _make_error(number, f"It contradicts earlier lines: {error or 'another header'}.") from error
        counts[str(record.__struct_config__.tag)] += 1
        if number % AT_ONCE == 0:
            progress(number, total)
    raise InvalidInputError(f"The export was cut off at line {number:,}. Nothing was kept.")


def _read_header(numbered: Iterator[tuple[int, bytes]]) -> Header:
    first = next(numbered, (1, b""))[1]
    try:
        head = msgspec.json.decode(first, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        head = {}
    if head.get("type") != "palimpsest":
        raise _make_error(1, FOREIGN)
    if isinstance(head.get("format"), int) and head["format"] > FORMAT:
        raise StoreNewerError(
            f"Line 1: the export was written by a newer Palimpsest (format {head['format']}; this one knows {FORMAT})."
            " Update Palimpsest. Nothing was changed."
        )
    try:
        return msgspec.json.decode(first, type=Header)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _make_error(1, f"It is damaged: {error}.") from error


def _finish(header: Header, end: End, counts: dict[str, int], number: int, extra: tuple[int, bytes] | None) -> Header:
    """The header, if the counts that it declares are correct."""
    if extra is not None:
        raise _make_error(extra[0], "There are more lines after the end.")
    for name, total in header.counts.items():
        if counts.get(name) != total:
            raise _make_error(
                number,
                f"{counts.get(name, 0):,} lines of the kind {name} come before it instead of {total:,}.",
            )
    if end.lines != number - 1:
        raise _make_error(number, f"{number - 1:,} lines come before it instead of {end.lines:,}.")
    return header


def _unsplice(raw: Raw) -> str | None:
    """JSON in the form of the table."""
    json_text = bytes(raw).decode()
    return msgspec.json.decode(raw, type=str | None) if json_text == "null" or json_text.startswith('"') else json_text


def _make_statements(kind: Kind, layout: Layout) -> list[str]:
    """The statements that insert a line; their parameters are its fields."""
    statements = []
    if kind.table in ("meta", "sqlite_sequence"):  # a new file has rows of them
        key = layout.order[0]
        statements.append(f"DELETE FROM {kind.table} WHERE {key} = :{key}")
    for table in ("node", kind.table) if kind.node else (kind.table,):
        values = {field.column: f":{field.name}" for field in layout.fields if field.table == table}
        if kind.node:
            values |= {"kind": f"'{kind.node}'"} if table == "node" else {"node_id": ":id"}
        statements.append(f"INSERT INTO {table}({', '.join(values)}) VALUES ({', '.join(values.values())})")
    return statements


def _verify_references(conn: Connection) -> None:
    for table, row, parent, _ in conn.execute("PRAGMA foreign_key_check"):
        raise InvalidInputError(
            f"The export is inconsistent: row {row} of the kind {table} refers to a missing {parent}. Nothing was kept."
        )


def _make_error(number: int, why: str) -> InvalidInputError:
    return InvalidInputError(f"Line {number:,}: {why} Nothing was kept.")
