"""The pictures in README and docs are there, small, and show nothing of the machine they were made on."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.vault import ROOT
from tests.docs.pictures import IMAGES, animate, lighten

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = {
    (page.parent / name).resolve() for page in PAGES for name in re.findall(r"!\[.*?\]\((.+?)\)", page.read_text())
}
FRAME = '<svg viewBox="0 0 9 9" xmlns="http://www.w3.org/2000/svg"><style>@font-face {{ src: url(x) }} </style>{}</svg>'


@pytest.mark.parametrize("picture", sorted(IMAGES.glob("*")), ids=lambda path: path.name)
def test_a_picture_is_shown_somewhere_and_tells_nothing_of_the_machine(picture: Path) -> None:
    assert picture.resolve() in SHOWN and picture.stat().st_size < 900_000
    if picture.suffix == ".png":
        return
    text = picture.read_text("utf-8")
    assert not re.search(r"/(tmp|home|root|Users|work)/|https?://(?!www\.w3\.org)", text.replace("&#160;", " "))
    ET.fromstring(text)


def test_every_picture_that_is_shown_is_there() -> None:
    assert SHOWN and all(path.is_file() for path in SHOWN)


def test_the_recording_begins_with_make_chat_and_is_in_the_chat_after_seconds() -> None:
    recording = (IMAGES / "chat.svg").read_text("utf-8").replace("&#160;", " ")
    first, second, third, fourth, *_ = re.split(r'<g class="frame\d+">', recording)[1:]
    assert all("make chat" in frame for frame in (first, second, third)) and "Newest notes" in fourth
    whole, share = re.search(r"frame3 ([\d.]+)s", recording), re.search(r"frame3\{[^}]*\}([\d.]+)%", recording)
    assert whole and share and float(whole[1]) * float(share[1]) / 100 < 5.0


def test_frames_follow_each_other() -> None:
    recording = animate([(lighten(FRAME.format("<text>one</text>")), 1.0), (lighten(FRAME.format("<b/>")), 3.0)])
    assert "@font-face" not in recording
    assert "25.000%{visibility:hidden}" in recording and "25.000%{visibility:visible}" in recording
    ET.fromstring(recording)
