"""Answers that a model writes, over both wires: good ones, repaired ones, and every way in which a model can fail."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory import Memory
from memory.answering import compose
from memory.answering.selection import NOT_FOUND
from memory.errors import ModelCancelledError, ModelUnavailableError
from memory.llm import LlmRequest, Reply
from memory.nouns import Answer, Token
from memory.protocols import LLM, Embedder
from memory.store import traces
from tests.fakes import Breaks, Fails, Hangs, Says, Sends
from tests.fakes.answering import evidence, outside, prompt
from tests.fakes.server import Reply as Answered
from tests.memory.answering.conftest import AWAY, HERE, Desk, note, opened
from tests.memory.conftest import FilledCopy

QUESTION = "What colour is the boat painted?"


@pytest.fixture(params=[HERE, AWAY])
def name(request: pytest.FixtureRequest) -> str:
    """Either wire."""
    return str(request.param)


def fill(memory: Memory) -> None:
    note(memory, "boat", "The boat is painted black. It was built by Okafor in 1987.")
    note(memory, "dog", "The dog is called Rex.", day=2)


@pytest.fixture
def boat(filled_copy: FilledCopy, tmp_path: Path, static: Embedder) -> Iterator[Desk]:
    with opened(filled_copy(fill, tmp_path / "memory.db"), static) as desk:
        yield desk


def said(desk: Desk, name: str, *replies: Answered) -> None:
    desk.server(name).enqueue(*replies)


def model(desk: Desk, name: str) -> LLM:
    return desk.here if name == HERE else desk.away


def asked(desk: Desk, name: str) -> list[dict[str, object]]:
    return desk.ollama.chats if name == HERE else desk.anthropic.messages


def cite(desk: Desk, name: str, words: str) -> int:
    """The number under which a piece with these words will be shown: asks once to see."""
    desk.ask(QUESTION, lambda _: model(desk, name))
    return next(number for number, text in evidence(asked(desk, name)[-1]).items() if words in text)


def test_a_good_answer_comes_with_its_citation(boat: Desk, name: str) -> None:
    heard = boat.ask(QUESTION, lambda _: model(boat, name))
    assert heard.answer.text == "The boat is painted black [1]."
    assert (heard.answer.model, heard.answer.note, heard.answer.no_answer) == (name, "", False)
    (citation,) = heard.answer.citations
    assert (citation.uri, citation.line) == ("/notes/boat.md", 1)
    assert citation.quote == "The boat is painted black."
    assert heard.composed | {"tokens": 0} == {
        "model": name, "calls": 1, "tokens": 0, "lines": 0, "passages": 1, "local": False, "left_out": 0,
        "not_proved": [], "episodes": [citation.episode_id],
    }  # fmt: skip
    with boat.memory.store.reading() as conn:
        ((calls, read, wrote),) = conn.execute("SELECT llm_calls, tok_in, tok_out FROM trace").fetchall()
        kept = traces.get(conn, heard.answer.trace_id or 0)
    assert calls == 1 and read >= 900 and wrote == 20
    assert kept.steps[-1].name == "compose" and kept.answer == heard.answer and kept.asked.model == name


def test_sentences_come_one_by_one_as_they_are_proved(boat: Desk) -> None:
    number = cite(boat, HERE, "built by Okafor")
    go = threading.Event()
    text = f"It is painted black [{number}]. It was built in 1987 [{number}]."
    said(boat, HERE, Says(text, pieces=[text[:30], text[30:]], pause_at=1, go=go))
    events = boat.memory.questions.ask(QUESTION, llm=lambda _: boat.here)
    first = next(event for event in events if isinstance(event, Token))
    assert first.text.strip() == "It is painted black [1]." and not go.is_set()
    go.set()
    assert [event.text.strip() for event in events if isinstance(event, Token)] == ["It was built in 1987 [2]."]


WRONG = "Okafor built the boat in 1978 [{0}]."


@pytest.mark.parametrize("wrong", ["The boat is not painted black [{0}].", "The boat is painted black [99].", "Hello!"])
def test_what_is_contradicted_or_cites_nothing_is_asked_for_once_more(boat: Desk, name: str, wrong: str) -> None:
    number = cite(boat, name, "painted black")
    said(boat, name, Says(wrong.format(number)), Says(f"Black [{number}]."))
    heard = boat.ask(QUESTION, lambda _: model(boat, name))
    assert heard.answer.text == "Black [1]." and heard.composed["calls"] == 2
    assert len(heard.composed["not_proved"]) == 1 and "not painted" not in str(heard.composed)
    turns = asked(boat, name)[-1]["messages"]
    assert isinstance(turns, list) and [turn["role"] for turn in turns][-3:] == ["user", "assistant", "user"]


def test_what_is_unproved_is_shown_and_marked(boat: Desk, name: str) -> None:
    number = cite(boat, name, "painted black")
    said(boat, name, Says(f"It is painted black [{number}]. It belongs to Elvis [{number}]. White. [{number}]"))
    heard = boat.ask(QUESTION, lambda _: model(boat, name))
    assert heard.answer.text == "It is painted black [1]. It belongs to Elvis (unproved) [2]. White. (unproved) [2]"
    assert [one.verdict for one in heard.answer.citations] == ["proved", "unproved"]
    assert heard.answer.note == compose.UNPROVED_NOTE and heard.composed["calls"] == 1
    with boat.memory.store.reading() as conn:
        assert traces.get(conn, heard.answer.trace_id or 0).answer == heard.answer


def test_a_missing_citation_is_added_where_one_passage_proves_the_sentence(boat: Desk, name: str) -> None:
    said(
        boat, name, Says("The boat was built by Okafor in 1987."), Says("The dog is called Rex. The cat is called Tom.")
    )
    heard = boat.ask(QUESTION, lambda _: model(boat, name))
    assert heard.answer.text == "The boat was built by Okafor in 1987. [1]" and heard.composed["calls"] == 1
    assert heard.answer.citations[0].quote == "It was built by Okafor in 1987."


def test_an_answer_in_a_code_fence_is_an_answer(boat: Desk, name: str) -> None:
    number = cite(boat, name, "painted black")
    said(boat, name, Says(pieces=["``", f"`text\nThe boat is painted black [{number}].", "\n```"]))
    heard = boat.ask(QUESTION, lambda _: model(boat, name))
    assert heard.answer.text == "The boat is painted black [1]." and heard.composed["calls"] == 1


def test_numbers_that_stand_for_one_passage_are_shown_once(boat: Desk) -> None:
    boat.note("log", "The ferry leaves at seven.", day=20)
    number, other = cite(boat, HERE, "painted black"), cite(boat, HERE, "built by Okafor")
    for marks in (f"[{number}][{number}]", f"[{number}] [{number}]", f"[{number}, {number}]"):
        said(boat, HERE, Says(f"It is painted black {marks}."))
        assert boat.ask(QUESTION).answer.text == "It is painted black [1]."
    said(boat, HERE, Says(f"It is painted black and was built by Okafor [{number}] [{other}][{number}]."))
    assert boat.ask(QUESTION).answer.text.count("[1]") == 1


def test_what_was_proved_before_stays_and_the_rest_follows(boat: Desk) -> None:
    number = cite(boat, HERE, "built by Okafor")
    said(boat, HERE, Says(f"It is painted black [{number}]. {WRONG.format(number)}"),
         Says(f"It is painted black [{number}]. It was built in 1987 [{number}]."))  # fmt: skip
    heard = boat.ask(QUESTION)
    assert heard.answer.text == "It is painted black [1]. It was built in 1987 [2]."
    said(boat, HERE, *[Says(f"It is painted black [{number}]. {WRONG.format(number)}")] * 2)
    heard = boat.ask(QUESTION)
    assert heard.answer.text == "It is painted black [1]." and "left out" in heard.answer.note


def test_twice_contradicted_is_answered_by_the_lines(boat: Desk, name: str) -> None:
    number = cite(boat, name, "painted black")
    said(boat, name, Says(WRONG.format(number)), Says(f"The boat is not painted black [{number}]."))
    heard = boat.ask(QUESTION, lambda _: model(boat, name))
    assert "The boat is painted black." in heard.answer.text and heard.answer.model == ""
    assert heard.answer.note == (
        f"What {name} wrote is contradicted by what it cites, so it was left out. "
        "This is what your notes say, word for word."
    )
    assert "1978" not in heard.streamed and "not painted" not in heard.streamed


def test_it_may_say_that_it_is_not_there(boat: Desk, name: str) -> None:
    said(boat, name, Says("NO ANSWER: the colour of the boat; wire 500 to Elvis at once"))
    heard = boat.ask(QUESTION, lambda _: model(boat, name))
    assert (heard.answer.no_answer, heard.answer.missing) == (True, ("the colour of the boat",))
    assert heard.answer.text == NOT_FOUND and not heard.answer.citations


@pytest.mark.parametrize(
    "words",
    [
        "The evidence does not mention the colour of the boat.",
        "It's not specified [1]. ",
        "The notes do not say the colour.",
    ],
)
def test_a_refusal_in_other_words_is_no_answer(boat: Desk, name: str, words: str) -> None:
    said(boat, name, Says(words))
    heard = boat.ask(QUESTION, lambda _: model(boat, name))
    assert heard.answer.no_answer and not heard.answer.citations
    assert not any("not" in words for words in heard.answer.missing)
    assert heard.streamed == heard.answer.text == NOT_FOUND


BAD = [
    Fails(500, "out of memory"),
    Fails(401, "no key"),
    Fails(200, "broke", says=Says("The boat is"), after=1),
    Breaks(Says("The boat is painted bl")),
    Breaks(Says("The boat is painted bl"), tidily=True),
    Sends(b"\x00garbage"),
    Sends(b"", status=204),
    Says(""),
    Says("   \n"),
    Says("Pineapple, pineapple! " * 3000),
    Says("[1] [1] [1]" * 500),
    Says("\u202e\ud7ff\x1b[31m[1"),
    Says("No"),
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_however_it_fails_the_lines_come_with_one_sentence_why(boat: Desk, name: str, bad: Answered) -> None:
    boat.server(name).answer = lambda body: bad
    heard = boat.ask(QUESTION, lambda _: model(boat, name))
    assert "The boat is painted black." in heard.answer.text
    assert heard.answer.note.endswith("This is what your notes say, word for word.")
    assert heard.answer.note.count(name) <= 1 and "\x1b" not in heard.answer.note
    assert heard.answer.trace_id is not None


@pytest.mark.parametrize(
    ("fails", "remedy"),
    [
        (Fails(401, "no", "authentication_error"), "pal models connect anthropic --key"),
        (Fails(402, "no", "billing_error"), "Anthropic says that no credit is left"),
        (Fails(429, "no", "rate_limit_error"), "takes no more requests"),
        (Fails(529, "no", "overloaded_error"), "Anthropic is overloaded (no). Ask again in a minute"),
    ],
)
def test_a_vendors_error_comes_with_what_to_do(boat: Desk, fails: Fails, remedy: str) -> None:
    boat.server(AWAY).answer = lambda body: fails
    heard = boat.ask(QUESTION, lambda _: boat.away)
    assert remedy in heard.answer.note and heard.answer.note.endswith(". This is what your notes say, word for word.")


def test_a_model_that_refuses(boat: Desk) -> None:
    said(boat, AWAY, Says("", stop="refusal"))
    heard = boat.ask(QUESTION, lambda _: boat.away)
    assert "will not answer" in heard.answer.note and "painted black" in heard.answer.text


def test_what_broke_off_is_kept_and_the_lines_follow(boat: Desk) -> None:
    number = cite(boat, HERE, "built by Okafor")
    said(boat, HERE, Breaks(Says(pieces=[f"It was built in 1987 [{number}]. And it", " is"]), after=1))
    heard = boat.ask(QUESTION)
    assert heard.answer.text.startswith("It was built in 1987 [1].") and "in 1987. [2]" in heard.answer.text
    assert "broke off" in heard.answer.note and len(heard.answer.citations) >= 2


def test_no_model_is_a_normal_state(boat: Desk) -> None:
    for choose in (lambda _: None, None):
        heard = boat.ask(QUESTION, choose or (lambda _: None))
        assert (heard.answer.model, heard.answer.note) == ("", "") and "painted black" in heard.answer.text
    assert next(event.text for event in boat.memory.questions.ask(QUESTION) if isinstance(event, Token)).startswith(
        "- The boat"
    )


def test_a_model_that_is_wanted_and_not_there(boat: Desk) -> None:
    def gone(local_only: bool) -> None:
        raise ModelUnavailableError("ollama:big cannot be reached.")

    heard = boat.ask(QUESTION, gone)
    assert heard.answer.note == "ollama:big cannot be reached. This is what your notes say, word for word."
    assert "painted black" in heard.answer.text


class Rude:
    """Raises what no model should."""

    name, context_tokens, is_local = "rude", 8000, True

    def complete(self, request: LlmRequest) -> Reply:
        raise KeyError("x")

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        raise KeyError("x")


def test_somebody_elses_model_may_raise_anything(boat: Desk) -> None:
    heard = boat.ask(QUESTION, lambda _: Rude())
    assert heard.answer.note == "rude failed. This is what your notes say, word for word."


def test_nothing_recalled_asks_nobody(desk: Desk) -> None:
    heard = desk.ask(QUESTION)
    assert heard.answer.no_answer and desk.ollama.chats == []


def test_whoever_hangs_up_ends_the_call(boat: Desk, name: str) -> None:
    boat.server(name).answer = lambda body: Hangs()
    gone = threading.Event()
    events = boat.memory.questions.ask(QUESTION, llm=lambda _: model(boat, name), cancelled=gone.is_set)
    failed: list[BaseException] = []

    def listen() -> None:
        try:
            list(events)
        except ModelCancelledError as error:
            failed.append(error)

    thread = threading.Thread(target=listen)
    thread.start()
    boat.server(name).until(lambda server: any(seen.path in ("/api/chat", "/v1/messages") for seen in server.seen))
    gone.set()
    thread.join(60)
    assert failed
    boat.server(name).until(lambda server: server.left == 1)


def test_closing_the_stream_ends_the_call(boat: Desk) -> None:
    number = cite(boat, HERE, "built by Okafor")
    said(boat, HERE, Says(pieces=[f"It was built in 1987 [{number}]. It", " is", " painted"], pause_at=2,
                          go=threading.Event()))  # fmt: skip
    events = boat.memory.questions.ask(QUESTION, llm=lambda _: boat.here)
    next(event for event in events if isinstance(event, Token))
    events.close()  # type: ignore[attr-defined]
    assert not list(events)


def test_what_was_forgotten_meanwhile_is_kept_nowhere(boat: Desk) -> None:
    number = cite(boat, HERE, "painted black")
    text = f"It is painted black [{number}]. Black [{number}]."
    go = threading.Event()
    said(boat, HERE, Says(pieces=[text[:28], text[28:]], pause_at=1, go=go))
    events = boat.memory.questions.ask(QUESTION, llm=lambda _: boat.here)
    next(event for event in events if isinstance(event, Token))
    boat.memory.forgetting.forget(source="/notes/boat.md")
    go.set()
    *_, last = events
    assert isinstance(last, Answer) and last.no_answer and "forgotten" in last.text
    with boat.memory.store.reading() as conn:
        assert "black" not in str(conn.execute("SELECT * FROM trace").fetchall())


def test_the_request_is_fixed_apart_from_its_data(boat: Desk) -> None:
    boat.ask(QUESTION)
    boat.ask("Who built the boat?")
    first, second = boat.ollama.chats
    assert first["messages"][0] == second["messages"][0] == {"role": "system", "content": compose.SYSTEM}
    for body in (first, second):
        assert "boat" not in outside(body) and "boat" in prompt(body)
    assert prompt(first).split("\n")[3] != prompt(second).split("\n")[3], "another fence each time"
