from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.errors import StoreError
from memory.store import arrays, check, episodes, graph
from memory.store.connect import FIRST_EDGE
from memory.store.graph import AliasRow, EdgeRow
from memory.store.store import Store
from tests.memory.store.building import remember


class Undone(Exception):
    """Ends a unit so that the next example begins with an empty memory."""


@pytest.fixture
def nodes(store: Store) -> list[int]:
    with store.writing() as conn:
        first = graph.allocate(conn, "node", 3)
        graph.insert_objects(conn, [(first + n, name, "person") for n, name in enumerate("ABC")], 1000)
    return [first, first + 1, first + 2]


def test_ids_are_never_used_twice(store: Store) -> None:
    with store.writing() as conn:
        first = graph.allocate(conn, "node", 5)
        second = graph.allocate(conn, "node", 1)
        edge = graph.allocate(conn, "edge", 2)
    assert (second, edge) == (first + 5, FIRST_EDGE)
    with pytest.raises(KeyError), store.writing() as conn:
        assert graph.allocate(conn, "node", 1) == second + 1
        raise KeyError
    with store.writing() as conn:
        assert graph.allocate(conn, "node", 1) == second + 1, "an undone unit has used none"


@given(norms=st.lists(st.text(max_size=5), unique=True, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_norm_finds_its_own_objects(store: Store, norms: list[str]) -> None:
    with suppress(Undone), store.writing() as conn:
        first = graph.allocate(conn, "node", len(norms))
        rows = [(first + n, norm, None) for n, norm in enumerate(norms)]
        graph.insert_objects(conn, rows, 1)
        graph.insert_aliases(conn, [AliasRow(name, name, id, "test") for id, name, _ in rows])
        assert graph.objects_by_norm(conn, [*norms, "unknown name", "\ud800"]) == {name: [id] for id, name, _ in rows}
        assert graph.object_labels(conn, [id for id, _, _ in rows]) == {id: name for id, name, _ in rows}
        raise Undone


def test_the_surest_object_of_a_name_comes_first(store: Store, nodes: list[int]) -> None:
    a, b, c = nodes
    rows = [
        AliasRow("x", "X", a, "mention"),
        AliasRow("x", "X", b, "frontmatter", 2.0),
        AliasRow("x", "x", c, "mention"),
    ]
    with store.writing() as conn:
        graph.insert_aliases(conn, rows)
        graph.insert_aliases(conn, [AliasRow("x", "other", a, "again", 9.0)])
        assert graph.objects_by_norm(conn, ["x"]) == {"x": [b, a, c]}


def test_an_edge_lives_only_once_but_relations_may_be_parallel(store: Store, nodes: list[int]) -> None:
    a, b, _ = nodes
    with store.writing() as conn:
        first = graph.allocate(conn, "edge", 4)
        graph.insert_edges(conn, [EdgeRow(first, "next", a, b), EdgeRow(first + 1, "rel", a, b, pred_id=1)], 1000)
        graph.insert_edges(conn, [EdgeRow(first + 2, "rel", a, b, pred_id=2), EdgeRow(first + 3, "next", b, a)], 1000)
    with pytest.raises(StoreError, match="UNIQUE"), store.writing() as conn:
        graph.insert_edges(conn, [EdgeRow(graph.allocate(conn, "edge", 1), "rel", a, b, pred_id=2)], 1000)
    with store.writing() as conn:
        graph.retire_edges(conn, [first + 2], 2000)
        graph.insert_edges(conn, [EdgeRow(graph.allocate(conn, "edge", 1), "rel", a, b, pred_id=2)], 3000)
        assert len(graph.edges_from(conn, [a], "rel")) == 2


def test_edges_come_back_as_they_were_written(store: Store, nodes: list[int]) -> None:
    a, b, c = nodes
    with store.writing() as conn:
        first = graph.allocate(conn, "edge", 4)
        rows = [
            EdgeRow(first, "mention", a, b, 3),
            EdgeRow(first + 1, "mention", a, c, 1, "title"),
            EdgeRow(first + 2, "rel", a, b, 1, None, 7, 0.5, 10, 20),
            EdgeRow(first + 3, "next", b, c),
        ]
        graph.insert_edges(conn, rows, 1000)
        assert [row for kind in ("mention", "rel") for row in graph.edges_from(conn, [a], kind)] == rows[:3]
        found = arrays.live_edges(conn)
        assert [column.tolist() for column in found["mention"]] == [
            [first, first + 1], [a, a], [b, c], [3, 1], [False, True], [False, False],
        ]  # fmt: skip
        assert [column.tolist() for column in found["rel"]] == [[first + 2], [a], [b], [1], [False], [True]]
        assert [column.tolist() for column in found["next"]] == [[first + 3], [b], [c], [1], [False], [False]]
        assert all(not len(found[kind].id) for kind in ("member", "asserts", "open"))


def test_the_largest_ids_come_back(store: Store) -> None:
    with store.writing() as conn:
        row = EdgeRow(2**31 - 1, "next", 2**30 - 1, 2**30 - 2, 2**40)
        graph.insert_edges(conn, [row], 1000)
        found = arrays.live_edges(conn)["next"]
        assert [column.tolist() for column in found[:3]] == [[row.id], [row.src], [row.dst]]
        assert found.support.tolist() == [2**15 - 1]
        conn.execute("DELETE FROM edge")  # its ends are not there


def test_live_objects_say_which_are_dates(store: Store, nodes: list[int]) -> None:
    with store.writing() as conn:
        day = graph.allocate(conn, "node", 1)
        graph.insert_objects(conn, [(day, "3 May", "date")], 1000)
        ids, is_date = arrays.live_objects(conn)
        assert (ids.tolist(), is_date.tolist()) == ([*nodes, day], [False, False, False, True])


def test_more_edges_than_one_piece_are_loaded_without_an_object_each(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "PIECE", 1000)
    with store.writing() as conn:
        node, edge = graph.allocate(conn, "node", 101), graph.allocate(conn, "edge", 10_000)
        graph.insert_objects(conn, [(node + n, "", None) for n in range(101)], 1)
        pairs = [(node + a, node + b) for a in range(100) for b in range(100)]
        graph.insert_edges(conn, [EdgeRow(edge + n, "next", *pair) for n, pair in enumerate(pairs)], 1)
        graph.retire_edges(conn, range(edge + 1500, edge + 4000), 2)
        fetched = []
        conn.row_factory = lambda cursor, row: fetched.append(row) or row
        found = arrays.live_edges(conn)["next"]
        assert list(zip(found.src.tolist(), found.dst.tolist(), strict=True)) == pairs[:1500] + pairs[4000:]
        assert len(fetched) < 20, "rows were handed over one by one"
        conn.row_factory = None


def test_retired_edges_are_gone_with_what_was_learnt_on_them(store: Store) -> None:
    with store.writing() as conn:
        (a,) = remember(conn, "s", "Ana sings. Bo hums.")
        edges = graph.edges_from(conn, [a], "mention")
        conn.execute(
            "INSERT INTO edge_memory(edge_id, slot, embedder_id, data, norm, t_last) VALUES (?, 0, 1, x'00', 0.5, 1)",
            (edges[0].id,),
        )
        graph.retire_edges(conn, [edges[0].id], 2000)
        assert graph.edges_from(conn, [a], "mention") == edges[1:]
        episodes.retire_many(conn, [a], 3000)
    assert check.check(store).problems == ()
