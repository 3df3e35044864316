"""What stands around every model: what may leave the machine, trying again, giving up, checking what was said."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import (
    LocalOnlyError,
    MalformedOutputError,
    ModelCancelledError,
    ModelError,
    ModelTimeoutError,
    ModelUnavailableError,
    OverBudgetError,
)
from memory.llm import LlmRequest, Message, Reply, Tool, ToolCall, Usage
from memory.protocols import LLM
from plugins.llms import Family, ModelInfo, ModelList, call, guard
from plugins.llms.call import Call
from plugins.llms.guard import Guarded, parse_json
from plugins.llms.registry import Models

ASK = LlmRequest(messages=(Message("user", "Where does Ana live?"),))
PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
FIND = Tool("find", "Finds a person.", PERSON)


class Scripted:
    """A backend that does one thing after the other: says pieces and a reply, or raises."""

    limits = (5.0, 5.0, 5.0)

    def __init__(self, *script: Any, local: bool = True, context: int = 4096) -> None:
        self.script = list(script)
        self.asked: list[LlmRequest] = []
        self.local = local
        self.context = context

    def is_local(self) -> bool:
        return self.local

    def info(self) -> ModelInfo:
        return ModelInfo("m", self.local, self.context)

    def stream(self, request: LlmRequest, call: Call) -> Iterator[str | Reply]:
        self.asked.append(request)
        for item in self.script.pop(0):
            if isinstance(item, Exception):
                raise item
            if callable(item):
                item()
            else:
                yield item

    def close(self) -> None:
        """Nothing to close."""


class Book:
    """A meter that writes down what it hears."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Usage, str]] = []
        self.full = False

    def check_budget(self, name: str, is_local: bool, request: LlmRequest) -> None:
        if self.full:
            raise OverBudgetError("The tokens of today are spent.")

    def record(
        self, name: str, is_local: bool, request: LlmRequest, usage: Usage, ms: float, error: ModelError | None
    ) -> None:
        self.calls.append((name, usage, type(error).__name__))


def said(text: str, **more: Any) -> tuple[str, Reply]:
    return text, Reply(text, Usage(10, 2), **more)


def busy(**more: Any) -> ModelUnavailableError:
    return ModelUnavailableError("busy", **more)


def test_it_is_the_protocol_that_memory_names() -> None:
    model: LLM = Guarded("test:m", Scripted(said("In Porto.")))
    reply = model.complete(ASK)
    assert (reply.text, reply.usage, reply.stop) == ("In Porto.", Usage(10, 2), "end")
    assert reply.message() == Message("assistant", "In Porto.")


def test_text_that_must_stay_here_goes_to_no_model_elsewhere() -> None:
    away = Scripted(said("x"), said("x"), local=False)
    model = Guarded("test:m", away)
    for ask in (model.complete, lambda request: list(model.stream(request))):
        with pytest.raises(LocalOnlyError, match="not on this machine"):
            ask(ASK)  # it is what a request says unless somebody has looked
    assert away.asked == []
    cleared = LlmRequest(messages=ASK.messages, local_only=False)
    assert model.complete(cleared).text == "x"
    assert len(away.asked) == 1


def test_a_plugin_gives_its_models_only_behind_the_guard() -> None:
    away = Scripted(said("x"), local=False)
    models = Models({"far": Family("far", lambda model, settings: away, lambda settings: ModelList())})
    with pytest.raises(LocalOnlyError):
        models.open("far:m").complete(ASK)
    assert models.open("far:m") is models.open("far:m")
    assert away.asked == []


@pytest.mark.parametrize("first", [busy(), busy(retry_after=0.0), ConnectionResetError("by peer")])
def test_a_server_that_was_busy_is_asked_again(first: Exception) -> None:
    backend = Scripted(["half of", first], said("In Porto."))
    assert Guarded("test:m", backend, pause=0.001).complete(ASK).text == "In Porto."
    assert len(backend.asked) == 2


def test_what_was_already_shown_is_not_said_twice() -> None:
    backend = Scripted(["half of", busy()], said("In Porto."))
    pieces = []
    with pytest.raises(ModelUnavailableError):
        for piece in Guarded("test:m", backend, pause=0.001).stream(ASK):
            pieces.append(piece)
    assert (pieces, len(backend.asked)) == (["half of"], 1)
    backend = Scripted([busy()], said("In Porto."))
    assert next(Guarded("test:m", backend, pause=0.001).stream(ASK)) == "In Porto."


@pytest.mark.parametrize(
    "trouble, times",
    [
        (busy(), guard.TRIES),
        (busy(lasting=True), 1),
        (busy(retry_after=guard.PATIENCE + 1), 1),
        (MalformedOutputError("not JSON"), 1),
    ],
)
def test_it_gives_up_at_last(trouble: ModelError, times: int) -> None:
    backend = Scripted(*[[trouble]] * 5)
    with pytest.raises(type(trouble)) as caught:
        Guarded("test:m", backend, pause=0.001).complete(ASK)
    assert caught.value is trouble
    assert len(backend.asked) == times


