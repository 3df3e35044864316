"""Beam: which paths it keeps, and that it forgets nothing it saw."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from memory.graph.walk import Path
from memory.retrieval.traversers import Guidance, Seeds
from plugins.settings import BeamSettings, TraverserSettings
from plugins.traversers.beam import beam, search
from plugins.traversers.walking import costs
from tests.memory.retrieval.walking import EDGES, FITS, A, B, P, X, Y, Z, fits, related
from tests.plugins.lookup import stored_triples

SETTINGS, COMPARED = BeamSettings(), BeamSettings(triples=True)


def found(begin: set[int], edges: dict[int, tuple[int, int]] = EDGES, **changed: object):
    return search(related(edges), begin, fits(), replace(SETTINGS, **changed))


def test_it_sees_all_there_is_within_its_depth() -> None:
    paths, visit = found({A}, width=2)
    assert visit[A].edges == ()
    assert {X, Y, Z, B} <= visit.keys()
    assert paths[0].edges == (1,)
    assert paths[0].vertices == (A, X)


def test_what_it_drops_it_remembers() -> None:
    _, visit = found({A}, width=1, depth=2)
    assert visit[Y].edges == (2,)


def test_the_cheaper_path_to_a_vertex_is_remembered() -> None:
    _, visit = search(related(EDGES), {A}, fits({**FITS, X: 0.05}), SETTINGS)
    assert visit[Z].edges == (2, 4)


def test_the_order_in_which_edges_came_does_not_matter() -> None:
    expected = found({A, B})
    edges = list(EDGES.items())
    for n in range(20):
        Random(n).shuffle(edges)
        assert found({B, A}, dict(edges)) == expected


def test_parallel_edges_are_two_paths() -> None:
    paths, _ = found({A}, depth=1)
    assert {(1,), (7,)} <= {path.edges for path in paths}


def test_paths_that_share_no_vertex_may_share_an_edge_and_the_reverse() -> None:
    """Over two edges A leads to X, and over one X leads to Z: with B, three ways to X, and two edges to Z."""
    ends = {flag: found({A, B}, depth=1, paths=100, **{flag: False})[0] for flag in ("share_vertices", "share_edges")}
    every, _ = found({A, B}, depth=1, paths=100)
    assert [path.vertices[-1] for path in every].count(X) == 3
    assert [path.vertices[-1] for path in ends["share_vertices"]].count(X) == 1
    assert ends["share_edges"] == every, "no two paths of one edge end with the same one"
    longer, _ = found({A, B}, depth=2, paths=100, share_edges=False)
    assert [path.edges[-1] for path in longer if len(path.edges) == 2].count(3) == 1
    together, _ = found({A, B}, depth=2, paths=100)
    assert [path.edges[-1] for path in together if len(path.edges) == 2].count(3) == 3
    assert {path.edges[-1] for path in longer} == {path.edges[-1] for path in together}


def test_a_path_comes_to_no_vertex_twice() -> None:
    paths, _ = found({A}, depth=3, paths=1000, width=1000)
    assert paths and all(len({*path.vertices}) == len(path.vertices) for path in paths)


def test_the_cheapest_paths_are_kept() -> None:
    graph = {1: (A, X), 2: (A, Y), 3: (Y, Z)}
    assert [path.edges for path in found({A}, graph, depth=2)[0]] == [(1,), (2,), (2, 3)]
    assert len(found({A}, graph, depth=2, paths=2)[0]) == 2


def test_a_start_is_remembered_as_a_start_whatever_leads_to_it() -> None:
    for rank in ("path", "last"):
        _, visit = found({A, X}, width=100, rank=rank)
        assert visit[X].vertices == (X,) and visit[A].vertices == (A,)


def test_a_hub_costs_more() -> None:
    fit, penalty = np.array([0.5, 0.5, 0.0], np.float32), np.array([1.0, 0.5, 1.0], np.float32)
    assert costs(fit, penalty).tolist() == pytest.approx([-math.log(0.5), -math.log(0.25), -math.log(0.02)])
    leaves = {n: (X, 100 + n) for n in range(10, 400)}
    _, visit = search(related({1: (A, X), 2: (A, Y)} | leaves), {A}, fits({X: 0.5, Y: 0.5}), replace(SETTINGS, depth=1))
    assert visit[X].cost > visit[Y].cost


def test_each_start_may_have_a_of_its_own() -> None:
    together, _ = found({A, P}, width=1, depth=1)
    apart, _ = found({A, P}, width=1, depth=1, apart=True)
    assert [path.vertices[0] for path in together] == [A]
    assert [path.vertices[0] for path in apart] == [A, P]


@pytest.mark.parametrize(("relevance", "cost"), [([0.8], 0.223), ([0.8] * 5, 0.334), ([0.9, 0.5], 0.475)])
def test_a_path_costs_what_the_paper_says(relevance: list[float], cost: float) -> None:
    path = Path(tuple(range(len(relevance) + 1)), tuple(relevance), tuple(-math.log(one) for one in relevance))
    assert path.cost == pytest.approx(cost, abs=5e-4)


def test_by_the_last_edge_alone_a_bad_beginning_is_forgiven() -> None:
    values = fits({X: 0.05, Z: 0.9, Y: 0.5})
    by_path, _ = search(related(EDGES), {A}, values, replace(SETTINGS, width=1, depth=2, neighbours=30))
    by_last, _ = search(related(EDGES), {A}, values, replace(SETTINGS, rank="last", width=9, depth=2))
    assert (1, 3) not in {path.edges for path in by_path}
    assert (1, 3) in {path.edges for path in by_last}


def test_a_triple_is_compared_with_the_question_where_that_is_wanted() -> None:
    triples = {1: (A, "built", X), 2: (A, "sold", Y)}
    with stored_triples(triples, "What was sold?", ("built", "sold")) as (graph, lookup):
        seeds = Seeds(np.ones(1, np.float32), {graph.column_of[A]: 1.0}, Guidance(fits(), lookup=lookup, vertices="O"))
        by_vertex, by_triple = TraverserSettings(), TraverserSettings(beam=COMPARED)

        def lead(seeds: Seeds, settings: TraverserSettings) -> float:
            """How much X scores above Y."""
            x, y = beam(graph, seeds, graph.alive, settings).objects[[graph.column_of[X], graph.column_of[Y]]]
            return float(x - y)

        assert lead(seeds, by_vertex) > 0 > lead(seeds, by_triple), "X fits better than Y"
        blind = replace(seeds, guidance=Guidance(fits(), vertices="O"))
        assert lead(blind, by_triple) == lead(seeds, by_vertex), "nothing to compare"
