from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory.graph.walk import Walkable
from memory.store.rows import FIRST_EDGE
from memory.store.training import Label, Lesson
from plugins.rankers.labels import MAX_CANDIDATES, NEGATIVES, candidates, label_from_trace
from plugins.traversers.subgraph import extract_subgraph
from tests.memory.retrieval.walking import EDGES, A, B, X, Y, Z, fits, related, related_graph

EDGE = FIRST_EDGE


def lesson(needed: tuple[int, ...] = (), shown: tuple[int, ...] = (), feedback: int | None = None) -> Lesson:
    return Lesson(7, 0, "An answer", (), (), needed, shown, feedback, frozenset())


def nameless(edges: Sequence[int]) -> dict[int, str]:
    return {}


def named(edges: Sequence[int]) -> dict[int, str]:
    return {edge: {1: "works at", 2: "founded", 7: "leads"}.get(edge, "is in") for edge in edges}


def test_shortest_ways_come_first_with_every_parallel_relation() -> None:
    walk = related(EDGES)
    ways = [way.edges for way in candidates(walk, [A], [Z], fits(), named)]
    assert ways[:3] == [(1, 3), (7, 3), (2, 4)], "works at and leads both lead over X; by relevance before Y"
    assert (1,) in ways and (2,) in ways, "what is next to the start"


def test_of_ways_over_the_same_relations_one_stands_for_all() -> None:
    walk = related(EDGES)

    def same(edges: Sequence[int]) -> dict[int, str]:
        return dict.fromkeys(edges, "knows")

    ways = [way.edges for way in candidates(walk, [A], [Z, B], fits(), same)]
    assert len(ways) == 3, "two steps; one with the edge, one against it"
    assert ways[0] == (1, 5), "of A knows X knows B or Z the more relevant"


def test_there_are_never_many() -> None:
    walk = related({EDGE + n: (1, n) for n in range(2, 900)})
    assert len(candidates(walk, [1], [5], fits(), lambda edges: {edge: str(edge) for edge in edges})) == MAX_CANDIDATES
    assert candidates(walk, [], [], fits(), nameless) == []
    assert candidates(walk, [99_999], [5], fits(), nameless), "what is not there is passed over"


def test_a_passage_is_a_relation_of_its_own() -> None:
    walk = Walkable(related_graph({1: (A, X)}), np.array([True]))
    ways = candidates(walk, [A], [X], fits(), nameless)
    assert ways[0].edges == (1,) or len(ways[0].edges) == 2
    assert len({way.edges for way in ways}) == len(ways)


def test_labels_of_a_trace() -> None:
    walk = related({EDGE + n: (1, n) for n in range(2, 200)})
    near = extract_subgraph(walk, [1], fits())
    found = label_from_trace(lesson((EDGE + 2, EDGE + 3), (EDGE + 4,)), near)
    assert found[:3] == [
        Label(7, EDGE + 2, 1.0, 1.5, "citation"),
        Label(7, EDGE + 3, 1.0, 1.5, "citation"),
        Label(7, EDGE + 4, 0.0, 0.5, "shown"),
    ]
    others = found[3:]
    assert len(others) == NEGATIVES and {(one.y, one.weight, one.origin) for one in others} == {(0.0, 0.2, "random")}
    assert not {one.edge for one in others} & {EDGE + 2, EDGE + 3, EDGE + 4}
    assert found == label_from_trace(lesson((EDGE + 2, EDGE + 3), (EDGE + 4,)), near), "the same each time"
    assert label_from_trace(lesson((EDGE + 2,), (), feedback=1), near)[0] == Label(7, EDGE + 2, 1.0, 3.0, "feedback")


def test_few_other_edges_are_all_negatives() -> None:
    walk = related(EDGES)
    near = extract_subgraph(walk, [A], fits())
    negatives = [one.edge for one in label_from_trace(lesson((1,)), near) if one.origin == "random"]
    assert negatives == [edge for edge in near.edges.tolist() if edge != 1] and Y in near.vertices
