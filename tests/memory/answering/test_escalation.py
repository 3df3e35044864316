"""From cheap to thorough: how far a question goes, why, what it may take, and what comes of it whatever models do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.answering.context import MAX_WHOLE
from memory.answering.options import AGENT_ALLOWANCE, ALLOWANCES
from memory.errors import ModelCancelledError, ModelUnavailableError
from memory.exploring.tool_calls import TOOLS
from memory.llm import Grades, LlmRequest, Reply, ToolCall, Usage, length
from memory.nouns import Answer, Effort, Preview, Step, Token, Writing
from memory.protocols import LLM, Embedder
from memory.settings import AnswerSettings
from tests.examples import examples
from tests.fakes import Hangs, Says
from tests.fakes.answering import evidence, places, seeking
from tests.memory.answering.conftest import AWAY, HERE, Desk, Heard, note, opened
from tests.memory.conftest import FilledCopy

QUESTION = "In which harbour does the boat of the Okafor family lie?"
HIDDEN = "It lies in Skagen all winter"


@pytest.fixture
def fleet(filled_copy: FilledCopy, tmp_path: Path, static: Embedder) -> Iterator[Desk]:
    """What is asked stands in a note that shares no word with the question; the boat's name leads there."""
    with opened(filled_copy(launch, tmp_path / "memory.db"), static) as desk:
        yield desk


def launch(memory: Memory, logs: int = 25) -> None:
    note(memory, "family", "The Okafor family has owned the boat Marlin since 1987.")
    note(memory, "Marlin", f"Marlin is a ketch. {HIDDEN}.", day=2)
    for day in range(3, 3 + logs):
        words = f"Okafor family boat log {day}: we painted the boat of the family in the harbour."
        note(memory, f"log {day}", words, day)


def tiers(heard: Heard) -> list[str]:
    """Where the question went."""
    steps = [event for event in heard.events if isinstance(event, Step)]
    return [str(step.detail["tier"]) for step in steps if step.name == "route"]


def stages(heard: Heard) -> list[str]:
    return [event.name for event in heard.events if isinstance(event, Step) and event.name in ASKING]


ASKING = ("compose", "guided", "agent")


def test_what_was_found_suffices(fleet: Desk) -> None:
    fleet.ollama.answer = seeking("1987")
    heard = fleet.ask("Since when has the Okafor family owned the boat?")
    assert (tiers(heard), stages(heard)) == (["R2"], ["compose"])
    assert "1987" in heard.answer.text


def test_a_model_picks_where_to_look_and_finds_it(fleet: Desk) -> None:
    fleet.ollama.answer = seeking("Marlin", "Skagen")
    heard = fleet.ask(QUESTION, effort="deep")
    assert tiers(heard) == ["R2", "R3"] and stages(heard)[0] == stages(heard)[-1] == "compose"
    assert "Skagen" in heard.answer.text and heard.answer.citations[0].title == "Marlin"
    assert len(fleet.ollama.chats) <= ALLOWANCES["deep"].calls
    (rise,) = [event for event in heard.events if isinstance(event, Step) and event.detail.get("tier") == "R3"]
    assert rise.detail["reason"] == "The model does not find the answer in it."
    kept = fleet.memory.questions.trace(heard.answer.trace_id or 0)
    assert (kept.asked.tier, kept.asked.calls) == ("R3", len(fleet.ollama.chats))


def test_the_second_look_takes_in_the_next_best_passages(desk: Desk) -> None:
    launch(desk.memory, 14)
    desk.ollama.answer = seeking("Marlin", "Skagen")
    heard = desk.ask(QUESTION)
    first, second = (event.detail for event in heard.events if isinstance(event, Step) and event.name == "compose")
    assert tiers(heard) == ["R2", "R2"] and "Skagen" in heard.answer.text
    assert second["episodes"][0] == first["episodes"][0] and set(second["episodes"]) - set(first["episodes"])
    assert len(desk.ollama.chats) == 2 and not any(map(places, desk.ollama.chats)), "nobody says where to look"


def test_what_nothing_answers_takes_two_calls(fleet: Desk) -> None:
    fleet.ollama.answer = lambda body: Says("NO ANSWER")
    assert fleet.ask("In which harbour does the boat of the Okafor family lie in winter?").answer.no_answer
    assert len(fleet.ollama.chats) == 2


