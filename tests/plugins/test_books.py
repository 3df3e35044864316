"""EPUB and notebooks: parts, cells, and what bad ones get."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO

import pytest

from plugins.readers import Unreadable
from tests.plugins.conftest import Read
from tests.plugins.places import find_place

CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'


def make_epub(pages: dict[str, str], stated: str = "", more: dict[str, str] | None = None) -> bytes:
    items = "".join(
        f'<item id="i{n}" href="{name.replace(" ", "%20")}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(pages)
    )
    order = "".join(f'<itemref idref="i{n}"/>' for n in range(len(pages)))
    dublin = "http://purl.org/dc/elements/1.1/"
    book = (
        f'<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="{dublin}"><metadata>{stated}</metadata>'
        f"<manifest>{items}</manifest><spine>{order}</spine></package>"
    )
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OEBPS/book.opf", book)
        for name, content in {**{f"OEBPS/{name}": page for name, page in pages.items()}, **(more or {})}.items():
            archive.writestr(name, content)
    return file.getvalue()


FOG = make_epub(
    {
        "part 1.xhtml": "<html><body><h1>Horns</h1><p>A horn is heard for 3 miles.</p></body></html>",
        "2.xhtml": "<html><body><h1>Bells</h1><h2>Casting</h2><p>Bells are cast in loam.</p></body></html>",
    },
    "<dc:title>Fog signals</dc:title><dc:creator>Ada Holm</dc:creator><dc:date>2021-05-06</dc:date>",
)


def test_a_book_has_parts_title_author_and_date(read: Read) -> None:
    (fog,) = found = read("fog.epub", FOG)
    assert fog.title == "Fog signals" and fog.properties == {"author": "Ada Holm"}
    assert fog.at is not None and fog.at.date().isoformat() == "2021-05-06"
    assert "# Bells\n\n## Casting\n\nBells are cast" in fog.text
    assert find_place(found, "3 miles") == "fog.epub, part 1"
    assert find_place(found, "loam") == "fog.epub, part 2"


def test_a_book_of_which_a_part_is_missing_and_one_is_locked(read: Read) -> None:
    locked = '<encryption><CipherReference URI="OEBPS/b.xhtml"/></encryption>'
    pages = {"a.xhtml": "<p>The lamp is lit.</p>", "b.xhtml": "xxx", "c.xhtml": "<p>The end.</p>"}
    found = read("b.epub", make_epub(pages, more={"META-INF/encryption.xml": locked}))
    assert find_place(found, "The end.") == "b.epub, part 3"
    assert (
        found[0].properties["not read"] == "parts that are encrypted and were not read" and "xxx" not in found[0].text
    )


def note(*cells: dict[str, object]) -> str:
    return json.dumps({"nbformat": 4, "cells": cells, "metadata": {"kernelspec": {"language": "python"}}})


def test_a_notebook_has_cells_and_outputs(read: Read) -> None:
    printed = {"output_type": "stream", "text": ["The tide is 3.4 m\n"]}
    given = {"output_type": "execute_result", "data": {"text/plain": "42", "image/png": "AAAA"}}
    found = read(
        "tides.ipynb",
        note(
            {"cell_type": "markdown", "source": ["# Tides\n", "\n", "Measured at the pier."]},
            {"cell_type": "code", "source": "", "outputs": []},
            {"cell_type": "code", "source": ["high = tide()\n", "print(high)"], "outputs": [printed, given]},
        ),
    )
    assert found[0].title == "Tides" and "AAAA" not in found[0].text
    assert "```python\nhigh = tide()\nprint(high)\n```\n\n```\nThe tide is 3.4 m\n```" in found[0].text
    assert find_place(found, "at the pier") == "tides.ipynb, cell 1"
    assert find_place(found, "3.4 m") == "tides.ipynb, cell 3"


def test_a_notebook_of_notes_alone(read: Read) -> None:
    cells = ({"cell_type": "markdown", "source": f"Day {n}: the sea was calm."} for n in range(1, 4))
    assert find_place(read("log.ipynb", note(*cells)), "Day 2") == "log.ipynb, cell 2"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.epub", FOG[:-99], "a damaged epub file"),
        ("a.epub", make_epub({}), "a damaged epub file: no pages"),
        (
            "a.epub",
            make_epub(
                {"a.xhtml": "x"}, more={"META-INF/encryption.xml": '<e><CipherReference URI="OEBPS/a.xhtml"/></e>'}
            ),
            "a book with copy protection",
        ),
        ("a.epub", make_epub({"a.xhtml": "x"}, "<dc:title>&undeclared;</dc:title>"), "a damaged epub file"),
        ("a.ipynb", b'{"cells": [', "not a valid notebook"),
        ("a.ipynb", b'{"worksheets": []}', "not a notebook of version 4"),
        ("a.ipynb", b'{"cells": [1, {"source": 2}, {"source": "", "outputs": 3}]}', "no text in it"),
    ],
)
def test_bad_books_and_notebooks(read: Read, name: str, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(name, data)
    assert caught.value.reason.startswith(reason)
