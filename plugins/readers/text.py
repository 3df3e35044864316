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
    register(Reader("text", (".txt", ".text", ".log", ".rst", ".adoc", ".asciidoc"), "Plain text", read))
    register(Reader("unnamed", ("",), "Plain text in a file without a suffix, as README or TODO", read, MIB))
