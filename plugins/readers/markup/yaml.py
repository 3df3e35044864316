"""YAML: fields by their paths, with the comments between and after them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable
from plugins.readers.common.decode import text_of
from plugins.readers.common.lexing import find_comments
from plugins.readers.common.tree import Node, convert_tree

MAX_BYTES = 4 * MIB  # PyYAML's Python parser, which reports lines, takes about 10 s for that
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
    """Converts a document composed by PyYAML. An aliased node is converted once: it can contain others."""

    def __init__(self) -> None:
        self._converted: set[int] = set()

    def convert(self, node: Any, line: int = 0) -> Node | None:
        """The node, whose key is on `line` if it has one; None for a node converted before."""
        line = line or node.start_mark.line + 1
        if isinstance(node, yaml.ScalarNode):
            is_block = node.style in ("|", ">")
            first = node.start_mark.line + 2 if is_block else 0
            return Node(line, "" if node.tag == _NULL else node.value, text_line=first)
        if id(node) in self._converted:
            return None
        self._converted.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            return Node(line, items=[item for item_node in node.value if (item := self.convert(item_node)) is not None])
        fields: list[tuple[str, Node]] = []
        for key, value in node.value:
            if (child := self.convert(value, key.start_mark.line + 1)) is None:
                continue
            if isinstance(key, yaml.ScalarNode) and key.value == _MERGED:
                fields += child.fields or ()
            else:
                fields.append((str(key.value) if isinstance(key, yaml.ScalarNode) else "?", child))
        return Node(line, fields=fields)


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("yaml", (".yaml", ".yml"), "YAML, as fields with their paths", read, MAX_BYTES))
