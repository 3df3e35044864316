"""Tables: each row becomes the line "column: value; column: value", with its line in the file."""

import csv
import io
from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable
from plugins.readers.decode import text_of

MAX_COLUMNS = 512
MAX_ROWS = 100_000
_SAMPLE_LINES = 20
_SAMPLE_CHARS = 64 * 1024
_DELIMITERS = ",;\t|"
_DATED_SHARE = 0.8  # of a column's values that must be dates if it is to date the table
_DATED_COLUMNS = 32  # columns looked at for dates
_DATED_ROWS = 1000  # rows at either end looked at for dates


def read(path: Path, data: bytes) -> list[Document]:
    table = _Table(text_of(data))
    header, rows, count = table.header, table.rows, table.count
    lines = [_line(header, cells) for _, cells in rows]
    numbers = [number for number, _ in rows]
    properties: dict[str, Any] = {"columns": [name for name in header if name]} if header else {}
    notes = []
    if table.is_wide:
        notes.append(f"only the first {MAX_COLUMNS} columns were read")
    if count > MAX_ROWS:
        notes.append(f"only the first {MAX_ROWS} of {count} rows were read")
    if notes:
        properties["note"] = "; ".join(notes)
        lines.append(f"({properties['note']})")
        numbers.append(numbers[-1])
    ends = [*rows[:_DATED_ROWS], *table.last] if count > 2 * _DATED_ROWS else rows
    at = _newest([cells for _, cells in ends])
    return [Document(uri="", text="\n".join(lines), at=at, properties=properties, lines=tuple(numbers))]


class _Table:
    """The rows that are not blank, each with the line it begins on: the first MAX_ROWS, and the `last` ones. `count` is
    how many there are; of a wide one (`is_wide`), a cell more than is shown. The `header` is no row."""

    def __init__(self, text: str) -> None:
        self.header: list[str] = []
        self.rows: list[tuple[int, list[str]]] = []
        self.last: deque[tuple[int, list[str]]] = deque(maxlen=_DATED_ROWS)
        self.count = 0
        self.is_wide = False
        for row in _rows(text):
            if self.count == 1 and not self.header and _is_header(self.rows[0][1]):
                self.header = self.rows.pop()[1]  # the first of several
                self.last.clear()
                self.count = 0
            self.count += 1
            self.is_wide = self.is_wide or len(row[1]) > MAX_COLUMNS
            self.last.append(row)
            if len(self.rows) < MAX_ROWS:
                self.rows.append(row)


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter(text))
    before = 0
    try:
        for row in reader:
            cells = [" ".join(cell.split()) for cell in row[: MAX_COLUMNS + 1]]
            if any(cells):
                yield before + 1, cells
            before = reader.line_num
    except csv.Error as error:
        raise Unreadable(f"not a table of values: line {before + 1}: {error}") from error


def delimiter(text: str) -> str:
    """The character that cuts the first lines into the same number of cells most often, more cells being better."""
    sample = text[:_SAMPLE_CHARS].split("\n")[:_SAMPLE_LINES]
    return max(_DELIMITERS, key=lambda character: _agreement(sample, character))


def _agreement(sample: list[str], character: str) -> tuple[float, int]:
    try:
        widths = [len(row) for row in csv.reader(sample, delimiter=character) if row]
    except csv.Error:
        return (0.0, 0)
    if not widths or widths[0] < 2:
        return (0.0, 0)
    return (widths.count(widths[0]) / len(widths), widths[0])


def _is_header(cells: list[str]) -> bool:
    """A first row names the columns if its cells are different words and not numbers or dates."""
    names = [cell for cell in cells if cell]
    return len(set(names)) == len(names) and all(any(map(str.isalpha, one)) and not parse_date(one) for one in names)


def _line(header: list[str], cells: list[str]) -> str:
    named = (
        f"{header[number]}: {cell}" if number < len(header) and header[number] else cell
        for number, cell in enumerate(cells[:MAX_COLUMNS])
        if cell
    )
    return "; ".join(named)


def _newest(rows: list[list[str]]) -> datetime | None:
    """A table is as new as its newest row, by the first column that holds dates."""
    for column in range(min(_DATED_COLUMNS, max(map(len, rows), default=0))):
        values = [row[column] for row in rows if column < len(row) and row[column]]
        dates = [at for value in values if (at := parse_date(value)) is not None]
        if dates and len(dates) >= _DATED_SHARE * len(values):
            return max(dates)
    return None


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("csv", (".csv", ".tsv", ".tab"), "Tables with comma, semicolon, tab or bar", read, 50 * MIB))
