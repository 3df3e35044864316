"""PowerPoint: titles, text, tables and notes of each slide; a citation names the slide."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from memory.nouns import Document
from plugins.readers import Unreadable
from plugins.readers.common import import_library
from plugins.readers.common.laid_out import LaidOut
from plugins.readers.office.package import find_date, loosen, open_package


def read(path: Path, data: bytes) -> list[Document]:
    with open_package(data, "pptx") as package:
        states_dates = "docProps/core.xml" in package.namelist()  # the library invents missing dates
    pptx = import_library("pptx", "python-pptx")
    text = LaidOut()
    try:
        file = pptx.Presentation(BytesIO(loosen(data)))
        for number, slide in enumerate(file.slides, 1):
            _add_slide(text, number, slide)
        stated = file.core_properties
    except MemoryError:
        raise
    except Exception as error:  # any error of the library inside invalid XML
        raise Unreadable(f"a damaged pptx file: {error}") from error
    at = find_date(stated.modified or stated.created) if states_dates else None
    properties = {"author": stated.author, "subject": stated.subject, "keywords": stated.keywords}
    return [text.close(stated.title or None, at, properties)]


def _add_slide(text: LaidOut, number: int, slide: Any) -> None:
    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        text.add(title.text_frame.text, number, level=1)
    for shape in _walk_shapes(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if shape.has_text_frame:
            for paragraph in shape.text_frame.paragraphs:
                text.add(f"- {paragraph.text}" if paragraph.level else paragraph.text, number, apart=False)
            text.add("", number)
        elif getattr(shape, "has_table", False):
            for row in shape.table.rows:
                cells = (" ".join(cell.text.split()) for cell in row.cells if not cell.is_spanned)
                text.add(f"| {' | '.join(cells)} |", number, apart=False)
            text.add("", number)
        elif hasattr(shape, "has_chart"):
            text.note("charts and diagrams were not read")
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None:
        text.add(notes.text, number)


def _walk_shapes(shapes: Any) -> Iterator[Any]:
    """Yields the shapes in document order, including those of groups."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _walk_shapes(shape.shapes)
        else:
            yield shape
