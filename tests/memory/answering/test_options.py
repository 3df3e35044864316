"""A chat goes on with a model; and what a question may take holds, whatever a model does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.answering.options import ALLOWANCES, LEAST_REPLY_TOKENS, Meter, Metered
from memory.errors import ModelCancelledError, ModelTimeoutError, ModelUnavailableError, OverBudgetError
from memory.llm import Allowance, LlmRequest, Message, Usage, length
from memory.llm import Reply as Said
from memory.store import conversations
from tests.fakes import Fails, Hangs, Says
from tests.fakes.answering import prompt
from tests.memory.answering.conftest import Desk


def test_a_chat_goes_on_with_a_model_and_without(desk: Desk) -> None:
    desk.note("ana", "Ana works at the harbour museum. She is 41 years old.")
    desk.note("bob", "Bob is 52 years old.")
    with desk.memory.store.writing() as conn:
        chat = conversations.create(conn, "t", 1)
        conversations.append(conn, chat, "user", "Where does Ana work?", 2)
    heard = desk.ask("How old is she?", lambda _: None, conversation=chat)
    assert heard.answer.citations[0].title == "ana" and "41" in heard.answer.text
    desk.ask("How old is she?", conversation=chat)
    assert "Earlier questions" in prompt(desk.ollama.chats[-1])
    assert "Where does Ana work?" in prompt(desk.ollama.chats[-1])
    assert "\nHow old is she?\n" in prompt(desk.ollama.chats[-1])
    with desk.memory.store.reading() as conn:
        assert conn.execute("SELECT DISTINCT question FROM trace").fetchall() == [("How old is she?",)]


ASKS = LlmRequest(messages=(Message("user", "How deep is the harbour?"),), max_tokens=100)


def test_so_many_calls_and_no_more(desk: Desk) -> None:
    meter = Meter(Allowance(2, 10_000, 60))
    model = Metered(desk.here, meter)
    desk.ollama.enqueue(Says("Deep.", read=40, written=5), Says("Very.", read=50, written=6))
    assert model.complete(ASKS).text == "Deep."
    assert "".join(piece for piece in model.stream(ASKS) if isinstance(piece, str)) == "Very."
    with pytest.raises(OverBudgetError, match="has used all its calls"):
        model.complete(ASKS)
    assert (meter.calls, meter.usage, meter.calls_left) == (2, Usage(90, 11), 0)
    assert len(desk.ollama.chats) == 2


def test_so_many_tokens_and_no_more(desk: Desk) -> None:
    meter = Meter(Allowance(9, length(ASKS) + 60, 60))
    model = Metered(desk.here, meter)
    desk.ollama.enqueue(Says("Deep.", read=40, written=5))
    model.complete(ASKS)
    assert desk.ollama.chats[0]["options"]["num_predict"] == 60, "a reply is not longer than what is left"
    with pytest.raises(OverBudgetError, match="has used all its tokens"):
        model.complete(ASKS)
    assert meter.calls == 1


def test_what_is_kept_is_there_for_later(desk: Desk) -> None:
    meter = Meter(Allowance(2, 10_000, 60))
    early = Metered(desk.here, meter, keep=Allowance(1, 9_000, 0))
    desk.ollama.enqueue(Says("Deep."), Says("Very."))
    early.complete(ASKS)
    with pytest.raises(OverBudgetError):
        early.complete(ASKS)
    Metered(desk.here, meter).complete(ASKS)
    assert meter.calls == 2


def test_a_model_that_does_not_end_is_ended(desk: Desk) -> None:
    meter = Meter(Allowance(9, 10_000, 0.05))
    model = Metered(desk.here, meter)
    desk.ollama.enqueue(Hangs())
    with pytest.raises(ModelTimeoutError, match="took too long"):
        model.complete(ASKS)
    with pytest.raises(ModelTimeoutError):
        model.complete(ASKS)
    assert (meter.calls, meter.calls_left) == (1, 0)


def test_who_does_not_wait_any_more_is_no_late_model(desk: Desk) -> None:
    meter = Meter(Allowance(9, 10_000, 60), cancelled=lambda: True)
    desk.ollama.enqueue(Hangs())
    with pytest.raises(ModelCancelledError):
        list(Metered(desk.here, meter).stream(ASKS))


def test_a_failed_call_counts_with_what_it_was_asked(desk: Desk) -> None:
    meter = Meter(Allowance(9, 10_000, 60))
    desk.ollama.answer = lambda body: Fails(400, "no")
    with pytest.raises(ModelUnavailableError):
        Metered(desk.here, meter).complete(ASKS)
    assert (meter.calls, meter.usage) == (1, Usage(length(ASKS)))


class _Spender:
    """Reads and writes as much as it likes."""

    name, context_tokens, is_local = "fake", 8_000, True

    def __init__(self, written: list[int]) -> None:
        self.written = written

    def complete(self, request: LlmRequest) -> Said:
        return Said("", Usage(length(request), min(self.written.pop(), request.max_tokens)))

    def stream(self, request: LlmRequest) -> Iterator[str | Said]:
        yield self.complete(request)


@given(
    st.sampled_from(sorted(ALLOWANCES)),
    st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 5_000)), max_size=20),
)
def test_nothing_is_ever_exceeded(effort: str, asked: list[tuple[int, int]]) -> None:
    allowance = ALLOWANCES[effort]  # type: ignore[index]
    meter = Meter(allowance)
    model = Metered(_Spender([written for _, written in asked]), meter)
    refused = 0
    for read, _ in asked:
        try:
            model.complete(LlmRequest(messages=(Message("user", "x" * read),), max_tokens=700))
        except OverBudgetError:
            refused += 1
    assert meter.calls <= allowance.calls and meter.usage.total <= allowance.tokens
    assert meter.calls + refused == len(asked)
    assert (
        refused == 0
        or meter.calls == allowance.calls
        or allowance.tokens - meter.usage.total < 9_000 + LEAST_REPLY_TOKENS
    )
