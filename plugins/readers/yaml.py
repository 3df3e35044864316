"""YAML: its fields by their paths, with the comments that stand between and behind them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable
from plugins.readers.decode import text_of
from plugins.readers.lexing import find_comments
from plugins.readers.tree import Node, convert_tree

MAX_BYTES = 4 * MIB  # PyYAML's own parser, which knows the lines, takes some 10 s for that
_NULL = "tag:yaml.org,2002:null"
_MERGED = "<<"


def read(path: Path, data: bytes) -> list[Document]:
    text = text_of(data)
    try:
        roots = [_Tree().convert(root) for root in yaml.compose_all(text, Loader=yaml.SafeLoader)]
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        place = f"line {mark.line + 1}: " if mark is not None else ""
        raise Unreadable(f"not valid YAML: {place}{problem or error}") from error
    return [convert_tree(path, [root for root in roots if root is not None], comments=find_comments("yaml", text))]


class _Tree:
    """Converts what PyYAML composed of a document. What an alias stands for is told once: it may hold others."""

    def __init__(self) -> None:
        self._told: set[int] = set()

    def convert(self, node: Any, line: int = 0) -> Node | None:
        """The node, whose key is on that `line` if it has one; None for one that was told."""
        line = line or node.start_mark.line + 1
        if isinstance(node, yaml.ScalarNode):
            is_block = node.style in ("|", ">")
            first = node.start_mark.line + 2 if is_block else 0
            return Node(line, "" if node.tag == _NULL else node.value, text_line=first)
        if id(node) in self._told:
            return None
        self._told.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            return Node(line, items=[item for one in node.value if (item := self.convert(one)) is not None])
        fields: list[tuple[str, Node]] = []
        for key, value in node.value:
            if (held := self.convert(value, key.start_mark.line + 1)) is None:
                continue
            if isinstance(key, yaml.ScalarNode) and key.value == _MERGED:
                fields += held.fields or ()
            else:
                fields.append((str(key.value) if isinstance(key, yaml.ScalarNode) else "?", held))
        return Node(line, fields=fields)


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("yaml", (".yaml", ".yml"), "YAML, as fields with their paths", read, MAX_BYTES))
