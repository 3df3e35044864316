"""Earlier questions: all at once is read what each gives alone, and no more are counted than is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from memory.nouns import Answer, Citation, Trace
from memory.store import queries, revisions, traces, vectors
from memory.store.connect import Connection
from memory.store.queries import PastQuestion
from memory.store.store import Store
from tests.examples import examples
from tests.memory.store.building import HashEmbedder, remember

TEXTS = ("Ana lives in Oslo.", "Ana met Bo.", "Bo is well.", "Cy met Ana. He likes Bo.")

asked = st.tuples(
    st.lists(st.integers(0, 3), max_size=3),
    st.integers(1000, 5000),
    st.sampled_from([None, None, 1, -1]),
    st.booleans(),
)
revised = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1000, 5000), st.none() | st.integers(1000, 5000))


@examples(1, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(asked, min_size=1, max_size=8), st.lists(revised, max_size=3), st.sets(st.integers(0, 3), max_size=1))
def test_what_answered_earlier_questions_is_read_at_once(
    tmp_path_factory: pytest.TempPathFactory,
    questions: list[tuple[list[int], int, int | None, bool]],
    changes: list[tuple[int, int, int, int | None]],
    gone: set[int],
) -> None:
    with Store.open(tmp_path_factory.mktemp("queries") / "memory.db") as store, store.writing() as conn:
        ids = remember(conn, "a.md", *TEXTS)
        facts = [id for (id,) in conn.execute("SELECT node_id FROM thesis ORDER BY node_id")]
        facts += [id for (id,) in conn.execute("SELECT id FROM edge WHERE kind = 'mention' ORDER BY id LIMIT 4")]
        told = [("edge", id, ids[place % 4]) for place, id in enumerate(facts[-4:])]
        conn.executemany("INSERT OR IGNORE INTO provenance(item_kind, item_id, episode_id) VALUES (?, ?, ?)", told)
        for cited, now, feedback, refused in questions:
            given = tuple(Citation(n, ids[place], "a.md", "A title", "Ana") for n, place in enumerate(cited, 1))
            trace = traces.store(conn, Trace(f"At {now}?"), Answer("It.", given, no_answer=refused), now)
            conn.execute("UPDATE trace SET feedback = ? WHERE id = ?", (feedback, trace))
        for old, new, now, settled in changes:
            one, other = facts[old % len(facts)], facts[new % len(facts)]
            made = revisions.add(conn, "contradicts", one, other, "", "rule", 1.0, now)
            if settled is not None:
                revisions.settle(conn, made, "kept", settled)
        conn.executemany("UPDATE node SET t_expired = 6000 WHERE id = ?", [(ids[place],) for place in gone])
        every = [*range(len(questions), 0, -1), 99]
        alone = {id: found for id in every if (found := earlier_alone(conn, id)) is not None}
        assert queries.find_answers(conn, every) == alone
        assert all(queries.find_answers(conn, [id]) == ({id: alone[id]} if id in alone else {}) for id in every)


def earlier_alone(conn: Connection, trace: int) -> PastQuestion | None:
    """The same of one question, said step by step."""
    row = conn.execute(
        "SELECT as_of, t, question, citations, no_answer, feedback, answer FROM trace WHERE id = ?", (trace,)
    ).fetchone()
    if row is None or row[4] or row[5] == -1:
        return None
    as_of, t, question, citations = row[:4]
    cited = tuple(sorted({one["episode_id"] for one in json.loads(citations)}))
    unchanged = all(_is_as_at(conn, id, t) for id in cited)
    return PastQuestion(trace, as_of, cited, bool(cited) and unchanged, question, row[6] or "")


def _is_as_at(conn: Connection, episode: int, t: int) -> bool:
    def one(statement: str, *values: Any) -> list[Any]:
        return [value for (value,) in conn.execute(statement, values)]

    told = one("SELECT node_id FROM thesis WHERE episode_id = ?", episode)
    told += one("SELECT item_id FROM provenance WHERE item_kind = 'edge' AND episode_id = ?", episode)
    later = "SELECT max(t, ifnull(t_settled, 0)) FROM revision WHERE old_id = ?1 OR new_id = ?1"
    is_there = one("SELECT count(*) FROM node WHERE id = ? AND t_expired IS NULL", episode) == [1]
    return is_there and not any(moment >= t for fact in told for moment in one(later, fact))


def test_no_more_questions_are_counted_than_is_asked_for(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store, store.writing() as conn:
        embedder = HashEmbedder()
        id = vectors.register(conn, embedder)
        for n in range(5):
            trace = traces.store(conn, Trace("Who?"), None, 1000 + n)
            query = embedder.embed_query("Who?") if n else np.zeros(embedder.dimension, np.float32)
            queries.put(conn, id, trace, query)
        assert [queries.count(conn, id, most) for most in (-1, 0, 3, 9)] == [4, 0, 3, 4]
