"""Asking for JSON: one repair, and what can still be used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memory.errors import MalformedOutputError, ModelUnavailableError
from memory.facts.llm_requests import complete_json, parse_loosely
from memory.llm import LlmRequest, Message, Reply

SCHEMA = {"type": "object", "required": ["rows"]}
REQUEST = LlmRequest(messages=(Message("user", "Rows!"),), schema=SCHEMA)


class Scripted:
    """Says what it was given, one after the other; an error is raised."""

    name, context_tokens, is_local = "scripted", 1000, True

    def __init__(self, *says: Any) -> None:
        self.says = list(says)
        self.asked: list[LlmRequest] = []

    def complete(self, request: LlmRequest) -> Reply:
        self.asked.append(request)
        said = self.says.pop(0)
        if isinstance(said, Exception):
            raise said
        return Reply("", data=said)

    def stream(self, request: LlmRequest) -> Iterator[str | Reply]:
        yield self.complete(request)


def bad(text: str) -> MalformedOutputError:
    return MalformedOutputError("What the model said is not JSON (at character 0).", text)


def test_a_good_reply_is_its_data() -> None:
    model = Scripted({"rows": [1]})
    assert complete_json(model, REQUEST) == {"rows": [1]}
    assert model.asked == [REQUEST]


def test_a_bad_one_is_asked_for_once_more_with_the_reason() -> None:
    model = Scripted(bad("Sure! Here it is: ["), {"rows": []})
    assert complete_json(model, REQUEST) == {"rows": []}
    first, said, complaint = model.asked[1].messages
    assert (first, said) == (REQUEST.messages[0], Message("assistant", "Sure! Here it is: ["))
    assert "at character 0" in complaint.text
    assert model.asked[1].schema == SCHEMA


@pytest.mark.parametrize("text", ["", "prose", '{"rows": [', "[1]", '{"rows": 3}', "[" * 100_000, "x" * 10_000_000])
def test_two_bad_ones_are_the_end(text: str) -> None:
    model = Scripted(bad(text), bad(text), {"rows": []})
    with pytest.raises(MalformedOutputError):
        complete_json(model, REQUEST)
    assert len(model.asked) == 2
    assert 0 < len(model.asked[1].messages[1].text) <= 4_000


def test_what_breaks_a_rule_inside_is_left_to_who_reads_it() -> None:
    model = Scripted(bad('{"rows": [{"colour": "greenish"}], "more": 1}'))
    assert complete_json(model, REQUEST) == {"rows": [{"colour": "greenish"}], "more": 1}
    assert len(model.asked) == 1


def test_a_server_that_fails_is_not_asked_again_here() -> None:
    model = Scripted(ModelUnavailableError("down"), {"rows": []})
    with pytest.raises(ModelUnavailableError):
        complete_json(model, REQUEST)
    assert parse_loosely('{"rows": []}', SCHEMA) == {"rows": []}
