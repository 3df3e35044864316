"""Plain text; chats that messengers export as such, and what Kindle and Chrome keep in files that look like it."""

from collections.abc import Callable
from pathlib import Path

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, bookmarks, clippings
from plugins.readers.chat_lines import turns_of
from plugins.readers.decode import text_of


def read(path: Path, data: bytes) -> list[Document]:
    text = text_of(data)
    turns = turns_of(text)
    if turns:
        return [Document(uri="", turns=turns, at=turns[0].at)]
    if clippings.is_clippings(text):
        return clippings.convert(text)
    if path.name == bookmarks.CHROME_FILE and text.startswith("{"):
        return [bookmarks.read_chrome_file(path, text)]
    return [Document(uri="", text=text)]


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    suffixes = (".txt", ".text", ".log")
    text = "Plain text, and chats as WhatsApp, Signal and Element export them"
    register(Reader("text", suffixes, text, read, dates_parts=True, version=7))
    unnamed = "Plain text in a file without a suffix, as README or TODO"
    register(Reader("unnamed", ("",), unnamed, read, MIB, dates_parts=True, version=6))
