"""Kindle's clippings and lists of references: highlights are quotations, notes are one's own words."""

from __future__ import annotations

from memory.nouns import UNKNOWN
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


def test_references_are_text_whose_words_are_not_the_owners(read: Read) -> None:
    (works,) = found = read("library.bib", BIBTEX)
    assert (works.title, works.speaker, find_place(found, "Holm, Ada")) == ("library", UNKNOWN, "library.bib:4")
    assert find_facts(found) == set(), "a bibliography is not about a life"
    assert read("library.ris", "TY  - JOUR\nAU  - Holm, Ada\nER  -\n")[0].speaker == UNKNOWN


def test_what_only_looks_like_clippings_is_text(read: Read) -> None:
    assert read("a.txt", "Title\n- a | b\n\nwords\n")[0].title == "a"
    (one,) = read("a.txt", "Title\n- a | b\n\nwords\n==========\nbroken\n- \n==========\nno place\n")
    assert one.text == "> words\n(a, b)"
