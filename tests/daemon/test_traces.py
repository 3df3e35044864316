"""Traces over the socket: what is listed, whole, and explained."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonError
from memory.store.connect import driver
from tests.daemon.conftest import answer

QUESTION = "What colour is the boat painted?"


@pytest.fixture
def asked(client: Client) -> int:
    """The trace of a question that is answered."""
    client.remember("The boat is painted black.\n\nAna is its owner.", title="boat")
    trace = answer(client, QUESTION).trace_id
    assert trace is not None
    return trace


def test_a_trace_holds_what_was_streamed(client: Client, asked: int) -> None:
    *events, last = client.ask(QUESTION, effort="quick")
    assert isinstance(last, wire.Answered) and last.trace_id is not None
    trace = client.trace(last.trace_id)
    assert (trace.asked.question, trace.plan.effort) == (QUESTION, "quick")
    assert trace.answer is not None
    kept = trace.answer
    assert (kept.text, kept.citations, kept.note) == (last.text, last.citations, last.note)
    assert [step.name for step in trace.steps] == [event.name for event in events if isinstance(event, wire.Step)]
    assert trace.visits == tuple(event for event in events if isinstance(event, wire.Visit))


def test_an_answer_waits_for_no_writer(client: Client, asked: int) -> None:
    chat = client.new_conversation("boat").id
    with closing(driver().connect(client.paths.memory, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        *_, last = client.ask(QUESTION, conversation=chat)
        other.execute("ROLLBACK")
    assert isinstance(last, wire.Answered) and last.trace_id == asked + 1 and not last.note
    client.judge(last.trace_id, "good")
    assert client.why(last.trace_id).asked.verdict == "good"
    question, kept = client.conversation(chat).messages
    assert (question.text, kept.text, kept.trace_id) == (QUESTION, last.text, last.trace_id)


def test_a_page_of_the_list(client: Client, asked: int) -> None:
    reply = client.traces(limit=1)
    assert [one.id for one in reply.traces] == [asked] and reply.total >= 1
    assert client.traces(limit=0).traces == ()
    assert asked not in [one.id for one in client.traces(offset=1).traces]


def test_why_and_whynot(client: Client, asked: int) -> None:
    (used,) = client.why(asked).used
    assert used.cited.quote == "The boat is painted black." and used.channels["vector"] > 0
    (lost,) = client.whynot(asked, "owner").lost
    assert (lost.cut, lost.quote) == ("lines", "Ana is its owner.")
    assert client.whynot(asked, "zeppelin").missing == ("zeppelin",)


CALLS: dict[str, Callable[[Client], object]] = {
    "trace": lambda client: client.trace(9999),
    "why": lambda client: client.why(9999),
    "whynot": lambda client: client.whynot(9999, "boat"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_an_unknown_trace(client: Client, call: Callable[[Client], object]) -> None:
    with pytest.raises(DaemonError, match="There is no trace 9999") as caught:
        call(client)
    assert caught.value.failed.code == "not_found"


BAD: dict[str, Callable[[Client, int], object]] = {
    "no words": lambda client, id: client.whynot(id, " ?"),
    "a page too long": lambda client, _: client.traces(1001),
    "a page before the first": lambda client, _: client.traces(1, -1),
    "a strategy that there is not": lambda client, _: client.ask(QUESTION, strategy="teleport"),
    "passages by one that there is not": lambda client, _: client.recall(QUESTION, strategy="x+y"),
    "an effort that there is not": lambda client, _: client.ask(QUESTION, effort="heroic"),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD.keys())
def test_what_cannot_be_meant(client: Client, asked: int, call: Callable[[Client, int], object]) -> None:
    with pytest.raises(DaemonError) as caught:
        call(client, asked)
    assert caught.value.failed.code == "bad_input"
