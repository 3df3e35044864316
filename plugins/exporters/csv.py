"""Tables for a spreadsheet: facts, objects, sources and episodes, a file each.

A cell that a spreadsheet would read as a formula gets a leading apostrophe, so that the author of a note or mail cannot
run formulas there.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from itertools import groupby
from typing import Any

from plugins.exporters.contract import Line, Part

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how one begins
KINDS = ("fact", "thing", "note", "passage")
AT_ONCE = 1 << 16  # characters of a piece
JOINT = "; "  # between values of one cell

# kind -> file, and its columns: name -> field, or what is made of the fields
TABLES: dict[str, tuple[str, dict[str, str | Callable[[Mapping[str, Any]], Any]]]] = {
    "fact": ("facts.csv", {
        "id": "id", "subject": lambda of: of["objects"][0] if of["objects"] else "",
        "predicate": "predicate", "object": lambda of: of["objects"][-1] if of["predicate"] else "",
        "statement": "text", "modality": "modality", "since": "since", "until": "until", "valid_from": "valid_from",
        "valid_to": "valid_to", "recorded": "recorded", "replaced_by": "superseded_by", "read_by": "origin",
        "source": "uri", "line": "line", "quote": "quote",
    }),
    "thing": ("objects.csv", {
        "id": "id", "name": "name", "kind": "kind", "names": lambda of: JOINT.join(of["names"]), "facts": "facts",
        "notes": "notes",
    }),
    "note": ("sources.csv", {
        "id": "id", "uri": "uri", "title": "title", "kind": "kind", "reader": "reader", "policy": "policy",
        "date": "at", "read": "read", "passages": "passages", "tags": lambda of: JOINT.join(of["tags"]),
    }),
    "passage": ("episodes.csv", {
        "id": "id", "source": "uri", "title": "title", "date": "at", "until": "until", "speaker": "speaker",
        "line": "line", "end_line": "end_line", "text": "text",
    }),
}  # fmt: skip


def write(lines: Iterator[Line]) -> Iterator[Part]:
    """The files in turn, each with its header even if it is empty."""
    waiting = list(KINDS)
    for kind, of_kind in groupby(lines, lambda line: line.kind):
        if kind in waiting:
            while waiting[0] != kind:
                yield from _write_table(waiting.pop(0), iter(()))
            yield from _write_table(waiting.pop(0), of_kind)
    for kind in waiting:
        yield from _write_table(kind, iter(()))


def _write_table(kind: str, lines: Iterator[Line]) -> Iterator[Part]:
    path, columns = TABLES[kind]
    text = StringIO()
    rows = csv.writer(text, lineterminator="\r\n")
    rows.writerow(columns)
    for line in lines:
        fields = line.fields
        rows.writerow(
            [_to_cell(fields[column] if isinstance(column, str) else column(fields)) for column in columns.values()]
        )
        if text.tell() > AT_ONCE:
            yield Part(path, text.getvalue().encode())
            text.seek(0)
            text.truncate()
    yield Part(path, text.getvalue().encode())


def _to_cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    return "" if value is None else value
