"""TOML: fields by their paths, with the comments between and after them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pygments.token import Comment, Literal, Operator, Punctuation, String

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable
from plugins.readers.common.decode import text_of
from plugins.readers.common.lexing import find_comments, find_tokens
from plugins.readers.common.tree import Node, convert_tree

MAX_BYTES = 4 * MIB


def read(path: Path, data: bytes) -> list[Document]:
    text = text_of(data)
    try:
        tomllib.loads(text)
        root = _parse(text)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(f"not valid TOML: {error}") from error
    return [convert_tree(path, [root], comments=find_comments("toml", text))]


def _parse(text: str) -> Node:
    """The tree of valid TOML, built statement by statement because the parser reports no lines."""
    root = table = Node(1, fields=[])
    for line, statement, places in _split_statements(text):
        if statement.startswith("["):
            names = [*_list_names(tomllib.loads(statement))]
            table = root
            for place, name in enumerate(names, 1):
                is_new = statement.startswith("[[") and place == len(names)
                table = _enter(table, name, line, is_new)
        else:
            _merge(table, tomllib.loads(statement), line, statement, places)
    return root


def _split_statements(text: str) -> Iterator[tuple[int, str, list[int]]]:
    """(line, text, lines of its values) of each statement; brackets and strings continue it over lines."""
    parts: list[str] = []
    places: list[int] = []
    begun = depth = 0
    in_string = False
    for line, kind, value in find_tokens("toml", text):
        if kind in Punctuation:
            depth += sum((character in "[{") - (character in "]}") for character in value)
        is_string = kind in String
        if not value.strip() and "\n" in value and depth <= 0 and not is_string:
            if parts:
                yield begun, "".join(parts), places
            parts, places, depth = [], [], 0
        elif kind not in Comment and (parts or value.strip()):
            begun = begun if parts else line
            parts.append(value)
            if kind in Operator:
                places = []
            elif kind in Literal and not (is_string and in_string):
                places.append(line)
        in_string = is_string
    if parts:
        yield begun, "".join(parts), places


def _list_names(header: Mapping[str, Any]) -> Iterator[str]:
    """The names in the header of a table, parsed alone."""
    value: Any = header
    while value:
        value = value[0] if isinstance(value, list) else value
        for name, inner in value.items():
            yield name
            value = inner


def _enter(table: Node, name: str, line: int, is_new: bool = False) -> Node:
    """The table of that name in `table`; for a list of tables the last, or a new one."""
    node = next((value for key, value in reversed(table.fields or []) if key == name), None)
    if node is None:
        node = Node(line, items=[]) if is_new else Node(line, fields=[])
        assert table.fields is not None
        table.fields.append((name, node))
    if is_new and node.items is not None:
        node.items.append(Node(line, fields=[]))
    return node.items[-1] if node.items else node


def _merge(table: Node, values: Mapping[str, Any], line: int, statement: str, places: list[int]) -> None:
    assert table.fields is not None
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            _merge(_enter(table, key, line), value, line, statement, places)
            continue
        node = _convert(value, line, statement)
        if node.items and len(node.items) == len(places):
            for item, place in zip(node.items, places, strict=True):
                item.line = place
        table.fields.append((key, node))


def _convert(value: Any, line: int, statement: str) -> Node:
    if isinstance(value, Mapping):
        return Node(line, fields=[(key, _convert(item, line, statement)) for key, item in value.items()])
    if isinstance(value, list):
        return Node(line, items=[_convert(item, line, statement) for item in value])
    if isinstance(value, bool):
        return Node(line, "true" if value else "false")
    begins_behind = any(f"{quotes}\n" in statement for quotes in ('"""', "'''"))
    return Node(line, str(value), text_line=line + begins_behind if "\n" in statement else 0)


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("toml", (".toml",), "TOML, as fields with their paths", read, MAX_BYTES))
