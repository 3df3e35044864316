from __future__ import annotations

from memory.store.connect import FIRST_EDGE
from memory.store.queries import Lesson
from plugins.rankers.training import NEGATIVES, Label, label_from_trace
from plugins.traversers.subgraph import extract_subgraph
from tests.memory.retrieval.walking import EDGES, A, Y, fits, related

EDGE = FIRST_EDGE


def lesson(needed: tuple[int, ...] = (), shown: tuple[int, ...] = (), feedback: int | None = None) -> Lesson:
    return Lesson(7, needed, shown, feedback)


def test_labels_of_a_trace() -> None:
    walk = related({EDGE + n: (1, n) for n in range(2, 200)})
    near = extract_subgraph(walk, [1], fits())
    found = label_from_trace(lesson((EDGE + 2, EDGE + 3), (EDGE + 4,)), near)
    assert found[:3] == [
        Label(EDGE + 2, 1.0, 1.5, "citation"),
        Label(EDGE + 3, 1.0, 1.5, "citation"),
        Label(EDGE + 4, 0.0, 0.5, "shown"),
    ]
    others = found[3:]
    assert len(others) == NEGATIVES and {(one.y, one.weight, one.origin) for one in others} == {(0.0, 0.2, "random")}
    assert not {one.edge for one in others} & {EDGE + 2, EDGE + 3, EDGE + 4}
    assert found == label_from_trace(lesson((EDGE + 2, EDGE + 3), (EDGE + 4,)), near), "the same each time"
    assert label_from_trace(lesson((EDGE + 2,), (), feedback=1), near)[0] == Label(EDGE + 2, 1.0, 3.0, "feedback")


def test_few_other_edges_are_all_negatives() -> None:
    walk = related(EDGES)
    near = extract_subgraph(walk, [A], fits())
    negatives = [one.edge for one in label_from_trace(lesson((1,)), near) if one.origin == "random"]
    assert negatives == [edge for edge in near.edges.tolist() if edge != 1] and Y in near.vertices
