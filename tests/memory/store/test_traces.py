from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.errors import NotFoundError
from memory.llm import Usage
from memory.nouns import Answer, Citation, Scope, Step, Trace, Visit
from memory.store import episodes, graph, traces
from memory.store.store import Store
from memory.store.traces import Outcome
from memory.trace import AskedQuestion, Plan
from tests.memory.store.building import remember

TIMES = st.none() | st.datetimes(
    datetime(1971, 1, 1), datetime(2100, 1, 1), timezones=st.just(timezone(timedelta(hours=2)))
).map(lambda when: when.replace(microsecond=when.microsecond // 1000 * 1000))
TEXT = st.text(st.characters(codec=None), max_size=8)  # a folder's name may hold lone surrogates
TEXTS = st.lists(TEXT, max_size=2).map(tuple)
SCOPES = st.builds(Scope, TEXTS, TEXTS, TEXTS, st.none() | TEXT, TIMES, TIMES)
PLANS = st.builds(Plan, TIMES, st.none() | SCOPES, TIMES, st.sampled_from(["quick", "normal", "deep"]), TEXT)


def at(ms: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)


def test_a_trace_comes_back_whole(store: Store) -> None:
    with store.writing() as conn:
        (id,) = remember(conn, "n.md", "Ana met Bo.", title="Tuesday")
        ana = graph.objects_by_norm(conn, ["ana"])["ana"][0]
        thesis = episodes.theses_of(conn, [id])[0].id
        visits = (
            Visit(ana, "object", "Ana", 1.0, "seed", "seed"),
            Visit(id, "episode", "Tuesday", 0.5, "spread", "selected", 7, 1),
            Visit(thesis, "thesis", "Ana met Bo.", -0.25, "spread"),
            Visit(id, "episode", "Tuesday", 0.75, "text"),
        )
        steps = (Step("analyse", 0.5), Step("text", 1.5, {"terms": ["ana"], "n": 2, "at": datetime(2024, 1, 1)}))
        when = datetime(2024, 5, 3, tzinfo=UTC)
        citation = Citation(1, id, "n.md", "Tuesday", "met", 3, 4, when, "Ana", "Ana met Bo.", True)
        answer = Answer("She met Bo. [1]", (citation,), False, ("when",), None, 0.75, "a:model", "It was slow.")
        trace = Trace("Whom did Ana meet?", steps, visits)
        number = traces.store(conn, trace, answer, 5000, Plan(when), 2, Usage(30, 4), "R3")
        found = traces.get(conn, number)
    assert found.asked == AskedQuestion(
        number, at(5000), trace.question, False, "R3", calls=2, read=30, written=4, ms=2.0, model="a:model"
    )
    assert (found.asked.id, found.visits) == (number, visits)
    assert [(step.name, step.ms) for step in found.steps] == [("analyse", 0.5), ("text", 1.5)]
    assert found.steps[1].detail == {"terms": ["ana"], "n": 2, "at": "2024-01-01 00:00:00"}
    assert found.answer == replace(answer, trace_id=number)
    assert found.plan == Plan(when)


@settings(deadline=None)  # a new file each time
@given(plan=PLANS)
def test_how_it_was_asked_comes_back(plan: Plan) -> None:
    with Store.open(":memory:") as store, store.writing() as conn:
        assert traces.get(conn, traces.store(conn, Trace("Who?"), None, 1, plan)).plan == plan


def test_a_trace_of_an_earlier_version_is_read(store: Store) -> None:
    with store.writing() as conn:
        number = traces.store(conn, Trace("Who?"), Answer("Ana."), 5000)
        conn.execute("UPDATE trace SET plan = NULL, tier = NULL")
        found = traces.get(conn, number)
    assert (found.plan, found.asked.tier, found.answer) == (Plan(), "R2", Answer("Ana.", trace_id=number))


def test_a_recall_has_no_answer(store: Store) -> None:
    with store.writing() as conn:
        found = traces.get(conn, traces.store(conn, Trace("Who?"), None, 5000))
    assert (found.steps, found.visits, found.answer, found.asked.no_answer) == ((), (), None, None)


def test_the_list_is_newest_first(store: Store) -> None:
    with store.writing() as conn:
        assert traces.list_traces(conn) == []
        first = traces.store(conn, Trace("First?"), Answer("Nothing.", no_answer=True), 1000)
        second = traces.store(conn, Trace("Second?", (Step("text", 2.5),)), None, 2000)
        assert traces.list_traces(conn) == [
            AskedQuestion(second, at(2000), "Second?", ms=2.5),
            AskedQuestion(first, at(1000), "First?", True),
        ]
        assert [row.question for row in traces.list_traces(conn, 1, 1)] == ["First?"]


def test_an_unknown_trace_is_reported(store: Store) -> None:
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
        older = traces.store(
            conn, Trace("Who?", (Step("rank", 1.0, {"episodes": 0}),)), Answer("", no_answer=True), 2,
            calls=2, usage=Usage(30, 4),
        )  # fmt: skip
        traces.store(conn, Trace("A recall only"), None, 3)
        assert traces.list_outcomes(conn, 9) == [
            Outcome(first, "Whom?", False, 2.0, 0, (ana,), (one, other), (one,), (other,)),
            Outcome(older, "Who?", True, 1.0, 2),
        ]
        assert [one.id for one in traces.list_outcomes(conn, 1)] == [older]
