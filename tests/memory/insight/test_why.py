"""Traces, why and whynot: on a small memory each cut can be made to fall."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Answer, Document, Scope
from memory.protocols import Embedder
from memory.settings import AnswerSettings, MemorySettings
from memory.trace import MissedPassage
from tests.fakes import Says
from tests.memory.answering.conftest import HERE, Desk
from tests.memory.facts.asserting import assert_quoted

HARBOUR = "Where is the harbour office?"


def on(day: int, month: int = 1) -> datetime:
    return datetime(2024, month, day, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    """Answers come from the three best passages."""
    settings = MemorySettings(answer=AnswerSettings(episodes=3, lines=3))
    with Memory.open(tmp_path / "memory.db", embedder=static, settings=settings) as memory:
        note(memory, "harbour", "The harbour office is in the Customs House. It smells of tar.")
        note(memory, "ferry", "The ferry leaves from the harbour at nine.", day=2)
        note(memory, "room", "My office has a green door and a kettle.", day=3)
        note(memory, "goat", "A goat called Agathe ate the marmalade.", day=4)
        note(memory, "choir", "Choir practice is on Tuesday, near the harbour.", day=5)
        yield memory


def note(memory: Memory, name: str, text: str, day: int = 1) -> int:
    document = Document(f"/notes/{name}.md", text, title=name, kind="file", at=on(day))
    return memory.ingest.remember_many([document])[0].episode_ids[0]


def ask(memory: Memory, question: str = HARBOUR, **more: object) -> int:
    *_, last = memory.questions.ask(question, **more)  # type: ignore[arg-type]
    assert isinstance(last, Answer) and last.trace_id is not None
    return last.trace_id


def lost(memory: Memory, id: int, words: str) -> MissedPassage:
    """What became of the nearest passage."""
    return memory.questions.why_not(id, words).lost[0]


# Traces ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["trace", "why"])
def test_an_unknown_trace_is_reported(memory: Memory, call: str) -> None:
    with pytest.raises(NotFoundError, match="no trace 77"):
        getattr(memory.questions, call)(77)
    with pytest.raises(NotFoundError, match="no trace 77"):
        memory.questions.why_not(77, "harbour")


def test_what_is_forgotten_takes_its_questions_with_it(memory: Memory) -> None:
    id = ask(memory)
    memory.forgetting.forget(source="/notes/harbour.md")
    assert memory.questions.traces() == []
    for call in (memory.questions.trace, memory.questions.why):
        with pytest.raises(NotFoundError):
            call(id)


# Why ------------------------------------------------------------------------------------------


def test_why_names_what_each_line_was_ranked_by(memory: Memory) -> None:
    why = memory.questions.why(ask(memory))
    first = why.used[0]
    assert first.cited.quote == "The harbour office is in the Customs House."
    assert (first.place, why.shown) == (1, 3)
    assert first.channels["lexical"] > 0 and {"vector", "text", "graph"} < set(first.channels)
    assert (why.reasons, why.allowed_calls) == ((), 4)


def test_why_names_the_facts_that_a_line_tells(fresh: Memory) -> None:
    note(fresh, "Mira", "Mira lives in Utrecht.")
    assert_quoted(fresh, "Mira lives in Utrecht.", "Mira", "lives in", "Utrecht")
    why = fresh.questions.why(ask(fresh, "Where does Mira live?"))
    assert [fact.text for used in why.used for fact in used.facts] == ["Mira lives in Utrecht"]


def test_why_tells_what_spoke_against_the_evidence(memory: Memory) -> None:
    why = memory.questions.why(ask(memory, "Who is Zanzibar?"))
    assert why.used == () and why.asked.no_answer
    assert "Nothing is known by the name 'Zanzibar'." in why.gaps


# Why not --------------------------------------------------------------------------------------


def test_what_is_used_is_said_to_be(memory: Memory) -> None:
    found = lost(memory, ask(memory), "customs house")
    assert (found.cut, found.reason) == ("used", "The answer rests on it: [1].")


def test_words_that_stand_nowhere(memory: Memory) -> None:
    found = memory.questions.why_not(ask(memory), "the zeppelin")
    assert (found.lost, found.missing) == ((), ("zeppelin",))


def test_no_words_are_refused(memory: Memory) -> None:
    id = ask(memory)
    with pytest.raises(InvalidInputError, match="Say which words"):
        memory.questions.why_not(id, " ?! ")


def test_another_line_of_a_passage_answered_less_well(memory: Memory) -> None:
    found = lost(memory, ask(memory), "nine")
    assert (found.cut, found.quote) == ("lines", "The ferry leaves from the harbour at nine.")
    assert found.reason == (
        'Its line came 4th of 4, and the answer shows 3. The best is "The harbour office is in the Customs House.".'
    )


def test_a_passage_that_too_many_were_better_than(memory: Memory) -> None:
    found = lost(memory, ask(memory), "choir")
    assert (found.cut, found.place, found.of) == ("ranked", 4, 4)
    assert found.reason == "It was ranked 4 of 4, and the best 3 were read."


def test_a_passage_that_has_no_word_of_the_question(memory: Memory) -> None:
    found = lost(memory, ask(memory), "marmalade")
    assert found.cut == "not_proposed" and found.reason.startswith("It shares no word with the question")


def test_a_passage_outside_of_what_was_asked(memory: Memory) -> None:
    inside = ask(memory, within=Scope(sources=("/notes/harbour.md",)))
    assert lost(memory, inside, "marmalade").reason == "It is outside the part of the memory that was searched."
    before = ask(memory, as_of=on(3))
    found = lost(memory, before, "marmalade")
    assert (found.cut, found.reason) == (
        "scope", "It was written after 2024-01-03, and the question is about the state on that day."
    )  # fmt: skip


def test_a_passage_outside_of_the_time_in_the_question(memory: Memory) -> None:
    found = lost(memory, ask(memory, "What happened on 2 January 2024?", now=on(9)), "marmalade")
    assert (found.cut, "2 January 2024" in found.reason) == ("time", True)


def test_a_passage_that_was_not_there_yet(memory: Memory) -> None:
    id = ask(memory)
    note(memory, "new", "The harbour office has moved to the Ice House.", day=6)
    assert lost(memory, id, "ice").cut == "later"


def test_a_passage_whose_source_is_gone(memory: Memory) -> None:
    id = ask(memory)
    memory.ingest.retire("/notes/goat.md")
    found = lost(memory, id, "marmalade")
    assert (found.cut, found.quote, found.line) == ("gone", "A goat called Agathe ate the marmalade.", 1)
    assert found.reason.startswith("Its source no longer says this since ")


def test_a_fact_that_was_replaced_names_the_newer_one(tmp_path: Path, static: Embedder) -> None:
    settings = MemorySettings(answer=AnswerSettings(lines=1))
    with Memory.open(tmp_path / "lines.db", embedder=static, settings=settings) as memory:
        note(memory, "then", "Mira lives in Utrecht.", day=1)
        note(memory, "now", "Mira lives in Leipzig.", day=9)
        for place in ("Utrecht", "Leipzig"):
            assert_quoted(memory, f"Mira lives in {place}.", "Mira", "lives in", place)
        id = ask(memory, "Where does Mira live?")
        found = lost(memory, id, "Utrecht")
    assert (found.cut, found.since) == ("replaced", on(9))
    assert found.by is not None and found.by.text == "Mira lives in Leipzig"
    assert found.reason == "A newer fact replaced it on 2024-01-09: Mira lives in Leipzig."


def test_nothing_that_is_surely_about_it(memory: Memory) -> None:
    found = lost(memory, ask(memory, "Who is the mayor of Zanzibar?"), "kettle")
    assert found.cut == "threshold"


# With a model ---------------------------------------------------------------------------------


def test_what_a_model_read_and_did_not_use(desk: Desk) -> None:
    desk.note("boat", "The boat is painted black.\n\nIt was built by Okafor in 1987.")
    heard = desk.ask("What colour is the boat painted?", lambda _: desk.here)
    assert heard.answer.model == HERE and heard.answer.trace_id is not None
    found = lost(desk.memory, heard.answer.trace_id, "Okafor")
    assert (found.cut, found.reason) == ("model", f"{HERE} read it, but did not use it.")


def test_what_a_model_elsewhere_may_not_see(desk: Desk) -> None:
    desk.note("boat", "The boat is painted black.", policy="any")
    desk.note("log", "The boat was painted twice, and the colour is a secret.", day=2, policy="local")
    heard = desk.ask("What colour is the boat painted?", lambda local_only: None if local_only else desk.away)
    assert heard.answer.trace_id is not None
    found = lost(desk.memory, heard.answer.trace_id, "secret")
    assert (found.cut, "must stay on this machine" in found.reason) == ("room", True)


def test_what_a_model_wrote_counts_in_its_trace(desk: Desk) -> None:
    desk.note("boat", "The boat is painted black.")
    desk.server(HERE).enqueue(Says("It is a secret.", read=500, written=7), Says("NO ANSWER", read=600, written=3))
    heard = desk.ask("What colour is the boat painted?", lambda _: desk.here, effort="quick")
    assert heard.answer.trace_id is not None
    asked = desk.memory.questions.trace(heard.answer.trace_id).asked
    assert (asked.calls, asked.read) == (1, 500)


def test_why_a_question_went_further_and_what_it_took(desk: Desk) -> None:
    desk.note("boat", "The boat is painted black.")
    desk.note("shed", "Okafor has a shed where the boat stands. In it is a tin.", day=2)
    desk.note("tin", "The tin holds marmalade.", day=3)
    desk.server(HERE).enqueue(Says("NO ANSWER: colour", read=500, written=5))
    heard = desk.ask("What colour is the boat of Okafor?", lambda _: desk.here, effort="deep")
    assert heard.answer.trace_id is not None
    why = desk.memory.questions.why(heard.answer.trace_id)
    assert why.asked.tier == "R3" and why.asked.calls == len(desk.ollama.chats)
    assert why.reasons and why.chain == (), "no path was shown to the model"
    assert all(used.place is not None and used.score is not None for used in why.used)
