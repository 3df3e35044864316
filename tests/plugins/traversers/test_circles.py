"""Circles: where the rings around several starts meet."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from memory.retrieval.traversers import Seeds
from plugins.traversers.circles import circles, draw, meetings
from plugins.traversers.settings import TraverserSettings, WalkSettings
from tests.memory.retrieval.test_pagerank import graph_of
from tests.memory.retrieval.walking import EDGES, A, B, P, X, fits, related


def met(begin: list[int], most: int = 2000) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return meetings(draw(related(EDGES), begin, fits(), 2, most), fits(), len(begin))


def test_the_order_of_the_starts_does_not_matter() -> None:
    for begin in permutations([A, B, P]):
        assert met(list(begin)) == met([A, B, P])


def test_edges_between_two_starts_come_first() -> None:
    primary, secondary = met([A, B])
    assert primary[:4] == (1, 3, 5, 7)  # all at X, which both circles hold and which fits best
    assert secondary == ()


def test_circles_that_never_meet_show_the_best_of_each() -> None:
    primary, secondary = met([P, B])
    assert primary == ()
    assert secondary[:4] == (1, 3, 5, 7)  # all at X, the most relevant object around


def test_each_vertex_knows_how_far_every_start_is() -> None:
    rings = draw(related(EDGES), [A, B], fits(), 2, 2000)
    assert rings.reached[X] == {A: 1, B: 1}
    assert rings.paths[X].vertices == (A, X)


def test_an_episode_between_two_named_objects_wins() -> None:
    graph = graph_of(({1: 1, 5: 1}, set()), ({1: 1, 2: 1}, set()), ({2: 1, 6: 1}, set()), edges=True)
    scores = np.array([0.9, 0.1, 0.8], np.float32)
    seeds = Seeds(scores, {graph.column_of[1]: 1.0, graph.column_of[2]: 1.0})
    walk = circles(graph, seeds, graph.alive, TraverserSettings(walk=WalkSettings(episodes=0)))
    assert walk.episodes.argmax() == 1
    assert walk.visit[101].status == "selected"
