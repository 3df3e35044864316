"""RLM-on-KG's controllers without a model: what the one hop and the heuristic collect, and when they end."""

from __future__ import annotations

import numpy as np
import pytest

from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, Link
from memory.graph.walk import Walk
from memory.retrieval.traversers import Guidance, Seeds
from plugins.settings import TraverserSettings
from plugins.traversers import rlm
from plugins.traversers.rlm import heuristic, one_hop

FIRST = 1000  # node id of the first passage


def graph_of(*mentions: tuple[int, ...]) -> Graph:
    """A passage for each tuple of objects that it mentions."""
    rows = [
        EpisodeVertex(
            FIRST + n, 1, n, None, False, 50, dict.fromkeys(objects, 1), frozenset(),
            {object: 10**6 + 100 * n + object for object in objects},
        )
        for n, objects in enumerate(mentions)
    ]  # fmt: skip
    objects = sorted({object for row in rows for object in row.mentions})
    return Graph.empty().with_episodes(rows, [(node, False) for node in objects])


def collect(walk: Walk) -> list[int]:
    """The numbers of the collected passages."""
    return np.flatnonzero(walk.episodes).tolist()


def walk_hop(graph: Graph, *scores: float, vertices: str = "ETO") -> Walk:
    seeds = Seeds(np.array(scores, np.float32), {}, Guidance(vertices=vertices))
    return one_hop(graph, seeds, graph.alive, TraverserSettings())


def walk_heuristic(graph: Graph, *named: int, scores: float = 0.5) -> Walk:
    seeds = Seeds(
        np.full(len(graph.alive), scores, np.float32), {graph.column_of[object]: 1.0 for object in named}, Guidance()
    )
    return heuristic(graph, seeds, graph.alive, TraverserSettings())


def test_one_hop_goes_from_the_best_passages_over_what_they_mention_and_no_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rlm, "START_PASSAGES", 1)
    graph = graph_of((1,), (1, 2), (2, 3), (4,))
    walk = walk_hop(graph, 0.9, 0.3, 0.2, 0.1)
    assert collect(walk) == [0, 1]
    assert walk.episodes.tolist() == pytest.approx([0.9, 0.3, 0, 0]), "ranked by text"
    assert collect(walk_hop(graph, 0.9, 0.3, 0.2, 0.1, vertices="eO")) == [0], "a passage that is only an end"


def test_one_hop_takes_the_objects_that_most_of_the_best_passages_mention(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rlm, "START_PASSAGES", 2)
    monkeypatch.setattr(rlm, "MAX_OBJECTS", 1)
    graph = graph_of((1, 9), (2, 9), (1,), (9,))
    walk = walk_hop(graph, 0.9, 0.8, 0.2, 0.1)
    assert collect(walk) == [0, 1, 3]


def test_of_an_object_the_best_passages_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rlm, "MAX_PASSAGES_PER_OBJECT", 2)
    monkeypatch.setattr(rlm, "START_PASSAGES", 1)
    graph = graph_of((1,), (1,), (1,), (1,))
    assert collect(walk_hop(graph, 0.9, 0.1, 0.3, 0.2)) == [0, 2]


def test_the_heuristic_goes_breadth_first_from_the_named_objects_to_a_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of((1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (7,))
    walk = walk_heuristic(graph, 1)
    assert collect(walk) == [0, 1, 2, 3], "objects three steps away, and what mentions them"
    assert [float(walk.objects[graph.column_of[object]]) for object in (1, 5, 6)] == [0.5, 0.5, 0]
    monkeypatch.setattr(rlm, "DEPTH", 1)
    assert collect(walk_heuristic(graph, 1)) == [0, 1]


def test_the_heuristic_begins_with_the_object_of_most_passages_and_ends_at_its_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rlm, "MAX_COLLECTED", 2)
    graph = graph_of((1,), (2,), (2,), (2,))
    assert collect(walk_heuristic(graph, 1, 2)) == [1, 2, 3], "the popular one, whole, and then no other"


def test_the_heuristic_ends_after_objects_without_a_new_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    many = tuple(range(1, 9))
    graph = graph_of(many, (8, 9))
    assert collect(walk_heuristic(graph, 1)) == [0], "objects 2 and 3 bring nothing new"
    monkeypatch.setattr(rlm, "STALL", 9)
    assert collect(walk_heuristic(graph, 1)) == [0, 1]


def test_the_heuristic_follows_relations_too() -> None:
    graph = graph_of((1,), (2,)).with_episodes([], [], (), [Link(5, "rel", 1, 2)])
    assert collect(walk_heuristic(graph, 1)) == [0, 1]


def test_without_a_name_the_heuristic_collects_nothing() -> None:
    graph = graph_of((1,), (2,))
    walk = heuristic(graph, Seeds(np.ones(2, np.float32), {}), graph.alive, TraverserSettings())
    assert collect(walk) == [] and not walk.episodes.any()
