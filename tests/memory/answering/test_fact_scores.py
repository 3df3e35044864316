"""Which facts a question needs: by how they fit, and by what edges remember."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory import Memory
from memory.answering.task_context import (
    ACTIVATION_WEIGHT,
    MIN_RELEVANCE,
    Candidate,
    ContextFact,
    find_facts,
    score_facts,
)
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
    memory.ingest.remember_many(
        [
            Document(f"/{name}.md", text, title=title, at=datetime(2024, 5, 1, tzinfo=UTC))
            for name, (title, text) in NOTES.items()
        ]
    )
    return memory


def found_of(memory: Memory, question: str) -> RetrievalResult:
    return memory.questions.retrieve(question, 10, None, None, None, replay=False)


def facts(memory: Memory, question: str) -> list[ContextFact]:
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
    found, (one, other, *_) = found_of(mira, "Mira?"), fact_ids(mira)
    alike = [Candidate(id, "", "", "", 0.0, 0.0, 0.0, False) for id in (one, other)]
    assert score_facts(found, alike, found.embedder).tolist() == [0, 0]
    remembering = replace(found, seeds=replace(found.seeds, guidance=Guidance(activation={one: 0.5})))
    assert score_facts(remembering, alike, found.embedder).tolist() == pytest.approx([ACTIVATION_WEIGHT / 2, 0])


def test_a_fact_that_says_what_is_asked_has_to_do_with_it(mira: Memory, static: Embedder) -> None:
    found = found_of(mira, "Where does Mira live?")
    fact = Candidate(1 << 40, "Mira lives in Utrecht", "lives in", "Mira lives in Utrecht.", 1.0, 1.0, 1.0, True)
    [worth] = score_facts(found, [fact], static).tolist()
    assert worth > MIN_RELEVANCE
