"""Relevance: guessed along the graph, and looked at within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from memory import Memory
from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, ThesisVertex
from memory.nouns import Document
from memory.retrieval.papers import PAPERS
from memory.retrieval.relevance import Guess, Meaning, Relevance
from memory.settings import MemorySettings, RecallSettings
from memory.store import graph as stored
from memory.store.graph import EdgeRow
from memory.time.timestamps import to_ms

ROWS = [
    EpisodeVertex(100, 1, 0, None, False, 50, {1: 1, 2: 1}, frozenset(), {1: 1000, 2: 1001}),
    EpisodeVertex(101, 1, 1, None, False, 50, {2: 1}, frozenset({2}), {2: 1002}),
    EpisodeVertex(102, 1, 2, None, False, 50, {3: 1}, frozenset(), {3: 1003}),
]
THESES = [ThesisVertex(200, 100, 2000, {1: 2001}), ThesisVertex(201, 100, 2002, {2: 2003})]
GRAPH = Graph.empty().added(ROWS, [(1, False), (2, False), (3, False)], THESES)
SCORES = np.array([0.8, 0.1, 0.0], np.float32)
TEXTS = {200: "yes", 201: "no", 1: "yes", 2: "no"}


def ids(*nodes: int) -> np.ndarray:
    return np.array(nodes, np.int32)


def embed(texts: Sequence[str]) -> np.ndarray:
    return np.array([[1, 0] if text == "yes" else [0, 1] for text in texts], np.float32)


def meaning(budget: int) -> Meaning:
    return Meaning(GRAPH, None, 2, embed, lambda nodes: {node: TEXTS[node] for node in nodes}, budget)


def test_it_is_guessed_along_the_graph() -> None:
    guess = Guess(GRAPH, SCORES, GRAPH.alive)
    assert guess(ids(100, 200, 1, 2, 3)).tolist() == pytest.approx([0.8, 0.8, 0.8, 0.8, 0.0])
    assert 0.1 < guess(ids(101))[0] < 0.8, "an object of the best passage titles it"
    hidden = Guess(GRAPH, SCORES, np.array([False, True, True]))
    assert hidden(ids(100, 200, 1)).tolist() == [0, 0, 0]


def test_as_many_sentences_are_looked_at_as_may_be() -> None:
    def relevance(budget: int) -> Relevance:
        cosines = np.zeros(3, np.float32)
        return Relevance(GRAPH, SCORES, cosines, GRAPH.alive, lambda: np.array([1, 0], np.float32), meaning(budget))

    assert relevance(0)(ids(200, 201)).tolist() == pytest.approx([0.8, 0.8])
    assert relevance(9)(ids(200, 201)).tolist() == pytest.approx([0.9, 0.4])
    one = relevance(1)
    assert one(ids(200, 201)).tolist() == pytest.approx([0.9, 0.8])
    assert one(ids(201)).tolist() == pytest.approx([0.8]), "the budget is for the whole question"


def test_what_has_no_vector_is_like_nothing() -> None:
    vectors = meaning(1)
    assert vectors(ids(1, 2, 100)).tolist() == [[1, 0], [0, 0], [0, 0]]
    assert vectors(ids(2, 1)).tolist() == [[0, 0], [1, 0]]


NOTES = [
    Document("a", "Ana Silva works at the Lumen Institute.", title="Ana Silva"),
    Document("b", "The Lumen Institute stands in Porto Novo.", title="Lumen Institute"),
    Document("c", "Bread is baked with flour and water.", title="Bread"),
    *(Document(f"d{n}", f"Stone number {n} is grey, and nobody named it.", title=f"Stone {n}") for n in range(30)),
]
STRATEGIES = ("beam", "circles", "paths", "spread+beam", "spread+beam+circles+paths")


@pytest.mark.parametrize("budget", [0, 50])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_passage_is_found_over_another_one(fresh: Memory, strategy: str, budget: int) -> None:
    fresh.remember_many(NOTES)
    fresh.settings = MemorySettings(
        recall=RecallSettings(strategy=strategy, walk_embedded=budget, walk_episodes=2, synergy_weight=0.1)
    )
    found = fresh.recall("Where does Ana Silva work?", k=2)
    assert {hit.episode.source.uri for hit in found.hits} == {"a", "b"}
    assert {"graph", "synergy"} <= {step.stage for step in found.trace.steps}
    assert found.hits[0].channels["synergy"] > 0


def test_a_relation_leads_on_while_it_holds(fresh: Memory) -> None:
    fresh.remember_many([replace(NOTES[0], text="Ana Silva has moved."), *NOTES[1:]])
    with fresh.store.writing() as conn:
        found = stored.objects_by_norm(conn, ["ana silva", "lumen institute"])
        (ana,), (lumen,) = found["ana silva"], found["lumen institute"]
        start, end = to_ms(datetime(2020, 1, 1, tzinfo=UTC)), to_ms(datetime(2024, 1, 1, tzinfo=UTC))
        row = EdgeRow(stored.allocate(conn, "edge", 1), "rel", ana, lumen, valid_from=start, valid_to=end)
        stored.insert_edges(conn, [row], start)
    settings = MemorySettings(recall=RecallSettings(strategy="beam", walk_vertices="eO", graph_weight=1.0))
    path = fresh.store.path
    fresh.close()

    def graph_score(memory: Memory, year: int | None) -> float:
        as_of = datetime(year, 1, 1, tzinfo=UTC) if year else None
        hits = memory.recall("Where does Ana Silva work?", k=40, as_of=as_of).hits
        return max((hit.channels["graph"] for hit in hits if hit.episode.source.uri == "b"), default=0.0)

    with Memory.open(path, embedder=fresh.embedder, settings=settings) as memory:
        assert graph_score(memory, 2022) > 0
        assert graph_score(memory, 2019) == graph_score(memory, 2025) == graph_score(memory, None) == 0


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_answers(fresh: Memory, paper: str) -> None:
    fresh.remember_many(NOTES)
    fresh.settings = MemorySettings(recall=PAPERS[paper])
    assert fresh.recall("Where does Ana Silva work?", k=1).hits[0].episode.source.uri == "a"
