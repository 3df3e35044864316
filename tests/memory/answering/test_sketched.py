"""A model outlines how an answer may be reached, where the strategy has a use for it, and nothing else does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memory.answering.options import ALLOWANCES
from memory.nouns import Step
from memory.settings import MemorySettings, RecallSettings
from memory.store import sources
from tests.fakes import Says
from tests.fakes.answering import answers, sketches
from tests.fakes.server import Reply
from tests.memory.answering.conftest import Desk, Heard

QUESTION = "Where was the director of Night Train born?"


@pytest.fixture
def cinema(desk: Desk) -> Desk:
    desk.note("Night Train", "Night Train is a film that was directed by Vera Brandt.")
    desk.note("Vera Brandt", "Vera Brandt was born in the city of Trieste.", 2)
    for day in range(3, 9):
        desk.note(f"soup {day}", f"Soup number {day} is made of water, salt and what the garden gives.", day)
    desk.memory.state.settings = MemorySettings(recall=RecallSettings(strategy="spread+sketches"))
    desk.ollama.answer = sketching
    return desk


def sketching(body: dict[str, Any]) -> Reply:
    return Says("directed by -> born in") if sketches(body) else answers(body)


def sketched(heard: Heard) -> list[dict[str, Any]]:
    return [dict(one.detail) for one in heard.events if isinstance(one, Step) and one.name == "sketch"]


def ranked(cinema: Desk, heard: Heard) -> list[tuple[int, float]]:
    trace = cinema.memory.questions.trace(heard.answer.trace_id or 0)
    return [(one.node_id, round(one.score, 4)) for one in trace.visits if one.stage == "rank"]


def test_a_sketch_leads_the_walk_and_is_kept_in_the_trace(cinema: Desk) -> None:
    heard = cinema.ask(QUESTION)
    (step,) = sketched(heard)
    assert step["sketches"] == [["directed by", "born in"]]
    trace = cinema.memory.questions.trace(heard.answer.trace_id or 0)
    assert trace.asked.calls == len(cinema.ollama.chats) == 2, "it is counted with the answer's"
    assert [one.name for one in trace.steps].count("sketch") == 1
    assert "Trieste" not in str(cinema.ollama.chats[0]) and "Trieste" in str(cinema.ollama.chats[1])


def test_what_was_sketched_reaches_the_walk(cinema: Desk) -> None:
    cinema.memory.state.settings = MemorySettings(recall=RecallSettings(strategy="sketches"))
    found = []
    for said in ("directed by -> born in", "made of water and salt"):
        cinema.ollama.answer = lambda body, said=said: Says(said) if sketches(body) else answers(body)
        found.append(ranked(cinema, cinema.ask(QUESTION)))
    assert found[0] != found[1]


def test_a_sketch_of_no_use_changes_nothing(cinema: Desk) -> None:
    cinema.ollama.answer = answers
    heard = cinema.ask(QUESTION)
    assert sketched(heard) == [{"tokens": 121, "sketches": []}]
    assert ranked(cinema, heard) == ranked(cinema, cinema.ask(QUESTION, effort="quick")), "where none is asked for"


def test_nobody_is_asked_without_a_use_for_it(cinema: Desk) -> None:
    assert sketched(cinema.ask(QUESTION, effort="quick")) == []
    assert sketched(cinema.ask(QUESTION, lambda local_only: None)) == []
    cinema.memory.state.settings = replace(cinema.memory.state.settings, recall=RecallSettings())
    assert sketched(cinema.ask(QUESTION)) == []


def test_no_model_elsewhere_is_asked_where_all_of_it_must_stay(cinema: Desk) -> None:
    cinema.anthropic.answer = sketching
    assert len(sketched(cinema.ask_away(QUESTION))) == 1, "the fake does answer"
    seen = len(cinema.anthropic.messages)
    with cinema.memory.store.writing() as conn:
        for (uri,) in conn.execute("SELECT uri FROM source").fetchall():
            sources.set_policy(conn, uri, "local")
    assert sketched(cinema.ask_away(QUESTION)) == []
    assert len(cinema.anthropic.messages) == seen
    assert len(sketched(cinema.ask_either(QUESTION))) == 1, "one on this machine may know the question"


@pytest.mark.parametrize("effort", ["normal", "deep"])
def test_a_sketch_leaves_room_for_the_answer(cinema: Desk, effort: str) -> None:
    cinema.ollama.answer = lambda body: Says("x -> y", read=90_000) if sketches(body) else answers(body)
    heard = cinema.ask(QUESTION, effort=effort)
    assert len(cinema.ollama.chats) <= ALLOWANCES[effort].calls  # type: ignore[index]
    assert heard.answer.citations and not heard.answer.no_answer
