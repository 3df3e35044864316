"""What holds for every traverser, alone and together: nothing forbidden is entered, budgets hold, and the same
question has the same walk."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path as File

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import InvalidInputError
from memory.graph.adjacency import Walkable, index
from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, Link
from memory.retrieval.papers import PAPERS, PERSONALAI, TGS_RAG
from memory.retrieval.traversers import Seeds, Walk, by_name
from memory.settings import RecallSettings
from tests.examples import examples
from tests.memory.retrieval.walking import kinds_of, rng_graph

NAMES = ("beam", "circles", "paths", "spread+beam", "beam+circles+paths")
SETTINGS = RecallSettings()
names = st.sampled_from(NAMES)
seeds_of = st.integers(0, 10**6)


def told(graph: Graph, walk: Walk) -> object:
    """A walk without what depends on the order of rows."""
    scores = {int(node): round(float(walk.episodes[row]), 6) for row, node in enumerate(graph.episode_ids)}
    return scores, walk.paths, dict(walk.visit), walk.edges


@examples(1)
@given(names, seeds_of, seeds_of)
def test_the_order_in_which_things_were_written_does_not_matter(name: str, seed: int, order: int) -> None:
    (one, seeds), (other, same_seeds) = rng_graph(seed), rng_graph(seed, order)
    first = by_name(name)(one, seeds, one.alive, SETTINGS)
    second = by_name(name)(other, same_seeds, other.alive, SETTINGS)
    assert told(one, first)[1:] == told(other, second)[1:]  # type: ignore[index]
    assert told(one, first)[0] == pytest.approx(told(other, second)[0], abs=1e-5)  # type: ignore[index]


@examples(1)
@given(names, seeds_of, st.sampled_from(["ETO", "EO", "TO", "O", "eTO", "E", "T"]), st.data())
def test_nothing_forbidden_is_entered(name: str, seed: int, enter: str, data: st.DataObject) -> None:
    graph, seeds = rng_graph(seed)
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(graph.alive), max_size=len(graph.alive))))
    seeds = replace(seeds, episode_scores=np.where(allowed, seeds.episode_scores, 0).astype(np.float32))
    walk = by_name(name)(graph, seeds, allowed, replace(SETTINGS, walk_vertices=enter))
    view = Walkable(graph, allowed)
    kinds = kinds_of(graph, walk.visit)
    for vertex, seen in walk.visit.items():
        assert view.visible(vertex)
        assert seen.status == "seed" or kinds[vertex] in enter.upper()
        assert seen.path.vertices[-1] == vertex
    for path in walk.paths:
        assert len(path.vertices) == len(path.edges) + 1 == len(path.costs) + 1
        for here, edge, there in zip(path.vertices, path.edges, path.vertices[1:], strict=False):
            near = view.neighbours(here)
            assert (edge, there) in zip(near.edges.tolist(), near.vertices.tolist(), strict=True)
    if "spread" not in name:
        assert not walk.episodes[~allowed].any()


def star(leaves: int) -> Graph:
    """One object that every episode mentions, in two of which another one stands."""
    rows = [
        EpisodeVertex(
            leaves + n, 1, n, None, False, 50, {1: 1, 2 + n // 2: 1}, frozenset(), {1: 10**8 + n, 2 + n // 2: 10**7 + n}
        )
        for n in range(leaves)
    ]
    return Graph.empty().added(rows, [(n, False) for n in range(1, 2 + leaves)])


def clique(objects: int) -> Graph:
    """Objects each related to each, in one episode."""
    nodes = range(1, objects + 1)
    row = EpisodeVertex(
        objects + 1, 1, 0, None, False, 50, dict.fromkeys(nodes, 1), frozenset(), {o: 10**8 + o for o in nodes}
    )
    pairs = [(a, b) for a in nodes for b in range(1, a)]
    links = [Link(n, "rel", a, b) for n, (a, b) in enumerate(pairs, 1)]
    return Graph.empty().added([row], [(n, False) for n in nodes], (), links)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("graph", [star(10_000), clique(250)], ids=["star", "clique"])
def test_budgets_hold_on_a_hub_and_on_a_clique(name: str, graph: Graph) -> None:
    scores = np.zeros(len(graph.alive), np.float32)
    scores[:: max(1, len(scores) // 7)] = 0.5
    seeds = Seeds(scores, {0: 1.0, 5: 1.0, len(graph.object_ids) - 2: 1.0})
    index(graph)
    walk = by_name(name)(graph, seeds, graph.alive, SETTINGS)
    beams = 11 + SETTINGS.beam_width * SETTINGS.beam_neighbours * SETTINGS.beam_depth
    ways = SETTINGS.path_pairs * SETTINGS.path_count
    assert len(walk.visit) <= beams + SETTINGS.circles_edges + 11 + ways * SETTINGS.path_length
    assert len(walk.paths) <= SETTINGS.beam_paths + 30 + ways


def test_an_empty_memory_is_walked() -> None:
    for name in NAMES:
        walk = by_name(name)(Graph.empty(), Seeds(np.empty(0, np.float32), {}), np.empty(0, np.bool_), SETTINGS)
        assert len(walk.episodes) == 0
        assert walk.paths == ()


def test_a_union_has_what_each_has() -> None:
    graph, seeds = rng_graph(11)
    parts = [by_name(name)(graph, seeds, graph.alive, SETTINGS) for name in ("spread", "beam", "circles")]
    whole = by_name("spread+beam+circles")(graph, seeds, graph.alive, SETTINGS)
    assert set(whole.visit) == set().union(*(part.visit for part in parts))
    assert {path.edges for path in whole.paths} == {path.edges for part in parts for path in part.paths}
    assert ((whole.episodes > 0) == sum(part.episodes > 0 for part in parts).astype(bool)).all()
    with pytest.raises(InvalidInputError, match=r"no traverser 'x'.*beam, circles, entities, paths, sketches, spread"):
        by_name("spread+x")


SCRIPT = """
from tests.memory.retrieval.test_walks import NAMES, SETTINGS, told
from tests.memory.retrieval.walking import rng_graph
from memory.retrieval.traversers import by_name
for seed in range(12):
    graph, seeds = rng_graph(seed)
    for name in NAMES:
        print(told(graph, by_name(name)(graph, seeds, graph.alive, SETTINGS)))
"""


def test_the_hash_seed_has_no_effect() -> None:
    root = File(__file__).parents[3]
    said = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1] != b""


def test_papers_have_their_numbers() -> None:
    assert (PERSONALAI.beam_paths, PERSONALAI.beam_depth, PERSONALAI.beam_order) == (10, 5, "mixed")
    assert (PERSONALAI.share_nodes, PERSONALAI.share_edges, PERSONALAI.beam_apart) == (False, False, True)
    assert (PERSONALAI.path_search, PERSONALAI.path_length, PERSONALAI.path_pops) == ("ip", 10, 150)
    assert (PERSONALAI.path_step, PERSONALAI.circles_depth) == (1.0, 1)
    assert (TGS_RAG.beam_width, TGS_RAG.beam_depth, TGS_RAG.beam_neighbours) == (20, 3, 30)
    assert (TGS_RAG.synergy_weight, TGS_RAG.synergy_formula, TGS_RAG.beam_rank) == (0.5, "paper", "last")
    graph, seeds = rng_graph(2)
    for preset in PAPERS.values():
        assert by_name(preset.strategy)(graph, seeds, graph.alive, preset).visit
