"""Which facts a question needs: by how they fit, by what edges remember, by what was learnt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from memory import Memory
from memory.answering.context import MAX_FACTS_SHOWN, GatheredEvidence, gather_evidence
from memory.graph.adjacency import Walkable
from memory.graph.arrays import Floats
from memory.graph.subgraph import Nearby
from memory.nouns import Document
from memory.protocols import Embedder
from memory.ranker import heads
from memory.retrieval.edge_features import Asked, HeadName
from memory.retrieval.edge_filter import LEARNT, LEAST, MEMORY, Candidate, sigma, worths
from memory.retrieval.result import RetrievalResult
from memory.store import training
from tests.memory.ranker.trials import scorer_of

NOTES = {
    "move": "Mira lives in Utrecht.",
    "work": "Mira works at Ferrobank.",
    "friend": "Bob lives in Lisbon.",
}


@pytest.fixture
def mira(static: Embedder) -> Memory:
    memory = Memory.open(":memory:", embedder=static)
    memory.remember_many(
        [Document(f"/{name}.md", text, title=name, at=datetime(2024, 5, 1, tzinfo=UTC)) for name, text in NOTES.items()]
    )
    return memory


def found_of(memory: Memory, question: str) -> RetrievalResult:
    return memory.questions.retrieve(question, 10, None, None, None, replay=False)


def shown(memory: Memory, found: RetrievalResult) -> GatheredEvidence:
    with memory.store.reading() as conn:
        return gather_evidence(conn, found, (), found.embedder)


def facts(all_there_is: GatheredEvidence) -> list[str]:
    return [piece.text for piece in all_there_is.pieces if piece.kind == "fact"]


def fact_ids(memory: Memory) -> list[int]:
    with memory.store.reading() as conn:
        return [id for (id,) in conn.execute("SELECT id FROM edge WHERE kind = 'rel' ORDER BY id")]


@dataclass(frozen=True)
class Likes:
    """A scorer that finds one edge needed, and no other."""

    edge: int

    @property
    def head(self) -> HeadName:
        return "compact"

    def near(self, near: Nearby, walk: Walkable, asked: Asked) -> Floats:
        return np.where(near.edges == self.edge, np.float32(0.9), np.float32(0.1))

    def logits(self, features: Any) -> Floats:
        raise AssertionError("nobody trains it")

    def packed(self) -> bytes:
        raise AssertionError("nobody keeps it")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Where does Mira live?", "Mira lives in Utrecht"),
        ("Which company does Mira work at?", "Mira works at Ferrobank"),
        ("Where does Bob live?", "Bob lives in Lisbon"),
    ],
)
def test_the_fact_that_is_asked_for_comes_first(mira: Memory, question: str, first: str) -> None:
    assert facts(shown(mira, found_of(mira, question)))[0].startswith(first)


def test_what_has_nothing_to_do_with_the_question_is_not_shown(mira: Memory) -> None:
    all_there_is = shown(mira, found_of(mira, "Where does Bob live?"))
    assert not any("Ferrobank" in fact for fact in facts(all_there_is))
    ids = [piece.id for piece in all_there_is.pieces if piece.kind == "fact"]
    assert all_there_is.filter.detail == {"of": len(fact_ids(mira)), "facts": ids}


def scores(
    memory: Memory, found: RetrievalResult, shadow: Likes | None = None
) -> tuple[Mapping[int, float], Floats | None]:
    """Of all facts, as if they were equally good but for what edges say."""
    candidates = [Candidate(id, "", "", "", 0.0, 0.0, 0.0, False) for id in fact_ids(memory)]
    with memory.store.reading() as conn:
        worth = worths(conn, found, candidates, found.embedder, shadow)
        return dict(zip(fact_ids(memory), worth.used.tolist(), strict=True)), worth.shadow


def test_memory_and_what_was_learnt_count_by_themselves(mira: Memory) -> None:
    found, (one, other, *_) = found_of(mira, "Mira?"), fact_ids(mira)
    plain, _ = scores(mira, found)
    assert set(plain.values()) == {0.0}
    remembered, _ = scores(mira, replace(found, start=replace(found.start, memory={one: 0.5})))
    assert remembered[one] == pytest.approx(MEMORY / 2) and remembered[other] == 0
    learnt, _ = scores(mira, replace(found, start=replace(found.start, memory={one: 0.5}, scorer=Likes(other))))
    assert max(learnt, key=lambda id: learnt[id]) == other and 0 < learnt[other] <= LEARNT
    assert learnt[one] == 0, "a scorer knows what edges remember, so that does not count twice"


def test_a_shadow_is_told_and_changes_nothing(mira: Memory) -> None:
    found, (one, *_) = found_of(mira, "Mira?"), fact_ids(mira)
    plain, none = scores(mira, found)
    again, shadow = scores(mira, found, Likes(one))
    assert none is None and again == plain
    assert shadow is not None and shadow.argmax() == 0 and shadow[0] > 0


def test_a_fact_that_the_graph_does_not_know_yet_is_worth_what_it_says(mira: Memory, static: Embedder) -> None:
    found = found_of(mira, "Where does Mira live?")
    unknown = Candidate(1 << 40, "Mira lives in Utrecht", "lives in", "Mira lives in Utrecht.", 1.0, 1.0, 1.0, True)
    with mira.store.reading() as conn:
        worth = worths(conn, replace(found, start=replace(found.start, scorer=Likes(1 << 40))), [unknown], static)
    assert worth.used.tolist() == pytest.approx(sigma([unknown], found.question.text, static).tolist())
    assert worth.used[0] > LEAST


def test_the_newest_scorer_is_a_shadow_until_it_is_used(mira: Memory, static: Embedder) -> None:
    """`train_ranker` keeps it; what a question then tells is in its trace."""
    found = found_of(mira, "Where does Mira live?")
    before = shown(mira, found)
    assert "shadow" not in before.filter.detail
    with mira.store.writing() as conn:
        id = training.store_model(conn, heads.kind(static.name), 1, scorer_of(1).packed(), {})
    beside = shown(mira, found)
    assert facts(beside) == facts(before)
    assert set(beside.filter.detail["shadow"]) <= set(fact_ids(mira)) and beside.filter.detail["shadow"]
    assert len(beside.filter.detail["shadow"]) <= MAX_FACTS_SHOWN
    with mira.store.writing() as conn:
        training.promote(conn, id)
    assert "shadow" not in shown(mira, found).filter.detail
