"""Plain text, chats exported as text, and the text files of Kindle and Chrome."""

from collections.abc import Callable
from pathlib import Path

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable
from plugins.readers.chats.chat_lines import turns_of
from plugins.readers.common.dates import find_month
from plugins.readers.common.decode import text_of
from plugins.readers.mail.mails import MAX_MAIL, is_mail
from plugins.readers.mail.mails import read as read_mail
from plugins.readers.records import bookmarks, clippings

MAX_TEXT = MIB  # of a file without a suffix


def read(path: Path, data: bytes) -> list[Document]:
    if is_mail(data):
        return read_mail(path, data)
    if len(data) > MAX_TEXT and not path.suffix:
        raise Unreadable(f"too large: the limit is {MAX_TEXT // MIB} MiB for a file without a suffix")
    text = text_of(data)
    turns = turns_of(text, find_month(path))
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
    register(Reader("text", suffixes, text, read, dates_parts=True, version=9))
    unnamed = "Plain text and mails in files without a suffix, as README or those of MH"
    register(Reader("unnamed", ("",), unnamed, read, MAX_MAIL, dates_parts=True, version=8))
