"""Circles: where the rings around several starts meet."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, Link
from memory.graph.walk import Walkable
from memory.retrieval.traversers import Guidance, Seeds
from plugins.settings import CirclesSettings, TraverserSettings, WalkSettings
from plugins.traversers import subgraph
from plugins.traversers.circles import circles, count_meetings, count_near, select_edges, select_texts
from plugins.traversers.subgraph import Rings, draw_rings
from tests.memory.retrieval.test_pagerank import graph_of
from tests.memory.retrieval.walking import EDGES, FITS, A, B, P, X, Y, Z, fits, related


def selected(begin: list[int], **changed: int) -> list[int]:
    rings = draw_rings(related(EDGES), begin, fits())
    meetings = {edge: count_meetings(rings, edge) for edge in rings.edges}
    values = {vertex: FITS.get(vertex, 0.2) for vertex in rings.reached}
    return select_edges(rings, meetings, values, CirclesSettings(**changed))


def test_the_order_of_the_starts_does_not_matter() -> None:
    for begin in permutations([A, B, P]):
        assert selected(list(begin)) == selected([A, B, P])


def test_edges_between_two_starts_come_first() -> None:
    assert selected([A, B])[:4] == [1, 3, 5, 7]  # all at X, which both circles hold and which fits best
    assert selected([A, B], primary=2, secondary=0) == [1, 3]
    assert {8, 9} & set(selected([A, B, P], secondary=0)) == set(), "around P there is nothing of the others"
    assert selected([A, B, P], primary=1, secondary=1) == [1, 8]


def test_an_edge_is_met_by_the_circles_of_either_end() -> None:
    """The rings of A and B are one step wide: of the edge between X and Z only X is in any."""
    rings = draw_rings(related({1: (A, X), 2: (B, Z), 3: (X, Z)}), [A, B], fits(), depth=2)
    assert count_meetings(rings, 3) == 2
    near = draw_rings(related({1: (A, X), 2: (B, Y), 3: (X, Z)}), [A, B], fits(), depth=2)
    assert [count_meetings(near, edge) for edge in (1, 2, 3)] == [1, 1, 1]
    one_step = draw_rings(related({1: (A, B), 2: (A, X)}), [A, B], fits(), depth=1)
    assert [count_meetings(one_step, edge) for edge in (1, 2)] == [2, 2], "A is in both circles, X in one"
    lone = draw_rings(related({1: (A, X), 2: (X, Z), 3: (B, Z)}), [A, B], fits(), depth=1)
    assert [count_meetings(lone, edge) for edge in (1, 3)] == [1, 1]


def test_circles_that_never_meet_show_the_best_of_each() -> None:
    assert selected([P, B])[:4] == [1, 3, 5, 7]  # all at X, the most relevant object around
    assert len(selected([P, B])) == CirclesSettings().secondary


def test_each_vertex_knows_how_far_every_start_is() -> None:
    rings = draw_rings(related(EDGES), [A, B], fits())
    assert rings.reached[X] == {A: 1, B: 1}


def test_all_starts_together_follow_no_more_edges_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subgraph, "MAX_EDGES", 20)
    edges = {n: (A if n % 2 else B, 1000 + n) for n in range(10, 110)}
    rings = draw_rings(related(edges), [A, B], fits(), depth=1)
    assert [sum(A in ends for ends in rings.edges.values()), sum(B in ends for ends in rings.edges.values())] == [
        10,
        10,
    ]


def test_an_episode_between_two_named_objects_wins() -> None:
    graph = graph_of(({1: 1, 5: 1}, set()), ({1: 1, 2: 1}, set()), ({2: 1, 6: 1}, set()), edges=True)
    scores = np.array([0.9, 0.1, 0.8], np.float32)
    seeds = Seeds(scores, {graph.column_of[1]: 1.0, graph.column_of[2]: 1.0})
    walk = circles(graph, seeds, graph.alive, TraverserSettings(walk=WalkSettings(episodes=0)))
    assert walk.episodes.argmax() == 1


def test_of_passages_those_that_mention_most_starts_are_chosen() -> None:
    graph = graph_of(({1: 1}, set()), ({1: 1, 2: 1}, set()), ({2: 1, 3: 1}, set()), ({3: 1}, set()), edges=True)
    rings = draw_rings(Walkable(graph, graph.alive), [1, 2], fits({}))
    assert {vertex: count_near(rings, vertex) for vertex in (100, 101, 102)} == {100: 1, 101: 2, 102: 1}
    assert count_near(Rings(reached={100: {1: 1, 2: 2}}), 100) == 1, "what is two steps away is not mentioned"
    fit = {100: 0.1, 101: 0.1, 102: 0.9}
    assert select_texts(rings, [100, 101, 102], fit, 2) == [101, 102]
    scores = np.zeros(4, np.float32)
    seeds = Seeds(scores, {graph.column_of[1]: 1.0, graph.column_of[2]: 1.0}, Guidance(fits({102: 0.9})))
    few = TraverserSettings(walk=WalkSettings(episodes=0), circles=CirclesSettings(primary=0, secondary=0, texts=1))
    walk = circles(graph, seeds, graph.alive, few)
    assert walk.episodes.argmax() == 1 and walk.episodes[1] == pytest.approx((2 + 0.2) / 4)


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
