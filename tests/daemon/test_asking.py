"""Questions whose stream breaks off, seen from inside: a memory that answers slowly, in a real store."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon import wire
from daemon.api import questions
from daemon.jobs.activity import Channel
from daemon.jobs.workers import Writer
from memory import Memory
from memory.errors import ModelCancelledError
from memory.nouns import Answer, AskEvent, Citation, Document, Preview, Token
from memory.store import conversations
from memory.store.forget import FORGOTTEN_ANSWER
from memory.time.timestamps import now_ms
from plugins import manager


class Slow(Memory):
    """Says a word, waits to be let on, says the rest."""

    may_go_on: threading.Event
    ended: bool
    error: Exception | None

    def answer(self, *args: Any, **kwargs: Any) -> Iterator[AskEvent]:
        try:
            yield Token("The tide ")
            assert self.may_go_on.wait(60)
            yield Token("turns.")
            if self.error:
                raise self.error
            yield Answer("The tide turns.")
        finally:
            self.ended = True


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Slow]:
    memory = Slow.open(tmp_path / "memory.db", embedder=manager.load().embedder("static"))
    assert isinstance(memory, Slow)
    memory.may_go_on, memory.ended, memory.error = threading.Event(), False, None
    memory.questions.ask = memory.answer  # type: ignore[method-assign]
    yield memory
    memory.close()


@pytest.fixture
def writer() -> Iterator[Writer]:
    writer = Writer()
    writer.start()
    yield writer
    writer.close(60)


def begin(memory: Memory, writer: Writer, channel: Channel, question: str, chat: int) -> Callable[[], None]:
    turn = questions.Turn(memory, writer, channel, chat)
    return turn.begin(question, memory.questions.ask(question, conversation=chat, cancelled=lambda: channel.abandoned))


def new_chat(memory: Memory) -> int:
    with memory.store.writing() as conn:
        return conversations.create(conn, "Tides", now_ms())


def messages(memory: Memory, chat: int) -> list[tuple[str, str, str]]:
    return [(message.role, message.text, message.state) for message in memory.conversations.get(chat)[1]]


async def test_whoever_hangs_up_ends_the_work_and_leaves_a_partial_answer(memory: Slow, writer: Writer) -> None:
    chat = new_chat(memory)
    channel = Channel()
    work = begin(memory, writer, channel, "When does the tide turn?", chat)
    assert messages(memory, chat) == [("user", "When does the tide turn?", "complete")]
    thread = threading.Thread(target=work)
    thread.start()
    async with contextlib.aclosing(channel.events()) as events:
        assert await anext(events) == wire.Token("The tide ")
    memory.may_go_on.set()
    await asyncio.to_thread(thread.join, 10)
    assert messages(memory, chat)[1] == ("memory", "The tide ", "partial")


async def test_an_answer_is_kept_before_it_is_sent(memory: Slow, writer: Writer) -> None:
    chat = new_chat(memory)
    memory.may_go_on.set()
    channel = Channel()
    asking = threading.Thread(target=begin(memory, writer, channel, "When?", chat))
    asking.start()
    async for event in channel.events():
        if isinstance(event, wire.Answered):
            assert messages(memory, chat)[1] == ("memory", "The tide turns.", "complete")
            assert event.conversation == chat
    asking.join(60)
    assert writer.close(60) and memory.ended  # the writer stores the rest


async def test_a_question_that_fails_says_so_and_keeps_what_was_said(memory: Slow, writer: Writer) -> None:
    chat = new_chat(memory)
    memory.may_go_on.set()
    memory.error = RuntimeError("SELECT secret FROM diary")
    channel = Channel()
    work = begin(memory, writer, channel, "When?", chat)
    threading.Thread(target=work).start()
    *_, last = [event async for event in channel.events()]
    assert isinstance(last, wire.Failed) and last.code == "internal" and "SELECT" not in str(last)
    assert messages(memory, chat)[1] == ("memory", "The tide turns.", "partial")


async def test_a_chat_that_is_deleted_meanwhile_costs_nobody_the_answer(memory: Slow, writer: Writer) -> None:
    chat = new_chat(memory)
    channel = Channel()
    work = begin(memory, writer, channel, "When?", chat)
    with memory.store.writing() as conn:
        conversations.delete(conn, chat)
    memory.may_go_on.set()
    threading.Thread(target=work).start()
    *_, last = [event async for event in channel.events()]
    assert isinstance(last, wire.Answered) and last.text == "The tide turns."


async def test_of_a_model_that_never_wrote_the_lines_are_kept(memory: Slow, writer: Writer) -> None:
    text = "- The tide turns at nine. [1]"
    receipt = memory.ingest.remember_many([Document("/tide.md", "The tide turns at nine.")])[0]
    citation = Citation(1, receipt.episode_ids[0], "/tide.md", "Tide", "The tide turns at nine.", 1, 1)
    chat = new_chat(memory)

    def events() -> Iterator[AskEvent]:
        yield Preview(text, (citation,), "m:1")
        raise ModelCancelledError("stopped")

    channel = Channel()
    turn = questions.Turn(memory, writer, channel, chat, lambda name: name == "m:1")
    await asyncio.to_thread(turn.begin("When?", events()))
    assert [(kept, state) for _, kept, state in messages(memory, chat)][-1] == (text, "partial")
    told = [event async for event in channel.events()]
    assert isinstance(told[0], Preview) and told[0].is_loading, "who waits is told why"


@pytest.mark.parametrize("breaks", [True, False])
@pytest.mark.parametrize("late", [True, False])
async def test_what_is_forgotten_stays_in_no_chat(memory: Slow, writer: Writer, breaks: bool, late: bool) -> None:
    """`late`: it is forgotten once the answer is kept; else while it is written. `breaks`: it is never whole."""
    text = "The tide turns at nine."
    receipt = memory.ingest.remember_many([Document("/tide.md", text)])[0]
    citation = Citation(1, receipt.episode_ids[0], "/tide.md", "Tide", text, 1, 1, passage=text)
    chat = new_chat(memory)

    def events() -> Iterator[AskEvent]:
        yield Token(text)
        yield citation
        if not late:
            memory.forgetting.forget(source="/tide.md")
        if breaks:
            raise RuntimeError("the model broke off")
        yield Answer(text, (citation,))

    await asyncio.to_thread(questions.Turn(memory, writer, Channel(), chat)._work, events())
    if late:
        assert messages(memory, chat)[0][1] == text
        memory.forgetting.forget(source="/tide.md")
    assert [kept for _, kept, _ in messages(memory, chat)] == [FORGOTTEN_ANSWER]
