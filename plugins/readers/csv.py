"""Tables: each row becomes the line "column: value; column: value", with its line in the file."""

import csv
import io
from collections.abc import Callable
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
    table = _rows(text_of(data))
    header = table[0][1] if len(table) > 1 and _is_header(table[0][1]) else []
    rows = table[1:] if header else table
    lines = [_line(header, cells) for _, cells in rows[:MAX_ROWS]]
    numbers = [number for number, _ in rows[:MAX_ROWS]]
    properties: dict[str, Any] = {"columns": [name for name in header if name]} if header else {}
    notes = []
    if any(len(cells) > MAX_COLUMNS for _, cells in rows):
        notes.append(f"only the first {MAX_COLUMNS} columns were read")
    if len(rows) > MAX_ROWS:
        notes.append(f"only the first {MAX_ROWS} of {len(rows)} rows were read")
    if notes:
        properties["note"] = "; ".join(notes)
        lines.append(f"({properties['note']})")
        numbers.append(numbers[-1])
    at = _newest([cells for _, cells in rows])
    return [Document(uri="", text="\n".join(lines), at=at, properties=properties, lines=tuple(numbers))]


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line it begins on; of a wide one, a cell more than is shown."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter(text))
    rows = []
    before = 0
    try:
        for row in reader:
            cells = [" ".join(cell.split()) for cell in row[: MAX_COLUMNS + 1]]
            if any(cells):
                rows.append((before + 1, cells))
            before = reader.line_num
    except csv.Error as error:
        raise Unreadable(f"not a table of values: line {before + 1}: {error}") from error
    return rows


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
    if len(rows) > 2 * _DATED_ROWS:
        rows = rows[:_DATED_ROWS] + rows[-_DATED_ROWS:]
    for column in range(min(_DATED_COLUMNS, max(map(len, rows), default=0))):
        values = [row[column] for row in rows if column < len(row) and row[column]]
        dates = [at for value in values if (at := parse_date(value)) is not None]
        if dates and len(dates) >= _DATED_SHARE * len(values):
            return max(dates)
    return None


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("csv", (".csv", ".tsv", ".tab"), "Tables with comma, semicolon, tab or bar", read, 50 * MIB))
