"""Hop distances against a plain breadth-first search, and the one thing that it does not walk through."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex
from memory.graph.walk import Walkable
from memory.insight.diagnosis import HOPS, MOST_EDGES, measure_hops
from tests.examples import examples
from tests.memory.retrieval.walking import everything, rng_graph


def breadth_first(graph: Graph, seeds: set[int]) -> dict[int, int]:
    edges = everything(graph)
    found, edge = {seed: 0 for seed in seeds if seed in edges}, set(seeds) & set(edges)
    for hops in range(1, HOPS + 1):
        edge = {end for vertex in edge for _, _, end in edges[vertex]} - set(found)
        found |= dict.fromkeys(edge, hops)
    return found


@examples(1)
@given(st.integers(0, 10**6), st.data())
def test_as_far_as_a_search_that_looks_at_everything(seed: int, data: st.DataObject) -> None:
    graph, _ = rng_graph(seed)
    graph = graph.without_episodes(data.draw(st.lists(st.sampled_from(graph.episode_ids.tolist()), max_size=2)))
    seeds = data.draw(st.sets(st.sampled_from([*graph.object_ids.tolist(), 5]), max_size=3))
    episodes = list(graph.row_of)
    far = breadth_first(graph, seeds)
    walk = Walkable(graph, graph.alive)
    for _ in range(2):  # the second time nothing is left of the first
        assert measure_hops(walk, seeds, episodes)[0] == {one: far[one] for one in episodes if one in far}
    assert measure_hops(walk, (), episodes) == ({}, False)


def test_a_hub_is_no_way() -> None:
    def episode(n: int, edges: dict[int, int]) -> EpisodeVertex:
        return EpisodeVertex(1000 + n, 1, n, None, False, 9, dict.fromkeys(edges, 1), frozenset(), edges)

    def star(rays: int) -> Graph:
        rows = [episode(n, {1: n, 2: 90_000} if n == 1 else {1: n}) for n in range(1, rays + 1)]
        return Graph.empty().with_episodes(rows, [(1, False), (2, False)])

    def reach(graph: Graph, *given: tuple[int, ...]) -> tuple[dict[int, int], bool]:
        return measure_hops(Walkable(graph, graph.alive), *given)

    assert reach(star(MOST_EDGES), (2,), (1001, 1002)) == ({1001: 1, 1002: 3}, True)
    assert reach(star(MOST_EDGES + 1), (2,), (1001, 1002)) == ({1001: 1}, True)
    assert reach(star(MOST_EDGES + 1), (1,), (1002,)) == ({1002: 1}, True), "where it begins it counts"
