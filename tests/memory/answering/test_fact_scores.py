"""Which facts a question needs: by how they fit, by what edges remember, by what was learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from memory import Memory
from memory.answering.context import EvidencePiece, find_facts
from memory.answering.fact_scores import (
    ACTIVATION_WEIGHT,
    MIN_RELEVANCE,
    SCORER_WEIGHT,
    Candidate,
    fact_relevance,
    score_facts,
)
from memory.graph.arrays import Bools, Floats, Graph
from memory.nouns import Document
from memory.protocols import Embedder
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import Guidance, Lookup, Seeds

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


@dataclass(frozen=True)
class Likes:
    """A scorer that finds one edge more needed than all others; none of what the graph does not know."""

    edge: int

    def score_facts(
        self, lookup: Lookup, graph: Graph, seeds: Seeds, allowed: Bools, facts: Sequence[int]
    ) -> Floats | None:
        return np.array([0.9 if one == self.edge and one < 1 << 40 else 0.0 for one in facts], np.float32)


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


def scores(memory: Memory, found: RetrievalResult) -> Mapping[int, float]:
    """Of all facts, as if they were equally good but for what edges say."""
    candidates = [Candidate(id, "", "", "", 0.0, 0.0, 0.0, False) for id in fact_ids(memory)]
    with memory.store.reading() as conn:
        return dict(zip(fact_ids(memory), score_facts(conn, found, candidates, found.embedder).tolist(), strict=True))


def test_memory_and_what_was_learnt_count_by_themselves(mira: Memory) -> None:
    found, (one, other, *_) = found_of(mira, "Mira?"), fact_ids(mira)
    assert set(scores(mira, found).values()) == {0.0}

    def guided(**guidance: Any) -> RetrievalResult:
        return replace(found, seeds=replace(found.seeds, guidance=Guidance(**guidance)))

    remembered = scores(mira, guided(activation={one: 0.5}))
    assert remembered[one] == pytest.approx(ACTIVATION_WEIGHT / 2) and remembered[other] == 0
    learnt = scores(mira, guided(activation={one: 0.5}, scorer=Likes(other)))
    assert max(learnt, key=lambda id: learnt[id]) == other and 0 < learnt[other] <= SCORER_WEIGHT
    assert learnt[one] == 0, "a scorer knows what edges remember, so that does not count twice"


def test_a_fact_that_the_graph_does_not_know_yet_is_worth_what_it_says(mira: Memory, static: Embedder) -> None:
    found = found_of(mira, "Where does Mira live?")
    unknown = Candidate(1 << 40, "Mira lives in Utrecht", "lives in", "Mira lives in Utrecht.", 1.0, 1.0, 1.0, True)
    with mira.store.reading() as conn:
        found = replace(found, seeds=replace(found.seeds, guidance=Guidance(scorer=Likes(1 << 40))))
        worth = score_facts(conn, found, [unknown], static)
    assert worth.tolist() == pytest.approx(fact_relevance([unknown], found.question.text, static).tolist())
    assert worth[0] > MIN_RELEVANCE
