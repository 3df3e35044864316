"""Lessons and models as rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memory.nouns import Answer, Citation, Trace
from memory.store import edge_memory, queries, traces
from memory.store.connect import Connection
from memory.store.queries import KEPT
from memory.store.store import Store
from tests.memory.store.building import remember

KIND = "a kind"


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open(":memory:") as store:
        yield store


def asked(conn: Connection, episodes: list[int], *, refused: bool = False, feedback: int | None = None) -> int:
    citations = tuple(Citation(n, id, "a.md", "t", "Ana met Bo.") for n, id in enumerate(episodes, 1))
    id = traces.store(conn, Trace("Who?"), Answer("Bo.", citations, no_answer=refused), 1000)
    conn.execute("UPDATE trace SET feedback = ? WHERE id = ?", (feedback, id))
    return id


def mentions(conn: Connection) -> list[int]:
    return [id for (id,) in conn.execute("SELECT id FROM edge WHERE kind = 'mention' ORDER BY id")]


def test_lessons_are_questions_that_were_answered_well(store: Store) -> None:
    with store.writing() as conn:
        [episode] = remember(conn, "a.md", "Ana met Bo.")
        one, other = mentions(conn)
        opened = edge_memory.open_edges(conn, [episode], 1)[episode]
        proved, unproved, wrong, right, _ = (
            asked(conn, [episode]), asked(conn, [episode]), asked(conn, [episode], feedback=-1),
            asked(conn, [episode], feedback=1), asked(conn, [], refused=True),
        )  # fmt: skip
        for trace in (proved, wrong):
            edge_memory.note(conn, trace, [(one, "cited", 4), (one, "enhanced", 4), (opened, "cited", 4)])
            edge_memory.note(conn, trace, [(one, "shown", None), (other, "shown", None)])
        edge_memory.note(conn, unproved, [(one, "cited", 4)])
        found = {lesson.trace_id: lesson for lesson in queries.lessons(conn, 10)}
        assert list(found) == [proved, right], "the oldest first"
        assert (found[proved].needed, found[proved].shown) == ((one,), (other,)), "without what only reading is"
        assert (found[right].feedback, found[right].needed) == (1, ())
        assert [lesson.trace_id for lesson in queries.lessons(conn, 1)] == [right], "the newest"
        conn.execute("UPDATE edge SET t_expired = 5 WHERE id = ?", (one,))
        assert queries.lessons(conn, 10)[0].needed == (), "what does not live is not learnt"


def test_one_model_is_in_use_and_each_can_be_taken_back(store: Store) -> None:
    with store.writing() as conn:
        assert queries.undo_promotion(conn, KIND) is None
        first, never, second = (queries.store_model(conn, KIND, n, bytes([n]), {"n": n}) for n in (1, 2, 3))
        other = queries.store_model(conn, "another kind", 4, b"", {})
        for id in (first, other, second):
            queries.promote(conn, id)
        used = queries.active_model(conn, KIND)
        assert used is not None and (used.id, used.params, used.metrics["n"]) == (second, b"\3", 3)
        undone = queries.undo_promotion(conn, KIND)
        assert undone is not None and undone[1] is not None and undone[1].id == first
        assert queries.active_model(conn, "another kind") is not None
        undone = queries.undo_promotion(conn, KIND)
        assert undone == (undone[0], None) and queries.active_model(conn, KIND) is None  # type: ignore[index]
        assert [model.id for model in queries.models(conn, KIND)] == [never]


def test_of_models_that_were_never_used_few_are_kept(store: Store) -> None:
    with store.writing() as conn:
        first = queries.store_model(conn, KIND, 0, b"", {})
        queries.promote(conn, first)
        ids = [queries.store_model(conn, KIND, n, b"", {}) for n in range(KEPT + 3)]
        assert [model.id for model in queries.models(conn, KIND)] == [*ids[:2:-1], first]
