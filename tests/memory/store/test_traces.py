from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.errors import NotFoundError
from memory.nouns import Answer, Citation, Step, Trace, Visit
from memory.store import episodes, graph, traces
from memory.store.store import Store
from tests.memory.store.building import remember


def test_a_trace_comes_back_whole(store: Store) -> None:
    with store.writing() as conn:
        (id,) = remember(conn, "n.md", "Ana met Bo.", title="Tuesday")
        ana = graph.objects_by_norm(conn, ["ana"])["ana"][0]
        thesis = episodes.theses_of(conn, [id])[0].id
        visits = (
            Visit(ana, "object", "Ana", 1.0, "seed", "seed"),
            Visit(id, "episode", "Tuesday", 0.5, "spread", "selected", 7, 1),
            Visit(thesis, "thesis", "Ana met Bo.", -0.25, "spread", "pruned"),
            Visit(id, "episode", "Tuesday", 0.75, "text"),
        )
        steps = (Step("analyse", 0.5), Step("text", 1.5, {"terms": ["ana"], "n": 2, "at": datetime(2024, 1, 1)}))
        when = datetime(2024, 5, 3, tzinfo=UTC)
        citation = Citation(1, id, "n.md", "Tuesday", "met", 3, 4, when, "Ana", "Ana met Bo.", True)
        answer = Answer("She met Bo. [1]", (citation,), False, ("when",), None, 0.75)
        trace = Trace("Whom did Ana meet?", steps, visits)
        number = traces.store(conn, trace, answer, 5000, when)
        found, given = traces.get(conn, number)
    assert (found.id, found.question, found.visits, found.ms) == (number, trace.question, visits, 2.0)
    assert [(step.stage, step.ms) for step in found.steps] == [("analyse", 0.5), ("text", 1.5)]
    assert found.steps[1].detail == {"terms": ["ana"], "n": 2, "at": "2024-01-01 00:00:00"}
    assert given == Answer(answer.text, (citation,), False, ("when",), number, 0.75)


def test_a_recall_has_no_answer(store: Store) -> None:
    with store.writing() as conn:
        number = traces.store(conn, Trace("Who?"), None, 5000)
        assert traces.get(conn, number) == (Trace("Who?", (), (), number), None)


def test_the_list_is_newest_first(store: Store) -> None:
    with store.writing() as conn:
        traces.store(conn, Trace("First?"), Answer("Nothing.", no_answer=True), 1000)
        traces.store(conn, Trace("Second?", (Step("text", 2.5),)), None, 2000)
        assert [row[1:] for row in traces.listing(conn)] == [
            (2000, "Second?", None, 2.5), (1000, "First?", True, 0.0)
        ]  # fmt: skip
        assert [row.question for row in traces.listing(conn, 1, 1)] == ["First?"]


def test_an_unknown_trace_is_told(store: Store) -> None:
    with store.reading() as conn, pytest.raises(NotFoundError, match="no trace 3"):
        traces.get(conn, 3)


def test_what_questions_came_to(store: Store) -> None:
    with store.writing() as conn:
        one, other = remember(conn, "n.md", "Ana met Bo.", "Bo left.")
        ana = graph.objects_by_norm(conn, ["ana"])["ana"][0]
        visits = (
            Visit(ana, "object", "Ana", 1.0, "seed", "seed"),
            Visit(ana, "object", "Ana", 0.5, "graph"),
            Visit(one, "episode", "", 0.5, "rank"),
            Visit(other, "episode", "", 0.4, "rank"),
        )
        citations = tuple(Citation(n, one, "n.md", "A title", "Ana met Bo.") for n in (1, 2))
        steps = (Step("rank", 2.0, {"text_only": [other]}),)
        first = traces.store(conn, Trace("Whom?", steps, visits), Answer("Bo. [1] [2]", citations), 1)
        older = traces.store(conn, Trace("Who?", (Step("rank", 1.0, {"episodes": 0}),)), Answer("", no_answer=True), 2)
        traces.store(conn, Trace("A recall only"), None, 3)
        conn.execute("UPDATE trace SET llm_calls = 2, tok_in = 30, tok_out = 4 WHERE id = ?", (older,))
        assert traces.outcomes(conn, 9) == [
            traces.Outcome(older, "Who?", True, 1.0, 2, 34),
            traces.Outcome(first, "Whom?", False, 2.0, 0, 0, (ana,), (one, other), (one,), (other,)),
        ]
        assert [one.id for one in traces.outcomes(conn, 1)] == [older]
