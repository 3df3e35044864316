"""LibreOffice and RTF: paragraphs, slides, sheets, and what bad ones get."""

from __future__ import annotations

import zipfile
from datetime import datetime
from io import BytesIO

import pytest

from plugins.readers import MIB, Unreadable
from tests.plugins.conftest import Read
from tests.plugins.places import find_place

SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "presentation", "draw", "meta")
)


def make_odf(kind: str, content: str, stated: str = "", manifest: str = "<manifest/>", head: str = "") -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/manifest.xml", manifest)
        body = f"<office:body><office:{kind}>{content}</office:{kind}></office:body>"
        links = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
        archive.writestr(
            "content.xml", f"{head}<office:document-content {SPACES} {links}>{body}</office:document-content>"
        )
        meta = f'<office:meta xmlns:dc="http://purl.org/dc/elements/1.1/">{stated}</office:meta>'
        archive.writestr("meta.xml", f"<office:document-meta {SPACES}>{meta}</office:document-meta>")
    return file.getvalue()


def table(*rows: str, name: str = "Rent") -> str:
    held = "".join(f"<table:table-row{row}</table:table-row>" for row in rows)
    return f'<table:table table:name="{name}">{held}</table:table>'


def cells(*words: str) -> str:
    return ">" + "".join(f"<table:table-cell><text:p>{one}</text:p></table:table-cell>" for one in words)


ROOF = make_odf(
    "text",
    '<text:h text:outline-level="2">Builder</text:h><text:p>The builder is<text:s/>Casa <text:span>Nova</text:span>'
    "<text:note>a footnote</text:note>.</text:p><text:list><text:list-item><text:p>slates</text:p></text:list-item>"
    f'</text:list>{table(cells("a crane", "two days"))}<text:p>See <text:a xlink:href="http://x.example">us</text:a></text:p>',
    "<dc:title>The roof</dc:title><dc:date>2026-03-09T08:30:00.123</dc:date><dc:creator>Ada</dc:creator>",
)


def test_a_text(read: Read) -> None:
    (roof,) = found = read("roof.odt", ROOF)
    assert (roof.title, roof.properties) == ("The roof", {"author": "Ada"})
    assert roof.at is not None and roof.at.date().isoformat() == "2026-03-09"
    assert roof.text == (
        "## Builder\n\nThe builder is Casa Nova.\n\n- slates\n\n| a crane | two days |\n\nSee [us](http://x.example)"
    )
    assert find_place(found, "Casa Nova") == "roof.odt, paragraph 2"
    assert find_place(found, "two days") == "roof.odt, paragraph 4"


def test_a_letter_without_headings(read: Read) -> None:
    found = read(
        "letter.odt", make_odf("text", "<text:p>Dear Bram,</text:p><text:p/><text:p>the key is here.</text:p>")
    )
    assert found[0].title == "letter" and find_place(found, "the key") == "letter.odt, paragraph 3"


def test_slides(read: Read) -> None:
    slide = (
        '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>{}</text:p></draw:text-box>'
        "</draw:frame>"
        "<draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame></draw:page>"
    )
    pages = slide.format("Horns", "Heard for 3 miles.") + slide.format("Bells", "Cast in loam.")
    found = read("talk.odp", make_odf("presentation", pages))
    assert found[0].title == "Horns" and "# Bells\n\nCast in loam." in found[0].text
    assert find_place(found, "3 miles") == "talk.odp, slide 1" and find_place(found, "loam") == "talk.odp, slide 2"


def test_sheets(read: Read) -> None:
    day = '><table:table-cell table:value-type="date" table:date-value="2026-04-01"/>' + cells("712.5")[1:]
    empty = ' table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="16384"/>'
    rent, power = found = read(
        "costs.ods",
        make_odf(
            "spreadsheet",
            table(cells("month", "euros"), day, empty, cells("last", "row")) + table(cells("a b"), name="B"),
        ),
    )
    assert rent.text == "month: 2026-04-01; euros: 712.5\nmonth: last; euros: row" and rent.lines == (2, 1_000_003)
    assert rent.title == "costs, Rent" and power.uri.endswith("costs.ods#B")
    assert find_place(found, "712.5") == "costs.ods, sheet Rent, row 2"


def test_rtf(read: Read) -> None:
    head = r"{\rtf1\ansi\ansicpg1252{\info{\title Rent}{\creatim\yr2026\mo3\dy2\hr9}}\pard "
    found = read("rent.rtf", rf"{head}The caf\'e9 is shut.\par\par {{\b The rent}} is 690 \u8364?.\par}}")
    assert found[0].title == "Rent" and found[0].at == datetime(2026, 3, 2).astimezone()
    assert find_place(found, "The café is shut.") == "rent.rtf, paragraph 1"
    assert find_place(found, "The rent is 690 €.") == "rent.rtf, paragraph 3"
    plain = read("plain.rtf", r"{\rtf1 one\par two}")
    assert plain[0].title == "plain" and find_place(plain, "two") == "plain.rtf, paragraph 2"


LAUGHS = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.odt", ROOF[:-99], "a damaged odt file"),
        ("a.odt", make_odf("text", "<text:p>never closed"), "a damaged odt file"),
        (
            "a.odt",
            make_odf("text", "x", manifest="<e><encryption-data/></e>"),
            "encrypted; save it without its password",
        ),
        ("a.odt", make_odf("text", "<text:p>&b;</text:p>", head=LAUGHS), "a damaged odt file: EntitiesForbidden"),
        ("a.ods", make_odf("spreadsheet", table(cells(""))), "no text in it"),
        ("a.rtf", b"hello", "not RTF"),
        ("a.rtf", b"{\\rtf1 }", "no text in it"),
    ],
    ids=["cut", "open", "locked", "entities", "empty", "not rtf", "empty rtf"],
)
def test_bad_files(read: Read, name: str, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(name, data)
    assert caught.value.reason.startswith(reason)


def test_a_text_that_unpacks_to_too_much(read: Read) -> None:
    with pytest.raises(Unreadable, match="its text unpacks to 33 MiB"):
        read("a.odt", make_odf("text", "x" * 33 * MIB))
