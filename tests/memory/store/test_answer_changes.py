"""An answer in a chat tells when what it rests on has changed since."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory import Memory
from memory.nouns import Answer, Document
from memory.protocols import Embedder
from memory.views import AnswerChange

RENT = "/notes/rent.md"


@pytest.fixture
def memory(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        yield memory


def write(memory: Memory, uri: str, text: str, day: int = 1) -> None:
    memory.remember_many([Document(uri, text, title="Rent", kind="file", at=datetime(2024, 1, day, tzinfo=UTC))])


def asked(memory: Memory, question: str) -> int:
    """The chat in which this was asked."""
    chat = memory.conversations.create("Chat")
    memory.conversations.add_question(chat, question)
    *_, last = memory.ask(question)
    assert isinstance(last, Answer) and last.citations
    memory.conversations.add_answer(chat, last)
    return chat


def changes(memory: Memory, chat: int) -> list[AnswerChange]:
    return [change for message in memory.conversations.get(chat)[1] for change in message.changes]


FLAT = "# Flat\n\nI pay {} a month for the flat. The landlord is Mr Okafor. Bins go out on Tuesday."
CAR = "# Car\n\nThe old van is sold.\n\nInsurer: {}\n"


@pytest.mark.parametrize(
    ("text", "values", "question"),
    [
        (FLAT, ("850", "910"), "What do I pay for the flat?"),
        (CAR, ("Nordlicht", "Alpina"), "Who is the insurer of the car?"),
    ],
)
def test_what_was_replaced_is_told_with_what_stands_there_now(
    memory: Memory, text: str, values: tuple[str, str], question: str
) -> None:
    old, new = values
    write(memory, RENT, text.format(old))
    chat = asked(memory, question)
    assert changes(memory, chat) == []
    write(memory, RENT, text.format(new), day=20)
    [change] = changes(memory, chat)
    assert change.n == 1 and old in change.old and new in change.new
    [revision] = memory.revisions()
    assert (change.revision, change.at) == (revision.id, revision.at)
    memory.settle(revision.id, "keep")
    assert [one.revision for one in changes(memory, chat)] == [revision.id]
    memory.settle(revision.id, "old")
    assert changes(memory, chat) == []


def test_an_edited_note_is_told_and_one_that_still_says_it_is_not(memory: Memory) -> None:
    write(memory, RENT, "The kiln stands in the cellar.\n\nIts door is green.")
    chat = asked(memory, "Where does the kiln stand?")
    write(memory, RENT, "The kiln stands in the cellar.\n\nIts door is red.")
    assert changes(memory, chat) == []
    write(memory, RENT, "Nothing about it any more.")
    [change] = changes(memory, chat)
    assert (change.old, change.new) == ("The kiln stands in the cellar.", "")
    assert change.at > memory.conversations.get(chat)[1][1].at


def test_an_answer_that_was_given_afterwards_rests_on_nothing_that_changed(memory: Memory) -> None:
    write(memory, RENT, "I pay 850 a month for the flat.")
    write(memory, RENT, "I pay 910 a month for the flat.", day=20)
    assert changes(memory, asked(memory, "What do I pay for the flat?")) == []
