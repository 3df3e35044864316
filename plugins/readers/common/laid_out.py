"""The text of a document that is no text file: each line with its page, slide, paragraph or row.

A row of a table becomes the line "column: value; column: value"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from memory.nouns import NOT_READ, Document
from memory.time.dates import parse_date
from plugins.readers.common.decode import tidy

MAX_CHARS = 20_000_000  # characters of one document
MAX_HEADING = 6
MAX_COLUMNS = 512
MAX_ROWS = 100_000

Row = tuple[int, list[str]]


class LaidOut:
    """Collects the lines of a document as Markdown."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._numbers: list[int] = []
        self._left = MAX_CHARS
        self._notes: list[str] = []
        self.heading: str | None = None

    @property
    def is_full(self) -> bool:
        return self._left <= 0

    def add(self, text: str, number: int, level: int = 0, apart: bool = True) -> None:
        """Adds text of page (slide, ...) `number`, as a heading if `level` is not 0. With `apart` an empty line
        follows."""
        lines = [line.rstrip() for line in tidy(text).split("\n")]
        if level:
            words = " ".join(" ".join(lines).split())
            self.heading = self.heading or words
            lines = [f"{'#' * min(level, MAX_HEADING)} {words}"] if words else []
        for line in lines:
            if self._left <= 0:
                self.note(f"only its first {MAX_CHARS:,} characters were read")
                return
            if line or (self._lines and self._lines[-1]):
                self._put(line, number)
        if apart and self._lines and self._lines[-1]:
            self._put("", number)

    def note(self, words: str) -> None:
        """Records what was not read; `close` appends it to the text."""
        if words not in self._notes:
            self._notes.append(words)

    def close(
        self, title: str | None = None, at: datetime | None = None, properties: Mapping[str, Any] | None = None
    ) -> Document:
        """Returns the document; its title defaults to the first heading."""
        while self._lines and not self._lines[-1]:
            del self._lines[-1], self._numbers[-1]
        kept: dict[str, Any] = {key: value for key, value in (properties or {}).items() if value}
        if self._notes and self._lines:
            kept[NOT_READ] = "; ".join(self._notes)
            self._put("", self._numbers[-1])
            self._put(f"({kept[NOT_READ]})", self._numbers[-1])
        return Document(
            uri="",
            text="\n".join(self._lines),
            title=title or self.heading,
            at=at,
            properties=kept,
            lines=tuple(self._numbers),
        )

    def _put(self, line: str, number: int) -> None:
        self._lines.append(line)
        self._numbers.append(number)
        self._left -= len(line) + 1


def convert_table(source: Iterable[Row], note: str = "") -> Document:
    """Returns the document of the non-blank rows of a table: (number in the file, cells), in order. A row needs no more
    than MAX_COLUMNS + 1 cells; the first row may name the columns. `note` says which part was not read."""
    header: list[str] = []
    rows: list[Row] = []
    count, is_wide = 0, False
    for row in source:
        if count == 1 and not header and _is_header(rows[0][1]):
            header, count = rows.pop()[1], 0  # only if other rows follow
        count += 1
        is_wide = is_wide or len(row[1]) > MAX_COLUMNS
        if len(rows) < MAX_ROWS:
            rows.append(row)
    out = LaidOut()
    for number, cells in rows:
        out.add(_write_line(header, cells), number, apart=False)
    if note:
        out.note(note)
    if is_wide:
        out.note(f"only the first {MAX_COLUMNS} columns were read")
    if count > MAX_ROWS:
        out.note(f"only the first {MAX_ROWS} of {count} rows were read")
    return out.close(properties={"columns": [name for name in header if name]})


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
