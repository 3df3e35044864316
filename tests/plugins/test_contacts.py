"""Contacts: a source for each, its fields as facts about that person."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from memory import Memory
from memory.nouns import Answer
from memory.protocols import Embedder
from plugins.manager import Plugins
from plugins.readers import Unreadable, documents
from tests.plugins.conftest import Read
from tests.plugins.places import find_facts, find_place

CONTACTS = """BEGIN:VCARD
VERSION:3.0
N:Silva;Ana;Maria;;
FN:Ana Silva
NICKNAME:Aninha,Nini
item1.TEL;TYPE=CELL,VOICE:+351 912 345 678
TEL;TYPE=work:+351 220 111 222
EMAIL;TYPE=INTERNET:ana@lumen.example
BDAY:19860803
ORG:Lumen;Design
TITLE:Engineer
ADR;TYPE=home:;;Rua do Farol 1;Porto;;4000-001;Portugal
item2.X-ABRELATEDNAMES:Bo Larsen
item2.X-ABLabel:_$!<Brother>!$_
NOTE:Allergic to nuts.\\nLikes fog\\, a lot.
CATEGORIES:friends,Old boats
UID:u-1
REV:20260308T101500Z
PHOTO;ENCODING=b;TYPE=JPEG:AAAA
 BBBB
END:VCARD
"""
OLD = """BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=B6rg
TEL;HOME;PREF:030 1234
NOTE;ENCODING=QUOTED-PRINTABLE:a long =
note
BDAY:--0412
END:VCARD
"""


def test_a_contact(read: Read) -> None:
    ana, jorg = found = read("contacts.vcf", CONTACTS + OLD)
    assert (ana.title, ana.aliases, ana.tags) == ("Ana Silva", ("Aninha", "Nini"), ("friends", "Old-boats"))
    assert ana.uri.endswith("#u-1") and ana.at == datetime(2026, 3, 8, 10, 15, tzinfo=UTC)
    assert "AAAA" not in ana.text and "Allergic to nuts.\nLikes fog, a lot." in ana.text
    assert {
        ("Ana Silva", "Phone", "+351 912 345 678"), ("Ana Silva", "Phone", "+351 220 111 222"),
        ("Ana Silva", "Email", "ana@lumen.example"), ("Ana Silva", "Birthday", "1986-08-03"),
        ("Ana Silva", "Organisation", "Lumen, Design"), ("Ana Silva", "Job title", "Engineer"),
        ("Ana Silva", "Address", "Rua do Farol 1, Porto, 4000-001, Portugal"), ("Ana Silva", "Brother", "Bo Larsen"),
        ("Jörg Müller", "Phone", "030 1234"), ("Jörg Müller", "Birthday", "12 April"),
    } <= find_facts(found)  # fmt: skip
    for words, line in {"(mobile)": 6, "Rua do Farol": 12, "nuts": 15, "030 1234": 25, "a long note": 26}.items():
        assert find_place(found, words) == f"contacts.vcf:{line}"
    assert jorg.title == "Jörg Müller"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory, plugins: Plugins, static: Embedder) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("contacts")
    path = folder / "contacts.vcf"
    path.write_text(CONTACTS + OLD, encoding="utf-8")
    with Memory.open(folder / "memory.db", embedder=static) as memory:
        memory.ingest.remember_many(documents(plugins.reader_for(path, 1), path, path.read_bytes(), path.stat()))
        yield memory


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is Ana's phone number?", "+351 912 345 678"),
        ("When is Ana's birthday?", "1986-08-03"),
        ("Where does Ana live?", "Rua do Farol 1"),
        ("Who is Ana's brother?", "Bo Larsen"),
        ("What is Aninha's email?", "ana@lumen.example"),
    ],
)
def test_what_is_asked_of_a_contact(memory: Memory, question: str, answer: str) -> None:
    *_, told = memory.questions.ask(question)
    assert isinstance(told, Answer) and answer in told.lines[0].text


@pytest.mark.parametrize(
    "text", ["only words", "BEGIN:VCARD\nTEL:1\nEND:VCARD\n", "FN:Nobody\n", "BEGIN:VCARD\nFN\nEND:VCARD"]
)
def test_contacts_without_a_name(read: Read, text: str) -> None:
    with pytest.raises(Unreadable, match="no contact with a name in it"):
        read("a.vcf", text)


def test_a_contact_that_never_ends(read: Read) -> None:
    first, second = read("a.vcf", "BEGIN:VCARD\nFN:Ida\nTEL:1\nBEGIN:VCARD\nORG:Lumen;\nBDAY:soon\n")
    assert (first.title, second.title, second.text) == ("Ida", "Lumen", "# Lumen\nOrganisation: Lumen\nBirthday: soon")
