"""What a plugin registers to export a memory. Standard library only: every `pal export` loads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

FIRST, LAST = "palimpsest", "end"  # the kinds of the first and the last line


class Line(NamedTuple):
    """One exported line: JSON whose `type` is its kind."""

    text: bytes

    @property
    def kind(self) -> str:
        """Its kind, such as "fact"."""
        return self.text[9 : self.text.index(b'"', 9)].decode()

    @property
    def fields(self) -> dict[str, Any]:
        """Its values by name; times of nouns are ISO 8601, those of rows milliseconds UTC."""
        values: dict[str, Any] = json.loads(self.text)
        return values


class Part(NamedTuple):
    """A piece of a file. `path` is relative, with forward slashes; "" for a single file. Consecutive pieces with one
    path belong to one file."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Exporter:
    """Writes lines of these `kinds`, which come in this order from one snapshot of the memory, in another form.

    Without `kinds` it gets all lines. `write(lines)` opens no files: it yields parts, which are written as they come.
    The first line, of the kind FIRST, has the `counts` of the others; the last one is LAST. With `suffixes` (lower case
    with the dot) the output is one file, and the suffix of a file name selects the format; without them it is a folder.

    Exporters run in the process of the command, so a slow or failing one affects that command alone.
    """

    name: str
    description: str  # a sentence
    write: Callable[[Iterator[Line]], Iterator[Part]]
    kinds: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()

    @property
    def is_folder(self) -> bool:
        """Whether it writes several files."""
        return not self.suffixes
