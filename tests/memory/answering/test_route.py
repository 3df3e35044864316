"""Whether what was found is enough, by cheap signals."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from memory import Memory
from memory.answering.confidence import assess
from memory.nouns import Document
from memory.retrieval.state import RetrievalResult


@pytest.fixture
def town(fresh: Memory) -> Iterator[Memory]:
    notes = {
        "Ana Costa": "Ana Costa works at Lumen. She has a dog called Rex.",
        "Lumen": "Lumen is a workshop in Porto that makes lamps.",
        "Berit Lund": "Berit Lund sails every summer to Skagen.",
    }
    at = datetime(2024, 5, 1, tzinfo=UTC)
    fresh.remember_many(Document(f"/n/{name}.md", text, title=name, at=at) for name, text in notes.items())
    yield fresh


def found(memory: Memory, question: str, k: int = 10) -> RetrievalResult:
    return memory.questions.retrieve(question, k, None, None, None)


def looked(
    memory: Memory, question: str, k: int = 10, confidence: float = 0.9
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    one = found(memory, question, k)
    return assess(one, [hit.episode for hit in one.recall.hits], confidence, 0.34)


def test_what_names_one_thing_that_was_found_is_enough(town: Memory) -> None:
    assert looked(town, "Where does Ana Costa work?") == ((), ())


def test_two_things_that_a_passage_joins_are_enough(town: Memory) -> None:
    assert looked(town, "Does Ana Costa work at Lumen?") == ((), ())


def test_two_things_that_nothing_joins_are_not(town: Memory) -> None:
    assert looked(town, "Has Ana Costa met Berit Lund?")[0] == ("No passage connects what the question names.",)


def test_a_name_that_nobody_knows_is_a_gap(town: Memory) -> None:
    gaps, unknown = looked(town, "Does Ana Costa know Okafor Mensah?")
    assert unknown == ("Okafor Mensah",)
    assert gaps == ("Nothing is known by the name 'Okafor Mensah'.",)


def test_a_name_that_no_found_passage_holds_is_a_gap(town: Memory) -> None:
    one = found(town, "Where does Ana Costa work?")
    other = [hit.episode for hit in found(town, "Berit Lund", k=1).recall.hits]
    assert assess(one, other, 0.9, 0.34)[0] == ("No passage mentions 'Ana Costa'.",)


def test_little_confidence_is_a_gap(town: Memory) -> None:
    assert looked(town, "Where does Ana Costa work?", confidence=0.2)[0] == ("No line is likely to answer.",)


def test_another_time_than_the_one_asked_of_is_a_gap(town: Memory) -> None:
    assert "No passage is from the time of the question." in looked(town, "Where did Ana Costa work in May 2019?")[0]


def test_nothing_found_is_said_so(fresh: Memory) -> None:
    assert looked(fresh, "Where does Ana Costa work?")[0] == ("Nothing was found.",)
