"""Word: headings, paragraphs, lists, links and tables; a citation names the paragraph; a row of a table is one."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable
from plugins.readers.laid_out import LaidOut
from plugins.readers.libraries import import_library
from plugins.readers.package import find_date, open_package


def read(path: Path, data: bytes) -> list[Document]:
    with open_package(data, "docx") as package:
        states_dates = "docProps/core.xml" in package.namelist()  # the library makes some up
    docx = import_library("docx", "python-docx")
    try:
        file = docx.Document(BytesIO(data))
        text = _text_of(file)
        stated = file.core_properties
    except MemoryError:
        raise
    except Exception as error:  # whatever the library raises in the middle of XML that is wrong
        raise Unreadable(f"a damaged docx file: {error}") from error
    at = find_date(stated) if states_dates else None
    properties = {"author": stated.author, "subject": stated.subject, "keywords": stated.keywords}
    return [text.close(stated.title or None, at, properties)]


def _text_of(file: Any) -> LaidOut:
    text = LaidOut()
    number = 0
    in_list = False
    for block in file.iter_inner_content():
        if hasattr(block, "rows"):
            text.add("", number)
            for row in block.rows:
                number += 1
                cells = {id(cell._tc): " ".join(cell.text.split()) for cell in row.cells}  # one that spans comes twice
                text.add(f"| {' | '.join(cells.values())} |" if any(cells.values()) else "", number, apart=False)
            text.add("", number)
            in_list = False
            continue
        number += 1
        said, level, is_item = _words(block), _level(block), _is_item(block)
        if in_list and not is_item:
            text.add("", number)
        if said.strip():
            text.add(f"- {said}" if is_item else said, number, level, apart=not is_item)
        in_list = is_item
    return text


def _words(paragraph: Any) -> str:
    """The text of a paragraph, its links as Markdown."""
    parts = []
    for part in paragraph.iter_inner_content():
        url = getattr(part, "url", "")
        parts.append(f"[{part.text}]({url})" if url and part.text.strip() not in ("", url) else part.text)
    return "".join(parts)


def _level(paragraph: Any) -> int:
    """The level of a heading, in whatever language its program speaks; 0 for other text."""
    name = (paragraph.style.name or "") if paragraph.style is not None else ""
    kind, _, level = name.rpartition(" ")
    if kind == "Heading" and level.isdecimal():
        return int(level)
    return int(name == "Title")


def _is_item(paragraph: Any) -> bool:
    properties = paragraph._p.pPr
    is_numbered = properties is not None and properties.numPr is not None
    name = (paragraph.style.name or "") if paragraph.style is not None else ""
    return (is_numbered or name.startswith(("List Bullet", "List Number"))) and not _level(paragraph)


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(
        Reader("docx", (".docx",), "Documents of Word, by paragraphs", read, 50 * MIB, dates_parts=True, version=2)
    )
