"""Synergy: votes, confirmation, bridges, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest

from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex
from memory.graph.walk import Path, Visited, Walkable
from memory.retrieval.traversers import Seeds
from plugins.traversers.beam import beam, search
from plugins.traversers.settings import BeamSettings, TraverserSettings
from plugins.traversers.synergy import EPSILON, count_votes, find_bridges, rank_paths, synergy
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
    seen = {o: Visited(Path((o,)), status, 0) for o, status in ((A, "seed"), (X, "selected"), (Y, "pruned"))}
    found = count_votes(Walkable(graph, graph.alive), seen, fits({}, 1.0))
    assert found[0] > found[2] > found[1] > 0
    without_seed = count_votes(Walkable(graph, graph.alive), {o: seen[o] for o in (X, Y)}, fits({}, 1.0))
    assert without_seed[0] < found[0]
    assert count_votes(Walkable(graph, graph.alive), seen, fits({}, 1.0), plain=True).tolist() == [2, 1, 1]


def test_what_may_not_be_seen_gets_no_votes() -> None:
    graph = graph_of(({1: 1}, set()), ({1: 1}, set()))
    found = count_votes(Walkable(graph, np.array([True, False])), {1: Visited(Path((1,)), "seed", 0)}, fits({}, 1.0))
    assert found[0] > 0
    assert found[1] == 0


def test_confirmation_is_bounded_and_seeds_confirm_nothing() -> None:
    def gain(spoken_of: set[int]) -> float:
        [(one, _)] = rank_paths([OTHER], [], spoken_of, {A})
        [(alone, _)] = rank_paths([OTHER], [], (), {A})
        return one - alone

    assert gain({A}) == 0
    assert 0 < gain({Y}) < gain({Y, Z}) < EPSILON
    [(plain, _)] = rank_paths([OTHER], [], {Y, Z}, {A}, plain=True)
    assert plain == pytest.approx(rank_paths([OTHER], [], (), {A})[0][0] + 2 * EPSILON)


def test_a_path_that_joins_seeds_gains() -> None:
    assert rank_paths([OTHER], [], (), {A, Z})[0] > rank_paths([OTHER], [], (), {A})[0]


def test_a_path_within_a_better_one_is_left_out() -> None:
    longer = Path((A, X, Z), (1, 3), (0.0, 0.0))
    assert [path for _, path in rank_paths([PATH, longer], [], (), ())] == [longer]


def test_what_the_beam_dropped_is_brought_back() -> None:
    walk = related(EDGES)
    paths, visit = search(walk, {A}, fits(), BeamSettings(width=1, depth=2))
    assert visit[Y].status == "pruned"
    [bridge] = find_bridges(walk, paths, visit, {Y: 1.0}, fits())
    assert (bridge.edges, bridge.tag) == ((2,), "bridge")
    assert bridge in [path for _, path in rank_paths(paths, [bridge], {Y}, {A})]


def test_what_nothing_saw_is_reached_by_a_short_search() -> None:
    [bridge] = find_bridges(related(EDGES), [PATH], {}, {W: 1.0}, fits())
    assert (bridge.vertices, bridge.edges) == ((X, B, W), (5, 6))


def test_what_counts_most_is_bridged_first_and_no_more_than_three() -> None:
    worth = {Y: 1.0, Z: 3.0, B: 2.0, W: 0.5}
    found = find_bridges(related(EDGES), [PATH], {}, worth, fits())
    assert [path.vertices[-1] for path in found] == [Z, B, Y]


def test_nothing_walked_says_nothing() -> None:
    graph = graph_of(({1: 1}, set()))
    seeds = Seeds(np.zeros(1, np.float32), {})
    walk = beam(graph, seeds, graph.alive, SETTINGS)
    votes = synergy(graph, seeds, graph.alive, walk, SETTINGS).votes
    assert votes is not None and not votes[0].any()
