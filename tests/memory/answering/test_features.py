"""Features: what a line holds of a question."""

from __future__ import annotations

import pytest

from memory import Memory
from memory.answering.features import AnswerState
from plugins.embedders.static import StaticEmbedder


@pytest.mark.parametrize(
    ("line", "held"),
    [
        ("Tante Rosi, Am Markt 2, 0345 77123", True),
        ("Rosi +49 341 700-12", True),
        ("Rosi: 415-555-0143", True),
        ("Rosi came on 2026-11-23 and paid 12 000 000", False),
        ("Rosi, room 101, 06108 Halle", False),
        ("Rosi's next inspection is 05/2027", False),
    ],
)
def test_a_phone_number_need_not_be_called_one(line: str, held: bool) -> None:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        memory.ingest.remember(line)
        found = memory.questions.retrieve("What is Rosi's phone number?", 10, None, None, None)
        with memory.store.reading() as conn:
            (candidate,) = AnswerState(conn, found, StaticEmbedder()).read_found()
    assert ("phone" in candidate.features.covered) is held
