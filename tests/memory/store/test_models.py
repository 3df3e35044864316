"""What is kept of language models: grades and counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from memory.llm import PROBE_EDITION, ROLES, Grades, Usage, about_tokens
from memory.store import jobs
from memory.store.connect import Connection
from memory.store.jobs import Use
from memory.store.store import Store

GOOD = Grades(
    "ollama:qwen3:4b", "c351ea7c6d3f", 1000, 1.0, 1.0, 1.0, 1.0, 0.67, 31.5, 0.4, 8000, 2.5, Usage(900, 80), ("Odd.",)
)


@pytest.fixture
def conn(store: Store) -> Iterator[Connection]:
    with store.writing() as conn:
        yield conn


def test_grades_come_back_as_they_were_and_a_later_probe_replaces_them(conn: Connection) -> None:
    jobs.keep_grades(conn, GOOD)
    jobs.keep_grades(conn, replace(GOOD, name="anthropic:x", notes=()))
    assert jobs.list_grades(conn) == {"anthropic:x": replace(GOOD, name="anthropic:x", notes=()), GOOD.name: GOOD}
    jobs.keep_grades(conn, replace(GOOD, at=2000, reads=0.5))
    assert jobs.list_grades(conn)[GOOD.name].reads == 0.5


def test_uses_of_a_day_are_added_up(conn: Connection) -> None:
    one = Use("2026-11-21", "ollama:a", "extract", True, 1, 0, Usage(100, 10, 5), 20.0)
    for use in (one, one._replace(failed=1), one._replace(purpose="answer"), one._replace(day="2026-11-20")):
        jobs.count_use(conn, use)
    assert jobs.list_uses(conn, "2026-11-21") == [
        one._replace(purpose="answer"),
        one._replace(calls=2, failed=1, usage=Usage(200, 20, 10), ms=40.0),
    ]
    assert [use.day for use in jobs.list_uses(conn, "2026-01-01")] == ["2026-11-21", "2026-11-21", "2026-11-20"]


@pytest.mark.parametrize(
    "role, lacks",
    [
        ("extract", "reads"),
        ("extract", "decides"),
        ("answer", "answers"),
        ("answer", "refuses"),
        ("agent", "tools"),
    ],
)
def test_what_a_model_can_be_used_for(role: str, lacks: str) -> None:
    able = replace(GOOD, tools=1.0)
    assert able.fits(role)  # type: ignore[arg-type]
    assert not replace(able, **{lacks: 0.5}).fits(role)  # type: ignore[arg-type]
    unknown = replace(able, **{lacks: None})  # type: ignore[arg-type]
    assert not unknown.fits(role), "what nobody has graded is not relied on"  # type: ignore[arg-type]
    assert "was not graded" in unknown.shortcomings(role)[0]  # type: ignore[arg-type]


def test_grades_of_an_earlier_probe_can_be_read_and_are_known_for_what_they_are(conn: Connection) -> None:
    old = {"name": "ollama:a", "version": "c351", "at": 7, "schema": 1.0, "tools": 1.0, "cite": 1.0, "refuse": 1.0,
           "tokens_per_s": 31.5, "first_s": 0.4, "context": 8000,
           "usage": {"read": 900, "written": 80, "cached": 0}, "notes": ["Odd."]}  # fmt: skip
    conn.execute("INSERT INTO llm_probe(name, t, grades) VALUES (?, ?, ?)", ("ollama:a", 7, json.dumps(old)))
    grades = jobs.list_grades(conn)["ollama:a"]
    assert (grades.edition, grades.tokens_per_s, grades.notes) == (1, 31.5, ("Odd.",))
    assert grades.edition != PROBE_EDITION
    assert not any(grades.fits(role) for role in ROLES)


def test_a_probe_that_broke_off_takes_nothing_away() -> None:
    cut = replace(GOOD, at=2000, answers=None, refuses=None, tools=None, context=0, problem="It was gone.")
    added = cut.add_earlier(GOOD)
    assert (added.answers, added.tools, added.context, added.problem) == (1.0, 0.67, 8000, "It was gone.")
    assert cut.add_earlier(replace(GOOD, version="another")) == cut
    assert cut.add_earlier(replace(GOOD, edition=1)) == cut
    whole = replace(GOOD, reads=0.2)
    assert whole.add_earlier(GOOD) == whole


@pytest.mark.parametrize(
    "context, reads, batch", [(8000, 1.0, 3), (4000, 1.0, 1), (8000, 0.75, 3), (8000, 0.7, 1), (0, 1.0, 1)]
)
def test_how_much_it_gets_at_once(context: int, reads: float, batch: int) -> None:
    assert replace(GOOD, context=context, reads=reads).batch == batch


@pytest.mark.parametrize("text", ["word " * 50, "記憶は消えない。" * 20, "Ærøskøbing " * 30, ""])
def test_tokens_are_estimated_on_the_high_side(text: str) -> None:
    assert about_tokens(text) >= len(text) / 4
