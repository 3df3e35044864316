"""Spreadsheets of Excel, each sheet a table, read row by row: a citation names the sheet and the row. Presentations of
PowerPoint, with titles, text, tables and notes of each slide: a citation names the slide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from memory.nouns import Document
from plugins.readers import Unreadable
from plugins.readers.common import import_library
from plugins.readers.common.laid_out import MAX_COLUMNS, LaidOut, Row, convert_table
from plugins.readers.office import (
    MAX_TREE,
    MAX_UNPACKED,
    find_date,
    loosen,
    name_of,
    open_package,
    parse_xml,
    read_relations,
)

MAX_SHEETS = 200
MAX_EMPTY = 20_000  # consecutive empty rows that end a sheet
MAX_FORMAT = 200  # characters of the format of a number
MAX_DIGITS = 400  # digits of a displayed number
MAX_CELL = 32_767  # characters, as in Excel

Asides = dict[int, list[str]]  # by row

_ROW = re.compile(r"\D")
_MARKUP = re.compile(  # in a number format: "[$€-407]", "[Red]", '"words"', an escaped character, a width
    r'\[\$(?P<sign>[^\]-]*)[^\]]*\]|\[[^\]]*\]|"(?P<words>[^"]*)"|\\(?P<letter>.)|[_*].'
)
_PLACES = re.compile(r"(?P<before>[^#0?@]*)(?P<whole>[#0?,]+)(?:\.(?P<decimals>[#0?]+))?(?P<after>[^#0?@/E]*)")


def read(path: Path, data: bytes) -> list[Document]:
    with open_package(data, "xlsx", MAX_UNPACKED) as package:
        names = package.namelist()
        sheets = [name for name in names if name.startswith("xl/worksheets/sheet")]
        asides = {name: _read_asides(package, name) for name in sheets}
    states_dates = "docProps/core.xml" in names  # the library invents missing dates
    charts = sum(name.startswith("xl/charts/chart") for name in names)
    openpyxl = import_library("openpyxl", "openpyxl")
    try:
        book = openpyxl.load_workbook(BytesIO(loosen(data)), read_only=True, data_only=True, keep_links=False)
    except (
        BadZipFile,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        SyntaxError,
    ) as error:  # ParseError is a SyntaxError
        raise Unreadable(f"a damaged xlsx file: {error}") from error
    title = book.properties.title or path.stem
    stated = (book.properties.modified or book.properties.created) if states_dates else None
    at = find_date(stated.replace(tzinfo=stated.tzinfo or UTC) if stated else None)
    tables: list[Document] = []
    for sheet in book.worksheets[:MAX_SHEETS]:
        sheet.reset_dimensions()  # the stated dimensions can be wrong
        try:
            rows = _walk_rows(sheet.iter_rows(), asides.get(sheet._worksheet_path, {}))
            table = convert_table(rows, note=f"charts were not read: {charts}" if charts and not tables else "")
        except (BadZipFile, KeyError, ValueError, SyntaxError) as error:
            raise Unreadable(f"a damaged xlsx file: sheet {sheet.title}: {error}") from error
        tables.append(replace(table, uri=sheet.title, title=f"{title}, {sheet.title}", at=at))
    if not any(document.text for document in tables):
        raise Unreadable("no values in it; a program must save the file to compute its formulas")
    return tables


def _read_asides(package: ZipFile, sheet: str) -> Asides:
    """Returns the comments on the cells of a sheet, "Bo on B7: checked", and its text boxes, each at its row."""
    asides: Asides = {}
    names = package.namelist()
    for kind, path in read_relations(package, sheet).values():
        if kind not in ("comments", "drawing") or path not in names or package.getinfo(path).file_size > MAX_TREE:
            continue
        root = parse_xml(package.read(path))
        for anchor in root if kind == "drawing" else ():
            row = next((element.text for element in anchor.iter() if name_of(element) == "row"), None)
            if words := _join_texts(anchor):
                asides.setdefault(int(row or 0) + 1, []).append(words)
        authors = [author.text or "" for author in root.iter() if name_of(author) == "author"]
        for comment in (element for element in root.iter() if name_of(element) == "comment"):
            author, place = authors[int(comment.get("authorId", 0))], comment.get("ref", "")
            asides.setdefault(int(_ROW.sub("", place)), []).append(f"{author} on {place}: {_join_texts(comment)}")
    return asides


def _walk_rows(rows: Iterator[tuple[Any, ...]], asides: Asides) -> Iterator[Row]:
    empty = number = 0
    for number, row in enumerate(rows, 1):
        cells = [_show_cell(cell) for cell in row[: MAX_COLUMNS + 1]] + asides.pop(number, [])
        if any(cells):
            empty = 0
            yield number, cells
        elif row:
            empty += 1
            if empty == MAX_EMPTY:
                break
    yield from ((max(row, number), asides[row]) for row in sorted(asides))


def _join_texts(tree: Any) -> str:
    return " ".join(" ".join(part.text or "" for part in tree.iter() if name_of(part) == "t").split())


def _show_cell(cell: Any) -> str:
    """Returns the text of a cell: a midnight date without its time, a duration in hours, a whole number without a
    point, an amount with its currency or unit."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    if isinstance(value, timedelta):
        return f"{value // timedelta(hours=1)}:{value // timedelta(minutes=1) % 60:02}:{value.seconds % 60:02}"
    if isinstance(value, int | float) and not isinstance(value, bool) and (shown := _show_unit(value, cell)):
        return shown
    if isinstance(value, float):
        return f"{value:.15g}"
    return " ".join(str(value)[:MAX_CELL].split())


def _show_unit(value: float, cell: Any) -> str:
    """Returns a number with the words and signs of its format; "" without any."""
    form = _MARKUP.sub(
        lambda part: part["sign"] or part["words"] or part["letter"] or "", cell.number_format[:MAX_FORMAT]
    )
    parts = _PLACES.fullmatch(form.partition(";")[0])
    if parts is None or not (parts["before"].strip() or parts["after"].strip()):
        return ""
    factor = 100 if "%" in parts["before"] + parts["after"] else 1
    group = "," if "," in parts["whole"] else ""
    step = Decimal(1).scaleb(-len(parts["decimals"] or ""))
    number = (Decimal(str(value)) * factor).quantize(step, ROUND_HALF_UP, Context(prec=MAX_DIGITS))
    return f"{parts['before']}{number:{group}f}{parts['after']}".strip()


def read_slides(path: Path, data: bytes) -> list[Document]:
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
