"""JSON and JSON lines as data: fields by their paths, similar records as rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

from memory.nouns import Document
from plugins.readers import MIB, Unreadable
from plugins.readers.common.decode import text_of
from plugins.readers.common.tables import MAX_ROWS
from plugins.readers.common.tree import Node, convert_tree, parse_json
from plugins.readers.records import bookmarks, references

MAX_DATA = 10 * MIB  # of JSON that is no chat: it is loaded as a tree
MAX_LINE = 1 * MIB  # of a line of JSON


def read_json(path: Path, text: str, loaded: Any) -> list[Document]:
    """The documents of valid JSON that is no chat; `loaded` is its parsed value. Raises Unreadable above MAX_DATA."""
    if len(text) > MAX_DATA:
        raise Unreadable(f"too large: the limit is {MAX_DATA // MIB} MiB for JSON that is no chat")
    tree = parse_json(text)
    if references.is_csl(loaded):
        return references.read_csl(loaded, tree)
    if bookmarks.is_bookmarks(loaded):
        return [bookmarks.convert(tree)]
    return [convert_tree(path, [tree])]


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
