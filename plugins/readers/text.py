"""Plain text, and chats that messengers export as such."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers.contract import MIB, Reader
from plugins.readers.decode import text_of
from plugins.readers.messenger import turns_of


def read(path: Path, data: bytes) -> list[Document]:
    text = text_of(data)
    turns = turns_of(text)
    if turns:
        return [Document(uri="", turns=turns, at=turns[0].at)]
    return [Document(uri="", text=text)]


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    suffixes = (".txt", ".text", ".log", ".rst", ".adoc", ".asciidoc")
    register(
        Reader("text", suffixes, "Plain text, and chats as WhatsApp exports them", read, dates_parts=True, version=4)
    )
    unnamed = "Plain text in a file without a suffix, as README or TODO"
    register(Reader("unnamed", ("",), unnamed, read, MIB, dates_parts=True, version=4))
