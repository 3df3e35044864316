"""Which facts a question needs: by how they fit, and by what edges remember."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory import Memory
from memory.answering.context import ACTIVATION_WEIGHT, EvidencePiece, find_facts, score_facts
from memory.nouns import Document
from memory.protocols import Embedder
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import Guidance

NOTES = {
    "move": ("Mira", "Lives in: Utrecht"),
    "work": ("Mira", "Works at: Ferrobank"),
    "friend": ("Bob", "Lives in: Lisbon"),
}


@pytest.fixture
def mira(static: Embedder) -> Memory:
    memory = Memory.open(":memory:", embedder=static)
    memory.remember_many(
        [
            Document(f"/{name}.md", text, title=title, at=datetime(2024, 5, 1, tzinfo=UTC))
            for name, (title, text) in NOTES.items()
        ]
    )
    return memory


def found_of(memory: Memory, question: str) -> RetrievalResult:
    return memory.questions.retrieve(question, 10, None, None, None, replay=False)


def facts(memory: Memory, question: str) -> list[EvidencePiece]:
    found = found_of(memory, question)
    with memory.store.reading() as conn:
        return find_facts(conn, found, found.embedder)


def fact_ids(memory: Memory) -> list[int]:
    with memory.store.reading() as conn:
        return [id for (id,) in conn.execute("SELECT id FROM edge WHERE kind = 'rel' ORDER BY id")]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Where does Mira live?", "Mira lives in Utrecht"),
        ("Which company does Mira work at?", "Mira works at Ferrobank"),
        ("Where does Bob live?", "Bob lives in Lisbon"),
    ],
)
def test_the_fact_that_is_asked_for_comes_first(mira: Memory, question: str, first: str) -> None:
    assert facts(mira, question)[0].text.startswith(first)


def test_what_has_nothing_to_do_with_the_question_is_not_shown(mira: Memory) -> None:
    assert not any("Ferrobank" in fact.text for fact in facts(mira, "Where does Bob live?"))


def test_what_edges_remember_counts_by_itself(mira: Memory) -> None:
    found, piece = found_of(mira, "Mira?"), facts(mira, "Where does Mira live?")[0]
    alike = dict.fromkeys(fact_ids(mira)[:2], replace(piece, text=""))
    first, second = alike
    assert score_facts(found, alike, (0.0, 0.0), found.embedder) == {first: 0, second: 0}
    remembering = replace(found, seeds=replace(found.seeds, guidance=Guidance(activation={first: 0.5})))
    scores = score_facts(remembering, alike, (0.0, 0.0), found.embedder)
    assert scores == pytest.approx({first: ACTIVATION_WEIGHT / 2, second: 0})
