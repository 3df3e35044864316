"""LibreOffice: texts by paragraphs, presentations by slides, spreadsheets by sheets and rows; what citations name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable
from plugins.readers.archive import DAMAGED
from plugins.readers.laid_out import LaidOut
from plugins.readers.package import ENCRYPTED, attribute_of, name_of, open_package, parse_xml
from plugins.readers.tables import MAX_COLUMNS, Row, convert_table

_ASIDE = ("annotation", "note", "tracked-changes", "forms")  # comments, footnotes and what was deleted
_SPACES = {"s": " ", "tab": "\t", "line-break": "\n"}
_DAY = len("2026-03-01")


def read(path: Path, data: bytes) -> list[Document]:
    suffix = path.suffix.lower().removeprefix(".")
    try:
        with open_package(data, suffix) as package:
            names = package.namelist()
            if "META-INF/manifest.xml" in names and b"encryption-data" in package.read("META-INF/manifest.xml"):
                raise Unreadable(ENCRYPTED)
            content = parse_xml(package.read("content.xml"))
            stated = _stated(parse_xml(package.read("meta.xml"))) if "meta.xml" in names else {}
    except (*DAMAGED, KeyError, ValueError) as error:
        raise Unreadable(f"a damaged {suffix} file: {error}") from error
    body = next((part for one in content if name_of(one) == "body" for part in one), None)
    if body is None:
        raise Unreadable(f"a damaged {suffix} file: no content")
    title, at = stated.get("title") or None, _parse_time(stated.get("date") or stated.get("creation-date") or "")
    if name_of(body) == "spreadsheet":
        return [
            replace(table, uri=name, title=f"{title or path.stem}, {name}", at=at)
            for name, table in (
                (attribute_of(one, "name") or "1", convert_table(_rows(one))) for one in _all(body, "table")
            )
        ]
    text = LaidOut()
    if name_of(body) == "presentation":
        for number, page in enumerate(_all(body, "page"), 1):
            _add_slide(text, number, page)
    else:
        _Paragraphs(text).add(body)
    author = stated.get("creator") or stated.get("initial-creator")
    return [text.close(title, at, {"author": author, "subject": stated.get("subject")})]


class _Paragraphs:
    """Adds the paragraphs of a text, each with its number; a row of a table counts as one."""

    def __init__(self, text: LaidOut) -> None:
        self._text = text
        self._number = 0

    def add(self, tree: Any) -> None:
        for one in tree:
            name = name_of(one)
            if name in ("h", "p"):
                self._number += 1
                level = int(attribute_of(one, "outline-level") or 1) if name == "h" else 0
                self._text.add(_words(one), self._number, level)
            elif name == "list":
                for item in _all(one, "p", "h"):
                    self._number += 1
                    self._text.add(f"- {_words(item)}", self._number, apart=False)
                self._text.add("", self._number)
            elif name == "table":
                for row in _all(one, "table-row"):
                    self._number += 1
                    cells = (_cell(cell) for cell in _all(row, "table-cell"))
                    self._text.add(f"| {' | '.join(cells)} |", self._number, apart=False)
                self._text.add("", self._number)
            elif name not in _ASIDE:
                self.add(one)


def _add_slide(text: LaidOut, number: int, page: Any) -> None:
    titles = {id(one) for frame in page if attribute_of(frame, "class") == "title" for one in frame.iter()}
    for one in _all(page, "p", "h", "table-row"):
        if name_of(one) == "table-row":
            text.add(f"| {' | '.join(_cell(cell) for cell in _all(one, 'table-cell'))} |", number, apart=False)
        else:
            text.add(_words(one), number, int(id(one) in titles))


def _rows(table: Any) -> Iterator[Row]:
    number = 1
    for row in _all(table, "table-row"):
        cells: list[str] = []
        for cell in row:
            times = min(_count(cell, "number-columns-repeated"), MAX_COLUMNS + 1 - len(cells))
            cells += [_cell(cell)] * times
        if any(cells):
            yield number, cells
        number += _count(row, "number-rows-repeated")


def _cell(cell: Any) -> str:
    day = attribute_of(cell, "date-value")
    if day:
        return day[:_DAY] if day[_DAY:] in ("", "T00:00:00") else day.replace("T", " ")
    shown = " ".join(word for one in _all(cell, "p") for word in _words(one).split())
    return (attribute_of(cell, "value") or shown) if attribute_of(cell, "value-type") == "float" else shown


def _count(one: Any, name: str) -> int:
    times = attribute_of(one, name)
    return int(times) if times.isdecimal() else 1


def _words(one: Any) -> str:
    """The text of a paragraph, its links as Markdown."""
    parts = [one.text or ""]
    for child in one:
        name = name_of(child)
        if name in _SPACES:
            parts.append(_SPACES[name])
        elif name == "a" and (said := _words(child)) and (url := attribute_of(child, "href")) and said != url:
            parts.append(f"[{said}]({url})")
        elif name not in _ASIDE:
            parts.append(_words(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _all(tree: Any, *names: str) -> Iterator[Any]:
    """The elements of these names, in order; of one in another the outer alone, and none of what stands aside."""
    for one in tree:
        if name_of(one) in names:
            yield one
        elif name_of(one) not in _ASIDE:
            yield from _all(one, *names)


def _stated(meta: Any) -> dict[str, str]:
    return {name_of(one): " ".join(one.text.split()) for part in meta for one in part if one.text}


def _parse_time(text: str) -> datetime | None:
    return parse_date(text.partition(".")[0])


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    words = "LibreOffice: texts, presentations and spreadsheets"
    register(Reader("odf", (".odt", ".odp", ".ods"), words, read, 50 * MIB, dates_parts=True))
