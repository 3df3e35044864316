"""Signs: the near vectors are found as if all were compared, in any order of writing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.graph import snapshot
from memory.graph.snapshot import QuantizedVectors
from tests.examples import examples

NONE = np.empty(0, np.int64)


def unit(n: int, d: int, seed: int = 0) -> np.ndarray:
    matrix = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def test_the_nearest_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "LEAST_NEAR", 200)
    matrix = unit(2000, 256)
    query = unit(1, 256, 1)[0]
    near = np.argsort(-(matrix @ query))[:10]
    rows, cosines = QuantizedVectors.build(matrix).nearest(query, np.ones(2000, np.bool_), NONE)
    assert 200 <= len(rows) < 400
    assert (
        len(set(rows[np.argsort(-cosines)[:10]].tolist()) & set(near.tolist())) >= 7
    )  # noise has the least alike of all near ones
    assert np.allclose(cosines, matrix[rows] @ query, atol=0.01)


@examples(1)
@given(st.integers(1, 40), st.sampled_from([3, 64, 70, 256]), st.data())
def test_few_vectors_are_all_compared_and_only_the_allowed(n: int, d: int, data: st.DataObject) -> None:
    matrix = unit(n, d)
    matrix[data.draw(st.integers(0, n - 1))] = 0  # no vector
    allowed = np.array([data.draw(st.booleans()) for _ in range(n)], np.bool_)
    query = unit(1, d, 1)[0]
    rows, cosines = QuantizedVectors.build(matrix).nearest(query, allowed, NONE)
    assert rows.tolist() == np.flatnonzero(allowed).tolist()
    assert np.allclose(cosines, matrix[rows] @ query, atol=0.01)


@examples(1)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=5), st.permutations(range(5)))
def test_written_in_any_portions_and_places_they_are_the_same(sizes: list[int], order: list[int]) -> None:
    matrix = unit(sum(sizes), 70)
    whole = QuantizedVectors.build(matrix)
    grown = QuantizedVectors.build(matrix[:0])
    placed = QuantizedVectors.zeros(len(matrix), 70)
    starts = np.cumsum([0, *sizes])
    for start, end in pairwise(starts):
        grown = grown.with_rows(matrix[start:end])
    for part in (part for part in order if part < len(sizes)):
        placed.put(np.arange(starts[part], starts[part + 1]), matrix[starts[part] : starts[part + 1]])
    for other in (grown, placed):
        assert np.array_equal(other.codes, whole.codes)
        assert np.array_equal(other.scales, whole.scales)
        assert all(np.array_equal(a, b) for a, b in zip(other.words, whole.words, strict=True))


def test_what_others_found_is_compared_too() -> None:
    matrix = unit(50, 64)
    made = QuantizedVectors.build(matrix)
    rows, cosines = made.nearest(matrix[3], np.zeros(50, np.bool_), np.array([7, 3]))
    assert rows.tolist() == [3, 7]
    assert cosines[0] == pytest.approx(1, abs=0.01)
    rows, cosines = made.nearest(np.zeros(64, np.float32), np.ones(50, np.bool_), np.array([7, 3]))
    assert (rows.tolist(), cosines.tolist()) == ([3, 7], [0, 0])
    assert np.allclose(made.vectors(np.array([3, 7])), matrix[[3, 7]], atol=0.01)
