"""Plain text, and chats that messengers export as such."""

from collections.abc import Callable
from pathlib import Path

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader
from plugins.readers.chat_lines import turns_of
from plugins.readers.decode import text_of


def read(path: Path, data: bytes) -> list[Document]:
    text = text_of(data)
    turns = turns_of(text)
    if turns:
        return [Document(uri="", turns=turns, at=turns[0].at)]
    return [Document(uri="", text=text)]


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    suffixes = (".txt", ".text", ".log")
    text = "Plain text, and chats as WhatsApp, Signal and Element export them"
    register(Reader("text", suffixes, text, read, dates_parts=True, version=5))
    unnamed = "Plain text in a file without a suffix, as README or TODO"
    register(Reader("unnamed", ("",), unnamed, read, MIB, dates_parts=True, version=4))
