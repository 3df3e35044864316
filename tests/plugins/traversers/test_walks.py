"""What holds for every traverser, alone and together: nothing forbidden is entered, budgets hold, and the same
question has the same walk."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import InvalidInputError
from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, Link
from memory.graph.walk import Walk, Walkable, index
from memory.retrieval.traversers import Guidance, Seeds, Traverser
from memory.settings import RecallSettings
from plugins.manager import load
from plugins.settings import TraverserSettings
from plugins.traversers.paths import MAX_PATHS, MAX_STARTS
from plugins.traversers.subgraph import MAX_EDGES
from tests.examples import examples
from tests.memory.retrieval.walking import rng_graph

NAMES = ("beam", "circles", "paths", "one_hop", "heuristic", "spread+beam", "beam+circles+paths")
RECALL, SETTINGS = RecallSettings(), TraverserSettings()
PLUGINS = load()
names = st.sampled_from(NAMES)
seeds_of = st.integers(0, 10**6)


def traverser(name: str, settings: TraverserSettings = SETTINGS) -> Traverser:
    traverse = PLUGINS.strategies(settings)(name).traverse
    assert traverse is not None
    return traverse


def scores_of(graph: Graph, walk: Walk) -> list[float]:
    """The scores of a walk, in the order of the nodes."""
    scores = {int(node): round(float(walk.episodes[row]), 6) for row, node in enumerate(graph.episode_ids)}
    objects = {int(node): round(float(walk.objects[column]), 6) for column, node in enumerate(graph.object_ids)}
    return [scores[node] for node in sorted(scores)] + [objects[node] for node in sorted(objects)]


@examples(1)
@given(names, seeds_of, seeds_of)
def test_the_order_in_which_things_were_written_does_not_matter(name: str, seed: int, order: int) -> None:
    (one, seeds), (other, same_seeds) = rng_graph(seed), rng_graph(seed, order)
    first = traverser(name)(one, seeds, one.alive, RECALL)
    second = traverser(name)(other, same_seeds, other.alive, RECALL)
    assert scores_of(one, first) == pytest.approx(scores_of(other, second), abs=1e-5)


@examples(1)
@given(
    st.sampled_from([*NAMES, "sketches", "entities"]),
    seeds_of,
    st.sampled_from(["ETO", "EO", "TO", "O", "eTO", "E", "T"]),
    st.data(),
)
def test_nothing_forbidden_is_entered(name: str, seed: int, enter: str, data: st.DataObject) -> None:
    graph, seeds = rng_graph(seed)
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(graph.alive), max_size=len(graph.alive))))
    seeds = replace(
        seeds,
        episode_scores=np.where(allowed, seeds.episode_scores, 0).astype(np.float32),
        guidance=Guidance(vertices=enter),
    )
    walk = traverser(name)(graph, seeds, allowed, replace(RECALL, vertices=enter))
    view = Walkable(graph, allowed)
    if "spread" not in name:
        assert not walk.episodes[~allowed].any()
        reached = walk.objects > 0
        assert all(view.visible(node) for node in graph.object_ids[reached].tolist())
        if "o" not in enter.lower() and seeds.objects and "E" in enter:
            assert {*np.flatnonzero(reached).tolist()} <= seeds.objects.keys() or not allowed.any()


def star(leaves: int) -> Graph:
    """One object that every episode mentions, in two of which another one stands."""
    rows = [
        EpisodeVertex(
            leaves + n, 1, n, None, False, 50, {1: 1, 2 + n // 2: 1}, frozenset(), {1: 10**8 + n, 2 + n // 2: 10**7 + n}
        )
        for n in range(leaves)
    ]
    return Graph.empty().with_episodes(rows, [(n, False) for n in range(1, 2 + leaves)])


def clique(objects: int) -> Graph:
    """Objects each related to each, in one episode."""
    nodes = range(1, objects + 1)
    row = EpisodeVertex(
        objects + 1, 1, 0, None, False, 50, dict.fromkeys(nodes, 1), frozenset(), {o: 10**8 + o for o in nodes}
    )
    pairs = [(a, b) for a in nodes for b in range(1, a)]
    links = [Link(n, "rel", a, b) for n, (a, b) in enumerate(pairs, 1)]
    return Graph.empty().with_episodes([row], [(n, False) for n in nodes], (), links)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("graph", [star(10_000), clique(250)], ids=["star", "clique"])
def test_budgets_hold_on_a_hub_and_on_a_clique(name: str, graph: Graph) -> None:
    scores = np.zeros(len(graph.alive), np.float32)
    scores[:: max(1, len(scores) // 7)] = 0.5
    seeds = Seeds(scores, {0: 1.0, 5: 1.0, len(graph.object_ids) - 2: 1.0})
    index(graph)
    walk = traverser(name)(graph, seeds, graph.alive, RECALL)
    beams = 11 + SETTINGS.beam.width * SETTINGS.beam.neighbours * SETTINGS.beam.depth
    ways = math.comb(MAX_STARTS, 2) * MAX_PATHS
    reached = np.count_nonzero(walk.episodes) + np.count_nonzero(walk.objects)
    assert "spread" in name or reached <= beams + MAX_EDGES + 11 + ways * SETTINGS.paths.length


def test_an_empty_memory_is_walked() -> None:
    for name in NAMES:
        walk = traverser(name)(Graph.empty(), Seeds(np.empty(0, np.float32), {}), np.empty(0, np.bool_), RECALL)
        assert len(walk.episodes) == 0


def test_a_union_has_what_each_has() -> None:
    graph, seeds = rng_graph(11)
    parts = [traverser(name)(graph, seeds, graph.alive, RECALL) for name in ("spread", "beam", "circles")]
    whole = traverser("spread+beam+circles")(graph, seeds, graph.alive, RECALL)
    scaled = [part.episodes / part.episodes.max() for part in parts]
    assert whole.episodes == pytest.approx(np.max(scaled, axis=0)), "of each its best score, not their sum"
    known = "spread, none, beam, circles, entities, heuristic, one_hop, paths, sketches, synergy"
    with pytest.raises(InvalidInputError, match=rf"no strategy 'x'.*{known}"):
        traverser("spread+x")


@examples(1)
@given(seeds_of, st.sampled_from(["ETO", "EO", "O", "E", "eO", "Eo"]))
def test_spread_gives_mass_to_and_passes_on_only_what_may_be_entered(seed: int, enter: str) -> None:
    graph, seeds = rng_graph(seed)
    only = np.zeros_like(seeds.episode_scores)
    only[seed % len(only)] = 1
    seeds = replace(seeds, episode_scores=only)
    walk = traverser("spread")(graph, seeds, graph.alive, replace(RECALL, vertices=enter))
    whole = traverser("spread")(graph, seeds, graph.alive, RECALL)
    if {"E", "O"} <= set(enter):
        assert walk.episodes.tolist() == whole.episodes.tolist()
    if "o" not in enter.lower():
        assert set(np.flatnonzero(walk.objects)) <= seeds.objects.keys()
    if "O" not in enter:
        assert walk.episodes.sum() <= whole.episodes.sum() + 1e-6
    if "e" not in enter.lower() or "O" not in enter:
        unwalked = replace(RECALL, iterations=1, damping=0.0)
        start = traverser("spread")(graph, seeds, graph.alive, unwalked)
        assert set(np.flatnonzero(walk.episodes)) <= set(np.flatnonzero(start.episodes))


@pytest.mark.parametrize("name", ["none+beam", "beam+none"])
def test_what_stands_alone_is_not_joined(name: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot be joined"):
        traverser(name)


def test_text_alone_is_a_strategy_that_walks_nothing() -> None:
    assert PLUGINS.strategies()("none").traverse is None
