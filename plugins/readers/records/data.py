"""JSON and JSON lines as text: an item per value, "- server.port: 8080", a row per record.

Each line has the number of the line on which its key or record begins."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from memory.nouns import Document
from plugins.readers import MIB, Unreadable
from plugins.readers.common.decode import text_of
from plugins.readers.common.laid_out import MAX_COLUMNS, MAX_ROWS, LaidOut, Row, convert_table
from plugins.readers.common.tree import Node, parse_json

MAX_LINE = 1 * MIB  # of a line of JSON
MAX_ROW_CHARS = 600  # of a record in one line
MAX_TABLE_ROWS = 50  # a table is one passage
MAX_VALUE_CHARS = 200  # of a value without a space; longer ones are keys or binary data
MAX_FIELDS = 200_000

_TITLES = ("title", "name")  # keys that name a record


def read_json_lines(path: Path, file: BinaryIO) -> Document:
    """The document of a file of JSON lines. Raises Unreadable for another file."""
    file.seek(0)
    roots: list[Node] = []
    damaged = number = 0
    note = ""
    while line := file.readline(MAX_LINE):
        number += 1
        if not line.strip():
            continue
        if len(roots) == MAX_ROWS:
            note = f"only the first {MAX_ROWS:,} of its lines were read"
            break
        try:
            text = text_of(line)
            json.loads(text)
            roots.append(parse_json(text, number))
        except (ValueError, RecursionError, Unreadable):
            damaged += 1
    if not roots:
        raise Unreadable("no line is valid JSON")
    broken = f"{damaged:,} of its lines are no valid JSON" if damaged else ""
    return convert_tree(path, roots, "; ".join(filter(None, (note, broken))))


def convert_tree(path: Path, roots: Sequence[Node], note: str = "") -> Document:
    """The document of a file with one or several roots; `note` says which part was not read."""
    root = roots[0] if len(roots) == 1 else Node(1, items=[*roots])
    if rows := _tabulate(root.items or ()):
        return convert_table(*rows, note)
    text = _write(root)
    if note:
        text.note(note)
    return text.close(_find_title(root) or path.stem)


def _write(root: Node) -> LaidOut:
    out, line, count = LaidOut(), 1, 0
    waiting: list[tuple[str, Node]] = [("", root)]
    while waiting:
        path, node = waiting.pop()
        if count >= MAX_FIELDS or out.is_full:
            out.note(f"only its first {MAX_FIELDS:,} values were read")
            break
        count += 1
        line = max(line, node.line)
        if (table := _tabulate(node.items or ())) and not any("|" in "".join(row) for _, row in table[0]):
            rows, columns = table
            for first in range(0, len(rows), MAX_TABLE_ROWS):
                out.add("", line)
                out.add(f"{path}:", line)
                head = [(line, columns), (line, ["---"] * len(columns))]
                for number, cells in (*head, *rows[first : first + MAX_TABLE_ROWS]):
                    line = max(line, number)
                    out.add(f"| {' | '.join(cells)} |", line, apart=False)
            out.add("", line)
        elif node.items is not None or node.fields is not None:
            inner = node.fields if node.fields is not None else [*_name_items(node.items or ())]
            waiting += [(".".join(filter(None, (path, key))), value) for key, value in reversed(inner)]
        elif shown := _show(node.text):
            is_long = "\n" in shown
            out.add(f"- {path}:{chr(10) if is_long else ' '}{shown}" if path else shown, line, apart=is_long)
    return out


def _name_items(items: Sequence[Node]) -> Iterator[tuple[str, Node]]:
    """(name or number, item) of a list; "" for the values of a plain one."""
    is_plain = all(item.is_plain for item in items)
    for number, item in enumerate(items, 1):
        yield "" if is_plain else _find_title(item) or str(number), item


def _find_title(node: Node) -> str:
    stated = {key.casefold(): " ".join(value.text.split()) for key, value in node.fields or () if value.is_plain}
    return next((stated[key] for key in _TITLES if 0 < len(stated.get(key, "")) <= 120), "")


def _tabulate(nodes: Sequence[Node]) -> tuple[list[Row], list[str]] | None:
    """(cells of each record, columns) of records that share a key and fit into lines, else None."""
    rows = [(node.line, _make_row(node)) for node in nodes if node.fields is not None]
    shared = set.intersection(*({key for key, _ in node.fields or ()} for node in nodes)) if nodes else set()
    if not shared or len(rows) < len(nodes) or any(row is None for _, row in rows):
        return None
    columns = [*dict.fromkeys(key for _, row in rows for key in row or ())][: MAX_COLUMNS + 1]
    cells = [(line, [(row or {}).get(key, "") for key in columns]) for line, row in rows]
    return [row for row in cells if any(row[1])], columns


def _make_row(node: Node) -> dict[str, str] | None:
    """The fields of a record by path; None if they do not fit into a line."""
    row: dict[str, str] = {}
    left = MAX_ROW_CHARS
    for path, value in _walk_leaves(node):
        left -= len(value or "") + len(path) + 4
        if value is None or left < 0:
            return None
        if value:
            row[path] = f"{row[path]}, {value}" if path in row else value
    return row


def _walk_leaves(node: Node) -> Iterator[tuple[str, str | None]]:
    """(path, value) of each value in a record; None for a multi-line value and for a list of records."""
    waiting = [("", node)]
    while waiting:
        path, node = waiting.pop()
        if node.fields is not None:
            waiting += [(f"{path}.{key}" if path else key, value) for key, value in reversed(node.fields)]
        elif node.items is None:
            shown = _show(node.text)
            yield path, shown if "\n" not in shown else None
        elif all(item.is_plain for item in node.items):
            yield path, ", ".join(filter(None, (" ".join(_show(item.text).split()) for item in node.items)))
        else:
            yield path, None


def _show(text: str) -> str:
    """A value for display; a long one without spaces is cut."""
    text = text.strip()
    return f"{text[:80]}…" if len(text) > MAX_VALUE_CHARS and len(text.split(None, 1)) == 1 else text
