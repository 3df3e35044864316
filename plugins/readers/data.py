"""Data in JSON, and in JSON with a value for each line: its fields by their paths, like records as rows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import BinaryIO

from memory.nouns import Document
from plugins.readers import MIB, Unreadable
from plugins.readers.decode import text_of
from plugins.readers.tables import MAX_ROWS
from plugins.readers.tree import Node, convert_tree

MAX_DATA = 10 * MIB  # of JSON that is no chat: it is held as a tree
MAX_LINE = 1 * MIB  # of a line of JSON

_TOKEN = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|[{}\[\]\n]|[^\s,:{}\[\]"]++')


def read_json(path: Path, text: str) -> Document:
    """The document of valid JSON. Raises Unreadable for more than MAX_DATA of it."""
    if len(text) > MAX_DATA:
        raise Unreadable(f"too large: JSON that is no chat is read up to {MAX_DATA // MIB} MiB")
    return convert_tree(path, [parse_json(text)])


def read_json_lines(path: Path, file: BinaryIO) -> Document:
    """The document of a file with a value in JSON on each line. Raises Unreadable where there is none."""
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
        raise Unreadable("no line of it is valid JSON")
    broken = f"{damaged:,} of its lines are no valid JSON" if damaged else ""
    return convert_tree(path, roots, "; ".join(filter(None, (note, broken))))


def parse_json(text: str, line: int = 1) -> Node:
    """The tree of valid JSON that begins on that line of its file. Without recursion."""
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
