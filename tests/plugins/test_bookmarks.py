"""Bookmarks of browsers: folders, addresses and days."""

from __future__ import annotations

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
CHROME = """{
   "checksum": "x",
   "roots": {
      "bookmark_bar": {
         "children": [ {
            "date_added": "13417437600000000",
            "name": "Tide tables",
            "type": "url",
            "url": "https://tides.example/"
         }, {"name": "Boats", "type": "folder", "children": [
            {"name": "Oars", "url": "https://oars.example/", "date_added": "soon"}
         ]} ],
         "name": "Bookmarks bar"
      },
      "sync_transaction_version": "1"
   }
}
"""
FIREFOX = """{"title": "", "type": "text/x-moz-place-container", "children": [
 {"title": "Menu", "children": [
  {"title": "Tide tables", "dateAdded": 1772964000000000, "uri": "https://tides.example/", "tags": "sea"}]}]}"""


def test_exported_bookmarks(read: Read) -> None:
    (page,) = found = read("bookmarks.html", EXPORTED)
    assert page.title == "Bookmarks" and page.at is not None and page.at.date().isoformat() == "2026-03-08"
    assert page.text == (
        "## Boats\n\n- [Tide & time](https://tides.example/), added 2026-03-08 #sea #to-do\n  For the dinghy\n\n"
        "## Boats › Old\n\n- [Oars](https://oars.example/)\n\n"
        "## Bookmarks\n\n- [https://fog.example/](https://fog.example/)"
    )
    assert find_place(found, "For the dinghy") == "bookmarks.html:8"
    assert find_place(found, "Oars") == "bookmarks.html:13"


def test_bookmarks_of_chrome_and_firefox(read: Read) -> None:
    for name in ("Bookmarks", "bookmarks.json"):
        (one,) = found = read(name, CHROME)
        assert one.text == (
            "## Bookmarks bar\n\n- [Tide tables](https://tides.example/), added 2026-03-08\n\n"
            "## Bookmarks bar › Boats\n\n- [Oars](https://oars.example/)"
        )
        assert find_place(found, "Tide tables") == f"{name}:5" and find_place(found, "Oars") == f"{name}:11"
    found = read("bookmarks-2026-03-09.json", FIREFOX)
    assert found[0].text == "## Menu\n\n- [Tide tables](https://tides.example/), added 2026-03-08 #sea"
    assert find_place(found, "Tide tables") == "bookmarks-2026-03-09.json:3"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.jsonlz4", "mozLz40", "a compressed Firefox backup: use Bookmarks, Manage"),
        ("Bookmarks", "{broken", "not valid JSON"),
        ("Bookmarks", "{}", "JSON, but not the bookmarks of a browser"),
        ("a.html", "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF='x", "no text in it"),
    ],
)
def test_bad_bookmarks(read: Read, name: str, text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(name, text)
    assert caught.value.reason.startswith(reason)
