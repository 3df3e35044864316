"""A memory made of the lines of an export: written into a new file, checked, and only then given its name.

Every line is checked for what it says before it is written, and what is wrong is told with its number. Nothing of an
export that is not whole is kept.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, get_type_hints

import msgspec
from msgspec import Raw

from memory.errors import InvalidInputError, StoreDamagedError, StoreNewerError
from memory.store import check, graph, restore, schema, text
from memory.store.connect import Connection, connect, driver, driver_errors
from memory.store.records import FORMAT, KINDS, NODE_FIELDS, End, Header, Kind, Record
from memory.store.store import Store

MAX_LINE_BYTES = 256 << 20  # a passage has some kB; a file without line feeds is no export
AT_ONCE = 5000  # lines between two words about how far it is
FOREIGN = "It is no export of Palimpsest. To read it as a note, a table or a chat: pal add FILE."

Progress = Callable[[int, int], None]


class _Verb(NamedTuple):
    """How the lines of a kind are written: statements, each with the places of its values among the fields."""

    statements: tuple[tuple[str, tuple[int, ...]], ...]
    raw: tuple[int, ...]


def load(file: BinaryIO, memory: Path, kept: Path, progress: Progress = lambda done, total: None) -> Header:
    """Puts the memory that an export, an open file, tells of in the place of the one at `memory`, whose own files
    become `kept`. Nobody may have that open. `progress` hears how many lines are done, of how many. InvalidInputError,
    with the number of the line, for what is no whole export; StoreNewerError for a later format. Nothing has changed
    then."""
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
            conn.execute("COMMIT")
        with Store.open(ready) as store:
            problems = check.check(store).problems
            store.checkpoint()
        if problems:
            raise StoreDamagedError(f"What the export tells does not fit together. Nothing was changed. {problems[0]}")
        restore.put_in_place(ready, memory, kept)
        return header
    finally:
        restore.discard(ready)


def _read_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of an open file, with their line feeds. InvalidInputError for one that never ends."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise _wrong(number, "It is too long for a line of an export.")
        yield line


def _open_unguarded(path: Path) -> Connection:
    """A connection to a file that nobody needs yet: what a crash would leave of it is thrown away."""
    conn = connect(path)
    for pragma in ("foreign_keys = OFF", "synchronous = OFF", "secure_delete = OFF", "cache_size = -65536"):
        conn.execute(f"PRAGMA {pragma}")
    return conn


def _write(conn: Connection, lines: Iterable[bytes], progress: Progress) -> Header:
    decode = msgspec.json.Decoder(_union()).decode
    verbs = {kind.record: _verb(kind) for kind in KINDS}
    numbered = enumerate(lines, 1)
    header, found, number = _read_header(numbered), dict.fromkeys((kind.name for kind in KINDS), 0), 1
    total = sum(header.counts.values())
    for number, line in numbered:
        try:
            record = decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            if not line.endswith(b"\n"):
                break
            raise _wrong(number, f"It is damaged: {error}.") from error
        if isinstance(record, End):
            return _finish(header, record, found, number, next(numbered, None))
        try:
            _insert(conn, verbs[type(record)], record)
        except (driver().IntegrityError, OverflowError, UnicodeError, KeyError) as error:
            raise _wrong(number, f"It does not fit to those before it: {error or 'another header'}.") from error
        found[_name(record)] += 1
        if number % AT_ONCE == 0:
            progress(number, total)
    raise InvalidInputError(f"The export was cut off at line {number:,}. Nothing was kept.")


def _union() -> Any:
    """The type of any line."""
    every: Any = End | Header
    for kind in KINDS:
        every |= kind.record
    return every


def _read_header(numbered: Iterator[tuple[int, bytes]]) -> Header:
    first = next(numbered, (1, b""))[1]
    try:
        known = msgspec.json.decode(first, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        known = {}
    if known.get("type") != "palimpsest":
        raise _wrong(1, FOREIGN)
    if isinstance(known.get("format"), int) and known["format"] > FORMAT:
        raise StoreNewerError(
            f"Line 1: the export was written by a newer Palimpsest (format {known['format']}; this one knows {FORMAT})."
            " Update Palimpsest. Nothing was changed."
        )
    try:
        return msgspec.json.decode(first, type=Header)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _wrong(1, f"It is damaged: {error}.") from error


def _finish(header: Header, end: End, found: dict[str, int], number: int, behind: tuple[int, bytes] | None) -> Header:
    """The header, if all is there that it announces."""
    if behind is not None:
        raise _wrong(behind[0], "Something stands behind the end.")
    for name, wanted in header.counts.items():
        if found.get(name) != wanted:
            raise _wrong(
                number, f"{found.get(name, 0):,} lines of the kind {name} stand before it, and not {wanted:,}."
            )
    if end.lines != number - 1:
        raise _wrong(number, f"{number - 1:,} lines stand before it, and not {end.lines:,}.")
    return header


def _insert(conn: Connection, verb: _Verb, record: Record) -> None:
    values = [getattr(record, name) for name in record.__struct_fields__]
    for place in verb.raw:
        values[place] = _unsplice(values[place])
    for statement, places in verb.statements:
        conn.execute(statement, [values[place] for place in places])


def _unsplice(raw: Raw) -> str | None:
    """JSON as it stood in the table."""
    told = bytes(raw).decode()
    return msgspec.json.decode(raw, type=str | None) if told == "null" or told.startswith('"') else told


def _verb(kind: Kind) -> _Verb:
    hints = get_type_hints(kind.record)
    names = list(hints)
    raw = tuple(place for place, of in enumerate(hints.values()) if of is Raw)
    renamed = {"kind": "type"} if kind.table == "object" else {}
    if not kind.node:
        insert = _statement(kind.table, [*enumerate(names)])
        if kind.table in ("meta", "sqlite_sequence"):  # a new file has rows of them
            return _Verb(((f"DELETE FROM {kind.table} WHERE {kind.order} = ?", (0,)), insert), raw)
        return _Verb((insert,), raw)
    of_node = [(place, name) for place, name in enumerate(names) if name == "id" or name in NODE_FIELDS]
    own = [
        (place, "node_id" if name == "id" else renamed.get(name, name))
        for place, name in enumerate(names)
        if name not in NODE_FIELDS
    ]
    insert_node, places = _statement("node", of_node)
    insert_node = insert_node.replace("node(", "node(kind, ").replace("VALUES (", f"VALUES ('{kind.node}', ")
    return _Verb(((insert_node, places), _statement(kind.table, own)), raw)


def _statement(table: str, columns: list[tuple[int, str]]) -> tuple[str, tuple[int, ...]]:
    names, marks = ", ".join(name for _, name in columns), ", ".join("?" * len(columns))
    return f"INSERT INTO {table}({names}) VALUES ({marks})", tuple(place for place, _ in columns)


def _name(record: Record) -> str:
    return str(record.__struct_config__.tag)


def _verify_references(conn: Connection) -> None:
    for table, row, parent, _ in conn.execute("PRAGMA foreign_key_check"):
        raise InvalidInputError(
            f"The export does not fit together: line {row} of the kind {table} belongs to a {parent} that is not there."
            " Nothing was kept."
        )


def _wrong(number: int, why: str) -> InvalidInputError:
    return InvalidInputError(f"Line {number:,}: {why} Nothing was kept.")
