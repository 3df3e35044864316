"""Tables: each row becomes the line "column: value; column: value" with its number in the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memory.nouns import Document
from memory.time.dates import parse_date

MAX_COLUMNS = 512
MAX_ROWS = 100_000

Row = tuple[int, list[str]]


def convert_table(source: Iterable[Row], columns: Sequence[str] = (), note: str = "") -> Document:
    """The document of the non-blank rows of a table: (number in the file, cells), in order. A row needs no more than
    MAX_COLUMNS + 1 cells. Without `columns` the first row may name them. `note` says which part was not read."""
    table = _Table(source, columns)
    header, rows, count = table.header, table.rows, table.count
    lines = [_write_line(header, cells) for _, cells in rows]
    numbers = [number for number, _ in rows]
    properties: dict[str, Any] = {"columns": [name for name in header if name]} if header else {}
    notes = [note] if note else []
    if table.is_wide:
        notes.append(f"only the first {MAX_COLUMNS} columns were read")
    if count > MAX_ROWS:
        notes.append(f"only the first {MAX_ROWS} of {count} rows were read")
    if notes and numbers:
        properties["note"] = "; ".join(notes)
        lines.append(f"({properties['note']})")
        numbers.append(numbers[-1])
    return Document(uri="", text="\n".join(lines), properties=properties, lines=tuple(numbers))


class _Table:
    """The first MAX_ROWS non-blank rows with their numbers, without the `header`. `count` includes the further rows;
    `is_wide`: a row has more than MAX_COLUMNS cells."""

    def __init__(self, source: Iterable[Row], columns: Sequence[str] = ()) -> None:
        self.header = [*columns]
        self.rows: list[Row] = []
        self.count = 0
        self.is_wide = False
        for row in source:
            if self.count == 1 and not self.header and _is_header(self.rows[0][1]):
                self.header = self.rows.pop()[1]  # only if other rows follow
                self.count = 0
            self.count += 1
            self.is_wide = self.is_wide or len(row[1]) > MAX_COLUMNS
            if len(self.rows) < MAX_ROWS:
                self.rows.append(row)


def _is_header(cells: list[str]) -> bool:
    """Whether a first row names the columns: its cells are distinct words, not numbers or dates."""
    names = [cell for cell in cells if cell]
    return len(set(names)) == len(names) and all(any(map(str.isalpha, name)) and not parse_date(name) for name in names)


def _write_line(header: list[str], cells: list[str]) -> str:
    named = (
        f"{header[number]}: {cell}" if number < len(header) and header[number] else cell
        for number, cell in enumerate(cells[:MAX_COLUMNS])
        if cell
    )
    return "; ".join(named)
