"""Relevance, guessed along the graph."""

from __future__ import annotations

import numpy as np
import pytest

from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, ThesisVertex
from memory.retrieval.traversers import PropagatedRelevance

ROWS = [
    EpisodeVertex(100, 1, 0, None, False, 50, {1: 1, 2: 1}, frozenset(), {1: 1000, 2: 1001}),
    EpisodeVertex(101, 1, 1, None, False, 50, {2: 1}, frozenset({2}), {2: 1002}),
    EpisodeVertex(102, 1, 2, None, False, 50, {3: 1}, frozenset(), {3: 1003}),
]
THESES = [ThesisVertex(200, 100, 2000, {1: 2001}), ThesisVertex(201, 100, 2002, {2: 2003})]
GRAPH = Graph.empty().with_episodes(ROWS, [(1, False), (2, False), (3, False)], THESES)
SCORES = np.array([0.8, 0.1, 0.0], np.float32)


def ids(*nodes: int) -> np.ndarray:
    return np.array(nodes, np.int32)


def test_it_is_guessed_along_the_graph() -> None:
    guess = PropagatedRelevance(GRAPH, SCORES, GRAPH.alive)
    assert guess(ids(100, 200, 1, 2, 3)).tolist() == pytest.approx([0.8, 0.8, 0.8, 0.8, 0.0])
    assert 0.1 < guess(ids(101))[0] < 0.8, "an object of the best passage titles it"
    hidden = PropagatedRelevance(GRAPH, SCORES, np.array([False, True, True]))
    assert hidden(ids(100, 200, 1)).tolist() == [0, 0, 0]
