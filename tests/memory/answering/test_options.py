"""Questions that go on from the one before."""

from __future__ import annotations

import pytest

from memory.answering.options import resolve_followup
from memory.store import conversations
from tests.fakes.answering import prompt
from tests.memory.answering.conftest import Desk


@pytest.mark.parametrize("question", ["Where does she live?", "And before that?", "What about Bob?", "Why?"])
def test_what_refers_to_something_is_searched_with_it(question: str) -> None:
    assert resolve_followup(question, ["Who is Elvis?", "Where does Ana work?"]) == f"Where does Ana work? {question}"
    assert resolve_followup(question, []) == question


@pytest.mark.parametrize(
    "question", ["Where does Bob live?", "Is it true that Bob lives in Porto?", "a b c d e f g h it"]
)
def test_what_says_itself_what_it_is_about_stands_alone(question: str) -> None:
    assert resolve_followup(question, ["Where does Ana work?"]) == question


def test_the_newest_question_that_names_something_counts() -> None:
    assert resolve_followup("And then?", ["Where does Ana work?", "since when?"]) == "Where does Ana work? And then?"


def test_a_question_stays_short_enough_to_be_asked() -> None:
    assert len(resolve_followup("And then?", ["Ana " * 1000])) < 600


def test_a_chat_goes_on_with_a_model_and_without(desk: Desk) -> None:
    desk.note("ana", "Ana works at the harbour museum. She is 41 years old.")
    desk.note("bob", "Bob is 52 years old.")
    with desk.memory.store.writing() as conn:
        chat = conversations.create(conn, "t", 1)
        conversations.append(conn, chat, "user", "Where does Ana work?", 2)
    heard = desk.ask("How old is she?", lambda _: None, conversation=chat)
    assert heard.answer.citations[0].title == "ana" and "41" in heard.answer.text
    desk.ask("How old is she?", conversation=chat)
    assert "Asked before" in prompt(desk.ollama.chats[-1]) and "Where does Ana work?" in prompt(desk.ollama.chats[-1])
    assert "\nHow old is she?\n" in prompt(desk.ollama.chats[-1])
    with desk.memory.store.reading() as conn:
        assert conn.execute("SELECT DISTINCT question FROM trace").fetchall() == [("How old is she?",)]
