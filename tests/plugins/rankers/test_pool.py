"""ReG's pool: its three sources, its two mergings, and how many candidates are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex
from memory.graph.walk import Walkable
from plugins.rankers.training import MAX_CANDIDATES, collect_candidates
from tests.memory.retrieval.walking import EDGES, A, B, W, X, Y, Z, fits, related


def collect(
    answers: Sequence[int], names: Mapping[int, str], edges: Mapping[int, tuple[int, int]] = EDGES
) -> list[tuple[int, ...]]:
    paths = collect_candidates(
        related(edges), [A], answers, fits(), lambda ids: {id: names[id] for id in ids if id in names}
    )
    return [path.edges for path in paths]


def test_shortest_paths_come_first_then_the_edges_at_both_sides() -> None:
    names = {edge: f"relation {edge}" for edge in EDGES}
    found = collect([Z], names)
    assert set(found[:3]) == {(1, 3), (2, 4), (7, 3)}
    assert set(found[3:]) == {(1,), (2,), (7,), (3,), (4,)}


def test_one_path_stands_for_all_over_the_same_relations() -> None:
    names = dict.fromkeys(EDGES, "knows")
    assert collect([Z], names)[0] == (1, 3), "the most relevant of three"
    assert [len(edges) for edges in collect([Z], names)] == [2, 1, 1], "and an edge with and one against its direction"
    assert (2, 4) in collect([Z], names | {4: "likes"})


def test_one_answer_stands_for_all() -> None:
    names = {edge: f"relation {edge}" for edge in EDGES}
    assert collect([Z, W], names) == collect([Z], names) != collect([W], names)
    assert collect([99], names) == [] == collect([A], names), "it cannot be seen, or is what the question names"


def test_few_are_kept() -> None:
    many = {n: (A, 100 + n) for n in range(1, 40)} | {50: (A, B)}
    found = collect([B], {edge: f"relation {edge}" for edge in many}, many)
    assert len(found) == MAX_CANDIDATES and found[0] == (50,)


def test_what_a_passage_joins_is_a_relation_of_its_own() -> None:
    rows = [
        EpisodeVertex(100 + n, 1, n, None, False, 50, {X: 1, Y: 1}, frozenset(), {X: 1000 + n, Y: 2000 + n})
        for n in range(2)
    ]
    graph = Graph.empty().with_episodes(rows, [(X, False), (Y, False)])
    paths = collect_candidates(Walkable(graph, np.ones(2, np.bool_)), [X], [Y], fits(), lambda ids: {})
    assert [path.vertices for path in paths[:2]] == [(X, 100, Y), (X, 101, Y)]
