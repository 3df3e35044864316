"""Spreadsheets: sheets, rows, dates, and what bad ones get."""

from __future__ import annotations

import re
import zipfile
from datetime import UTC, date, datetime
from io import BytesIO

import openpyxl
import pytest

from plugins.readers import Unreadable
from plugins.readers.office import MAX_UNPACKED
from tests.plugins.conftest import Read
from tests.plugins.places import find_place


def save(book: openpyxl.Workbook) -> bytes:
    file = BytesIO()
    book.save(file)
    return file.getvalue()


@pytest.fixture(scope="module")
def costs() -> bytes:
    book = openpyxl.Workbook()
    rent, power = book.active, book.create_sheet("Power & water")
    rent.title, book.properties.title = "Rent", "Costs of the flat"
    for row in (("month", "what", "euros"), (date(2026, 3, 1), "rent", 690.0), (date(2026, 4, 1), "rent", 712.5)):
        rent.append(row)
    power["B3"], power["C3"], power["B5"], power["C5"] = "meter", "read by", 48_211, "Bram"
    return save(book)


def test_a_sheet_is_from_when_its_file_says(read: Read) -> None:
    book = openpyxl.Workbook()
    book.active.append(["plums", 3])
    book.properties.modified = datetime(2019, 3, 5, 10)
    packed = zipfile.ZipFile(BytesIO(save(book)))
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as other:
        for name in packed.namelist():
            told = packed.read(name)
            other.writestr(name, re.sub(rb"20\d\d(-\d\d){2}T[\d:]+Z", b"2019-03-05T10:00:00Z", told))
    assert [sheet.at for sheet in read("plums.xlsx", file.getvalue())] == [datetime(2019, 3, 5, 10, tzinfo=UTC)]


def test_each_sheet_is_a_table_with_its_rows(read: Read, costs: bytes) -> None:
    rent, power = found = read("costs.xlsx", costs)
    assert rent.title == "Costs of the flat, Rent"
    assert rent.text.split("\n")[1] == "month: 2026-04-01; what: rent; euros: 712.5"
    assert power.text == "meter: 48211; read by: Bram" and power.lines == (5,)
    assert find_place(found, "712.5") == "costs.xlsx, sheet Rent, row 3"
    assert find_place(found, "Bram") == "costs.xlsx, sheet Power & water, row 5"


def test_a_million_empty_rows_are_no_rows(read: Read) -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["A1048576"] = "the first", "the last"
    (sheet,) = read("gaps.xlsx", save(book))
    assert sheet.lines == (1_048_576,) and sheet.text == "the first: the last"


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (1234.5, "#,##0.00 [$€-407]", "1,234.50 €"),
        (1234.5, '"$"#,##0', "$1,235"),
        (-7, "[$£-809]#,##0.00;[Red]-[$£-809]#,##0.00", "£-7.00"),
        (0.075, "0.0%", "7.5%"),
        (3, '0 "crowns"', "3 crowns"),
        (3.25, "0.00", "3.25"),
        (12, "General", "12"),
        (0.5, "# ?/?", "0.5"),
        (1e9, "0.00E+00", "1000000000"),
    ],
)
def test_a_number_is_shown_with_its_unit(read: Read, value: float, number_format: str, shown: str) -> None:
    book = openpyxl.Workbook()
    book.active.append(["what", "amount"])
    book.active.append(["rent", value])
    book.active["B2"].number_format = number_format
    assert read("a.xlsx", save(book))[0].text == f"what: rent; amount: {shown}"


def pack(members: dict[str, bytes]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def bomb() -> bytes:
    """A zip that declares more than is unpacked of one."""
    data = bytearray(pack({"xl/worksheets/sheet1.xml": b"<a/>"}))
    entry = data.rfind(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (MAX_UNPACKED + 1).to_bytes(4, "little")
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"hello", "a damaged xlsx file"),
        (pack({"a.txt": b"no sheet"}), "a damaged xlsx file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "encrypted; save it without its password"),
        (bomb(), "unpacked it has 512 MiB"),
        (save(openpyxl.Workbook()), "no values in it"),
    ],
    ids=["text", "zip", "locked", "bomb", "empty"],
)
def test_bad_spreadsheets_are_skipped_with_their_reason(read: Read, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read("a.xlsx", data)
    assert caught.value.reason.startswith(reason)


def test_a_sheet_that_ends_early_is_damaged(read: Read, costs: bytes) -> None:
    with zipfile.ZipFile(BytesIO(costs)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["xl/worksheets/sheet1.xml"] = members["xl/worksheets/sheet1.xml"][:-80]
    with pytest.raises(Unreadable, match="a damaged xlsx file: sheet Rent"):
        read("a.xlsx", pack(members))


DRAWING = """<d:wsDr xmlns:d="urn:d" xmlns:a="urn:a"><d:twoCellAnchor><d:from><d:row>{}</d:row></d:from>
<d:sp><a:t>Ask</a:t><a:t> Orla</a:t></d:sp></d:twoCellAnchor></d:wsDr>"""


@pytest.mark.parametrize(("row", "place"), [(1, "row 2"), (8, "row 9")])
def test_a_text_box_is_read_at_its_row(read: Read, row: int, place: str) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Berth", "Fee"])
    book.active.append(["North", 30])
    target = BytesIO()
    book.save(target)
    relation = '<Relationships><Relationship Id="a" Type="x/drawing" Target="../drawings/a.xml"/></Relationships>'
    with zipfile.ZipFile(target, "a") as package:
        package.writestr("xl/worksheets/_rels/sheet1.xml.rels", relation)
        package.writestr("xl/drawings/a.xml", DRAWING.format(row))
    assert find_place(read("dues.xlsx", target.getvalue()), "Ask Orla") == f"dues.xlsx, sheet Sheet, {place}"
