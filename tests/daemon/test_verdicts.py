"""Verdicts and rebuilding over the API: what is noted, what is refused, and that either goes through the writer."""

from __future__ import annotations

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonError
from tests.daemon.conftest import answer

NOTE = "The ferry to Brekka leaves at 7:40 from the north quay."
QUESTION = "When does the ferry to Brekka leave?"


@pytest.fixture
def asked(client: Client) -> int:
    client.remember(NOTE, source="ferry")
    id = answer(client, QUESTION).trace_id
    assert id is not None
    return id


def test_a_verdict_is_noted_as_often_as_it_is_said(client: Client, asked: int) -> None:
    first, again = client.judge(asked, "good"), client.judge(asked, "good")
    assert (first.asked.id, first.asked.verdict, first.before, first.passages) == (asked, "good", None, 1)
    assert (again.asked.verdict, again.before) == ("good", "good")
    edges = rebuilt(client, "memory").edges
    assert edges > 0
    assert client.judge(asked, "good").before == "good" and rebuilt(client, "memory").edges == edges
    assert (client.judge(asked, "bad").before, client.trace(asked).asked.verdict) == ("good", "bad")
    assert client.judge(asked, "none").asked.verdict is None
    assert client.traces(1).traces[0].verdict is None
    assert rebuilt(client, "memory").edges == 0


def test_a_session_tells_what_was_said_of_its_answers(client: Client, asked: int) -> None:
    chat = client.new_conversation("Ferry").id
    *_, last = client.ask(QUESTION, conversation=chat)
    assert isinstance(last, wire.Answered) and last.trace_id is not None
    for verdict, told in (("bad", "bad"), ("good", "good"), ("none", None)):
        client.judge(last.trace_id, verdict)
        assert [one.verdict for one in client.conversation(chat).messages] == [None, told]


def test_what_cannot_be_judged(client: Client, asked: int) -> None:
    assert code(lambda: client.judge(10**6, "good")) == "not_found"
    assert code(lambda: client.judge(asked, "splendid")) == "bad_input"
    assert client.trace(asked).asked.verdict is None


def test_what_cannot_be_rebuilt(client: Client) -> None:
    assert code(lambda: client.rebuild(("walls",))) == "bad_input"
    assert code(lambda: client.rebuild(())) == "bad_input"


def test_the_full_text_is_made_again_while_questions_are_asked(client: Client, asked: int) -> None:
    with client.rebuild(("text",)) as events:
        assert answer(client, QUESTION).citations
        [done] = list(events)
    assert isinstance(done, wire.Rebuilt)
    assert (done.edges, done.passages) == (0, client.status().stats.episodes)
    assert answer(client, QUESTION).citations and not client.check().problems


def test_without_replay_nothing_is_used_and_nothing_is_learnt(client: Client, asked: int) -> None:
    *_, last = client.ask(QUESTION, replay=False)
    assert isinstance(last, wire.Answered) and last.trace_id is not None
    assert "replay" not in [stage.name for stage in client.trace(last.trace_id).steps]
    assert "replay" in [stage.name for stage in client.trace(asked).steps]


def rebuilt(client: Client, *what: str) -> wire.Rebuilt:
    *_, last = client.rebuild(what)
    assert isinstance(last, wire.Rebuilt)
    return last


def code(call: object) -> str:
    with pytest.raises(DaemonError) as caught:
        call()  # type: ignore[operator]
    return caught.value.failed.code
