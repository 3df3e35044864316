"""Saved web pages, bookmarks, and chats as pages: of Gemini in Google's Takeout, of Telegram, of Discord."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from memory.nouns import UNKNOWN, Document
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable
from plugins.readers.chats import discord_page, gemini, telegram_page
from plugins.readers.common.decode import declared_in_markup, text_of
from plugins.readers.common.html import convert
from plugins.readers.records import bookmarks

MAX_PAGE = 10 * MIB
MAX_ACTIVITIES = 64 * MIB  # of a page of Gemini; in a zip it is read in pieces of any size


def read(path: Path, data: bytes) -> list[Document]:
    text = text_of(data, declared_in_markup(data))
    if gemini.is_page(text):
        return [*gemini.read_page([text])]
    if telegram_page.is_page(text):
        return [telegram_page.read_page([text])]
    if discord_page.is_page(text):
        return [discord_page.read_page([text])]
    if bookmarks.is_netscape(text):
        return [bookmarks.read_netscape(text)]
    if len(data) > MAX_PAGE:
        raise Unreadable(f"too large: {len(data) / MIB:,.1f} MiB; the limit is {MAX_PAGE // MIB} MiB for a page")
    return [replace(convert(text), speaker=UNKNOWN)]


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    description = "Saved web pages, bookmarks of browsers, and chats of Telegram, Discord and Google as pages"
    register(Reader("html", (".html", ".htm", ".xhtml"), description, read, MAX_ACTIVITIES, version=6))
