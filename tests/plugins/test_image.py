"""Pictures: what is told of them, and text in them where a program finds it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from plugins.readers import Unreadable
from tests.plugins.conftest import Read
from tests.plugins.pictures import SAID, install_program, make_drawing, make_photo
from tests.plugins.places import find_facts, find_place

XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<r:Description xmlns:d="http://purl.org/dc/elements/1.1/"><d:title><r:Alt><r:li>The roof</r:li></r:Alt></d:title>'
    "<d:subject><r:Bag><r:li>house</r:li><r:li>slates</r:li></r:Bag></d:subject></r:Description></r:RDF></x:xmpmeta>"
)


@pytest.fixture
def without_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))


@pytest.fixture
def with_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_program(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def test_a_photo(read: Read, with_program: None) -> None:
    (lamp,) = found = read("IMG_2041.jpg", make_photo())
    assert (lamp.title, lamp.tags, lamp.at) == ("Lamp", ("sea", "old-lamps"), datetime(2019, 3, 9, 9, 15, tzinfo=UTC))
    assert lamp.text == (
        "**Lamp**\n\nThe lamp of Gannet Head\n\n"
        "Taken on 2019-03-09 at 10:15 at 41.14960, -8.61090 with Canon EOS 5D.\n\n#sea #old-lamps"
    )
    assert find_place(found, "41.14960") == "IMG_2041.jpg" and find_facts(found) == set()
    (bare,) = read("IMG_2042.jpg", make_photo(told=False))
    assert (bare.title, bare.text) == ("IMG_2042", "Taken on 2019-03-09 at 10:15 with Canon EOS 5D.")


def test_what_programs_tell_of_a_drawing(read: Read, without_program: None) -> None:
    (plan,) = read("plan.png", make_drawing({"Title": "A plan", "Description": "The roof from above", "Author": "Ida"}))
    assert plan.text == "**A plan**\n\nThe roof from above\n\nBy Ida."
    (roof,) = read("roof.png", make_drawing({"XML:com.adobe.xmp": XMP}))
    assert (roof.title, roof.tags) == ("The roof", ("house", "slates"))


def test_text_in_a_picture_is_a_quotation(read: Read, with_program: None) -> None:
    (bill,) = found = read("bill.png", make_drawing())
    assert bill.text == f"> {SAID} (deu)" and find_facts(found) == set()
    assert find_place(found, "690 euros") == "bill.png"
    with pytest.raises(Unreadable, match="tesseract found no text"):
        read("icon.png", make_drawing(side=20))


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        (
            "a.png",
            make_drawing(),
            "a picture without a date, place or description; its text is",
        ),
        ("a.png", make_drawing()[:40], "a damaged picture"),
        ("a.jpg", b"\xff\xd8\xff\xe1\x00\x10Exif\x00\x00MM\x00*\x00\x00", "a damaged picture"),
        ("a.jpg", b"no picture at all", "a damaged picture"),
        ("a.png", make_drawing({"XML:com.adobe.xmp": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'}), "a picture without"),
    ],
)
def test_pictures_that_tell_nothing(read: Read, without_program: None, name: str, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(name, data)
    assert caught.value.reason.startswith(reason)
