"""Beam: which paths it keeps, and that it forgets nothing it saw."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from memory.graph.walk import Path
from memory.retrieval.traversers import Guidance, Seeds
from plugins.traversers.beam import beam, search
from plugins.traversers.settings import BeamSettings, TraverserSettings, WalkSettings
from tests.memory.retrieval.walking import EDGES, FITS, A, B, P, X, Y, Z, fits, related
from tests.plugins.lookup import stored_triples

SETTINGS, COMPARED = BeamSettings(), BeamSettings(triples=True)


def found(begin: set[int], edges: dict[int, tuple[int, int]] = EDGES, **changed: object):
    return search(related(edges), begin, fits(), replace(SETTINGS, **changed))


def test_it_sees_all_there_is_within_its_depth() -> None:
    paths, visit = found({A}, width=2)
    assert visit[A].status == "seed"
    assert {X, Y, Z, B} <= visit.keys()
    assert paths[0].edges == (1,)
    assert paths[0].vertices == (A, X)


def test_what_it_drops_it_remembers() -> None:
    _, visit = found({A}, width=1, depth=2)
    assert visit[Y].status == "pruned"
    assert visit[Y].path.edges == (2,)
    assert visit[X].status == "selected"


def test_the_cheaper_path_to_a_vertex_is_remembered() -> None:
    _, visit = search(related(EDGES), {A}, fits({**FITS, X: 0.05}), SETTINGS)
    assert visit[Z].path.edges == (2, 4)
    assert visit[Z].depth == 2


def test_the_order_in_which_edges_came_does_not_matter() -> None:
    expected = found({A, B})
    edges = list(EDGES.items())
    for n in range(20):
        Random(n).shuffle(edges)
        assert found({B, A}, dict(edges)) == expected


def test_parallel_edges_are_two_paths() -> None:
    paths, _ = found({A}, depth=1)
    assert {(1,), (7,)} <= {path.edges for path in paths}


def test_paths_apart_share_nothing_at_their_end() -> None:
    paths, _ = found({A, B}, apart=True, depth=1, paths=100)
    of_a = [path for path in paths if path.vertices[0] == A]
    assert len({path.vertices[-1] for path in of_a}) == len({path.edges[-1] for path in of_a}) == len(of_a)
    together, _ = found({A, B}, depth=1, paths=100)
    assert len(together) > len(paths)


def test_each_start_may_have_a_of_its_own() -> None:
    together, _ = found({A, P}, width=1, depth=1)
    apart, visit = found({A, P}, width=1, depth=1, apart=True)
    assert [path.vertices[0] for path in together] == [A]
    assert [path.vertices[0] for path in apart] == [A, P]
    assert visit[A].status == visit[P].status == "seed"


def test_edges_whose_memory_fires_come_first() -> None:
    paths, _ = search(related(EDGES), {A}, fits(), replace(SETTINGS, neighbours=1, depth=1), {2: 0.7})
    assert [path.edges for path in paths] == [(2,)]


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
        seeds = Seeds(np.ones(1, np.float32), {graph.column_of[A]: 1.0}, Guidance(fits(), lookup=lookup))
        by_vertex, by_triple = TraverserSettings(WalkSettings("O")), TraverserSettings(WalkSettings("O"), COMPARED)
        paths = beam(graph, seeds, graph.alive, by_vertex).paths
        assert [path.edges for path in paths] == [(1,), (2,)], "X fits better than Y"
        assert [path.edges for path in beam(graph, seeds, graph.alive, by_triple).paths] == [(2,), (1,)]
        assert beam(graph, replace(seeds, guidance=Guidance(fits())), graph.alive, by_triple).paths == paths, (
            "nothing to compare"
        )
