"""Paths: what connects two starts, all shortest ones or by A*."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.graph.arrays import Floats, Graph, Ids
from memory.graph.change import EpisodeVertex
from memory.graph.walk import Path, Walkable
from memory.retrieval.traversers import Guidance, Seeds
from plugins.settings import PathsSettings, TraverserSettings, WalkSettings
from plugins.traversers.beam import beam
from plugins.traversers.paths import (
    MAX_PATHS,
    Heuristic,
    astar,
    connect_starts,
    estimate,
    paths,
    search_rings,
    shortest_paths,
)  # fmt: skip
from plugins.traversers.walking import begin_walk, walk_along
from tests.examples import examples
from tests.memory.retrieval.walking import BOOK, EDGES, PUB, A, P, W, X, Y, Z, related, rng_graph
from tests.plugins.lookup import stored_triples


def edges_between(a: int, b: int, longest: int = 6, pops: int = 400) -> list[tuple[int, ...]]:
    return [one.edges for one in shortest_paths(related(EDGES), a, b, longest, pops)]


def test_all_shortest_paths_are_found_parallel_ones_too() -> None:
    assert sorted(edges_between(A, Z)) == [(1, 3), (2, 4), (7, 3)]
    assert sorted(edges_between(A, W)) == [(1, 5, 6), (7, 5, 6)]


def test_there_is_no_path_between_what_is_not_connected_nor_to_itself() -> None:
    assert edges_between(A, P) == []
    assert edges_between(A, A) == []


def test_a_search_that_reaches_its_budget_finds_nothing() -> None:
    assert edges_between(A, W, longest=2) == []
    assert edges_between(A, W, pops=1) == []
    parallel = dict.fromkeys(range(1, MAX_PATHS + 5), (A, X)) | {100: (X, Z)}
    assert len(shortest_paths(related(parallel), A, Z, 6, 400)) == MAX_PATHS


pairs = st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)).filter(lambda pair: pair[0] != pair[1]), min_size=1)


@examples(3)
@given(pairs, st.integers(1, 4))
def test_it_finds_exactly_the_shortest_paths(ends: list[tuple[int, int]], longest: int) -> None:
    edges = dict(enumerate([*ends, (1, 2)], 1))
    walk = related(edges)

    def all_paths(vertices: tuple[int, ...], used: tuple[int, ...]) -> list[tuple[int, ...]]:
        if vertices[-1] == 3:
            return [used]
        near = walk.neighbours(vertices[-1])
        steps = zip(near.edges.tolist(), near.vertices.tolist(), strict=True)
        onward = [(edge, vertex) for edge, vertex in steps if vertex not in vertices and len(used) < longest]
        return [path for edge, vertex in onward for path in all_paths((*vertices, vertex), (*used, edge))]

    every = all_paths((1,), ())
    shortest = min(map(len, every), default=0)
    if walk.visible(3):
        expected = sorted(path for path in every if len(path) == shortest)
        assert sorted(one.edges for one in shortest_paths(walk, 1, 3, longest, 10_000)) == expected


PAPER = PathsSettings(length=10, pops=150)


def test_what_is_farther_than_the_length_is_not_reached() -> None:
    walk = related({1: (A, X), 2: (X, Y), 3: (Y, Z)})
    assert [*search_rings(walk, A, 2, 100)] == [{X: [(1, A)]}, {Y: [(2, X)]}]
    assert [*search_rings(walk, A, 3, 2)] == [{X: [(1, A)]}, {Y: [(2, X)]}]
    assert not [*search_rings(walk, A, 0, 100)]


def flat(vertices: Ids) -> Floats:
    return np.zeros((len(vertices), 1), np.float32)


@pytest.mark.parametrize("heuristic", ["ip", "weighted", "averaged"])
def test_astar_finds_a_shortest_path_with_its_parallels(heuristic: str) -> None:
    walk = related(EDGES)
    found = astar(walk, A, W, heuristic, flat, PAPER)  # type: ignore[arg-type]
    assert sorted(one.edges for one in found) == [(1, 5, 6), (7, 5, 6)]
    assert astar(walk, A, P, heuristic, flat, PAPER) == []  # type: ignore[arg-type]
    assert astar(walk, A, W, heuristic, flat, replace(PAPER, pops=1)) == [], "the budget ends it without half a path"  # type: ignore[arg-type]


def test_each_heuristic_is_that_of_the_paper() -> None:
    away = {(A, X): 0.2, (X, Y): 0.6, (Y, Z): 1.0}
    path = Path((A, X, Y), (1, 2))

    def h(heuristic: Heuristic) -> float:
        return estimate(heuristic, path, Z, 3, lambda one, other: away[one, other])

    assert (h("ip"), h("weighted")) == (1.0, 3.0)
    assert h("averaged") == pytest.approx(3 * (0.2 + 0.6 + 1.0) / 3)
    assert estimate("averaged", Path((Y,)), Z, 2, lambda *pair: away[pair]) == 2.0, "no step was taken"


def test_the_heuristic_leads_astar_through_what_is_like_its_end() -> None:
    def embed(vertices: Ids) -> Floats:
        ahead = np.isin(vertices, [Y, Z])
        return np.stack([ahead, ~ahead], 1).astype(np.float32) * np.where(vertices == X, -1, 1)[:, None]

    [path] = astar(related(EDGES), A, Z, "ip", embed, PAPER)
    assert path.vertices == (A, Y, Z)


def test_astar_prefers_fewer_steps_to_steps_that_look_nearer() -> None:
    """Over X it is two steps, over P four, each of which is as like the end as can be."""
    edges = {1: (A, X), 2: (X, Z), 3: (A, P), 4: (P, BOOK), 5: (BOOK, PUB), 6: (PUB, Z)}

    def embed(vertices: Ids) -> Floats:
        near = np.where(np.isin(vertices, [A, X]), 0.5, 1.0)
        return np.stack([near, np.sqrt(1 - near**2)], 1).astype(np.float32)

    [path] = astar(related(edges), A, Z, "ip", embed, PAPER)
    assert path.vertices == (A, X, Z)
    assert astar(related(edges), A, Z, "ip", embed, PathsSettings(length=1)) == [], "no path is longer"


def test_a_distance_counts_as_often_as_steps_are_left() -> None:
    """Over X it is two steps, but X looks far away; over P and Y, which look near, three."""
    edges = {1: (A, X), 2: (X, Z), 3: (A, P), 4: (P, Y), 5: (Y, Z)}
    cosines = {X: -0.5, P: 0.8, Y: 0.8, A: 0.8, Z: 1.0}

    def embed(vertices: Ids) -> Floats:
        near = np.array([cosines[vertex] for vertex in vertices.tolist()], np.float32)
        return np.stack([near, np.sqrt(1 - near**2)], 1)

    [path] = astar(related(edges), A, Z, "weighted", embed, PAPER)
    assert path.vertices == (A, X, Z)


def test_astar_takes_what_no_path_to_the_end_reaches_for_far_away() -> None:
    """Y, from which Z is three steps away, is opened after X, though all look alike."""
    walk = related({1: (A, Y), 2: (A, X), 3: (X, Z), 4: (Y, W)})
    found = astar(walk, A, Z, "weighted", flat, PathsSettings(length=2, pops=3))
    assert [path.vertices for path in found] == [(A, X, Z)]


def connect(graph: Graph, seeds: Seeds, settings: PathsSettings | None = None) -> list[Path]:
    walk, begin, _ = begin_walk(graph, seeds, graph.alive, WalkSettings())
    return connect_starts(walk, begin, seeds, settings or PathsSettings())


def test_paths_join_only_the_surest_starts() -> None:
    graph = related({n: (n, n + 1) for n in range(1, 7)}).graph
    objects = {graph.column_of[node]: weight for node, weight in enumerate((1, 0.9, 0.2, 0.8, 0.7, 0.1, 0.1), 1)}
    seeds = Seeds(np.zeros(1, np.float32), objects, Guidance(vertices="O"))
    ends = {tuple(sorted({path.vertices[0], path.vertices[-1]})) for path in connect(graph, seeds)}
    assert ends == {(1, 2), (1, 4), (1, 5), (2, 4), (2, 5), (4, 5)}


def test_a_vertex_scores_by_the_cheapest_path_through_it_and_a_start_at_least_its_weight() -> None:
    walk = related({1: (A, X), 2: (X, Y), 3: (X, Z)})
    ways = [Path((A, X, Y), (1, 2), (0.1, 0.1)), Path((A, X, Z), (1, 3), (0.1, 3.0))]
    found = walk_along(walk, {A: 0.95, P: 1.0}, ways)
    worth = {node: float(found.objects[walk.graph.column_of[node]]) for node in (A, X, Y, Z)}
    assert worth == pytest.approx(
        {A: 0.95} | {node: math.exp(-ways[node == Z].cost) for node in (Y, Z)} | {X: worth[Y]}
    )


def test_a_search_follows_no_more_edges_than_it_may() -> None:
    edges = {n: (A, 1000 + n) for n in range(10, 310)} | {1: (A, X)}
    assert [len(shortest_paths(related(edges), A, X, 6, pops)) for pops in (2, 4)] == [0, 1]


def test_no_path_leads_through_what_may_only_be_its_end() -> None:
    both = EpisodeVertex(100, 1, 0, None, False, 50, {1: 1, 2: 1}, frozenset(), {1: 1001, 2: 1002})
    of_one = EpisodeVertex(101, 1, 1, None, False, 50, {1: 1}, frozenset(), {1: 1003})
    graph = Graph.empty().with_episodes([both, of_one], [(1, False), (2, False)])
    found = {enter: shortest_paths(Walkable(graph, graph.alive, enter), 1, 2, 6, 400) for enter in ("EO", "eO")}
    assert [path.vertices for path in found["EO"]] == [(1, 100, 2)] and found["eO"] == []


def test_a_single_start_walks_as_beam_does() -> None:
    graph, seeds = rng_graph(3)
    one = Seeds(seeds.episode_scores, dict([min(seeds.objects.items())]))
    alone = TraverserSettings(walk=WalkSettings(episodes=0))
    found = paths(graph, one, graph.alive, alone)
    assert found.episodes.any()
    assert np.array_equal(found.episodes, beam(graph, one, graph.alive, alone).episodes)


def test_nothing_is_passed_that_is_only_an_end() -> None:
    graph, seeds = rng_graph(5)
    walk = Walkable(graph, graph.alive, "eO")
    objects = [int(graph.object_ids[column]) for column in seeds.objects]
    for one in shortest_paths(walk, *objects, 6, 400):
        assert all(vertex < 100 for vertex in one.vertices), "objects only"


def test_astar_compares_what_vertices_say() -> None:
    """Two paths of one length lead from A to Z: the heuristic takes the one over what is like the end."""
    triples = {edge: (one, f"knows {edge}", other) for edge, (one, other) in EDGES.items()}
    with stored_triples(triples, "?", ("harbour", "bread"), {A: "bread", X: "bread", Y: "harbour", Z: "harbour"}) as (
        graph,
        lookup,
    ):
        begin = {graph.column_of[node]: 1.0 for node in (A, Z)}
        seeds = Seeds(np.ones(1, np.float32), begin, Guidance(lookup=lookup, vertices="O"))
        for heuristic in ("ip", "weighted"):  # by the whole way both paths are equally far
            settings = PathsSettings(search=heuristic)  # type: ignore[arg-type]
            assert [path.vertices for path in connect(graph, seeds, settings)] == [(A, Y, Z)]
            blind = connect(graph, replace(seeds, guidance=Guidance(vertices="O")), settings)
            assert (A, Y, Z) not in [path.vertices for path in blind]
