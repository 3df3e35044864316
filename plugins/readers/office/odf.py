"""LibreOffice: texts by paragraphs, presentations by slides, spreadsheets by sheets and rows, as citations name
them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.readers import Unreadable
from plugins.readers.common.laid_out import MAX_COLUMNS, LaidOut, Row, convert_table
from plugins.readers.office import ENCRYPTED, attribute_of, name_of, open_package, parse_xml

_ASIDE = ("annotation", "note", "tracked-changes", "forms")  # comments, footnotes and deleted text
_EDGES = ("header", "footer", "header-left", "footer-left", "header-first", "footer-first")
_SPACES = {"s": " ", "tab": "\t", "line-break": "\n"}
_DAY = len("2026-03-01")


def read(path: Path, data: bytes) -> list[Document]:
    suffix = path.suffix.lower().removeprefix(".")
    with open_package(data, suffix) as package:
        names = package.namelist()
        if "META-INF/manifest.xml" in names and b"encryption-data" in package.read("META-INF/manifest.xml"):
            raise Unreadable(ENCRYPTED)
        content = parse_xml(package.read("content.xml"))
        stated = _read_metadata(parse_xml(package.read("meta.xml"))) if "meta.xml" in names else {}
        objects = sum(name.startswith("Object ") and name.endswith("/content.xml") for name in names)
        note = f"charts or formulas were not read: {objects}" if objects else ""
        styles = parse_xml(package.read("styles.xml")) if "styles.xml" in names else ()
    body = next((part for child in content if name_of(child) == "body" for part in child), None)
    if body is None:
        raise Unreadable(f"a damaged {suffix} file: no content")
    title, at = (
        stated.get("title") or None,
        parse_date((stated.get("date") or stated.get("creation-date") or "").partition(".")[0]),
    )
    if name_of(body) == "spreadsheet":
        return [
            replace(table, uri=name, title=f"{title or path.stem}, {name}", at=at)
            for name, table in (
                (attribute_of(child, "name") or "1", convert_table(_walk_rows(child), note=note))
                for child in _find_all(body, "table")
            )
        ]
    text = LaidOut()
    if name_of(body) == "presentation":
        for number, page in enumerate(_find_all(body, "page"), 1):
            _add_slide(text, number, page)
    else:
        paragraphs = _Paragraphs(text)
        paragraphs.add(body)
        paragraphs.add(_find_all(styles, *_EDGES))
    if note:
        text.note(note)
    author = stated.get("creator") or stated.get("initial-creator")
    return [text.close(title, at, {"author": author, "subject": stated.get("subject")})]


class _Paragraphs:
    """Adds the numbered paragraphs of a text; a table row counts as one."""

    def __init__(self, text: LaidOut) -> None:
        self._text = text
        self._number = 0

    def add(self, tree: Iterable[Any]) -> None:
        for element in tree:
            name = name_of(element)
            if name in ("h", "p"):
                self._number += 1
                level = int(attribute_of(element, "outline-level") or 1) if name == "h" else 0
                self._text.add(_collect_words(element), self._number, level)
                self._add_asides(element)
            elif name == "list":
                for item in _find_all(element, "p", "h"):
                    self._number += 1
                    self._text.add(f"- {_collect_words(item)}", self._number, apart=False)
                    self._add_asides(item)
                self._text.add("", self._number)
            elif name == "table":
                for row in _find_all(element, "table-row"):
                    self._number += 1
                    cells = (_show_cell(cell) for cell in _find_all(row, "table-cell"))
                    self._text.add(f"| {' | '.join(cells)} |", self._number, apart=False)
                    self._add_asides(row)
                self._text.add("", self._number)
            elif name not in _ASIDE:
                self.add(element)

    def _add_asides(self, tree: Any) -> None:
        """Footnotes and comments below their paragraph; comments are quoted."""
        for is_comment, words in _list_asides(tree):
            self._text.add(f"> {words}" if is_comment else words, self._number)


def _add_slide(text: LaidOut, number: int, page: Any) -> None:
    titles = {id(element) for frame in page if attribute_of(frame, "class") == "title" for element in frame.iter()}
    for element in _find_all(page, "p", "h", "table-row"):
        if name_of(element) == "table-row":
            text.add(
                f"| {' | '.join(_show_cell(cell) for cell in _find_all(element, 'table-cell'))} |", number, apart=False
            )
        else:
            text.add(_collect_words(element), number, int(id(element) in titles))


def _walk_rows(table: Any) -> Iterator[Row]:
    number = 1
    for row in _find_all(table, "table-row"):
        cells: list[str] = []
        for cell in row:
            times = min(_parse_count(cell, "number-columns-repeated"), MAX_COLUMNS + 1 - len(cells))
            comments = (f"({words})" for _, words in _list_asides(cell))
            cells += [" ".join(filter(None, (_show_cell(cell), *comments)))] * times
        if any(cells):
            yield number, cells
        number += _parse_count(row, "number-rows-repeated")


def _show_cell(cell: Any) -> str:
    day = attribute_of(cell, "date-value")
    if day:
        return day[:_DAY] if day[_DAY:] in ("", "T00:00:00") else day.replace("T", " ")
    shown = " ".join(word for paragraph in _find_all(cell, "p") for word in _collect_words(paragraph).split())
    return (attribute_of(cell, "value") or shown) if attribute_of(cell, "value-type") == "float" else shown


def _list_asides(tree: Any) -> Iterator[tuple[bool, str]]:
    """Yields (whether it is a comment, with its author; text) of each footnote and comment."""
    for aside in tree.iter():
        if (name := name_of(aside)) in ("annotation", "note"):
            words = " ".join(map(_collect_words, _find_all(aside, "p", "h")))
            author = next((child.text for child in aside if name_of(child) == "creator"), "")
            yield name == "annotation", f"{author}: {words}" if name == "annotation" else words


def _parse_count(cell: Any, name: str) -> int:
    times = attribute_of(cell, name)
    return int(times) if times.isdecimal() else 1


def _collect_words(paragraph: Any) -> str:
    """Returns the text of a paragraph, with links as Markdown."""
    parts = [paragraph.text or ""]
    for child in paragraph:
        name = name_of(child)
        if name in _SPACES:
            parts.append(_SPACES[name])
        elif name == "a" and (label := _collect_words(child)) and (url := attribute_of(child, "href")) and label != url:
            parts.append(f"[{label}]({url})")
        elif name not in _ASIDE:
            parts.append(_collect_words(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _find_all(tree: Any, *names: str) -> Iterator[Any]:
    """Yields the elements of these names in order, without nested ones and those in _ASIDE."""
    for element in tree:
        if name_of(element) in names:
            yield element
        elif name_of(element) not in _ASIDE:
            yield from _find_all(element, *names)


def _read_metadata(meta: Any) -> dict[str, str]:
    return {name_of(element): " ".join(element.text.split()) for part in meta for element in part if element.text}