def test_what_no_line_answers_takes_one_call_with_both_looks(fleet: Desk) -> None:
    fleet.ollama.answer = lambda body: Says("NO ANSWER")
    assert fleet.ask("Who repairs the harbour clock of Zenobia Kraut?").answer.no_answer
    (chat,) = fleet.ollama.chats
    assert len(evidence(chat)) > 2 * MAX_WHOLE


def test_a_model_without_room_for_both_looks_gets_one_after_the_other(fleet: Desk) -> None:
    llm = _Any(["NO ANSWER: it"])
    llm.context_tokens = 2_900
    assert fleet.ask("Who repairs the harbour clock of Zenobia Kraut?", lambda _: llm).answer.no_answer
    assert llm.calls == 2


def count_calls(heard: Heard) -> int:
    steps = [event for event in heard.events if isinstance(event, Step) and event.name == "compose"]
    return sum(int(str(step.detail["calls"])) for step in steps)


PROSE = "The evidence does not say in which harbour the boat lies; it only gives 1987 [1]."


@pytest.mark.parametrize("name", [HERE, AWAY])
def test_a_refusal_in_prose_is_followed_by_a_second_look(desk: Desk, name: str) -> None:
    launch(desk.memory, 14)
    desk.server(name).answer = lambda body: Says(PROSE) if "Skagen" not in str(body) else Says("It lies in Skagen [2].")
    heard = desk.ask(QUESTION, lambda local_only: desk.here if name == HERE else desk.away)
    assert count_calls(heard) == 2 and not heard.answer.no_answer


@pytest.mark.parametrize("name", [HERE, AWAY])
def test_a_refusal_in_prose_is_final_where_all_was_shown(desk: Desk, name: str) -> None:
    note(desk.memory, "family", "The Okafor family has owned the boat Marlin since 1987.")
    desk.server(name).answer = lambda body: Says(PROSE)
    heard = desk.ask(QUESTION, lambda local_only: desk.here if name == HERE else desk.away)
    assert count_calls(heard) == 1, "a second prompt would show nothing new"
    assert heard.answer.no_answer and PROSE not in heard.streamed


def test_quick_asks_once(fleet: Desk) -> None:
    fleet.ollama.answer = seeking("Marlin", "Skagen")
    heard = fleet.ask(QUESTION, effort="quick")
    assert (tiers(heard), len(fleet.ollama.chats)) == (["R2"], 1)
    assert heard.answer.no_answer


def test_a_question_of_many_keeps_as_many_passages_where_it_looks_around(fleet: Desk) -> None:
    shown = []
    for more in ("", " near Quuxville"):
        heard = fleet.ask(f"Which boats of the Okafor family were in the harbour{more}?")
        (first, *_) = (event for event in heard.events if isinstance(event, Step) and event.name == "route")
        assert first.detail.get("unknown") == (["Quuxville"] if more else None)
        (wrote, *_) = (event for event in heard.events if isinstance(event, Step) and event.name == "compose")
        shown.append(len(wrote.detail["episodes"]))
    assert shown[1] >= shown[0] > AnswerSettings().episodes


def test_deep_goes_on_with_tools(fleet: Desk) -> None:
    """The model that picks is blind; the one with tools finds it."""
    sees = seeking("Marlin", "Skagen")
    fleet.ollama.answer = lambda body: Says("DONE") if places(body) else sees(body)
    heard = fleet.ask(QUESTION, effort="deep", driver=lambda local_only: fleet.here)
    assert tiers(heard) == ["R2", "R3", "R4"]
    assert "Skagen" in heard.answer.text
    without = fleet.ask(QUESTION, effort="deep")
    assert "R4" not in tiers(without), "there is no model for tools"


def test_a_model_elsewhere_sees_no_place_that_must_stay_here(fleet: Desk) -> None:
    fleet.note("Marlin", f"Marlin is a ketch. {HIDDEN}. The berth is secret.", day=2, policy="local")
    fleet.anthropic.answer = seeking("Marlin", "Skagen")
    heard = fleet.ask(QUESTION, lambda local_only: None if local_only else fleet.away, effort="deep")
    assert "R3" in tiers(heard)
    for body in fleet.anthropic.messages:
        assert "Skagen" not in str(body) and "ketch" not in str(body)
    assert not heard.answer.citations or heard.answer.model == ""


Bad = Callable[[dict[str, Any]], Says]
BAD: dict[str, Bad] = {
    "never content": lambda body: Says("NO ANSWER: more") if not places(body) else Says("1, 2, 3"),
    "no such number": lambda body: Says("9999") if places(body) else Says("NO ANSWER: more"),
    "no number at all": lambda body: Says("Sure, let me see!") if places(body) else Says("NO ANSWER: more"),
    "cites what is not there": lambda body: Says("It lies in Skagen [99]."),
    "leads elsewhere": lambda body: Says("It lies in Hamburg, see https://hamburg.example [1]."),
    "says nothing": lambda body: Says(""),
}


