"""A page in another markup, rewritten as Markdown line by line; every line keeps its number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory.nouns import Document
from plugins.readers.common import frontmatter
from plugins.readers.common.dates import date_of
from plugins.readers.common.decode import text_of


class RewrittenPage:
    """The lines of a page and the rewritten lines so far. A place is the index of a line."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.kept: list[str] = []
        self.numbers: list[int] = []
        self.properties: dict[str, str] = {}
        self.title: str | None = None
        self.lines = lines

    @classmethod
    def read(cls, path: Path, data: bytes) -> list[Document]:
        page = cls(text_of(data).split("\n"))
        page.convert()
        return [page.close()]

    def convert(self) -> None:
        """Rewrites all lines."""
        raise NotImplementedError

    def put(self, line: str, place: int) -> None:
        """Adds a rewritten line for a place."""
        self.kept.append(line)
        self.numbers.append(min(place, len(self.lines) - 1) + 1)

    def put_code(self, code: Sequence[str], place: int, language: str = "") -> None:
        """Adds lines from a place on as code."""
        mark = "```"
        while any(mark in line for line in code):
            mark += "`"
        self.put(f"{mark}{language if language.isalnum() else ''}", place)
        for number, line in enumerate(code, place):
            self.put(line, number)
        self.put(mark, place + max(0, len(code) - 1))

    def close(self) -> Document:
        """The document of the rewritten lines."""
        return Document(
            uri="",
            text="\n".join(self.kept),
            title=self.title,
            at=date_of(self.properties),
            properties=self.properties,
            tags=frontmatter.tags(self.properties),
            lines=tuple(self.numbers),
        )
