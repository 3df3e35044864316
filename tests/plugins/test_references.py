"""Kindle's clippings and lists of references: highlights are quotations, notes are one's own words."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from plugins.readers import Unread, Unreadable
from plugins.readers.records import references
from tests.plugins.conftest import Read
from tests.plugins.places import find_facts, find_place

CLIPPINGS = """\ufeffTo the Lighthouse (Woolf, Virginia)
- Your Highlight on page 12 | Location 180-182 | Added on Sunday, 8 March 2019 10:15:00

It was a miracle
==========
To the Lighthouse (Woolf, Virginia)
- Your Highlight on page 12 | Location 180-183 | Added on Sunday, 8 March 2019 10:16:00

It was a miracle; my rent is 1 euro.
==========
To the Lighthouse (Woolf, Virginia)
- Your Note on page 12 | Location 183 | Added on Monday, March 9, 2019 10:17:00 AM

Deposit: 300 euros
==========
Der Leuchtturm
- Ihr Lesezeichen auf Seite 5 | Hinzugefügt am Montag, 9. März 2019 08:00:00


==========
Der Leuchtturm
- Ihre Markierung bei Position 44-45 | Hinzugefügt am Montag, 9. März 2019 08:01:00

Meine Tochter Ida
==========
"""
BIBTEX = """@comment{somebody: x}
@article{holm2021,
  title = {The {Fog} of {\\"O}land: caf{\\'e}},
  author = {Holm, Ada and Larsen, Bo},
  date = {2021-05-06},
  journaltitle = {Harbour Review},
  keywords = {fog, old lamps},
  abstract = {My daughter Ida hears it.},
  annotation = {“It was loud.” (Holm, 2021, p. 3) I doubt it.

Deposit: 300 euros}
}

@book{broken, title = {never closed

@misc{ok, title = "Fine"}
"""
RIS = """TY  - JOUR
TI  - Fog signals
AU  - Holm, Ada
AU  - Larsen, Bo
PY  - 2021/05/06/
AB  - The horn
goes on.
N1  - <p>“It was loud.” (Holm, 2021, p. 3)</p><p>Buy ear plugs.</p>
ER  -

TY  - BOOK
ID  - second
TI  - Lamps
ER  -
"""


def test_clippings_are_books_with_quotations_and_notes(read: Read) -> None:
    lighthouse, other = found = read("My Clippings.txt", CLIPPINGS)
    assert (lighthouse.title, lighthouse.properties, other.title) == (
        "To the Lighthouse", {"author": "Virginia Woolf"}, "Der Leuchtturm",
    )  # fmt: skip
    assert lighthouse.text == (
        "> It was a miracle; my rent is 1 euro.\n(Your Highlight on page 12, Location 180-183)\n\n"
        "Deposit: 300 euros\n(Your Note on page 12, Location 183)"
    )
    assert [at and at.date().isoformat() for _, at in lighthouse.parts] == ["2019-03-08", "2019-03-09"]
    assert find_place(found, "a miracle;") == "My Clippings.txt:9" and find_place(found, "300") == "My Clippings.txt:14"
    assert find_place(found, "Meine Tochter") == "My Clippings.txt:24" and "Lesezeichen" not in other.text
    facts = find_facts(found)
    assert ("To the Lighthouse", "Deposit", "300 euros") in facts and not [one for one in facts if one[0] == "owner"]


def test_bibtex(read: Read) -> None:
    fog, fine = found = read("library.bib", BIBTEX)
    assert (fog.title, fog.tags, fine.title) == ("The Fog of Öland: café", ("fog", "old-lamps"), "Fine")
    assert fog.at is not None and fog.at.date().isoformat() == "2021-05-06"
    assert fog.uri.endswith("/library.bib#holm2021")
    assert "> My daughter Ida hears it.\n\n> It was loud. (Holm, 2021, p. 3)\n\nI doubt it.\n\nDeposit" in fog.text
    assert find_place(found, "Ada Holm, Bo Larsen") == "library.bib:4"
    assert find_place(found, "I doubt it") == "library.bib:9" and find_place(found, "Deposit") == "library.bib:11"
    assert find_facts(found) == set(), "a bibliography is not about a life"
    parts = [*references.stream_bibtex(Path("a.bib"), BytesIO(BIBTEX.encode()))]
    assert [one for one in parts if isinstance(one, Unread)] == [Unread("line 14", "a damaged entry of BibTeX")]


def test_ris(read: Read) -> None:
    fog, lamps = found = read("library.ris", RIS)
    assert (fog.title, lamps.title, fog.properties["author"]) == ("Fog signals", "Lamps", "Ada Holm, Bo Larsen")
    assert fog.uri.endswith("#1") and lamps.uri.endswith("#second")
    assert "> The horn\n> goes on.\n\n> It was loud. (Holm, 2021, p. 3)\n\nBuy ear plugs." in fog.text
    assert find_place(found, "ear plugs") == "library.ris:8" and find_place(found, "Lamps") == "library.ris:13"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.bib", "only words", "no BibTeX entry in it"),
        ("a.bib", "@book{broken, title = {never closed", "no text in it"),
        ("a.ris", "only words", "no RIS reference in it"),
    ],
)
def test_bad_lists_of_references(read: Read, name: str, text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(name, text)
    assert caught.value.reason == reason


def test_what_only_looks_like_clippings_is_text(read: Read) -> None:
    assert read("a.txt", "Title\n- a | b\n\nwords\n")[0].title == "a"
    (one,) = read("a.txt", "Title\n- a | b\n\nwords\n==========\nbroken\n- \n==========\nno place\n")
    assert one.text == "> words\n(a, b)"