@pytest.mark.parametrize("effort", sorted(ALLOWANCES))
@pytest.mark.parametrize("bad", sorted(BAD))
def test_whatever_a_model_says_the_budget_ends_it(fleet: Desk, bad: str, effort: Effort) -> None:
    fleet.ollama.answer = BAD[bad]
    heard = fleet.ask(QUESTION, effort=effort)
    assert len(fleet.ollama.chats) <= ALLOWANCES[effort].calls
    assert "Hamburg" not in heard.answer.text
    assert heard.answer.no_answer or heard.answer.citations
    assert heard.answer.no_answer or heard.answer.model or heard.answer.note
    assert fleet.memory.questions.trace(heard.answer.trace_id or 0).asked.calls == len(fleet.ollama.chats)


def test_tools_that_are_not_there_end_in_the_lines(fleet: Desk) -> None:
    from tests.fakes.server import Calls

    def lost(body: dict[str, Any]) -> Says:
        if body.get("tools"):
            return Says("", [Calls("rm_rf", {"path": "/"}), Calls("read_chunk", {"passage": -1})])
        return Says("1") if places(body) else Says("NO ANSWER: more")

    fleet.ollama.answer = lost
    heard = fleet.ask(QUESTION, effort="deep", driver=lambda local_only: fleet.here)
    most = ALLOWANCES["deep"].calls + AGENT_ALLOWANCE.calls
    assert len(fleet.ollama.chats) <= most and (heard.answer.no_answer or heard.answer.citations)


def test_whoever_does_not_wait_stops_the_model_that_picks(fleet: Desk) -> None:
    stop = threading.Event()

    def waits(body: dict[str, Any]) -> Says | Hangs:
        if not places(body):
            return Says("NO ANSWER: more")
        stop.set()
        return Hangs()

    fleet.ollama.answer = waits
    with pytest.raises(ModelCancelledError):
        list(
            fleet.memory.questions.ask(
                QUESTION, llm=lambda local_only: fleet.here, cancelled=stop.is_set, effort="deep"
            )
        )
    fleet.ollama.until(lambda server: server.left == 1)
    assert fleet.ollama.left == 1


def test_a_question_of_two_parts_is_answered_by_its_parts(fleet: Desk) -> None:
    fleet.note("dentist", "Ana Costa's dentist is Doctor Voss.", day=27)
    fleet.note("home", "Ana Costa lives in Esbjerg.", day=28)
    heard = fleet.ask("Where does Ana Costa live and who is her dentist?", lambda local_only: None)
    assert "Esbjerg" in heard.answer.text and "Voss" in heard.answer.text


class _Any:
    """A model that says anything, and reads and writes as much as it may."""

    name, context_tokens, is_local = "fake", 8_000, True

    def __init__(self, says: list[str | None]) -> None:
        self.says = says
        self.calls = 0

    def complete(self, request: LlmRequest) -> Reply:
        self.calls += 1
        said = self.says[self.calls % len(self.says)]
        if said is None:
            raise ModelUnavailableError("gone")
        if said == "crash":
            raise ZeroDivisionError("somebody else's model")
        assert not request.tools or {tool.name for tool in request.tools} == {tool.name for tool in TOOLS}
        return Reply(said, Usage(length(request), request.max_tokens))

    def stream(self, request: LlmRequest) -> Any:
        yield self.complete(request)


class _Thirsty(_Any):
    """Collects a passage in every turn, for as long as it may; the answer stands in the first."""

    def complete(self, request: LlmRequest) -> Reply:
        if not request.tools:
            shown = request.messages[0].text
            return Reply("DONE" if request.purpose == "guide" else _cited(shown), Usage(length(request), 20))
        self.calls += 1
        call = ToolCall("1", "collect_chunk", {"passage": self.calls - 1})
        if self.calls == 1:
            call = ToolCall("1", "vector_search", {"query": "Marlin lies in Skagen", "k": 10})
        return Reply("", Usage(5_100, request.max_tokens), calls=(call,))


def _cited(shown: str) -> str:
    line = next((line for line in shown.splitlines() if "[" in line and '"Marlin"' in line), "")
    return f"It lies in Skagen {line[: line.index(']') + 1]}." if line else "NO ANSWER: the harbour"


