"""Tables with cells separated by a comma, semicolon, tab or bar; a citation names the line of the file."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from memory.nouns import Document
from plugins.readers import Unreadable
from plugins.readers.common.decode import text_of
from plugins.readers.common.laid_out import MAX_COLUMNS, Row, convert_table

_SAMPLE_LINES = 20
_SAMPLE_CHARS = 64 * 1024
_DELIMITERS = ",;\t|"


def read(path: Path, data: bytes) -> list[Document]:
    return [convert_table(_rows(text_of(data)))]


def _rows(text: str) -> Iterator[Row]:
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
    """The character that splits the first lines into the same number of cells most often; ties go to more cells."""
    sample = text[:_SAMPLE_CHARS].split("\n")[:_SAMPLE_LINES]
    return max(_DELIMITERS, key=lambda character: _rate_agreement(sample, character))


def _rate_agreement(sample: list[str], character: str) -> tuple[float, int]:
    try:
        widths = [len(row) for row in csv.reader(sample, delimiter=character) if row]
    except csv.Error:
        return (0.0, 0)
    if not widths or widths[0] < 2:
        return (0.0, 0)
    return (widths.count(widths[0]) / len(widths), widths[0])
