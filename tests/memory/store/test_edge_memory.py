from __future__ import annotations

import numpy as np
import pytest

from memory.edge_memory.edges import to_float16
from memory.store import edge_memory, episodes, graph, vectors
from memory.store.connect import Connection, driver
from memory.store.edge_memory import Slots
from memory.store.store import Store
from tests.memory.store.building import DIMENSION, HashEmbedder, remember


def remembering(*directions: int, length: float = 0.6) -> Slots:
    held = Slots.none(DIMENSION)
    for n in directions:
        held = held.plus(length * np.eye(DIMENSION)[n], 5)
    return to_float16(held)


def mentions(conn: Connection, episode: int) -> list[int]:
    return [edge.id for edge in graph.edges_from(conn, [episode], "mention")]


def test_what_is_put_comes_back_and_the_rest_stays(store: Store) -> None:
    with store.writing() as conn:
        [episode] = remember(conn, "a.md", "Ana met Bo in Oslo.")
        embedder = vectors.register(conn, HashEmbedder())
        one, other, third = mentions(conn, episode)
        edge_memory.put(conn, embedder, {other: remembering(1, 2), one: remembering(3)})
        edge_memory.put(conn, embedder, {one: remembering(4), third: Slots.none(DIMENSION)})
        found = edge_memory.slots(conn, embedder, DIMENSION, [one, other, third, 4711])
        assert found.keys() == {one, other}
        assert found[one].vectors.tobytes() == remembering(4).vectors.tobytes()
        assert [column.tolist() for column in found[other][1:]] == [[1, 1], [0, 0], [5, 5]]
        assert edge_memory.counts(conn, embedder) == (2, 3, 3 * 2 * DIMENSION)
        edges, kinds, src, dst, starts, matrix = edge_memory.load(conn, embedder, DIMENSION)
        assert (edges.tolist(), starts.tolist()) == ([one, other], [0, 1])
        assert matrix.argmax(axis=1).tolist() == [4, 1, 2]
        assert {graph.EDGE_KINDS[kind] for kind in kinds} == {"mention"} and src.tolist() == [episode] * 2
        assert edge_memory.ends(conn, [one])[one] == (kinds[0], episode, dst[0])
        edge_memory.clear(conn, embedder)
        empty = edge_memory.load(conn, embedder, DIMENSION)
        assert [len(column) for column in empty] == [0] * 6 and empty[-1].shape == (0, DIMENSION)


def test_a_vector_longer_than_one_is_refused(store: Store) -> None:
    with store.writing() as conn:
        [episode] = remember(conn, "a.md", "Ana met Bo.")
        embedder = vectors.register(conn, HashEmbedder())
        with pytest.raises(driver().IntegrityError):
            edge_memory.put(conn, embedder, {mentions(conn, episode)[0]: remembering(1, length=1.01)})
        edge_memory.put(conn, embedder, {mentions(conn, episode)[0]: remembering(1, length=1.0)})


def test_that_reading_helped_is_an_edge_which_is_made_once_and_goes_with_the_passage(store: Store) -> None:
    with store.writing() as conn:
        one, other = remember(conn, "a.md", "Ana met Bo.", "Bo is well.")
        embedder = vectors.register(conn, HashEmbedder())
        made = edge_memory.open_edges(conn, [one], 10)
        assert edge_memory.open_edges(conn, [other, one, 4711], 20) == made | {other: made[one] + 1}
        assert edge_memory.openings(conn, [one, 4711]) == made
        edge_memory.put(conn, embedder, {made[one]: remembering(1)})
        episodes.retire_many(conn, [one], 30)
        assert edge_memory.openings(conn, [one]) == {} and edge_memory.open_edges(conn, [one], 40) == {}
        assert edge_memory.counts(conn, embedder) == (0, 0, 0)
        edge_memory.put(conn, embedder, {made[one]: remembering(1)})
        assert edge_memory.counts(conn, embedder)[0] == 0, "nothing is learnt of an edge that has gone"
