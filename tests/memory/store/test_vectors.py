from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memory.errors import InvalidInputError, NotFoundError
from memory.store import vectors
from memory.store.connect import Connection
from memory.store.store import Store
from tests.examples import examples
from tests.memory.store.building import DIMENSION, HashEmbedder, nearest, remember


def unit(*shape: int, seed: int = 0) -> np.ndarray:
    matrix = np.random.default_rng(seed).standard_normal((*shape, DIMENSION)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=-1, keepdims=True)


@pytest.fixture
def embedder_id(store: Store) -> int:
    with store.writing() as conn:
        return vectors.register(conn, HashEmbedder())


def test_the_first_embedder_is_active_and_another_can_take_over(store: Store, embedder_id: int) -> None:
    with store.writing() as conn:
        assert vectors.register(conn, HashEmbedder()) == embedder_id
        other = vectors.register(conn, HashEmbedder("other", 3))
        assert vectors.active(conn) == (embedder_id, "hash")
        vectors.activate(conn, other)
        assert vectors.active(conn) == (other, "other")


@pytest.mark.parametrize("changed", [HashEmbedder(dimension=9), HashEmbedder(query_prefix="query: ")])
def test_an_embedder_that_changed_under_its_name_is_refused(
    store: Store, embedder_id: int, changed: HashEmbedder
) -> None:
    with store.writing() as conn, pytest.raises(InvalidInputError, match="Another embedder needs another name"):
        vectors.register(conn, changed)


def stored(conn: Connection, embedder_id: int) -> tuple[np.ndarray, np.ndarray]:
    """All vectors, by id."""
    pieces = list(vectors.pieces_of(conn, embedder_id, size=2))
    none = (np.zeros(0, np.int64), np.zeros((0, DIMENSION), np.float32))
    ids, matrices = zip(none, *pieces, strict=True)
    return np.concatenate(ids), np.concatenate(matrices)


def test_stored_vectors_come_back_exactly(store: Store, embedder_id: int) -> None:
    matrix = unit(4)
    matrix[2] = 0
    with store.writing() as conn:
        vectors.put_many(conn, embedder_id, [5, 3, 9, 7], matrix, [unit(2)] * 4)
        ids, rows = stored(conn, embedder_id)
        assert ids.tolist() == [3, 5, 7]
        np.testing.assert_array_equal(rows, matrix[[1, 0, 3]])
        other = vectors.register(conn, HashEmbedder("other"))
        assert stored(conn, other)[1].shape == (0, DIMENSION)


def test_a_second_put_replaces(store: Store, embedder_id: int) -> None:
    matrix = unit(2)
    with store.writing() as conn:
        vectors.put_many(conn, embedder_id, [1, 2], matrix, [unit(2)] * 2)
        vectors.put_many(conn, embedder_id, [2], -matrix[1:], [unit(2)] * 1)
        found, cosines = nearest(conn, embedder_id, matrix[1], 5)
        assert dict(zip(found.tolist(), cosines.round(3).tolist(), strict=True))[2] == -1.0
        vectors.put_many(conn, embedder_id, [2], 0 * matrix[1:], [unit(2)] * 1)
        assert nearest(conn, embedder_id, matrix[1], 5)[0].tolist() == [1]


def test_deleted_vectors_are_found_no_more(store: Store, embedder_id: int) -> None:
    with store.writing() as conn:
        vectors.put_many(conn, embedder_id, [1, 2, 3], unit(3), [unit(2)] * 3)
        vectors.delete_many(conn, [1, 3, 99])
        vectors.delete_many(conn, [])
        assert stored(conn, embedder_id)[0].tolist() == [2]
        assert nearest(conn, embedder_id, unit(1)[0], 5)[0].tolist() == [2]


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 3), st.integers(DIMENSION - 1, DIMENSION + 1)),
        elements=st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-30, 3e38, float("nan"), float("inf"), -float("inf")]),
    )
)
@example(np.full((1, DIMENSION), 1e-30, np.float32))  # its norm vanishes in single precision
@examples(4, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_only_unit_vectors_and_zeros_pass(store: Store, matrix: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        norms = np.linalg.norm(matrix.astype(np.float64), axis=1)
    good = matrix.shape[1] == DIMENSION and all(norm == 0 or abs(norm - 1) < 1e-3 for norm in norms)
    with store.writing() as conn:
        embedder_id = vectors.register(conn, HashEmbedder())
        ids = range(1, len(matrix) + 1)
        if good:
            vectors.put_many(conn, embedder_id, ids, matrix, [matrix] * len(ids))
            assert len(stored(conn, embedder_id)[0]) == sum(norms > 0)
            nearest(conn, embedder_id, matrix[0], 1)
            vectors.delete_many(conn, ids)
        else:
            before = conn.total_changes
            with pytest.raises(InvalidInputError):
                vectors.put_many(conn, embedder_id, ids, matrix, [matrix] * len(ids))
            assert conn.total_changes == before


def test_the_best_sentence_of_an_episode_is_found(store: Store, embedder_id: int) -> None:
    sentences = [unit(3, seed=1), unit(0), unit(1, seed=2)]
    with store.writing() as conn:
        vectors.put_many(conn, embedder_id, [4, 5, 6], unit(3), sentences)
        query = sentences[0][2]
        found = vectors.best_sentences(conn, embedder_id, [4, 5, 6, 7], query)
        assert found.keys() == {4, 6} and found[4] == pytest.approx(1, abs=0.01)
        assert found[6] == pytest.approx(float(sentences[2][0] @ query), abs=0.01)
        vectors.put_many(conn, embedder_id, [4], unit(1), [-sentences[0][2:]])
        assert vectors.best_sentences(conn, embedder_id, [4], query)[4] == pytest.approx(-1, abs=0.01)
        vectors.delete_many(conn, [4])
        assert not vectors.best_sentences(conn, embedder_id, [4], query)
        assert conn.execute("SELECT count(*) FROM sentence_vec").fetchone()[0] == 2, "they go with their episode"


def test_a_passage_of_an_older_file_lacks_the_vectors_of_its_sentences(store: Store, embedder_id: int) -> None:
    with store.writing() as conn:
        ids = remember(conn, "s", "One. Two.", "Three.")
        conn.execute("DELETE FROM sentence_vec WHERE vec_id = (SELECT id FROM vec WHERE item_id = ?)", (ids[0],))
        assert vectors.list_missing(conn, embedder_id, 9) == []
        assert vectors.list_missing(conn, embedder_id, 9, sentences=True) == ids[:1]


def test_lengths_must_match(store: Store, embedder_id: int) -> None:
    with store.writing() as conn, pytest.raises(InvalidInputError, match="2 ids and 3 vectors"):
        vectors.put_many(conn, embedder_id, [1, 2], unit(3), [unit(2)] * 2)


def test_an_unknown_embedder_is_reported(store: Store) -> None:
    with store.reading() as conn, pytest.raises(NotFoundError, match="no embedder 9"):
        stored(conn, 9)


def test_missing_is_what_an_embedder_has_not_seen(store: Store, embedder_id: int) -> None:
    with store.writing() as conn:
        ids = remember(conn, "s", "One.", "?!", "Three.")
        other = vectors.register(conn, HashEmbedder("other"))
        assert vectors.list_missing(conn, embedder_id, 9) == [], "one without a known word counts as seen"
        assert vectors.list_missing(conn, other, 9) == ids[::-1]
        vectors.put_many(conn, other, ids[1:], unit(2), [unit(2)] * 2)
        assert vectors.list_missing(conn, other, 9) == ids[:1]
