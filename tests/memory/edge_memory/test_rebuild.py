"""Whatever happens, what edges remember is what the traces make of it, bit by bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from memory.edge_memory import edges, rebuild
from memory.edge_memory.edges import ENOUGH, EdgeMemory, is_due, load_edge_memory
from memory.errors import NotFoundError
from memory.store import edge_memory, graph, queries, vectors
from memory.store.queries import Geometry
from memory.store.store import Store
from tests.examples import examples
from tests.memory.edge_memory.life import QUESTIONS, Life, Other, moves
from tests.memory.store.building import DIMENSION, HashEmbedder


def fired(held: EdgeMemory) -> list[dict[int, float]]:
    keys = [held.key(HashEmbedder().embed_query(text)) for text in QUESTIONS]
    return [dict(held.activate(key, 0.1).activation_of) for key in keys if key is not None]


@examples(1 / 4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(moves, min_size=8, max_size=25))
def test_traces_make_it_again_bit_by_bit(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[Any, ...]]
) -> None:
    with Store.open(tmp_path_factory.mktemp("life") / "memory.db") as store:
        life = Life(store)
        for what, *how in steps:
            life.move(what, how)
        before = life.rows()
        assert life.rebuilt() == before
        for _, _, _, data, norm, positives, negatives, _ in before:
            vector = np.frombuffer(data, np.float16).astype(np.float64)
            assert np.linalg.norm(vector) == pytest.approx(norm, abs=1e-9) and 0.14 < norm <= 1
            assert positives > 0 and negatives >= 0


def test_what_is_served_is_what_is_stored(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        life = Life(store)
        for n in range(30):
            life.ask(n % 9, [n, 2 * n, 3 * n % 5], [n + 1, n + 2, n + 3])
        with store.reading() as conn:
            loaded = load_edge_memory(conn, life.id, DIMENSION)
        assert fired(life.remembered) == fired(loaded)
        assert any(fired(loaded))
        assert life.remembered.traces.tolist() == loaded.traces.tolist()
        assert np.array_equal(life.remembered.keys, loaded.keys)


def test_a_lesson_of_old_versions_is_dropped_once_they_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edges, "SPARE", 5)
    with Store.open(tmp_path / "memory.db") as store:
        life = Life(store)
        for n in range(20):
            life.ask(n % 3, [n % 4, n % 5], [])
        held = life.remembered
        with store.reading() as conn:
            slots = edge_memory.counts(conn, life.id)[1]
            assert fired(held) == fired(load_edge_memory(conn, life.id, DIMENSION))
        assert slots <= len(held.vectors) <= 2 * slots + 5


def test_a_verdict_can_be_taken_back(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        life = Life(store)
        first = life.ask(0, [1, 2, 3], [4])
        life.ask(1, [2, 3], [1])
        before = life.rows()
        life.say(first, -1)
        worse = life.rows()
        life.say(first, 1)
        better = life.rows()
        life.say(first, None)
        assert life.rows() == before
        assert len({str(before), str(worse), str(better)}) == 3
        held = {row[0] for row in before} - {row[0] for row in worse}
        assert held, "of what was rejected nothing is left on edges that only it used"
        with pytest.raises(NotFoundError):
            life.say(999, 1)


def test_what_a_person_rejected_is_not_learnt_again_without_them(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        life = Life(store)
        first = life.ask(0, [1, 2], [])
        life.ask(0, [1, 2, 3], [])
        life.say(first, -1)
        with store.reading() as conn:
            life.remembered = load_edge_memory(conn, life.id, DIMENSION)
        only = {life.edges[3]}
        assert {row[0] for row in life.rows()} == only, "the second learnt of one that the first did not use"
        life.ask(0, [1, 2, 3], [])
        life.ask(1, [1], [])
        rows = life.rows()
        assert {row[0] for row in rows} - only == {life.edges[1], life.opened()}, "of another question"
        assert life.rebuilt() == rows
        life.say(first, None)
        assert {life.edges[1], life.edges[2]} <= {row[0] for row in life.rows()}


def test_a_person_vouches_for_an_answer_of_which_nothing_was_sure(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        life = Life(store)
        trace = life.ask(0, [1, 2], [], grounded=False)
        assert life.rows() == []
        life.say(trace, 1)
        assert {row[0] for row in life.rows()} >= {life.edges[1], life.edges[2]}
        assert life.rebuilt() == life.rows() != []


def test_what_was_learnt_of_a_forgotten_question_goes_and_the_rest_stays(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        life = Life(store)
        with store.reading() as conn:
            [mention] = graph.edges_from(conn, life.episodes[3:], "mention")[:1]
        shared = life.edges.index(life.relations[1])
        life.ask(0, [shared], [])
        kept = [row for row in life.rows() if row[0] == life.relations[1]]
        life.ask(1, [shared, life.edges.index(mention.id)], [])
        assert [row for row in life.rows() if row[0] == life.relations[1]] != kept
        life.forget(3)  # the second question touched it
        assert [row for row in life.rows() if row[0] == life.relations[1]] == kept
        with store.reading() as conn:
            assert [trace for trace, _ in queries.list_missing(conn, 99)] == [1]


def test_another_embedder_learns_it_all_from_the_same_questions(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        life, other = Life(store), Other()
        for n in range(12):
            life.ask(n % 4, [n % 3, n % 5], [n % 7])
        before = life.rows()
        with store.writing() as conn:
            new = vectors.register(conn, other)
            while waiting := queries.list_missing(conn, new, 5):
                for trace, text in waiting:
                    queries.put(conn, new, trace, other.embed_query(text))
            rebuild.complete(conn, new, other.dimension)
            assert rebuild.complete(conn, life.id, DIMENSION) == {}, "nothing of the first is missing"
        rows = life.rows()
        assert [row for row in rows if row[2] == life.id] == before
        theirs = {row[0] for row in rows if row[2] == new}
        assert theirs == {row[0] for row in before}
        with store.reading() as conn:
            held = load_edge_memory(conn, new, other.dimension)
        key = held.key(other.embed_query(QUESTIONS[0]))
        assert key is not None and set(held.activate(key).edges.tolist()) >= {life.edges[0]}


def test_a_new_center_makes_all_again(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        life = Life(store)
        for n in range(ENOUGH - 1):
            life.ask(n % 9, [n % 3], [])
        with store.writing() as conn:
            assert rebuild.recentre(conn, life.id, DIMENSION) is None
        life.ask(0, [1], [])
        before = life.rows()
        with store.writing() as conn:
            found = rebuild.recentre(conn, life.id, DIMENSION)
            assert found is not None and found.n == ENOUGH
            assert rebuild.recentre(conn, life.id, DIMENSION) is None
            stored = queries.geometry(conn, life.id)
        assert stored.center is not None and found.center is not None
        assert np.array_equal(stored.center, found.center)
        questions = np.array([life.embedder.embed_query(QUESTIONS[n % 9]) for n in [*range(ENOUGH - 1), 0]])
        assert stored.center == pytest.approx(questions.mean(axis=0), abs=1e-3)
        rows = life.rows()
        assert rows != before and {row[0] for row in rows} == {row[0] for row in before}
        assert life.rebuilt() == rows


def test_the_threshold_is_calibrated_as_soon_as_there_are_pairs_enough(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        life = Life(store)
        with store.writing() as conn:
            assert rebuild.calibrate(conn, life.id, DIMENSION) is None
        for n in range(24):
            life.ask(n % 9, [n % 3], [])
            with store.writing() as conn:  # each has its own evidence
                conn.execute(
                    "UPDATE trace SET citations = json_array(json_object('episode_id', id)) WHERE id = ?", (n + 1,)
                )
        before = life.rows()
        with store.writing() as conn:
            found = rebuild.calibrate(conn, life.id, DIMENSION)
            assert found is not None and found == queries.geometry(conn, life.id)
            served = load_edge_memory(conn, life.id, DIMENSION)
        assert found.threshold == served.threshold == 0.75 and found.n == 0, "the same questions had other evidence"
        assert life.rows() == before


@pytest.mark.parametrize(("n", "known", "due"), [(49, 0, False), (50, 0, True), (99, 50, False), (100, 50, True)])
def test_the_center_is_looked_at_when_questions_have_doubled(n: int, known: int, due: bool) -> None:
    assert is_due(n, Geometry(None, known)) == due
