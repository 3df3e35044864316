"""Data as text, each line with its number in the file: tables of separated values, JSON and lines of JSON.

Escapes of JSON are resolved, and long values that are no words cut."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from memory.nouns import Document
from plugins.readers import MIB, Unreadable
from plugins.readers.common.decode import text_of
from plugins.readers.common.laid_out import MAX_COLUMNS, LaidOut, Row, convert_table

_SAMPLE_LINES = 20
_SAMPLE_CHARS = 64 * 1024
_DELIMITERS = ",;\t|"
MAX_LINE = 1 * MIB
MAX_LAID_OUT_CHARS = 2000  # in a line; programs write all of a file into one
MAX_VALUE_CHARS = 200  # of a value without a space; longer ones are keys or binary data

_STRING = re.compile(r'"(?:[^"\\\n]++|\\.)*+"')


def read_table(path: Path, data: bytes) -> list[Document]:
    """Returns a table with cells separated by a comma, semicolon, tab or bar; a citation names the line of the file."""
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
    """Returns the character that splits the first lines into the same number of cells most often; ties go to more
    cells."""
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


def read_lines(path: Path, file: BinaryIO) -> Document:
    """Returns the document of a file of JSON lines."""
    file.seek(0)
    out, number = LaidOut(), 1
    while not out.is_full and (line := file.readline(MAX_LINE)):
        try:
            out.add(_show(text_of(line).rstrip("\n")), number, apart=False)
        except Unreadable as error:
            out.note(f"line {number:,} was not read: {error.reason}")
        number += line.endswith(b"\n")
    return out.close(path.stem)


def convert_json(path: Path, text: str, loaded: Any) -> Document:
    """Returns the document of JSON with that text and value. A value per line where the file has all in one."""
    is_long = max(map(len, text.split("\n"))) > MAX_LAID_OUT_CHARS
    written = json.dumps(loaded, ensure_ascii=False, indent=1) if is_long else text
    out = LaidOut()
    for number, line in enumerate(written.split("\n"), 1):
        out.add(_show(line), 1 if is_long else number, apart=False)
    return out.close(path.stem)


def _show(line: str) -> str:
    return _STRING.sub(_show_string, line)


def _show_string(match: re.Match[str]) -> str:
    text = match[0][1:-1]
    if "\\" in text:
        try:
            text = str(json.loads(match[0]))
        except ValueError:
            return match[0]
    is_long = len(text) > MAX_VALUE_CHARS and len(text.split(None, 1)) == 1
    return f'"{text[:80]}…"' if is_long else f'"{text}"'
