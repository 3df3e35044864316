"""Tables: each row becomes the line "column: value; column: value", with its line in the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers.contract import MIB, Reader, Unreadable
from plugins.readers.dates import parse_date
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
    text = text_of(data)
    rows = csv.reader(io.StringIO(text), delimiter=delimiter(text))
    try:
        header = _trimmed(next(rows, []))
        if not header:
            raise Unreadable("a table without a first row")
        named = _is_header(header)
        lines, numbers = ([], []) if named else ([_line([], header)], [1])
        seen = [] if named else [header]
        left_out = 0
        before = rows.line_num
        for row in rows:
            number, before = before + 1, rows.line_num
            cells = _trimmed(row)
            if not any(cells):
                continue
            if len(lines) >= MAX_ROWS:
                left_out += 1
                continue
            lines.append(_line(header if named else [], cells))
            numbers.append(number)
            seen.append(cells)
    except csv.Error as error:
        raise Unreadable(f"not a table of values: {error} (line {rows.line_num})") from error
    if not lines:
        lines, numbers = [", ".join(filter(None, header))], [1]
    properties = {"columns": [name for name in header if name]} if named else {}
    notes = []
    if len(header) >= MAX_COLUMNS:
        notes.append(f"only the first {MAX_COLUMNS} columns were read")
    if left_out:
        notes.append(f"only the first {MAX_ROWS} rows were read, {left_out} were left out")
    if notes:
        properties["note"] = notes
        lines.append(f"({'; '.join(notes)})")
        numbers.append(rows.line_num)
    return [
        Document(uri="", text="\n".join(lines), at=_newest(seen), properties=properties, lines=tuple(numbers)),
    ]


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


def _trimmed(row: list[str]) -> list[str]:
    return [" ".join(cell.split()) for cell in row[:MAX_COLUMNS]]


def _is_header(cells: list[str]) -> bool:
    """A first row names the columns if its cells are different words and not numbers or dates."""
    names = [cell for cell in cells if cell]
    return len(set(names)) == len(names) and not any(_is_value(name) for name in names)


def _is_value(cell: str) -> bool:
    return not any(character.isalpha() for character in cell) or parse_date(cell) is not None


def _line(header: list[str], cells: list[str]) -> str:
    named = (
        f"{header[number]}: {cell}" if number < len(header) and header[number] else cell
        for number, cell in enumerate(cells)
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
