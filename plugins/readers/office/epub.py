"""Books: the pages of an EPUB in reading order; a citation names the part, counted in that order."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from memory.nouns import UNKNOWN, Document
from memory.time.dates import parse_date
from plugins.readers import Unreadable
from plugins.readers.common import html
from plugins.readers.common.decode import declared_in_markup, decode_bytes
from plugins.readers.common.laid_out import LaidOut
from plugins.readers.office import open_package, parse_xml

MAX_PARTS = 5000
_CONTAINER = "META-INF/container.xml"
_LOCKED = "META-INF/encryption.xml"  # lists encrypted fonts, too, which are not read
_PAGES = ("application/xhtml+xml", "text/html")


def read(path: Path, data: bytes) -> list[Document]:
    with open_package(data, "epub") as package:
        return [_read_book(package)]


def _read_book(package: ZipFile) -> Document:
    root = next((node.get("full-path", "") for node in _find(parse_xml(package.read(_CONTAINER)), "rootfile")), "")
    book = parse_xml(package.read(root))
    files = {
        node.get("id", ""): posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(node.get("href", ""))))
        for node in _find(book, "item")
        if node.get("media-type") in _PAGES
    }
    order = [files[name] for node in _find(book, "itemref") if (name := node.get("idref", "")) in files]
    locked = _list_encrypted(package)
    text = LaidOut()
    for number, name in enumerate(order[:MAX_PARTS], 1):
        if text.is_full:
            break
        if name in locked:
            text.note("parts that are encrypted and were not read")
        elif name not in package.namelist():
            text.note("parts that are missing in the file")
        else:
            page = package.read(name)
            text.add(html.convert(decode_bytes(page, declared_in_markup(page))).text, number)
    if not order or locked.issuperset(order):
        raise Unreadable("a book with copy protection" if order else "a damaged epub file: no pages")
    stated = {name: _read_metadata(book, name) for name in ("title", "creator", "date", "publisher", "language")}
    at = parse_date(stated.pop("date"))
    document = text.close(stated.pop("title") or None, at, {"author": stated.pop("creator"), **stated})
    return replace(document, speaker=UNKNOWN)


def _list_encrypted(package: ZipFile) -> frozenset[str]:
    if _LOCKED not in package.namelist():
        return frozenset()
    return frozenset(
        unquote(node.get("URI", "")) for node in _find(parse_xml(package.read(_LOCKED)), "CipherReference")
    )


def _find(tree: Any, name: str) -> list[Any]:
    return [node for node in tree.iter() if node.tag.rpartition("}")[2] == name]


def _read_metadata(book: Any, name: str) -> str:
    return next((" ".join(node.text.split()) for node in _find(book, name) if node.text), "")
