"""Edge memory that is made aside, while others ask, judge and forget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from memory.edge_memory import rebuild
from memory.store import edge_memory, queries
from memory.store.connect import id_list
from memory.store.store import Store
from tests.examples import examples
from tests.memory.edge_memory.life import Life, moves
from tests.memory.store.building import DIMENSION


@examples(1 / 2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(moves, min_size=4, max_size=12), st.lists(st.one_of(moves, st.tuples(st.just("fold"))), max_size=8))
def test_what_is_made_aside_is_what_the_traces_make_of_it_whatever_comes_between(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[Any, ...]], between: list[tuple[Any, ...]]
) -> None:
    with Store.open(tmp_path_factory.mktemp("life") / "memory.db") as store:
        life = Life(store)
        life.move("ask", [0, [1, 2], []])
        for what, *how in steps:
            life.move(what, how)
        with store.reading() as conn:
            assume(queries.count(conn, life.id))
            anew = rebuild.Recentring(conn, life.id, DIMENSION)
        for what, *how in between:
            if what == "fold":
                with store.reading() as conn:
                    anew.fold(conn, 2)
            else:
                life.move(what, how)
        with store.reading() as conn:
            while anew.left:
                anew.fold(conn, 3)
        before = life.rows()
        with store.writing() as conn:
            done = anew.put(conn)
            known = queries.geometry(conn, life.id)
        after = life.rows()
        assert life.rebuilt() == after
        if done:
            assert known.n > 0
        else:
            assert {what for what, *_ in between} & {"forget"}
            assert known.n == 0 and after == before


def test_what_is_taken_back_while_it_is_made_aside_leaves_nothing(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        life = Life(store)
        judged = life.ask(0, [0, 1], [2])
        life.ask(2, [1], [])
        with store.reading() as conn:
            anew = rebuild.Recentring(conn, life.id, DIMENSION)
        life.say(judged, -1)
        gone = life.ask(1, [0, 1], [2])
        with store.reading() as conn:
            anew.fold(conn)
        life.say(judged, None)
        with store.writing() as conn:
            edge_memory.remove_credit(conn, id_list([gone]), "[]")
            conn.execute("DELETE FROM trace WHERE id = ?", (gone,))
            rebuild.complete(conn, life.id, DIMENSION)
            assert anew.put(conn)
        after = life.rows()
        assert after and life.rebuilt() == after


def test_a_verdict_that_is_given_while_it_is_made_aside_counts(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        life = Life(store)
        judged = life.ask(0, [0, 1], [2])
        life.ask(2, [1], [])
        with store.reading() as conn:
            anew = rebuild.Recentring(conn, life.id, DIMENSION)
            anew.fold(conn)
        life.say(judged, -1)
        with store.writing() as conn:
            assert anew.put(conn)
        after = life.rows()
        assert after and life.rebuilt() == after
