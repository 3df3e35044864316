"""Plain text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers.contract import MIB, Reader
from plugins.readers.decode import text_of


def read(path: Path, data: bytes) -> list[Document]:
    return [Document(uri="", text=text_of(data))]


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    suffixes = (".txt", ".text", ".log", ".rst", ".adoc", ".asciidoc")
    register(Reader("text", suffixes, "Plain text", read, dates_parts=True, version=2))
    unnamed = "Plain text in a file without a suffix, as README or TODO"
    register(Reader("unnamed", ("",), unnamed, read, MIB, dates_parts=True, version=2))
