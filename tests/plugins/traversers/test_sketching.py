from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import ModelCancelledError, ModelUnavailableError
from memory.llm import LlmRequest, Reply, Usage
from plugins.traversers.reg import MAX_RELATION_CHARS, MAX_SKETCHES, MAX_STEPS, parse_sketches, sketch_paths


class Scripted:
    """A model that says one thing, or raises it."""

    name, context_tokens, is_local = "scripted", 4096, True

    def __init__(self, says: str | Exception) -> None:
        self.says = says
        self.asked: list[LlmRequest] = []

    def complete(self, request: LlmRequest) -> Reply:
        self.asked.append(request)
        if isinstance(self.says, Exception):
            raise self.says
        return Reply(self.says, Usage(100, 9))

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        yield self.complete(request)


@pytest.mark.parametrize(
    ("said", "sketches"),
    [
        ("directed by -> born in", [("directed by", "born in")]),
        ("1. directed_by → born in\n2) 'acted in'\n- <in>", [("directed by", "born in"), ("acted in",), ("in",)]),
        ("NONE", []),
        ("<think>born in -> died in</think>works at", [("works at",)]),
        ("lives in\nlives in\na->b\nc\nd", [("lives in",), ("a", "b"), ("c",)]),
        ("a -> b -> c -> d -> e", [("a", "b", "c")]),
        ("", []),
        ("42 -> !!", []),
        ("I am afraid that I cannot answer this question without having seen any of the notes", []),
    ],
)  # fmt: skip
def test_a_reply_is_read_as_sketches(said: str, sketches: list[tuple[str, ...]]) -> None:
    assert list(parse_sketches(said)) == sketches


@given(st.text())
def test_whatever_is_said_few_short_relations_come_of_it(said: str) -> None:
    found = parse_sketches(said)
    assert len(found) <= MAX_SKETCHES and all(1 <= len(one) <= MAX_STEPS for one in found)
    assert all(0 < len(relation) <= MAX_RELATION_CHARS and "\n" not in relation for one in found for relation in one)


def test_a_model_gets_the_question_alone() -> None:
    llm = Scripted("directed by -> born in")
    found, step = sketch_paths(llm, "Where was the director of Night Train born?")
    assert found == (("directed by", "born in"),)
    assert step.detail == {"tokens": 109, "sketches": [["directed by", "born in"]]}
    (request,) = llm.asked
    (message,) = request.messages
    assert message.text.split("\n")[2] == "Where was the director of Night Train born?"
    assert request.local_only and request.max_tokens < 100


@pytest.mark.parametrize("error", [ModelUnavailableError("gone"), RuntimeError("odd"), ModelCancelledError("late")])
def test_a_model_that_fails_sketches_nothing(error: Exception) -> None:
    found, step = sketch_paths(Scripted(error), "Who?", cancelled=lambda: False)
    assert found == () and step.detail == {"said": type(error).__name__}


def test_a_question_that_nobody_waits_for_ends() -> None:
    with pytest.raises(ModelCancelledError):
        sketch_paths(Scripted(ModelCancelledError("stopped")), "Who?", cancelled=lambda: True)


def test_a_long_question_is_cut() -> None:
    llm = Scripted("x")
    sketch_paths(llm, "why " * 1000)
    assert len(llm.asked[0].messages[0].text) < 700
