"""Grading a model: good ones, bad ones, and ones that cannot be asked."""

from __future__ import annotations

from typing import Any

import pytest

from memory.errors import ModelCancelledError, ModelUnavailableError
from memory.llm import Grades
from plugins.llms import Step
from plugins.llms.anthropic import AnthropicModel
from plugins.llms.guard import Guarded
from plugins.llms.ollama import OllamaModel as Model
from plugins.llms.openai import OpenAIModel
from plugins.llms.probe import SIZES, UNKNOWN, probe
from plugins.llms.settings import AnthropicSettings, OllamaSettings, OpenAISettings
from tests.fakes import ClaudeModel, Fails, FakeAnthropic, FakeOllama, FakeOpenAI, OllamaModel, Reply, Says, ServedModel
from tests.fakes.talents import diligent, sloppy, text_of

QWEN = OllamaModel("qwen3:4b")
PLAIN = OllamaModel("plain:1b", context=4096, capabilities=("completion",))


def opened(server: FakeOllama, name: str = "qwen3:4b") -> Guarded:
    settings = OllamaSettings(host=server.url, context=40_000)
    return Guarded(f"ollama:{name}", Model(name, settings), pause=0.001)


def graded(model: Guarded) -> tuple[list[Step], Grades]:
    *steps, grades = probe(model)
    assert isinstance(grades, Grades)
    return [step for step in steps if not isinstance(step, Grades)], grades


def test_a_model_that_can_do_all() -> None:
    with FakeOllama(QWEN, answer=diligent) as server:
        steps, grades = graded(opened(server))
        asked = len(server.chats)
    assert (grades.schema, grades.tools, grades.cite, grades.refuse) == (1.0, 1.0, 1.0, 1.0)
    assert (grades.name, grades.version, grades.notes) == ("ollama:qwen3:4b", QWEN.digest[:12], ())
    assert grades.context > SIZES[-1] / 2
    assert grades.tokens_per_s > 0 and grades.usage.written > 0
    assert all(grades.fits(role) for role in ("extract", "answer", "agent"))
    assert grades.batch == 3
    _, total, _ = steps[0]
    assert [(number, of) for number, of, _ in steps] == [(number, total) for number in range(total)]
    assert asked == total + 2, "calling tools takes three"


def test_the_same_at_a_vendors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
    with FakeAnthropic(ClaudeModel("claude-new"), answer=diligent) as server:
        model = Guarded("anthropic:claude-new", AnthropicModel("claude-new", AnthropicSettings(url=server.url)))
        steps, grades = graded(model)
    assert (grades.schema, grades.tools, grades.cite, grades.refuse) == (1.0, 1.0, 1.0, 1.0)
    assert steps[-1][2] == "8,000 tokens", "long prompts cost money there"


def test_the_same_of_a_server_that_speaks_openais_protocol() -> None:
    with FakeOpenAI(ServedModel("qwen3-4b"), answer=diligent) as server:
        _, grades = graded(Guarded("openai:qwen3-4b", OpenAIModel("qwen3-4b", OpenAISettings(url=server.url))))
    assert (grades.schema, grades.tools, grades.cite, grades.refuse) == (1.0, 1.0, 1.0, 1.0)
    assert grades.version, "another file under that name is another model"


def test_a_model_that_can_do_nothing() -> None:
    with FakeOllama(PLAIN, answer=sloppy) as server:
        _, grades = graded(opened(server, "plain:1b"))
    assert (grades.schema, grades.tools, grades.cite, grades.refuse) == (0.0, 0.0, 0.0, 0.0)
    assert grades.context == 0
    assert not any(grades.fits(role) for role in ("extract", "answer", "agent"))
    assert grades.batch == 1
    assert "It takes no tools." in grades.notes
    assert any("obeys orders" in note for note in grades.notes)


def test_what_counts_as_a_refusal_in_an_answer_counts_here() -> None:
    def wordy(body: dict[str, Any]) -> Reply:
        asked = text_of(body["messages"][-1])
        if any(question in asked for question in UNKNOWN):
            return Says("I'm sorry, the lines do not mention that.")
        return diligent(body)

    with FakeOllama(QWEN, answer=wordy) as server:
        assert graded(opened(server))[1].refuse == 1.0


def test_how_far_it_reads_is_found_out() -> None:
    def short_sighted(body: dict[str, object]) -> Reply:
        return diligent(body) if len(str(body)) < 20_000 else Says("I do not see it.")  # type: ignore[arg-type]

    with FakeOllama(QWEN, answer=short_sighted) as server:
        steps, grades = graded(opened(server))
        lengths = [len(str(chat)) for chat in server.chats]
    assert 500 < grades.context < 6000
    assert sum(length > 20_000 for length in lengths) == 1, "longer ones are not tried"
    last, total, _ = steps[-1]
    assert last < total - 1
    assert any("lost" in note for note in grades.notes)


def test_half_of_a_task_counts_half() -> None:
    def forgetful(body: dict[str, object]) -> Reply:
        said = diligent(body)  # type: ignore[arg-type]
        assert isinstance(said, Says)
        return Says(said.text.replace(" [5]", "").replace(" [2]", ""), said.calls)

    with FakeOllama(QWEN, answer=forgetful) as server:
        assert graded(opened(server))[1].cite == 0.5


def test_a_server_that_is_gone_gives_no_grades() -> None:
    with FakeOllama(QWEN, answer=lambda body: Fails(500, "out of memory")) as server:
        with pytest.raises(ModelUnavailableError, match="out of memory"):
            graded(opened(server))
        with pytest.raises(ModelUnavailableError, match="models pull"):
            graded(opened(server, "none"))


def test_a_probe_can_be_given_up() -> None:
    with FakeOllama(QWEN, answer=diligent) as server:
        with pytest.raises(ModelCancelledError):
            list(probe(opened(server), lambda: len(server.chats) >= 3))
        assert len(server.chats) <= 4
