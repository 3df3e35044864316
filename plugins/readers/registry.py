"""All built-in readers. Where several formats share a suffix, the content of a file decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from memory.nouns import UNKNOWN, Document
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable, mail, markup, records
from plugins.readers.chats import agents, chat
from plugins.readers.chats.chat_lines import turns_of
from plugins.readers.common import calendars, html
from plugins.readers.common.dates import find_month
from plugins.readers.common.decode import declared_in_markup, text_of
from plugins.readers.markup import code, json_notes, org
from plugins.readers.office import docx, epub, odf, pdf, xlsx
from plugins.readers.records import clippings, contacts, image, subtitles

MAX_TEXT = MIB  # of a file without a suffix
MAX_DATA = 10 * MIB  # of JSON that is no chat: it is loaded as a tree


def read_text(path: Path, data: bytes) -> list[Document]:
    """Reads plain text, a mail, a chat exported as text, or the clippings of Kindle."""
    if mail.is_mail(data):
        return mail.read(path, data)
    if len(data) > MAX_TEXT and not path.suffix:
        raise Unreadable(f"too large: the limit is {MAX_TEXT // MIB} MiB for a file without a suffix")
    text = text_of(data)
    if turns := turns_of(text, find_month(path)):
        return [Document(uri="", turns=turns, at=turns[0].at)]
    if clippings.is_clippings(text):
        return clippings.read_clippings(text)
    return [Document(uri="", text=text)]


def read_note(path: Path, data: bytes) -> list[Document]:
    """Returns a note in Markdown, or a chat of Signal: its exporters write NAME/chat.md."""
    if turns := turns_of(text_of(data), find_month(path)):
        name = path.parent.name if path.stem == "chat" else path.stem
        return [Document(uri="", turns=turns, title=name, conversation=name, at=turns[0].at)]
    return markup.read(path, data)


def read_page(path: Path, data: bytes) -> list[Document]:
    """Returns a saved web page, or the bookmarks of a browser."""
    text = text_of(data, declared_in_markup(data))
    if clippings.is_bookmarks(text):
        return [clippings.read_bookmarks(text)]
    return [replace(html.convert(text), speaker=UNKNOWN)]


def read_references(path: Path, data: bytes) -> list[Document]:
    """Returns a list of works as text, whose abstracts are the words of others."""
    return [Document(uri="", text=text_of(data), speaker=UNKNOWN)]


def read_calendar(path: Path, data: bytes) -> list[Document]:
    """Returns a calendar, which mails can hold, too."""
    return [calendars.convert(text_of(data))]


def read_json(path: Path, text: str, loaded: Any) -> list[Document]:
    """Returns the document of valid JSON that is no chat; `loaded` is its parsed value. Raises Unreadable above
    MAX_DATA."""
    if len(text) > MAX_DATA:
        raise Unreadable(f"too large: the limit is {MAX_DATA // MIB} MiB for JSON that is no chat")
    return [records.convert_json(path, text, loaded)] if loaded else []


stream_logs = partial(agents.stream, read_other=records.read_lines)
stream_chats = partial(chat.stream, read_other=read_json)

READERS = (
    Reader(
        "agents", (".jsonl",), "Sessions of Claude Code and Codex, chats of Signal; other lines of JSON as text",
        stream=stream_logs, max_bytes=1024 * MIB, max_seconds=300, version=5,
    ),
    Reader("canvas", (".canvas",), "Canvases of Obsidian: cards, groups and arrows", json_notes.read_canvas, version=3),
    Reader(
        "chat", (".json", ".zip"),
        "Chats in JSON or in the zip of an export: ChatGPT, Claude, Gemini, Slack, Telegram, ...; other JSON as text",
        stream=stream_chats, max_bytes=2048 * MIB, max_seconds=1200, version=10,
    ),
    Reader("code", (*code.LANGUAGES,), "Source code: docstrings, comments and names", code.read, 2 * MIB, version=2),
    Reader("contacts", (".vcf", ".vcard"), "Contacts, each with its fields", contacts.read, 50 * MIB, version=3),
    Reader("csv", (".csv", ".tsv", ".tab"), "Tables with comma, semicolon, tab or bar", records.read_table, 50 * MIB),
    Reader(
        "docx", (".docx",), "Documents of Word, by paragraphs",
        docx.read, 50 * MIB, dates_parts=True, version=3, library="defusedxml",
    ),
    Reader("eml", (".eml",), "Single mails, one per file or in a Maildir", mail.read, mail.MAX_MAIL, version=4),
    Reader(
        "epub", (".epub",), "Books without copy protection, by their parts",
        epub.read, 100 * MIB, library="defusedxml",
    ),
    Reader(
        "html", (".html", ".htm", ".xhtml"),
        "Saved web pages, and bookmarks of browsers",
        read_page, version=7,
    ),
    Reader("ics", (".ics", ".ical", ".ifb"), "Calendars", read_calendar, version=7),
    Reader(
        "image", (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp"),
        "Pictures: their metadata, and their text if tesseract is installed",
        image.read, 50 * MIB, programs=(image.TESSERACT,),
    ),
    Reader(
        "markdown", (".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd"), "Markdown notes",
        read_note, dates_parts=True, version=5,
    ),
    Reader(
        "mbox", (".mbox", ".mbx"), "Mailboxes in one file, each mail by its subject and time",
        stream=mail.stream, max_bytes=4096 * MIB, max_seconds=1800, version=4,
    ),
    Reader("notebook", (".ipynb",), "Notebooks of Jupyter, by cells", json_notes.read_notebook, 50 * MIB),
    Reader(
        "odf", (".odt", ".odp", ".ods"), "LibreOffice: texts, presentations and spreadsheets",
        odf.read, 50 * MIB, dates_parts=True, version=2, library="defusedxml",
    ),
    Reader("org", (".org",), "Org-mode outlines", org.read, dates_parts=True, version=5),
    Reader(
        "pdf", (".pdf",), "PDF with text, by pages",
        pdf.read, 100 * MIB, dates_parts=True, version=3, library="pypdfium2",
    ),
    Reader(
        "pptx", (".pptx",), "Presentations of PowerPoint, by slides",
        xlsx.read_slides, 100 * MIB, dates_parts=True, version=3, library="pptx",
    ),
    Reader("references", (".bib", ".ris"), "References in BibTeX and RIS, as text", read_references),
    Reader("rtf", (".rtf",), "RTF, by paragraphs", docx.read_rtf, dates_parts=True, version=2, library="striprtf"),
    Reader("subtitles", (".srt", ".vtt"), "Subtitles, by their times", subtitles.read),
    Reader(
        "text", (".txt", ".text", ".log", ".rst", ".rest", ".adoc", ".asciidoc", ".yaml", ".yml", ".toml"),
        "Plain text, also in other markup or of settings, and chats as WhatsApp, Signal and Element export them",
        read_text, dates_parts=True, version=9,
    ),
    Reader(
        "unnamed", ("",), "Plain text and mails in files without a suffix, as README or those of MH",
        read_text, mail.MAX_MAIL, dates_parts=True, version=8,
    ),
    Reader(
        "xlsx", (".xlsx", ".xlsm"), "Spreadsheets of Excel, by sheets and rows",
        xlsx.read, 50 * MIB, version=4, library="openpyxl",
    ),
)  # fmt: skip


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    for reader in READERS:
        register(reader)
