"""Walking the graph: the edges of each kind of vertex, and what never comes out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import InvalidInputError
from memory.graph.arrays import Graph
from memory.graph.change import EpisodeVertex, Link, ThesisVertex
from memory.graph.walk import Moment, Walkable
from memory.store.graph import EDGE_KINDS
from tests.examples import examples
from tests.memory.retrieval.walking import kinds_of, rng_graph

MAY = EpisodeVertex(100, 1, 0, None, False, 50, {1: 1, 2: 1}, frozenset(), {1: 11, 2: 12})
JUNE = EpisodeVertex(101, 1, 1, None, False, 50, {2: 1, 3: 1}, frozenset(), {2: 13, 3: 14})
TOLD = ThesisVertex(200, 100, 20, {1: 21, 2: 22}, valid_from=1000, valid_to=2000)
LINKS = [Link(30, "next", 100, 101), Link(31, "rel", 1, 3, 1000, 2000, (100,)), Link(32, "rel", 1, 2)]
GRAPH = Graph.empty().with_episodes([MAY, JUNE], [(1, False), (2, False), (3, False)], [TOLD], LINKS)
ALL = np.ones(2, np.bool_)


def near(vertex: int, graph: Graph = GRAPH, allowed: np.ndarray = ALL, **view: object) -> list[tuple[int, str, int]]:
    edges, kinds, vertices = Walkable(graph, allowed, **view).neighbours(vertex)  # type: ignore[arg-type]
    return [
        (edge, EDGE_KINDS[kind], end)
        for edge, kind, end in zip(edges.tolist(), kinds.tolist(), vertices.tolist(), strict=True)
    ]


def test_every_kind_of_vertex_has_its_edges_by_id() -> None:
    assert near(100) == [(11, "mention", 1), (12, "mention", 2), (20, "asserts", 200), (30, "next", 101)]
    assert near(200) == [(20, "asserts", 100), (21, "member", 1), (22, "member", 2)]
    assert near(2) == [(12, "mention", 100), (13, "mention", 101), (22, "member", 200), (32, "rel", 1)]
    assert near(1) == [(11, "mention", 100), (21, "member", 200), (31, "rel", 3), (32, "rel", 2)]


def test_kinds_that_may_not_be_entered_are_not() -> None:
    assert near(1, enter="O") == [(31, "rel", 3), (32, "rel", 2)]
    assert near(100, enter="ET") == [(20, "asserts", 200), (30, "next", 101)]
    assert near(1, enter="eTO")[0] == (11, "mention", 100)
    assert near(100, enter="eTO") == [], "only an end"
    with pytest.raises(InvalidInputError, match="E, T and O"):
        near(1, enter="EX")


def test_what_is_not_allowed_is_not_there() -> None:
    only_june = np.array([False, True])
    assert near(2, allowed=only_june) == [(13, "mention", 101)]
    assert near(101, allowed=only_june) == [(13, "mention", 2), (14, "mention", 3)]
    assert near(3, allowed=only_june) == [(14, "mention", 101)], "only May tells of the relation"
    assert not Walkable(GRAPH, only_june).visible(1), "only May speaks of it"
    assert not Walkable(GRAPH, only_june).visible(200)


def test_a_fact_is_seen_while_it_holds() -> None:
    def seen(begun_by: int, ends_after: int) -> tuple[bool, bool]:
        view = Walkable(GRAPH, ALL, when=Moment(begun_by, ends_after))
        return view.visible(200), 31 in view.neighbours(1).edges

    assert seen(1500, 1500) == (True, True)
    assert seen(999, 999) == (False, False)
    assert seen(2000, 2000) == (False, False)
    assert seen(3000, 1500) == (True, True)


def test_a_retired_episode_takes_its_theses_along() -> None:
    assert near(2, GRAPH.without_episodes([100])) == [(13, "mention", 101)]


def test_a_link_can_be_taken_away() -> None:
    assert (31, "rel", 3) not in near(1, GRAPH.without_links([31, 999]))
    assert len(GRAPH.without_links([31]).links.evidence) == 0


def test_only_hubs_are_penalised() -> None:
    rows = [
        EpisodeVertex(100 + n, 1, n, None, False, 50, {1: 1, 2 + n: 1}, frozenset(), {1: 1000 + n, 2 + n: 2000 + n})
        for n in range(64)
    ]
    graph = Graph.empty().with_episodes(rows, [(n, False) for n in range(1, 66)])
    view = Walkable(graph, graph.alive)
    assert view.penalties([1, 2, 100]).tolist() == pytest.approx([1 / 3, 1, 1])  # 64 edges are 2^2 times 16
    assert Walkable(graph, graph.alive, hub_penalty=False).penalties([1]).tolist() == [1]


@examples(1)
@given(st.integers(0, 10**6), st.sampled_from(["ETO", "EO", "TO", "O", "eTO", "tE", ""]), st.data())
def test_edges_lead_back_and_nothing_forbidden_comes_out(seed: int, enter: str, data: st.DataObject) -> None:
    graph, _ = rng_graph(seed)
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(graph.alive), max_size=len(graph.alive))))
    view = Walkable(graph, allowed, enter)
    every = [*graph.episode_ids, *graph.theses.ids, *graph.object_ids]
    kinds = kinds_of(graph, map(int, every))
    for vertex in filter(view.visible, map(int, every)):
        edges, _, ends = view.neighbours(vertex)
        assert edges.tolist() == sorted(edges.tolist())
        for edge, end in zip(edges.tolist(), ends.tolist(), strict=True):
            assert kinds[end] in enter.upper()
            assert view.visible(end)
            if kinds[end] in enter and kinds[vertex] in enter:
                assert (edge, vertex) in zip(*(c.tolist() for c in view.neighbours(end)[::2]), strict=True)
