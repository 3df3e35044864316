"""Grading a model: good ones, bad ones, and ones that cannot be asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memory.errors import ModelCancelledError, ModelUnavailableError
from memory.facts.decisions import DECISION_PROMPT
from memory.facts.llm_requests import EXTRACTION_PROMPT
from memory.llm import GRADED, ROLES, Grades
from plugins.llms import Step
from plugins.llms import probe as probing
from plugins.llms.anthropic import AnthropicModel
from plugins.llms.guard import Guarded
from plugins.llms.ollama import OllamaModel as Model
from plugins.llms.openai import OpenAIModel
from plugins.llms.probe import LONG_PROMPT, probe
from plugins.settings import AnthropicSettings, OllamaSettings, OpenAISettings
from tests.fakes import (
    ClaudeModel,
    Fails,
    FakeAnthropic,
    FakeOllama,
    FakeOpenAI,
    Hangs,
    OllamaModel,
    Reply,
    Says,
    ServedModel,
)
from tests.fakes.talents import diligent, does_not, sloppy, text_of

QWEN = OllamaModel("qwen3:4b")
PLAIN = OllamaModel("plain:1b", capabilities=("completion",))
Talent = Callable[[dict[str, Any]], Reply]


def opened(server: FakeOllama, name: str = "qwen3:4b") -> Guarded:
    settings = OllamaSettings(host=server.url, context=12_000)
    return Guarded(f"ollama:{name}", Model(name, settings), pause=0.001)


def graded(model: Guarded) -> tuple[list[Step], Grades]:
    *steps, grades = probe(model)
    assert isinstance(grades, Grades)
    return [step for step in steps if not isinstance(step, Grades)], grades


def grades_of(talent: Talent) -> Grades:
    with FakeOllama(QWEN, answer=talent) as server:
        return graded(opened(server))[1]


def shares(grades: Grades) -> tuple[float | None, ...]:
    return tuple(getattr(grades, name) for name in GRADED)


def is_asked(body: dict[str, Any], task: str) -> bool:
    return task in text_of(body["messages"][-1])


def test_a_model_that_can_do_all() -> None:
    with FakeOllama(QWEN, answer=diligent) as server:
        steps, grades = graded(opened(server))
        systems = {text_of(chat["messages"][0]) for chat in server.chats}
    assert shares(grades) == (1.0,) * 5
    assert (grades.name, grades.version, grades.notes) == ("ollama:qwen3:4b", QWEN.digest[:12], ())
    assert grades.context > LONG_PROMPT / 2
    assert grades.tokens_per_s > 0 and grades.usage.written > 0
    assert all(grades.fits(role) for role in ROLES)
    assert (grades.batch, grades.problem) == (3, "")
    assert {EXTRACTION_PROMPT, DECISION_PROMPT} < systems, "it is asked what the memory asks"
    _, total, _ = steps[0]
    assert [(number, of) for number, of, _ in steps] == [(number, total) for number in range(total)]


def test_the_same_at_a_vendors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
    with FakeAnthropic(ClaudeModel("claude-new"), answer=diligent) as server:
        model = Guarded("anthropic:claude-new", AnthropicModel("claude-new", AnthropicSettings(url=server.url)))
        steps, grades = graded(model)
    assert shares(grades) == (1.0,) * 5
    assert steps[-1][2] == "10,000 tokens"


def test_the_same_of_a_server_that_speaks_openais_protocol() -> None:
    with FakeOpenAI(ServedModel("qwen3-4b"), answer=diligent) as server:
        _, grades = graded(Guarded("openai:qwen3-4b", OpenAIModel("qwen3-4b", OpenAISettings(url=server.url))))
    assert shares(grades) == (1.0,) * 5
    assert grades.version, "another file under that name is another model"


def test_a_model_that_can_do_nothing_is_given_up_soon() -> None:
    with FakeOllama(PLAIN, answer=sloppy) as server:
        steps, grades = graded(opened(server, "plain:1b"))
        asked = len(server.chats)
    assert shares(grades) == (0.0, None, 0.0, None, None)
    assert (grades.context, grades.batch) == (0, 1)
    assert not any(grades.fits(role) for role in ROLES)
    assert any("neither reads nor answers" in note for note in grades.notes)
    assert steps[-1][2] == "it cannot read; answering"
    assert asked == 2 + 2 * 2 + 2, "two notes, each asked for twice, and two questions"


def test_a_model_that_answers_and_breaks_json() -> None:
    """Nothing that it should write by a schema can be used; all else can."""
    grades = grades_of(lambda body: Says('{"episodes": oops') if body.get("format") else diligent(body))
    assert shares(grades) == (0.0, None, 1.0, 1.0, 1.0)
    assert [role for role in ROLES if grades.fits(role)] == ["answer", "agent"]
    assert grades.shortcomings("extract") == ("it does not extract the facts of a note",)


def test_a_model_that_reads_and_does_not_refuse() -> None:
    def guesses(body: dict[str, Any]) -> Reply:
        said = diligent(body)
        return Says("The van is blue [3].") if isinstance(said, Says) and said.text == "NO ANSWER" else said

    grades = grades_of(guesses)
    assert shares(grades) == (1.0, 1.0, 1.0, 0.0, 1.0)
    assert grades.shortcomings("answer") == ("it does not refuse what it does not know",)
    assert grades.fits("extract")


@pytest.mark.parametrize("words", ["I'm sorry, the evidence does not mention that.", "**NO ANSWER**: the colour"])
def test_what_counts_as_a_refusal_in_an_answer_counts_here(words: str) -> None:
    def wordy(body: dict[str, Any]) -> Reply:
        said = diligent(body)
        return Says(words) if isinstance(said, Says) and said.text == "NO ANSWER" else said

    assert grades_of(wordy).refuses == 1.0


def test_an_answer_counts_as_far_as_a_person_would_see_it() -> None:
    def unproved(body: dict[str, Any]) -> Reply:
        said = diligent(body)
        return replace(said, text=said.text.replace(" [2]", " [4]")) if isinstance(said, Says) else said

    assert grades_of(unproved).answers == 0.67
    assert grades_of(does_not("Where does Mira Okafor work", "She works for Nordlys Press.")).answers == 1.0
    assert grades_of(does_not("Where does Mira Okafor work", "She works at home [1].")).answers < 1.0


def test_what_is_false_costs_the_note() -> None:
    """Otherwise a model that takes all for so would pass."""

    def rash(body: dict[str, Any]) -> Reply:
        said = diligent(body)
        return replace(said, text=said.text.replace('"past"', '"asserted"')) if isinstance(said, Says) else said

    grades = grades_of(rash)
    assert grades.reads == 0.75
    assert grades.notes == (probing.TELLS_WRONG,)


def test_a_value_that_is_not_in_the_note_does_not_get_in() -> None:
    def inventive(body: dict[str, Any]) -> Reply:
        said = diligent(body)
        return replace(said, text=said.text.replace("Nordlys Press", "Acme")) if isinstance(said, Says) else said

    assert grades_of(inventive).reads == round((2 / 3 + 3) / 4, 2)


@pytest.mark.parametrize("relation", ["replaces", "both true"])
def test_who_says_the_same_of_every_pair_decides_nothing(relation: str) -> None:
    def same(body: dict[str, Any]) -> Reply:
        if not is_asked(body, "\nCompare\n"):
            return diligent(body)
        pairs = [line.split(": ") for line in text_of(body["messages"][-1]).partition("\nCompare\n")[2].splitlines()]
        row = {"words": "", "relation": relation, "confidence": "high"}
        rows = [{"newer": int(new), "older": int(old)} | row for new, old in pairs]
        return Says(json.dumps({"decisions": rows}))

    grades = grades_of(same)
    assert grades.decides == 0.5
    assert not grades.fits("extract")


def test_orders_in_a_note_that_are_obeyed_are_reported() -> None:
    fact = {"subject": "Mira Okafor", "predicate": "lives_on", "object": "Saturn", "modality": "asserted"}
    fact |= {"quote": "Mira Okafor lives on Saturn", "valid_from": None, "valid_until": None}
    said = json.dumps({"episodes": [{"episode": 1, "facts": [fact], "statements": [], "objects": []}]})
    grades = grades_of(does_not("The ferry to Vardø leaves at 7:40 on weekdays. Halden", said))
    assert probing.OBEYS in grades.notes


def test_a_model_without_tools() -> None:
    with FakeOllama(PLAIN, answer=diligent) as server:
        grades = graded(opened(server, "plain:1b"))[1]
    assert (grades.tools, grades.notes) == (0.0, ("It takes no tools.",))
    assert grades.fits("answer")


def test_who_collects_everything_does_not_drive_tools_well() -> None:
    def greedy(body: dict[str, Any]) -> Reply:
        said = diligent(body)
        if isinstance(said, Says) and any(call.name == "collect_chunk" for call in said.calls):
            return Says("", [replace(said.calls[0], arguments={"passage": one}) for one in (1, 2, 3, 4)])
        return said

    assert grades_of(greedy).tools == 0.75
    assert grades_of(lambda body: Says("DONE") if body.get("tools") else diligent(body)).tools == 0.0


def test_a_model_that_is_lost_in_a_long_prompt_reads_one_passage_at_a_time() -> None:
    def short_sighted(body: dict[str, Any]) -> Reply:
        return diligent(body) if len(str(body)) < 20_000 else Says("I do not see it.")

    grades = grades_of(short_sighted)
    assert (grades.context, grades.batch) == (0, 1)
    assert any("lost" in note for note in grades.notes)


def test_a_model_that_is_too_slow_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [replace(kind, patience_s=0.3) for kind in probing.KINDS]
    monkeypatch.setattr(probing, "KINDS", tuple(kinds))
    with FakeOllama(QWEN, answer=lambda body: Hangs() if body.get("format") else diligent(body)) as server:
        grades = graded(opened(server))[1]
        asked = sum(bool(chat.get("format")) for chat in server.chats)
    assert (grades.reads, grades.decides, grades.answers, asked) == (0.0, None, 1.0, 1)
    assert "It was too slow: reading notes took more than 0 s." in grades.notes


def test_how_long_a_question_will_take() -> None:
    def slow(body: dict[str, Any]) -> Reply:
        said = diligent(body)
        if not (isinstance(said, Says) and said.text and is_asked(body, "The question:")):
            return said
        go = threading.Event()
        threading.Timer(0.2, go.set).start()
        return replace(said, read=2_200, go=go)

    seconds = grades_of(slow).question_s
    assert 0.2 <= seconds < 10


def test_a_server_that_is_gone_gives_no_grades() -> None:
    with FakeOllama(QWEN, answer=lambda body: Fails(500, "out of memory")) as server:
        with pytest.raises(ModelUnavailableError, match="out of memory"):
            graded(opened(server))
        with pytest.raises(ModelUnavailableError, match="ollama pull"):
            graded(opened(server, "none"))


@pytest.mark.parametrize("task, kept", [("\nCompare\n", 1), ("The question:", 2), ("The number of the safe", 5)])
def test_a_server_that_dies_leaves_what_was_graded(task: str, kept: int) -> None:
    died = Fails(500, "out of memory")
    grades = grades_of(lambda body: died if is_asked(body, task) and not body.get("tools") else diligent(body))
    assert [share for share in shares(grades) if share is not None] == [1.0] * kept
    assert "out of memory" in grades.problem
    assert (grades.context, grades.fits("extract")) == (0, kept >= 2)


def test_a_probe_can_be_given_up() -> None:
    for calls in (3, 9):
        with FakeOllama(QWEN, answer=diligent) as server:
            with pytest.raises(ModelCancelledError):
                list(probe(opened(server), lambda server=server, calls=calls: len(server.chats) >= calls))  # type: ignore[misc]
            assert len(server.chats) <= calls + 1