@pytest.mark.parametrize(
    "again",
    [', "Osgood Penhale"' * 200, "".join(f', "Reno Castellano_{n}"' for n in range(400)), "\n" * 5_000, "x" * 5_000],
    ids=["words", "words that count up", "blank lines", "letters"],
)
def test_a_loop_is_stopped_early(again: str) -> None:
    begin = '{"rows": [{"name": "Ana"}, {"aliases": ["Osgood Penhale"'
    pieces = [begin, *(again[place : place + 10] for place in range(0, len(again), 10))]
    heard: list[str] = []
    backend = Scripted([piece for one in pieces for piece in (one, lambda one=one: heard.append(one))])
    with pytest.raises(MalformedOutputError, match="repeats itself") as caught:
        Guarded("test:m", backend).complete(ASK)
    assert sum(map(len, heard)) < len(begin) + 3_000 < len(again), "the rest was not waited for"
    assert caught.value.text.startswith(begin), "what came before can be used"
    assert len(backend.asked) == 1, "the same would only be said again"


def test_rows_of_one_form_are_no_loop() -> None:
    rows = [{"name": f"Box {n}", "since": f"2024-{n % 12 + 1:02}-11", "weight": f"{n * 7} kg"} for n in range(60)]
    text = json.dumps(rows)
    backend = Scripted([*text, Reply(text, Usage(10, 2))])
    assert Guarded("test:m", backend).complete(ASK).text == text


def test_a_server_that_stops_a_loop_has_not_failed() -> None:
    """Ollama ends the stream without its last line when one token comes 31 times."""
    backend = Scripted([f"Lovely weather{' and so on' * 31}"])
    with pytest.raises(MalformedOutputError, match="its server stopped it"):
        Guarded("test:m", backend).complete(ASK)
    assert len(backend.asked) == 1


def test_a_reply_without_an_end_is_none() -> None:
    with pytest.raises(ModelUnavailableError, match="broke off"):
        Guarded("test:m", Scripted(["In Por"], ["In P"], []), pause=0.001).complete(ASK)


def test_the_pauses_grow_and_a_server_may_ask_for_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(Call, "wait", lambda self, seconds: pauses.append(seconds))
    backend = Scripted([busy()], [busy()], said("x"), [busy(retry_after=7)], said("x"))
    model = Guarded("test:m", backend, pause=1.0)
    model.complete(ASK)
    model.complete(ASK)
    assert 0.75 <= pauses[0] <= 1.0
    assert 1.5 <= pauses[1] <= 2.0
    assert pauses[2] == 7


def test_a_server_that_is_back_is_used_at_once() -> None:
    backend = Scripted(*[[busy(retry_after=99.0)]] * 9, said("In Porto."))
    model = Guarded("test:m", backend)
    for _ in range(9):
        with pytest.raises(ModelUnavailableError, match="busy"):
            model.complete(ASK)
    assert model.complete(ASK).text == "In Porto."


def waiting(backend: Callable[[], None], total_s: float = 9.0) -> Guarded:
    scripted = Scripted(["In", backend, Reply("In Porto")])
    scripted.limits = (9.0, 9.0, total_s)
    return Guarded("test:m", scripted)


def test_whoever_asked_can_give_up() -> None:
    given_up = threading.Event()
    request = LlmRequest(messages=ASK.messages, cancelled=given_up.is_set)
    with pytest.raises(ModelCancelledError):
        waiting(given_up.set).complete(request)
    backend = Scripted(said("x"))
    with pytest.raises(ModelCancelledError):
        Guarded("test:m", backend).complete(request)
    assert backend.asked == [], "given up before it was asked"


def test_giving_up_ends_a_pause() -> None:
    given_up = threading.Event()
    request = LlmRequest(messages=ASK.messages, cancelled=given_up.is_set)
    backend = Scripted([given_up.set, busy(retry_after=20.0)], said("x"))
    with pytest.raises(ModelCancelledError):
        Guarded("test:m", backend).complete(request)
    assert len(backend.asked) == 1


def test_closing_breaks_off() -> None:
    backend = Scripted(["In", lambda: model.close(), Reply("In Porto")])
    model = Guarded("test:m", backend)
    with pytest.raises(ModelCancelledError):
        model.complete(ASK)
    with pytest.raises(ModelCancelledError):
        model.complete(ASK)


def test_a_model_that_is_late_is_broken_off() -> None:
    def late() -> None:
        deadline = time.monotonic() + 9
        while time.monotonic() < deadline and "model call" in {thread.name for thread in threading.enumerate()}:
            time.sleep(0.01)

    with pytest.raises(ModelTimeoutError, match="smaller"):
        waiting(late, total_s=0.05).complete(ASK)


