"""Facts of what a person says of themselves to this program, and what is none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.facts.extraction import OWNER, ExtractedRelation
from memory.facts.rules.extract import extract_by_rules

SAID = datetime(2026, 3, 4, 10, tzinfo=UTC)


def told(text: str, told: bool = True) -> tuple[ExtractedRelation, ...]:
    return extract_by_rules(f"me: {text}", "My old copy", SAID, "me", {}, True, chat=True, typed=told).relations


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("I moved to Bergen", "lives in", "Bergen"),
        ("We have just moved to the Hague.", "lives in", "the Hague"),
        ("I live in New York now", "lives in", "New York"),
        ("I work at Equinor now", "works at", "Equinor"),
        ("I have just started working at Ferry & Sons.", "works at", "Ferry & Sons"),
        ("My phone number is 555 9999", "phone", "555 9999"),
        ("my new address is Kaigaten 5, Bergen.", "address", "Kaigaten 5, Bergen"),
        ("My email is ana@pier.no", "email", "ana@pier.no"),
        ("My rent is now 9,500 kroner", "rent", "9,500 kroner"),
        ("remember that my dentist is Dr. Moe", "dentist", "Dr. Moe"),
        ("My employer is Equinor now", "employer", "Equinor"),
        ("Ich bin nach Bergen gezogen", "lives in", "Bergen"),
        ("Meine Telefonnummer ist 555 7777", "phone", "555 7777"),
    ],
)
def test_a_plain_sentence_is_a_fact_of_which_there_is_one(text: str, predicate: str, value: str) -> None:
    found = [(one.subject, one.predicate, one.object, one.modality) for one in told(text) if one.single]
    assert found == [(OWNER, predicate, value, "asserted")]


@pytest.mark.parametrize(
    "text",
    [
        "My phone is broken",
        "My car is in the garage",
        "My address is wrong",
        "My rent is too high",
        "I live in fear",
        "I moved to tears",
        "I work at night",
        "My cat is hungry",
        "My bank is closed today",
        "I will move to Bergen",
        "Ana moved to Bergen",
    ],
)
def test_what_does_not_look_like_a_value_is_no_fact(text: str) -> None:
    assert told(text) == ()


def test_what_is_over_is_denied() -> None:
    (one,) = told("I no longer work at Fjordkraft")
    assert (one.predicate, one.object, one.modality) == ("works at", "Fjordkraft", "negated")


def test_it_holds_from_the_day_that_is_named() -> None:
    (one,) = told("I moved to Bergen on 1 February")
    assert one.valid_from is not None and one.valid_from.date().isoformat() == "2026-02-01"


def test_in_a_note_it_is_left_to_a_model() -> None:
    assert told("I moved to Bergen", told=False) == ()
