"""The text of a document that is no text file: each line with its page, slide or paragraph."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memory.nouns import Document
from plugins.readers.common.decode import tidy

MAX_CHARS = 20_000_000  # characters of one document
MAX_HEADING = 6


class LaidOut:
    """Collects the lines of a document as Markdown."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._numbers: list[int] = []
        self._left = MAX_CHARS
        self._notes: list[str] = []
        self.heading: str | None = None

    @property
    def is_full(self) -> bool:
        return self._left <= 0

    def add(self, text: str, number: int, level: int = 0, apart: bool = True) -> None:
        """Adds text of page (slide, ...) `number`, as a heading if `level` is not 0. With `apart` an empty line
        follows."""
        lines = [line.rstrip() for line in tidy(text).split("\n")]
        if level:
            words = " ".join(" ".join(lines).split())
            self.heading = self.heading or words
            lines = [f"{'#' * min(level, MAX_HEADING)} {words}"] if words else []
        for line in lines:
            if self._left <= 0:
                self.note(f"only its first {MAX_CHARS:,} characters were read")
                return
            if line or (self._lines and self._lines[-1]):
                self._put(line, number)
        if apart and self._lines and self._lines[-1]:
            self._put("", number)

    def note(self, words: str) -> None:
        """Records what was not read; `close` appends it to the text."""
        if words not in self._notes:
            self._notes.append(words)

    def close(
        self, title: str | None = None, at: datetime | None = None, properties: Mapping[str, Any] | None = None
    ) -> Document:
        """The document; its title defaults to the first heading."""
        while self._lines and not self._lines[-1]:
            del self._lines[-1], self._numbers[-1]
        kept: dict[str, Any] = {key: value for key, value in (properties or {}).items() if value}
        if self._notes and self._lines:
            kept["note"] = "; ".join(self._notes)
            self._put("", self._numbers[-1])
            self._put(f"({kept['note']})", self._numbers[-1])
        return Document(
            uri="",
            text="\n".join(self._lines),
            title=title or self.heading,
            at=at,
            properties=kept,
            lines=tuple(self._numbers),
        )

    def _put(self, line: str, number: int) -> None:
        self._lines.append(line)
        self._numbers.append(number)
        self._left -= len(line) + 1
