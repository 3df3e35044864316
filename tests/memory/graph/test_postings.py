"""Sparse matrices hold what was put into them, whichever way they are read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.graph.postings import SparseRows, order_stably
from tests.examples import examples

WIDE = 70_000  # columns: more than 16 bits tell
places = st.tuples(st.integers(0, 6), st.sampled_from([0, 1, 2, 65_535, 65_536, WIDE - 1]))


def build(pairs: list[tuple[int, int]]) -> SparseRows:
    rows, columns = (np.array([pair[side] for pair in pairs], np.int32) for side in (0, 1))
    return SparseRows.from_pairs(rows, columns, (7, WIDE))


@given(st.lists(places, unique=True, max_size=20))
def test_entries_lie_by_row_and_column_and_know_where_they_come_from(pairs: list[tuple[int, int]]) -> None:
    matrix = build(pairs)
    rows = np.repeat(np.arange(7), np.diff(matrix.indptr))
    assert list(zip(rows.tolist(), matrix.indices.tolist(), strict=True)) == sorted(pairs)
    assert [pairs[number] for number in matrix.data] == sorted(pairs)
    assert matrix.size == len(pairs) and matrix.indices.dtype == matrix.indptr.dtype == np.int32


@given(st.lists(places, unique=True, max_size=20))
def test_a_matrix_turned_twice_is_the_same(pairs: list[tuple[int, int]]) -> None:
    matrix = build(pairs)
    turned = matrix.transpose()
    assert turned.shape == (WIDE, 7)
    assert turned.columns_of(np.array([65_536])).tolist() == sorted(row for row, column in pairs if column == 65_536)
    again = turned.transpose()
    for one, other in ((again.data, matrix.data), (again.indices, matrix.indices), (again.indptr, matrix.indptr)):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("pair", [(-1, 0), (0, -1), (7, 0), (0, WIDE)])
def test_what_lies_outside_is_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="outside"):
        build([(1, 1), pair])


@examples(2)
@given(st.lists(st.integers(0, 2**31 - 1) | st.integers(0, 3)))
def test_equal_keys_stay_in_their_order(keys: list[int]) -> None:
    assert order_stably(np.array(keys, np.int32)).tolist() == sorted(range(len(keys)), key=keys.__getitem__)
