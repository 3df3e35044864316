"""Word and PowerPoint: headings, paragraphs, slides, and what bad ones get."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import docx
import pptx
import pytest

from plugins.readers import MIB, Unreadable
from tests.plugins.conftest import MODIFIED, Read
from tests.plugins.places import find_place

WRITTEN = datetime(2026, 3, 9, 8, 30, tzinfo=UTC)


def save(file: Any) -> bytes:
    target = BytesIO()
    file.save(target)
    return target.getvalue()


def change(data: bytes, name: str, edit: Callable[[bytes], bytes]) -> bytes:
    """The zip with another content of one of its files."""
    target = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for one in old.namelist():
            new.writestr(one, edit(old.read(one)) if one == name else old.read(one))
    return target.getvalue()


@pytest.fixture(scope="module")
def plan() -> bytes:
    file = docx.Document()
    file.core_properties.title, file.core_properties.author = "The roof", "Ada"
    file.core_properties.modified = WRITTEN
    file.add_heading("Builder", 1)
    file.add_paragraph("The builder is Casa Nova.")
    file.add_heading("What it takes", 2)
    for item in ("slates from Angers", "a crane for two days"):
        file.add_paragraph(item, style="List Bullet")
    table = file.add_table(2, 2)
    for cell, words in zip(table._cells, ("what", "euros", "slates", "8,200"), strict=True):
        cell.text = words
    file.add_paragraph("It begins on 4 May.")
    return save(file)


def test_the_date_of_an_empty_template_is_none_of_the_document(read: Read) -> None:
    word, slides = docx.Document(), pptx.Presentation()
    word.add_paragraph("The mast was replaced in 2021.")
    slides.slides.add_slide(slides.slide_layouts[0]).shapes.title.text = "We race on Thursdays."
    assert [read(name, save(file))[0].at for name, file in (("a.docx", word), ("a.pptx", slides))] == [MODIFIED] * 2


def test_a_document_of_word(read: Read, plan: bytes) -> None:
    (roof,) = found = read("roof.docx", plan)
    assert (roof.title, roof.at, roof.properties["author"]) == ("The roof", WRITTEN, "Ada")
    assert roof.text == (
        "# Builder\n\nThe builder is Casa Nova.\n\n## What it takes\n\n- slates from Angers\n- a crane for two days\n\n"
        "| what | euros |\n| slates | 8,200 |\n\nIt begins on 4 May."
    )
    assert find_place(found, "Casa Nova") == "roof.docx, paragraph 2"
    assert find_place(found, "a crane") == "roof.docx, paragraph 5"
    assert find_place(found, "8,200") == "roof.docx, paragraph 7"


def test_a_letter_of_word_without_headings(read: Read) -> None:
    file = docx.Document()
    for line in ("Dear Bram,", "", "the key is with the neighbour.", "Ada"):
        file.add_paragraph(line)
    found = read("2026-02-01 letter.docx", save(file))
    assert found[0].title == "2026-02-01 letter"
    assert find_place(found, "the key") == "2026-02-01 letter.docx, paragraph 3"


@pytest.fixture(scope="module")
def talk() -> bytes:
    file = pptx.Presentation()
    file.core_properties.title, file.core_properties.modified = "Fog signals", WRITTEN
    for title, said in (("Horns", "The horn is heard for 3 miles."), ("Bells", "The bell was cast in 1911.")):
        slide = file.slides.add_slide(file.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, said
    file.slides[1].notes_slide.notes_text_frame.text = "Ask Ada who cast it."
    return save(file)


def test_a_talk(read: Read, talk: bytes) -> None:
    (fog,) = found = read("talk.pptx", talk)
    assert (fog.title, fog.at) == ("Fog signals", WRITTEN)
    assert fog.text.startswith("# Horns\n\nThe horn is heard for 3 miles.\n\n# Bells")
    assert find_place(found, "3 miles") == "talk.pptx, slide 1"
    assert find_place(found, "Ask Ada") == "talk.pptx, slide 2"


def test_a_talk_of_boxes_and_tables(read: Read) -> None:
    file = pptx.Presentation()
    file.slides.add_slide(file.slide_layouts[6])
    shapes = file.slides.add_slide(file.slide_layouts[6]).shapes
    shapes.add_textbox(0, 0, 9, 9).text_frame.text = "The lamp has 12 prisms."
    shapes.add_table(1, 2, 0, 9, 9, 9).table.cell(0, 1).text = "brass"
    found = read("boxes.pptx", save(file))
    assert find_place(found, "12 prisms") == "boxes.pptx, slide 2" == find_place(found, "brass")


def test_bad_documents_are_skipped_with_their_reason(read: Read, plan: bytes, talk: bytes) -> None:
    bad = {
        "cut.docx": (plan[:-200], "a damaged docx file"),
        "xml.docx": (change(plan, "word/document.xml", lambda xml: xml[:-90]), "a damaged docx file"),
        "xml.pptx": (change(talk, "ppt/slides/slide2.xml", lambda xml: xml[:-90]), "a damaged pptx file"),
        "other.pptx": (plan, "a damaged pptx file"),
        "bomb.docx": (
            change(plan, "word/document.xml", lambda xml: xml + b" " * 33 * MIB),
            "its text unpacks to 33 MiB",
        ),
        "old.docx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "encrypted; save it without its password"),
    }
    for name, (data, reason) in bad.items():
        with pytest.raises(Unreadable) as caught:
            read(name, data)
        assert caught.value.reason.startswith(reason), name


def test_entities_are_not_expanded(read: Read, plan: bytes) -> None:
    def declare(xml: bytes) -> bytes:
        head, _, rest = xml.partition(b"?>")
        entity = b'?><!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        return head + entity + rest.replace(b"Casa Nova", b"Casa &x;Nova")

    with pytest.raises(Unreadable, match="EntitiesForbidden"):
        read("a.docx", change(plan, "word/document.xml", declare))
