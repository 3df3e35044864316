"""A page in another markup that becomes Markdown, line by line, so that every line keeps its number."""

from __future__ import annotations

from collections.abc import Sequence

from memory.nouns import Document
from plugins.readers import frontmatter
from plugins.readers.dates import date_of


class RewrittenPage:
    """The lines of a page, and those that were kept of it so far. A place is a line's, from 0 on."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.kept: list[str] = []
        self.numbers: list[int] = []
        self.properties: dict[str, str] = {}
        self.title: str | None = None
        self.lines = lines

    def put(self, line: str, place: int) -> None:
        """Keeps a line, as what stands at a place."""
        self.kept.append(line)
        self.numbers.append(min(place, len(self.lines) - 1) + 1)

    def put_code(self, code: Sequence[str], place: int, language: str = "") -> None:
        """Keeps lines from a place on as code."""
        mark = "```"
        while any(mark in line for line in code):
            mark += "`"
        self.put(f"{mark}{language if language.isalnum() else ''}", place)
        for number, line in enumerate(code, place):
            self.put(line, number)
        self.put(mark, place + max(0, len(code) - 1))

    def close(self) -> Document:
        """The document."""
        return Document(
            uri="",
            text="\n".join(self.kept),
            title=self.title,
            at=date_of(self.properties),
            properties=self.properties,
            tags=frontmatter.tags(self.properties),
            lines=tuple(self.numbers),
        )
