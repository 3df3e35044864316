"""Circles: where the rings around several starts meet."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, Link
from memory.retrieval.traversers import Guidance, Seeds
from plugins.traversers.circles import SECONDARY, circles, select_edges
from plugins.traversers.settings import TraverserSettings, WalkSettings
from plugins.traversers.subgraph import draw_rings
from tests.memory.retrieval.test_pagerank import graph_of
from tests.memory.retrieval.walking import EDGES, FITS, A, B, P, X, fits, related


def selected(begin: list[int]) -> tuple[int, ...]:
    rings = draw_rings(related(EDGES), begin, fits())
    return select_edges(rings, {vertex: FITS.get(vertex, 0.2) for vertex in rings.reached}, len(begin))


def test_the_order_of_the_starts_does_not_matter() -> None:
    for begin in permutations([A, B, P]):
        assert selected(list(begin)) == selected([A, B, P])


def test_edges_between_two_starts_come_first() -> None:
    assert selected([A, B])[:4] == (1, 3, 5, 7)  # all at X, which both circles hold and which fits best
    assert not {8, 9} & set(selected([A, B, P])), "around P there is nothing of the others"


def test_circles_that_never_meet_show_the_best_of_each() -> None:
    assert selected([P, B])[:4] == (1, 3, 5, 7)  # all at X, the most relevant object around
    assert len(selected([P, B])) == SECONDARY


def test_each_vertex_knows_how_far_every_start_is() -> None:
    rings = draw_rings(related(EDGES), [A, B], fits())
    assert rings.reached[X] == {A: 1, B: 1}
    assert rings.paths[X].vertices == (A, X)


def test_an_episode_between_two_named_objects_wins() -> None:
    graph = graph_of(({1: 1, 5: 1}, set()), ({1: 1, 2: 1}, set()), ({2: 1, 6: 1}, set()), edges=True)
    scores = np.array([0.9, 0.1, 0.8], np.float32)
    seeds = Seeds(scores, {graph.column_of[1]: 1.0, graph.column_of[2]: 1.0})
    walk = circles(graph, seeds, graph.alive, TraverserSettings(walk=WalkSettings(episodes=0)))
    assert walk.episodes.argmax() == 1
    assert walk.visit[101].status == "selected"


ONE, OTHER, NEAR_BOTH, NEAR_ONE, LONE = 1, 2, 3, 4, 5  # two starts and the objects they are related to


def met_between(start: int) -> tuple[float, float]:
    """The scores of an episode where circles meet and of one where they do not, none next to a start."""
    mentions = [(100, {ONE: 1001, OTHER: 1002}), (101, {NEAR_BOTH: 1003}), (102, {NEAR_ONE: 1004})]
    rows = [
        EpisodeVertex(node, 1, node, None, False, 50, dict.fromkeys(edges, 1), frozenset(), edges)
        for node, edges in mentions
    ]
    links = [
        Link(n, "rel", a, b) for n, (a, b) in enumerate([(ONE, NEAR_BOTH), (OTHER, NEAR_BOTH), (ONE, NEAR_ONE)], 1)
    ]
    graph = Graph.empty().with_episodes(rows, [(node, False) for node in range(ONE, LONE)], (), links)
    begin = {graph.column_of[ONE]: 1.0, graph.column_of[start]: 1.0}
    seeds = Seeds(np.zeros(3, np.float32), begin, Guidance(fits({}, 0.5)))
    walk = circles(graph, seeds, graph.alive, TraverserSettings(walk=WalkSettings(episodes=0)))
    return float(walk.episodes[graph.row_of[101]]), float(walk.episodes[graph.row_of[102]])


def test_where_circles_meet_ranks_before_what_one_start_reaches() -> None:
    met, reached = met_between(OTHER)
    assert met > reached > 0, "as relevant as the other, and as far from its start"
    alone, beside = met_between(ONE)
    assert alone == beside, "a single start meets nobody"
