"""Synergy: votes, confirmation, bridges, and what is left out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex
from memory.graph.walk import Path, Walkable
from memory.retrieval.traversers import Seeds
from plugins.settings import BeamSettings, TraverserSettings
from plugins.traversers.beam import search
from plugins.traversers.synergy import EPSILON, GAMMA, MAX_PATHS, count_votes, find_bridges, rank_paths, synergy
from tests.memory.retrieval.test_pagerank import graph_of
from tests.memory.retrieval.walking import EDGES, A, B, W, X, Y, Z, fits, related

SETTINGS = TraverserSettings()
PATH = Path((A, X), (1,), (0.1,))
OTHER = Path((A, Y, Z), (2, 4), (0.7, 0.5))


def test_seeds_vote_and_an_episode_that_mentions_everything_does_not_win() -> None:
    crowd = dict.fromkeys(range(10, 210), 1)
    rows = [
        EpisodeVertex(300, 1, 0, None, False, 50, {A: 1, X: 1}, frozenset(), {A: 1000, X: 1001}),
        EpisodeVertex(301, 1, 1, None, False, 50, {X: 1, **crowd}, frozenset(), {o: 2000 + o for o in (X, *crowd)}),
        EpisodeVertex(302, 1, 2, None, False, 50, {Y: 1}, frozenset(), {Y: 3000}),
    ]
    graph = Graph.empty().with_episodes(rows, [(o, False) for o in (A, X, Y, *crowd)])
    found = count_votes(Walkable(graph, graph.alive), [A, X, Y])
    assert found.tolist() == [2, 1, 1]


def test_what_may_not_be_seen_gets_no_votes() -> None:
    graph = graph_of(({1: 1}, set()), ({1: 1}, set()))
    found = count_votes(Walkable(graph, np.array([True, False])), [1])
    assert found.tolist() == [1, 0]


def test_each_object_of_the_best_episodes_confirms_a_path_but_no_bridge() -> None:
    def score(path: Path, spoken_of: set[int]) -> float:
        [(value, _)] = rank_paths([path], spoken_of, {A})
        return value

    assert score(OTHER, {Y}) == pytest.approx(score(OTHER, set()) + EPSILON)
    assert score(OTHER, {Y, Z, W}) == pytest.approx(score(OTHER, set()) + 2 * EPSILON)
    [(bridged, _)] = rank_paths([], {Y, Z}, {A}, [OTHER])
    assert bridged == score(OTHER, set()) == pytest.approx(math.exp(-OTHER.cost))


def test_a_path_that_joins_seeds_gains() -> None:
    [(alone, _)], [(joined, _)] = (rank_paths([OTHER], (), begin) for begin in ({A}, {A, Z}))
    assert joined == pytest.approx(alone * (1 + GAMMA * 2 / 2)), "two seeds on two edges"


def test_a_path_within_a_better_one_is_left_out_and_the_best_come_first() -> None:
    longer = Path((A, X, Z), (1, 3), (0.0, 0.0))
    assert [path for _, path in rank_paths([PATH, longer], (), ())] == [longer]
    assert [path for _, path in rank_paths([OTHER, PATH], (), ())] == [PATH, OTHER]
    many = [Path((A, 100 + n), (100 + n,), (0.1,)) for n in range(MAX_PATHS + 5)]
    assert len(rank_paths(many, (), ())) == MAX_PATHS


def test_what_the_beam_dropped_is_brought_back() -> None:
    walk = related(EDGES)
    paths, visit = search(walk, {A}, fits(), BeamSettings(width=1, depth=2))
    [bridge] = find_bridges(paths, visit, {Y, X}, fits())
    assert bridge.edges == (2,)
    assert bridge in [path for _, path in rank_paths(paths, {Y}, {A}, [bridge])]
    assert find_bridges(paths, {}, {Y}, fits()) == [], "only what was seen"


def test_what_fits_best_is_bridged_first_and_no_more_than_three() -> None:
    _, visit = search(related(EDGES), {A}, fits(), BeamSettings())
    found = find_bridges([], visit, {A, X, Y, Z, B}, fits())
    assert [path.vertices[-1] for path in found] == [X, B, Z], "a start needs no bridge"


def test_nothing_walked_says_nothing() -> None:
    graph = graph_of(({1: 1}, set()))
    seeds = Seeds(np.zeros(1, np.float32), {})
    votes = synergy(graph, seeds, graph.alive, SETTINGS).votes
    assert votes is not None and not votes[0].any()