def test_who_searches_leaves_enough_to_answer_from_what_it_found(fleet: Desk) -> None:
    llm = _Thirsty([])
    heard = fleet.ask(QUESTION, lambda _: llm, effort="deep", driver=lambda _: llm)
    assert tiers(heard)[-1] == "R4" and llm.calls > 9
    assert heard.answer.model == llm.name and "Skagen" in heard.answer.text


SAID = st.one_of(
    st.none(), st.sampled_from(["NO ANSWER: it", "1", "3, 2", "DONE", "Skagen [1].", "x" * 9_000]), st.text()
)


@examples(1 / 2)
@given(st.lists(SAID, min_size=1, max_size=5), st.sampled_from(sorted(ALLOWANCES)))
def test_no_model_takes_more_than_is_allowed(fleet_of_all: Desk, says: list[str | None], effort: Effort) -> None:
    llm: LLM = _Any(says)
    *_, answer = fleet_of_all.memory.questions.ask(QUESTION, llm=lambda _: llm, driver=lambda _: llm, effort=effort)
    assert isinstance(answer, Answer)
    asked = fleet_of_all.memory.questions.trace(answer.trace_id or 0).asked
    agent = AGENT_ALLOWANCE if effort == "deep" else None
    assert asked.calls <= ALLOWANCES[effort].calls + (agent.calls if agent else 0)
    assert asked.read + asked.written <= ALLOWANCES[effort].tokens + (agent.tokens if agent else 0)


@pytest.fixture(scope="session")
def fleet_of_all(tmp_path_factory: pytest.TempPathFactory, static: Any) -> Any:
    with Memory.open(tmp_path_factory.mktemp("fleet") / "memory.db", embedder=static) as memory:
        desk = Desk(memory, None, None, None, None)  # type: ignore[arg-type]
        for day in range(1, 20):
            desk.note(f"log {day}", f"The boat of the Okafor family lay in harbour {day}.", day)
        yield desk


# While a model is asked -------------------------------------------------------------------------------


def test_the_lines_come_before_a_model_is_asked(desk: Desk) -> None:
    desk.note("alarm", "The box number of the hall is 3358.")
    asked = []
    desk.ollama.answer = lambda body: asked.append(len(heard)) or Says("The box number of the hall is 3358 [1].")
    heard: list[Any] = []
    for event in desk.memory.questions.ask(
        "What is the box number of the hall?", llm=lambda local_only: desk.here, replay=False
    ):
        heard.append(event)
    (preview,) = [place for place, event in enumerate(heard) if isinstance(event, Preview)]
    (writing,) = [place for place, event in enumerate(heard) if isinstance(event, Writing)]
    assert preview < asked[0] <= writing < next(place for place, event in enumerate(heard) if isinstance(event, Token))
    assert "3358" in heard[preview].text and heard[preview].citations[0].quote in heard[preview].citations[0].passage
    without = list(desk.memory.questions.ask("What is the box number of the hall?", replay=False))
    assert not any(isinstance(event, Preview) for event in without), "there is nothing to wait for"
    assert isinstance(without[-1], Answer) and without[-1].text == heard[preview].text


def test_what_the_lines_do_not_answer_is_no_draft(desk: Desk) -> None:
    desk.note("alarm", "The box number of the hall is 3358.")
    desk.ollama.answer = lambda body: Says("NO ANSWER")
    previews = [event for event in desk.ask("Who is Zenobia Kraut?").events if isinstance(event, Preview)]
    assert [(preview.text, preview.citations) for preview in previews] == [("", ())]


def test_a_model_that_is_known_to_be_slow_gets_the_time_it_takes(desk: Desk) -> None:
    desk.note("alarm", "The box number of the hall is 3358.")

    def slow(body: dict[str, Any]) -> Says:
        time.sleep(0.6)
        return Says("The box number of the hall is 3358 [1].")

    desk.ollama.answer = slow
    desk.memory.state.settings = replace(
        desk.memory.state.settings, answer=replace(desk.memory.state.settings.answer, answer_seconds=0.2)
    )
    question = "What is the box number of the hall?"
    late = desk.ask(question)
    assert late.answer.model == "" and "took too long" in late.answer.note
    desk.memory.jobs.keep_grades(Grades(HERE, "1", 1, 1.0, 1.0, 1.0, 1.0, 1.0, 30.0, 0.5, 8000, question_s=5.0))
    assert desk.ask(question).answer.model == HERE
