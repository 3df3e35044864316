"""What a reader is, and what it raises when a file cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memory.errors import PalimpsestError
from memory.nouns import Document

MIB = 1024 * 1024


class Unreadable(PalimpsestError):
    """A file that cannot become memory; the message is the reason, in words for the person who owns the file."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Reader:
    """Turns the bytes of one kind of file into documents.

    `read(path, data)` opens nothing: `path` only lends its name. It gives one document, or several for a file
    that holds several sources; then the `uri` of each is its own id inside the file. What the reader leaves
    unset (uri, title, date, hash, size, the conversation of a chat) `plugins.readers.documents` fills in. It raises
    Unreadable with a reason. With `dates_parts` sections and items of its text that begin with a date are from then.
    Another `version` than the one that read a file before reads it again, though it did not change.
    """

    name: str
    suffixes: tuple[str, ...]  # lower case with the dot; "" for a name without one
    description: str
    read: Callable[[Path, bytes], list[Document]]
    max_bytes: int = 10 * MIB
    dates_parts: bool = False
    version: int = 1
