"""Relations in words."""

from __future__ import annotations

import pytest

from memory.text.predicates import statement, subject_and_predicate


@pytest.mark.parametrize(
    ("subject", "predicate", "object", "words"),
    [
        ("Ana", "lives in", "Porto", "Ana lives in Porto"),
        ("you", "lives in", "Porto", "you live in Porto"),
        ("you", "is allergic to", "nuts", "you are allergic to nuts"),
        ("you", "studies", "law", "you study law"),
        ("The guillotine", "costs", "12,400 euros", "The guillotine costs 12,400 euros"),
        ("Ana", "joined", "the choir", "Ana joined the choir"),
        ("you", "gym", "29 euros a month", "your gym: 29 euros a month"),
        ("you", "landlord's number", "555 0172", "your landlord's number: 555 0172"),
        ("Ana", "phone", "555 0100", "Ana, phone: 555 0100"),
        ("Renew passport", "status", "done", "Renew passport, status: done"),
        ("Ana", "kids", "two", "Ana, kids: two"),
        ("Ana", "address", "Quay 4", "Ana, address: Quay 4"),
        ("Ana", "speed", "50 km/h", "Ana, speed: 50 km/h"),
        ("Pixel", "wiegt", "4,6 kg", "Pixel wiegt 4,6 kg"),
    ],
)
def test_a_noun_is_a_label_and_a_verb_is_spoken(subject: str, predicate: str, object: str, words: str) -> None:
    assert statement(subject, predicate, object) == words
    assert words.startswith(subject_and_predicate(subject, predicate))
