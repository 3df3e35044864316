"""Arrays and places that grow: nobody sees what was added behind theirs, whoever goes on from where."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.graph.postings import LATE, IdIndex, Postings, SparseRows
from memory.store.arrays import LEAST_ROOM, append_rows
from tests.examples import examples

lists = st.lists(st.integers(0, 99), max_size=40)


@examples(2)
@given(st.lists(st.tuples(st.integers(0, 20), lists), max_size=12))
def test_whatever_is_grown_from_whichever_all_stay_as_they_were(steps: list[tuple[int, list[int]]]) -> None:
    arrays, expected = [np.empty(0, np.int32)], [[]]
    for which, values in steps:
        arrays.append(append_rows(arrays[which % len(arrays)], values))
        expected.append([*expected[which % len(expected)], *values])
    assert [array.tolist() for array in arrays] == expected


def test_growing_copies_seldom() -> None:
    array = append_rows(np.empty(0, np.int64), [0])
    rooms = set()
    for i in range(3 * LEAST_ROOM):
        array = append_rows(array, [i])
        rooms.add(id(array.base))
    assert len(rooms) < 6


def dense(rows: int) -> SparseRows:
    """Three columns of ones."""
    return SparseRows.build(np.ones(3 * rows, np.float32), [0, 1, 2] * rows, range(0, 3 * rows + 1, 3), 3)


def test_a_matrix_keeps_its_room() -> None:
    row = dense(1)
    matrix = row
    rooms = set()
    for _ in range(2 * LEAST_ROOM):
        matrix = matrix.stack(row, 3)
        rooms |= {matrix.data.ctypes.data, matrix.indices.ctypes.data, matrix.indptr.ctypes.data}
    assert len(rooms) < 20
    assert matrix.data.all() and matrix.indices.tolist() == [0, 1, 2] * (2 * LEAST_ROOM + 1)


def test_only_the_array_that_begins_a_room_goes_on_in_it() -> None:
    whole = append_rows(np.empty(0, np.int64), range(10))
    assert append_rows(whole[5:], [7]).tolist() == [5, 6, 7, 8, 9, 7]
    assert append_rows(whole[::2], [7]).tolist() == [0, 2, 4, 6, 8, 7]
    assert append_rows(whole[:5], [7]).tolist() == [0, 1, 2, 3, 4, 7]
    assert append_rows(whole.view(np.uint64), [7]).tolist() == [*range(10), 7]
    assert whole.tolist() == list(range(10))


@examples(2)
@given(st.lists(st.lists(st.integers(0, 30), max_size=6), min_size=1, max_size=5), st.data())
def test_places_grown_are_the_places_of_all(batches: list[list[int]], data: st.DataObject) -> None:
    ids = np.array(batches[0], np.int64)
    grown = [IdIndex.build(ids)]
    for batch in batches[1:]:
        ids = np.concatenate([ids, np.array(batch, np.int64)])
        grown.append(grown[-1].extend(ids))
    wanted = {int(node): place for place, node in enumerate(ids)}
    assert {node: grown[-1][node] for node in grown[-1]} == wanted
    assert dict(grown[0].items()) == {int(node): place for place, node in enumerate(batches[0])}
    asked = np.arange(-1, 35)
    assert grown[-1].find(asked).tolist() == [wanted.get(int(node), -1) for node in asked]
    there = np.array([data.draw(st.booleans()) for _ in ids], np.bool_)
    some = IdIndex.build(ids, there)
    assert all((int(node) in some) == (there[wanted[int(node)]]) for node in ids)


@examples(2)
@given(st.lists(st.lists(st.integers(0, 9), max_size=5, unique=True), max_size=12), st.integers(0, 12))
def test_postings_grown_find_what_the_matrix_holds(rows: list[list[int]], first: int) -> None:
    def matrix(some: list[list[int]]) -> SparseRows:
        indices = np.array([column for row in some for column in row], np.int32)
        ends = np.cumsum([0, *map(len, some)]).astype(np.int32)
        width = 1 + max(indices, default=0)
        return SparseRows.build(np.ones(len(indices), np.float32), indices, ends, width)

    whole = matrix(rows)
    postings = Postings(whole, Postings(matrix(rows[:first])))
    columns = np.arange(whole.shape[1])
    of, at, entries = postings.find(columns)
    assert sorted(zip(of.tolist(), at.tolist(), strict=True)) == list(zip(of.tolist(), at.tolist(), strict=True))
    expected = [(column, row) for column in columns.tolist() for row, held in enumerate(rows) if column in held]
    assert list(zip(of.tolist(), at.tolist(), strict=True)) == expected
    assert whole.indices[entries].tolist() == [column for column, _ in expected]


def test_when_much_came_late_all_is_sorted_again() -> None:
    few = dense(1)
    many = dense(LATE)
    grown = Postings(many, Postings(few))
    assert grown._sorted.shape[1] == LATE
    assert Postings(many, grown)._sorted is grown._sorted
