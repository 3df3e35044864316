"""JSON as a tree with line numbers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_TOKEN = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|[{}\[\]\n]|[^\s,:{}\[\]"]++')


@dataclass(slots=True)
class Node:
    """A value: `text`, `items` of a list, or `fields` of a mapping. `line` is that of its key or its start."""

    line: int
    text: str = ""
    items: list[Node] | None = None
    fields: list[tuple[str, Node]] | None = None

    @property
    def is_plain(self) -> bool:
        return self.items is None and self.fields is None


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
