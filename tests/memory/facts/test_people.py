"""People of the owner and their data, by form: who is what to them, a note about them, signatures of mails."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memory.facts.attributes import attribute_of, is_about_owner, list_own_names, person_of
from memory.facts.extraction import OWNER
from memory.facts.rules.extract import extract_by_rules

AT = datetime(2025, 3, 1, tzinfo=UTC)


def facts(text: str, title: str, speaker: str | None = None, **properties: Any) -> set[tuple[str, str, str]]:
    found = extract_by_rules(text, title, AT, speaker, properties, True)
    return {(one.subject, one.predicate, one.object) for one in found.relations}


@pytest.mark.parametrize(
    "text", ["My dentist is Dr. Kaya.", "Kevin Dunne, our landlord, came by.", "Grace Adeyemi - optician", "My sister."]
)
def test_prose_about_people_is_left_to_the_text(text: str) -> None:
    assert not any(person_of(predicate) for _, predicate, _ in facts(text, "People"))


def test_the_relation_of_a_note_s_person_stands_in_its_properties() -> None:
    assert (OWNER, "daughter", "Ife") in facts("# Ife\nYear 4.", "Ife", relation="daughter")


def test_a_note_about_its_writer_is_about_the_owner() -> None:
    text = "# About me\nName: Nadia Okafor\nPhone: 07700 900142\nAddress: 14 Ash Grove, Leeds"
    assert facts(text, "About me", car="Skoda") == {
        (OWNER, "Phone", "07700 900142"),
        (OWNER, "Address", "14 Ash Grove, Leeds"),
        (OWNER, "car", "Skoda"),
    }
    assert list_own_names({}, text) == ["Nadia Okafor"]
    assert is_about_owner("Über mich › Kontakt") and not is_about_owner("Notes about metal")


def test_a_page_about_its_writer_that_somebody_else_wrote_is_not_about_the_owner() -> None:
    text = "# About me\nPhone: 07700 900142"
    assert all(subject != OWNER for subject, _, _ in facts(text, "About me", "Ada Berg"))


def test_the_head_and_the_signature_of_a_mail_are_left_to_the_text() -> None:
    mail = (
        "From: Kevin Dunne <k.dunne@lettings.example>\nTo: Joel <joel@postbox.example>\n\n"
        "See you.\n\n-- \nKevin Dunne\nWarden of ward 4.1\n22 Tennyson Road, Stockport\n"
    )
    assert not facts(mail, "Boiler", "Kevin Dunne", **{"from": "Kevin Dunne <k.dunne@lettings.example>"})


def test_attributes_are_named_in_any_language() -> None:
    assert [attribute_of(words) for words in ("mobile phone number", "Handynummer", "live", "boiler")] == [
        "phone", "phone", "address", None,
    ]  # fmt: skip
