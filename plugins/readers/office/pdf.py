"""PDF: the text of each page, its comments and filled fields, headings of the outline; a citation names the page."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.readers import Unreadable
from plugins.readers.common import import_library
from plugins.readers.common.decode import decode_bytes
from plugins.readers.common.laid_out import LaidOut

MAX_PAGES = 5000
MAX_OUTLINE = 5000  # entries, and levels of the outline
MAX_DEPTH = 6
MAX_ASIDES = 500  # comments and fields of a page
NO_TEXT = "a PDF without text: its pages are pictures; add a text layer first, for example with ocrmypdf"
ENCRYPTED = "encrypted; save it without its password"
PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD

_HYPHEN = re.compile("[\x02\ufffe](?:\r?\n)?")  # a word broken at the end of a line
_BYTES = re.compile("[\x80-\xff\u0152-\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]{4,}")
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z|[+-])(\d\d)?'?(\d\d)?)?")


def read(path: Path, data: bytes) -> list[Document]:
    pdfium = import_library("pypdfium2", "pypdfium2")
    try:
        file = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) == PASSWORD_ERROR
        raise Unreadable(ENCRYPTED if is_locked else f"a damaged PDF: {error}") from error
    with file:
        outline = _read_outline(file)
        text = LaidOut()
        damaged = blank = 0
        for index in range(min(len(file), MAX_PAGES)):
            if text.is_full:
                break
            try:
                words, asides = _extract_text(file, index)
            except pdfium.PdfiumError:
                damaged += 1
                continue
            words = "\n".join(filter(None, (words, *asides)))
            if sum(map(len, _BYTES.findall(words))) > len(words) // 2:
                words = _repair(words)
            blank += not words.strip()
            _add_page(text, index + 1, words, outline.get(index, []))
        if damaged:
            text.note(f"pages that are damaged and were not read: {damaged}")
        if blank:
            text.note(f"pages without text, perhaps pictures: {blank}")
        if len(file) > MAX_PAGES:
            text.note(f"only the first {MAX_PAGES:,} of {len(file):,} pages were read")
        stated = file.get_metadata_dict()
    properties = {key.lower(): stated.get(key, "") for key in ("Author", "Subject", "Keywords")}
    document = text.close(None, parse_pdf_date(stated.get("CreationDate") or stated.get("ModDate", "")), properties)
    if not document.text:
        raise Unreadable(NO_TEXT)
    title = " ".join(stated.get("Title", "").split())
    is_in_text = title and title.casefold() in " ".join(document.text.split()).casefold()
    return [replace(document, title=title) if is_in_text else document]  # otherwise the program wrote the title


def _extract_text(file: Any, index: int) -> tuple[str, list[str]]:
    """Returns the text of a page, and its comments and filled fields, which are no part of that."""
    page = file[index]
    try:
        layer = page.get_textpage()
        try:
            return _HYPHEN.sub("", layer.get_text_range()), [*_list_asides(page.raw)]
        finally:
            layer.close()
    finally:
        page.close()


def _list_asides(page: Any) -> Iterator[str]:
    """Yields the comments of a page as quotations, "> Bo: checked", and the values of its fields, "name: value"."""
    library = import_library("pypdfium2.raw", "pypdfium2")
    for number in range(min(library.FPDFPage_GetAnnotCount(page), MAX_ASIDES)):
        if not (aside := library.FPDFPage_GetAnnot(page, number)):
            continue
        kind = library.FPDFAnnot_GetSubtype(aside)
        is_field = kind == library.FPDF_ANNOT_WIDGET
        name, words = (_read_string(library, aside, key) for key in (b"T", b"V" if is_field else b"Contents"))
        library.FPDFPage_CloseAnnot(aside)
        if words.strip() and kind not in (library.FPDF_ANNOT_POPUP, library.FPDF_ANNOT_LINK):
            shown = f"{name}: {words}" if name else words
            yield shown if is_field else f"> {' '.join(shown.split())}"


def _read_string(library: Any, aside: Any, key: bytes) -> str:
    size = library.FPDFAnnot_GetStringValue(aside, key, None, 0)
    text = (ctypes.c_ushort * (size // 2))()
    library.FPDFAnnot_GetStringValue(aside, key, text, size)
    return bytes(text).decode("utf-16-le", "replace").rstrip("\0")


def _repair(text: str) -> str:
    """Returns a text whose bytes became single characters because its font declares no encoding."""
    try:
        return decode_bytes(text.encode("cp1252"))
    except (UnicodeEncodeError, Unreadable):
        return text


def _add_page(text: LaidOut, number: int, words: str, headings: list[tuple[int, str]]) -> None:
    """Adds a page; lines named in the outline become headings, and outline entries without a line come first."""
    lines = words.replace("\r\n", "\n").split("\n")
    levels = {" ".join(title.split()).casefold(): level for level, title in headings}
    titles = {key for line in lines if (key := " ".join(line.split()).casefold()) in levels}
    for level, title in headings:
        if " ".join(title.split()).casefold() not in titles and any(map(str.strip, lines)):
            text.add(title, number, level)
    for line in lines:
        level = levels.pop(" ".join(line.split()).casefold(), 0)
        if level:
            text.add("", number)
        text.add(line, number, level, apart=bool(level))
    text.add("", number)


def _read_outline(file: Any) -> dict[int, list[tuple[int, str]]]:
    """Returns {page index: [(level from 1, title)]} of the outline."""
    headings: dict[int, list[tuple[int, str]]] = {}
    for count, entry in enumerate(file.get_toc(max_depth=MAX_DEPTH)):
        if count == MAX_OUTLINE:
            break
        target = entry.get_dest()
        index = target.get_index() if target is not None else None
        if index is not None and entry.get_title().strip():
            headings.setdefault(index, []).append((entry.level + 1, entry.get_title()))
    return headings


def parse_pdf_date(text: str) -> datetime | None:
    """Returns the time of `D:20260302101500+01'00'`, at least its year, or None."""
    match = _DATE.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, sign, hours, minutes = match.groups()
    clock = ":".join(part or "00" for part in (hour, minute, second))
    zone = f"{sign}{hours}:{minutes or '00'}" if hours else "+00:00" if sign else ""
    return parse_date(f"{year}-{month or '01'}-{day or '01'}T{clock}{zone}")
