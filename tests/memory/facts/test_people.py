"""People of the owner and their data, by form: who is what to them, a note about them, signatures of mails."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memory.facts.attributes import attribute_of, is_about_owner, names_told, person_of
from memory.facts.extraction import OWNER
from memory.facts.rules.extract import extract_by_rules

AT = datetime(2025, 3, 1, tzinfo=UTC)


def facts(text: str, title: str, speaker: str | None = None, **properties: Any) -> set[tuple[str, str, str]]:
    found = extract_by_rules(text, title, AT, speaker, properties, True)
    return {(one.subject, one.predicate, one.object) for one in found.relations}


@pytest.mark.parametrize(
    ("text", "title", "told"),
    [
        ("My dentist is Dr. Kaya.", "2025-03-01", ("dentist", "Dr. Kaya")),
        ("Picked up my daughter Ife at four.", "2025-03-01", ("daughter", "Ife")),
        ("Kevin Dunne, our landlord, came by.", "2025-03-01", ("landlord", "Kevin Dunne")),
        ("My sister.\nLives in Graz.", "Rosa", ("sister", "Rosa")),
        ("Unsere Tochter, geboren 2016.", "Marie", ("tochter", "Marie")),
        ("Grace Adeyemi - optician - Mersey Square", "people", ("optician", "Grace Adeyemi")),
        ("Mein Hausarzt ist Dr. Sommer und wohnt hier in der Straße.", "Tagebuch", ("hausarzt", "Dr. Sommer")),
    ],
)
def test_who_is_what_to_the_owner(text: str, title: str, told: tuple[str, str]) -> None:
    assert (OWNER, *told) in facts(text, title)


@pytest.mark.parametrize(
    "text",
    ["My wife, Monday is fine.", "Her dentist is Dr. Kaya.", "My daughter is tired.", "> My dentist is Dr. Kaya."],
)
def test_what_tells_of_nobody_of_the_owner_s(text: str) -> None:
    assert not any(person_of(predicate) for _, predicate, _ in facts(text, "2025-03-01"))


def test_the_relation_of_a_note_s_person_stands_in_its_properties() -> None:
    assert (OWNER, "daughter", "Ife") in facts("# Ife\nYear 4.", "Ife", relation="daughter")


def test_a_speaker_s_people_are_theirs() -> None:
    assert ("Mirjam", "sister", "Ada") in facts("Hello, my sister Ada says hi.", "Visit", "Mirjam")


def test_a_note_about_its_writer_is_about_the_owner() -> None:
    text = "# About me\nName: Nadia Okafor\nPhone: 07700 900142\nAddress: 14 Ash Grove, Leeds"
    assert facts(text, "About me", car="Skoda") == {
        (OWNER, "Phone", "07700 900142"),
        (OWNER, "Address", "14 Ash Grove, Leeds"),
        (OWNER, "car", "Skoda"),
    }
    assert names_told({}, text) == ["Nadia Okafor"]
    assert is_about_owner("Über mich › Kontakt") and not is_about_owner("Notes about metal")


def test_a_signature_is_its_sender_s() -> None:
    mail = (
        "From: Kevin Dunne <k.dunne@lettings.example>\nTo: Joel <joel@postbox.example>\n\n"
        "Call Tony, 0161 496 0660.\n\n-- \nKevin Dunne\nTel. 0161 496 0415\n22 Tennyson Road, Stockport\n"
    )
    found = facts(mail, "Boiler", "Kevin Dunne", **{"from": "Kevin Dunne <k.dunne@lettings.example>"})
    assert found == {
        ("Kevin Dunne", "mail address", "k.dunne@lettings.example"),
        ("Kevin Dunne", "phone", "0161 496 0415"),
        ("Kevin Dunne", "address", "22 Tennyson Road, Stockport"),
    }


def test_attributes_are_named_in_any_language() -> None:
    assert [attribute_of(words) for words in ("mobile phone number", "Handynummer", "live", "boiler")] == [
        "phone", "phone", "address", None,
    ]  # fmt: skip