def test_the_thread_that_watches_ends_with_the_call() -> None:
    model = Guarded("test:m", Scripted(said("x"), [ValueError("?")], [busy(lasting=True)], said("y")), pause=0.001)
    model.complete(ASK)
    with pytest.raises(ModelUnavailableError):
        model.complete(ASK)
    stream = model.stream(ASK)
    assert next(stream) == "y"
    stream.close()  # type: ignore[attr-defined]
    assert "model call" not in {thread.name for thread in threading.enumerate()}


def test_a_schema_is_followed_or_it_is_an_error() -> None:
    request = LlmRequest(messages=ASK.messages, schema=PERSON)
    backend = Scripted(said('{"name": "Ana"}'), said('{"name": 7}'), said("Ana"), said('{"name": "A', stop="length"))
    model = Guarded("test:m", backend)
    assert model.complete(request).data == {"name": "Ana"}
    for reason in ("does not follow the schema", "not JSON", "cut off"):
        with pytest.raises(MalformedOutputError, match=reason) as caught:
            model.complete(request)
        assert caught.value.text
        assert "Ana" not in str(caught.value)


def test_calls_are_of_tools_that_there_are() -> None:
    request = LlmRequest(messages=ASK.messages, tools=(FIND,))

    def calling(name: str, arguments: dict[str, Any]) -> tuple[Reply]:
        return (Reply("", calls=(ToolCall("1", name, arguments),), stop="tools"),)

    model = Guarded("test:m", Scripted(calling("find", {"name": "Ana"}), calling("rm", {}), calling("find", {"id": 1})))
    (call,) = model.complete(request).calls
    assert call.make_result("Porto", failed=True) == Message("tool", "Porto", call_id="1", tool="find", failed=True)
    with pytest.raises(MalformedOutputError, match="that there is not"):
        model.complete(request)
    with pytest.raises(MalformedOutputError, match="wrong arguments"):
        model.complete(request)


def test_nothing_is_no_answer() -> None:
    with pytest.raises(MalformedOutputError, match="nothing"):
        Guarded("test:m", Scripted(said(" \n"))).complete(ASK)


def test_a_model_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "MOST_CHARS", 50)
    with pytest.raises(MalformedOutputError, match="without end"):
        Guarded("test:m", Scripted(["la la la "] * 100)).complete(ASK)


def test_a_question_that_is_too_long_is_not_sent() -> None:
    backend = Scripted(said("x"), context=1000)
    with pytest.raises(OverBudgetError, match="too long"):
        Guarded("test:m", backend).complete(LlmRequest(messages=(Message("user", "word " * 1000),)))
    assert backend.asked == []


def test_every_call_is_booked() -> None:
    book = Book()
    model = Guarded("test:m", Scripted(said("x"), ["half an answer", busy(lasting=True)], said("y")), book)
    model.complete(ASK)
    with pytest.raises(ModelUnavailableError):
        model.complete(ASK)
    list(model.stream(ASK))
    assert [(name, error) for name, _, error in book.calls] == [
        ("test:m", "NoneType"),
        ("test:m", "ModelUnavailableError"),
        ("test:m", "NoneType"),
    ]
    assert book.calls[0][1] == Usage(10, 2)
    assert book.calls[1][1].written > 0, "what broke off has cost something too"


def test_when_the_day_is_spent_nothing_is_asked() -> None:
    book, backend = Book(), Scripted(said("x"))
    book.full = True
    with pytest.raises(OverBudgetError, match="spent"):
        Guarded("test:m", backend, book).complete(ASK)
    assert (backend.asked, book.calls) == ([], [])


FACTS = {
    "type": "object",
    "properties": {"kind": {"enum": ["a", "b"]}, "n": {"type": "integer"}},
    "required": ["kind"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("text", ['{"kind": "a", "n": 1}', ' {"kind":"a","n":1}\n', '```json\n{"kind":"a","n":1}\n```'])
def test_json_that_follows_the_schema(text: str) -> None:
    assert parse_json(text, FACTS) == {"kind": "a", "n": 1}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "Here you are: a",
        '{"kind": "a"',
        '{"kind": "a"} and more',
        '{"kind": "c"}',
        '{"kind": "a", "n": NaN}',
        '{"kind": "a", "n": "one"}',
        '{"kind": "a", "delete": "everything"}',
        "[]",
        "null",
        "<html><body>502</body></html>",
        "[" * 100_000,
        '{"kind": "' + "a" * 1_000_000,
    ],
)
def test_everything_else_is_an_error_that_quotes_nothing(text: str) -> None:
    with pytest.raises(MalformedOutputError) as caught:
        parse_json(text, FACTS)
    assert caught.value.text in (text, "")
    assert "everything" not in str(caught.value)
    assert len(str(caught.value)) < 400


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=9))
def test_any_json_is_taken_as_it_is(value: Any) -> None:
    assert parse_json(json.dumps(value), {}) == value
