"""Which of two notes answers how things are: the newer one, where it tells the same."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory import Memory
from memory.nouns import Answer
from tests.memory.conftest import OpenFilled
from tests.memory.facts.asserting import assert_quoted


@pytest.fixture
def notes(open_filled: OpenFilled) -> Memory:
    return open_filled(fill_notes)


def fill_notes(memory: Memory) -> None:
    for day, text in (
        ("2023-03-14", "For the carrier events the message broker of our choice shall be Kafka."),
        ("2025-05-20", "About carrier events: back again on RabbitMQ."),
        ("2025-06-01", "The offsite of the team was loud and long."),
    ):
        memory.ingest.remember(text, source=day, at=datetime.fromisoformat(day).replace(tzinfo=UTC))


def first(memory: Memory, question: str) -> str:
    *_, answer = memory.questions.ask(question)
    assert isinstance(answer, Answer)
    return answer.citations[0].quote


def test_the_newest_that_tells_the_same_answers_how_it_is(notes: Memory) -> None:
    assert "RabbitMQ" in first(notes, "What carries the carrier events now?")


def test_what_was_asked_of_the_past_is_not_answered_by_the_newest(notes: Memory) -> None:
    assert "Kafka" in first(notes, "Which message broker was the choice for the carrier events?")


def test_a_line_that_only_states_what_was_replaced_is_not_first(fresh: Memory) -> None:
    for day, text, due in (
        ("2024-01-10", "Submission: September 2026, so there is no slack at all for the thesis.", "September 2026"),
        ("2025-03-10", "The graduate school has agreed to May 2027.", "May 2027"),
    ):
        fresh.ingest.remember(text, source=day, at=datetime.fromisoformat(day).replace(tzinfo=UTC))
        assert_quoted(fresh, text, "PX7", "version", due)  # in words that the question is not asked in
    assert "September 2026" not in first(fresh, "When will the submission of the thesis be?")
