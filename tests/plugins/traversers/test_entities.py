from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from memory.graph.arrays import Floats
from memory.graph.walk import Walk, Walkable
from memory.retrieval.traversers import Guidance, Seeds
from plugins.settings import TraverserSettings
from plugins.traversers.reg import entities, sketches
from tests.memory.retrieval.walking import A, X, Y, fits, related_graph, rng_graph
from tests.plugins.rankers.trials import scorer_of

SETTINGS = TraverserSettings()


def test_a_vertex_is_worth_its_best_edge() -> None:
    graph = related_graph({1: (A, X), 2: (X, Y)})
    seeds = Seeds(
        np.ones(1, np.float32), {graph.column_of[A]: 1.0}, Guidance(fits({A: 1.0, X: 0.5, Y: 0.1}), vertices="O")
    )
    walk = entities(graph, seeds, np.array([True]), SETTINGS)
    worth = {node: float(walk.objects[graph.column_of[node]]) for node in (A, X, Y)}
    assert worth == pytest.approx({A: 0.75, X: 0.75, Y: 0.3})


def test_what_was_learnt_decides_where_there_is_something() -> None:
    graph, seeds = rng_graph(3)
    plain = entities(graph, seeds, graph.alive, TraverserSettings())
    trained = replace(seeds, guidance=replace(seeds.guidance, scorer=scorer_of(1)))
    learnt = entities(graph, trained, graph.alive, TraverserSettings())
    assert np.array_equal(plain.objects > 0, learnt.objects > 0)
    assert plain.objects.tolist() != learnt.objects.tolist()


@pytest.mark.parametrize("traverse", [entities, sketches])
@pytest.mark.parametrize("seed", range(12))
def test_walks_keep_within_what_may_be_seen_and_do_not_depend_on_order(
    traverse: Callable[..., Walk], seed: int
) -> None:
    found: list[dict[int, float]] = []
    for order in (None, 5):
        graph, seeds = rng_graph(seed, order)
        allowed = np.array([int(node) % 3 > 0 for node in graph.episode_ids])
        walk = traverse(graph, seeds, allowed, TraverserSettings())
        view = Walkable(graph, allowed)
        assert all(view.visible(vertex) for vertex in graph.object_ids[walk.objects > 0].tolist())
        assert not walk.episodes[~allowed].any()
        assert all(0 <= score <= 1 for score in _scores(walk.episodes, walk.objects))
        found.append({int(node): float(score) for node, score in zip(graph.episode_ids, walk.episodes, strict=True)})
    assert found[0] == found[1]


def _scores(*parts: Floats) -> list[float]:
    return [float(score) for part in parts for score in part]
