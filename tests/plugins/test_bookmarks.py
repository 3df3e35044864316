"""Bookmarks of browsers: folders, addresses and days."""

from __future__ import annotations

import json

import pytest

from plugins.readers import Unreadable
from tests.plugins.conftest import Read
from tests.plugins.places import find_place

EXPORTED = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="1709900000">Boats</H3>
    <DL><p>
        <DT><A HREF="https://tides.example/" ADD_DATE="1772964000" TAGS="sea,to do">Tide &amp; time</A>
        <DD>For the dinghy
        <DT><A HREF="javascript:x()">no</A>
        <DT><H3>Old</H3>
        <DL><p>
            <DT><A HREF="https://oars.example/" ADD_DATE="99999999999999999999">Oars</A>
        </DL><p>
    </DL><p>
    <DT><A HREF="https://fog.example/"></A>
</DL><p>
"""


def test_exported_bookmarks(read: Read) -> None:
    (page,) = found = read("bookmarks.html", EXPORTED)
    assert page.title == "Bookmarks" and page.at is not None and page.at.date().isoformat() == "2026-03-08"
    assert page.text == (
        "## Boats\n\n- [Tide & time](https://tides.example/), added 2026-03-08 #sea #to-do\n  For the dinghy\n\n"
        "## Boats › Old\n\n- [Oars](https://oars.example/)\n\n"
        "## Bookmarks\n\n- [https://fog.example/](https://fog.example/)"
    )
    assert find_place(found, "For the dinghy") == "bookmarks.html:9"
    assert find_place(found, "Oars") == "bookmarks.html:13"


def test_a_page_without_bookmarks_is_refused(read: Read) -> None:
    with pytest.raises(Unreadable, match="no text in it"):
        read("a.html", "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF='x")


def test_the_files_of_chrome_and_firefox_are_read_as_other_data(read: Read) -> None:
    firefox = {
        "title": "",
        "children": [{"title": "Menu", "children": [{"title": "Tides", "uri": "https://t.example/"}]}],
    }
    (document,) = read("bookmarks-2026-03-09.json", json.dumps(firefox))
    assert "Tides" in document.text and "https://t.example/" in document.text
