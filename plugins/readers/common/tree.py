"""Data of any format as a tree, and its text: an item per field, "- server.port: 8080".

Similar records in a list become table rows, or sections if they do not fit into a line. Each line has the number of the
line on which its key or record begins."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.nouns import Document
from plugins.readers.common.laid_out import LaidOut
from plugins.readers.common.tables import MAX_COLUMNS, Row, convert_table

_TOKEN = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|[{}\[\]\n]|[^\s,:{}\[\]"]++')

MAX_ROW_CHARS = 600  # of a record in one line
MAX_TABLE_ROWS, MAX_TABLE_COLUMNS = 50, 12  # a table is one passage
MAX_LIST_CHARS = 160  # of a list of values in one line
MAX_VALUE_CHARS = 200  # of a value without a space; longer ones are keys or binary data
MAX_FIELDS = 200_000

_NAMES = ("title", "name", "label", "summary", "subject", "id", "key")  # keys that name a record
_TITLES = ("title", "name")  # keys that name the whole


@dataclass(slots=True)
class Node:
    """A value: `text`, `items` of a list, or `fields` of a mapping. `line` is that of its key or its start. `text_line`
    is the line of its first text line, or 0 if all of the text is in one line of the file."""

    line: int
    text: str = ""
    items: list[Node] | None = None
    fields: list[tuple[str, Node]] | None = None
    text_line: int = 0

    @property
    def is_plain(self) -> bool:
        return self.items is None and self.fields is None


def convert_tree(
    path: Path, roots: Sequence[Node], note: str = "", comments: Mapping[int, str] | None = None
) -> Document:
    """The document of a file with one or several roots; `note` says which part was not read. `comments`: comments by
    line."""
    root = roots[0] if len(roots) == 1 else Node(1, items=[*roots])
    records = root.items if root.items is not None and _are_alike(root.items) else []
    rows = [_make_row(node) for node in records]
    if records and not comments and None not in rows:
        cells, columns = _tabulate([(node.line, row or {}) for node, row in zip(records, rows, strict=True)])
        return convert_table(cells, columns, note)
    out = _Fields(comments or {})
    for node in [root] if records else roots:
        out.add((), node)
    return out.close(_find_name(root, _TITLES) or path.stem, note)


class _Fields:
    """Writes trees as text."""

    def __init__(self, comments: Mapping[int, str]) -> None:
        self._text = LaidOut()
        self._count = 0
        self._line = 1
        self._comments = deque(sorted(comments.items()))

    def add(self, path: tuple[str, ...], node: Node) -> None:
        if self._count >= MAX_FIELDS or self._text.is_full:
            self._text.note(f"only its first {MAX_FIELDS:,} values were read")
            return
        if node.fields is not None:
            for key, value in node.fields:
                self.add((*path, key), value)
                if not path and not value.is_plain:
                    self._put("", value.line, apart=True)
        elif node.items is None:
            self._add_text(path, node)
        elif _are_alike(node.items):
            self._add_records(path, node)
        elif all(item.is_plain for item in node.items):
            self._add_list(path, node)
        else:
            for number, item in enumerate(node.items, 1):
                self.add((*path, str(number)), item)

    def close(self, title: str, note: str) -> Document:
        while self._comments:
            self._put_comment()
        if note:
            self._text.note(note)
        return self._text.close(title)

    def _put(self, text: str, line: int, apart: bool = False, level: int = 0) -> None:
        while text and self._comments and self._comments[0][0] < line:
            self._put_comment()
        self._line = max(self._line, line)
        self._count += 1
        self._text.add(text, self._line, level, apart)

    def _put_comment(self) -> None:
        line, comment = self._comments.popleft()
        self._line = max(self._line, line)
        self._text.add(f"({comment})", self._line, apart=False)

    def _add_text(self, path: tuple[str, ...], node: Node) -> None:
        lines = _show(node.text).split("\n")
        if len(lines) == 1:
            if lines[0]:
                self._put(f"- {'.'.join(path)}: {lines[0]}" if path else lines[0], node.line)
            return
        if path:
            self._put(f"- {'.'.join(path)}:", node.line)
        for offset, line in enumerate(lines):
            self._put(line, node.text_line + offset if node.text_line else node.line)
        self._put("", self._line, apart=True)

    def _add_list(self, path: tuple[str, ...], node: Node) -> None:
        values = [(item.line, " ".join(_show(item.text).split())) for item in node.items or () if item.text]
        joined = ", ".join(value for _, value in values)
        if len(joined) <= MAX_LIST_CHARS:
            self._add_text(path, Node(node.line, joined))
            return
        if path:
            self._put(f"- {'.'.join(path)}:", node.line)
        for line, value in values:
            self._put(f"{'  ' if path else ''}- {value}", line)

    def _add_records(self, path: tuple[str, ...], node: Node) -> None:
        """Adds a table, lines, or sections if a record does not fit into a line."""
        items, name = node.items or [], ".".join(path)
        rows = [row for item in items if (row := _make_row(item)) is not None]
        if len(rows) < len(items):
            for number, item in enumerate(items, 1):
                self._put(_find_name(item, _NAMES) or f"{name or 'record'} {number}", item.line, apart=True, level=2)
                for key, value in item.fields or ():
                    self.add((key,), value)
                self._put("", self._line, apart=True)
            return
        cells, columns = _tabulate([(item.line, row) for item, row in zip(items, rows, strict=True)])
        if (
            len(cells) > MAX_TABLE_ROWS
            or len(columns) > MAX_TABLE_COLUMNS
            or any("|" in "".join(row) for _, row in cells)
        ):
            prefix = f"- {name}: " if name else "- "
            for item, row in zip(items, rows, strict=True):
                self._put(prefix + "; ".join(f"{key}: {value}" for key, value in row.items()), item.line)
            return
        self._put(f"{name}:" if name else "", node.line, apart=True)
        for line, shown in ((node.line, columns), (node.line, ["---"] * len(columns)), *cells):
            self._put(f"| {' | '.join(shown)} |", line)
        self._put("", self._line, apart=True)


def _are_alike(nodes: Sequence[Node]) -> bool:
    """Whether all nodes are records that share a key."""
    if not nodes or any(node.fields is None for node in nodes):
        return False
    shared = {key for key, _ in nodes[0].fields or ()}
    for node in nodes[1:]:
        shared.intersection_update(key for key, _ in node.fields or ())
    return bool(shared)


def _make_row(node: Node) -> dict[str, str] | None:
    """The fields of a record by path; None if they do not fit into a line."""
    row: dict[str, str] = {}
    left = MAX_ROW_CHARS
    for path, value in _walk_leaves(node):
        if value is None:
            return None
        left -= len(value) + len(path) + 4
        if left < 0:
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


def _tabulate(rows: list[tuple[int, dict[str, str]]]) -> tuple[list[Row], list[str]]:
    """(cells of each record, columns of all records)."""
    columns: dict[str, int] = {}
    for _, row in rows:
        for key in row:
            if len(columns) <= MAX_COLUMNS:
                columns.setdefault(key, len(columns))
    cells: list[Row] = []
    for line, row in rows:
        values = [""] * len(columns)
        for key, value in row.items():
            if key in columns:
                values[columns[key]] = value
        if any(values):
            cells.append((line, values))
    return cells, [*columns]


def _find_name(node: Node, keys: Iterable[str]) -> str:
    """The name of a record in the first of these keys."""
    stated = {key.lower(): value.text for key, value in node.fields or () if value.is_plain}
    names = (" ".join(stated.get(key, "").split()) for key in keys)
    return next((name for name in names if 0 < len(name) <= 120), "")


def _show(text: str) -> str:
    """A value for display; a long one without spaces is cut."""
    text = text.strip()
    return f"{text[:80]}…" if len(text) > MAX_VALUE_CHARS and len(text.split(None, 1)) == 1 else text


def parse_json(text: str, line: int = 1) -> Node:
    """The tree of valid JSON, whose first line has that number. Works without recursion."""
    root: Node | None = None
    above: list[Node] = []
    key: tuple[str, int] | None = None
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
            continue
        if token in "}]":
            above.pop()
            continue
        parent = above[-1] if above else None
        if parent is not None and parent.fields is not None and key is None:
            key = _unquote(token), line
            continue
        node = Node(key[1] if key else line)
        if token == "{":
            node.fields = []
        elif token == "[":
            node.items = []
        else:
            node.text = _unquote(token) if token != "null" else ""
        if parent is None:
            root = root or node
        elif parent.items is not None:
            parent.items.append(node)
        elif parent.fields is not None and key is not None:
            parent.fields.append((key[0], node))
        key = None
        if token in "{[":
            above.append(node)
    return root or Node(line)


def _unquote(token: str) -> str:
    if token[0] != '"':
        return token
    return str(json.loads(token)) if "\\" in token else token[1:-1]
