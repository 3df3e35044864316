"""What a plugin registers to write what leaves a memory. Standard library only: it is loaded by each `pal export`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

FIRST, LAST = "palimpsest", "end"  # the kinds of the first and the last line


class Line(NamedTuple):
    """One line of what the memory tells: JSON whose `type` is its kind."""

    text: bytes

    @property
    def kind(self) -> str:
        """What it tells of, such as "fact"."""
        return self.text[9 : self.text.index(b'"', 9)].decode()

    @property
    def fields(self) -> dict[str, Any]:
        """Its values by name; times of nouns are ISO 8601, those of rows milliseconds UTC."""
        found: dict[str, Any] = json.loads(self.text)
        return found


class Part(NamedTuple):
    """A piece of a file. `path` is relative, with forward slashes; "" where all is one file. Pieces that follow each
    other and have one path are of one file."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Exporter:
    """Writes lines of these `kinds`, which come in this order from one moment of the memory, in another form.

    Without `kinds` it gets all that is true. `write(lines)` opens nothing: it yields parts, which are put into files
    as they come. The first line, of the kind FIRST, has the `counts` of the others; the last one, LAST, ends them.
    With `suffixes` (lower case with the dot) all is one file, and one whose name ends so is written by it if nobody
    says otherwise; without them it is a folder.

    All run in the process of the command: they may take their time, and what one raises, or takes, ends that command
    alone.
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
