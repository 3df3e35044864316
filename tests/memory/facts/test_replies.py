"""Asking for JSON: one repair, and what can still be used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import MalformedOutputError, ModelUnavailableError
from memory.facts.json_replies import complete_json, parse_loosely
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
    return MalformedOutputError("The model's reply is not JSON (at character 0).", text)


def test_a_good_reply_is_its_data() -> None:
    model = Scripted({"rows": [1]})
    assert complete_json(model, REQUEST) == {"rows": [1]}
    assert model.asked == [REQUEST]


def test_a_bad_one_is_asked_for_once_more_in_another_way() -> None:
    model = Scripted(bad("Sure! Here it is: ["), {"rows": []})
    assert complete_json(model, REQUEST) == {"rows": []}
    (message,) = model.asked[1].messages
    assert message.text.startswith("Rows!\n\n") and "at character 0" in message.text
    assert "Sure!" not in message.text, "what was said badly would only be said again"
    assert model.asked[1].schema == SCHEMA
    first, again = model.asked
    assert (first.temperature, first.seed) == (0, 42) != (again.temperature, again.seed)
    assert again.max_tokens < first.max_tokens


@pytest.mark.parametrize("text", ["", "prose", '{"rows": [', "[1]", '{"rows": 3}', "[" * 100_000, "x" * 10_000_000])
def test_two_bad_ones_are_the_end(text: str) -> None:
    model = Scripted(bad(text), bad(text), {"rows": []})
    with pytest.raises(MalformedOutputError):
        complete_json(model, REQUEST)
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    "text",
    [
        'Here is the JSON:\n```json\n{"rows": [{"a": 1}, {"b": "]}"}]}\n```\nI hope this helps!',
        '  {"rows": [{"a": 1}, {"b": "]}"}]} and {"more": 1}',
        '{"rows": [{"a": 1}, {"b": "]}"}, {"c": [1, 2',
        '{"rows": [{"a": 1}, {"b": "]}"}, {"c": "it broke off [here]',
        '{"rows": [{"a": 1}, {"b": "]}"}, {"c": "a quote \\" and',
        '{\n  "rows": [\n    {"a": 1},\n    {"b": "]}"}',
    ],
)
def test_the_items_before_a_cut_and_within_prose_are_kept(text: str) -> None:
    model = Scripted(bad(text))
    assert complete_json(model, REQUEST) == {"rows": [{"a": 1}, {"b": "]}"}]}


@given(st.text('{}[]",:\\ab1 ', max_size=60))
def test_whatever_stands_there_is_an_object_with_the_lists_or_nothing(text: str) -> None:
    found = parse_loosely(text, SCHEMA)
    assert found is None or isinstance(found["rows"], list)


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.text(max_size=5) | st.integers() | st.lists(st.text(max_size=3)))
    ).flatmap(lambda rows: st.tuples(st.just(rows), st.integers(0, len(json.dumps({"rows": rows})))))
)
def test_cut_anywhere_no_item_is_made_up(cut: tuple[list[dict[str, Any]], int]) -> None:
    rows, place = cut
    found = parse_loosely(json.dumps({"rows": rows})[:place], SCHEMA)
    kept = found["rows"] if found else []
    assert kept[:-1] == rows[: max(0, len(kept) - 1)], "but for the last one all are whole"
    assert not kept or kept[-1].items() <= rows[len(kept) - 1].items() or kept[-1].keys() <= rows[len(kept) - 1].keys()


def test_what_breaks_a_rule_inside_is_left_to_who_reads_it() -> None:
    model = Scripted(bad('{"rows": [{"colour": "greenish"}], "more": 1}'))
    assert complete_json(model, REQUEST) == {"rows": [{"colour": "greenish"}], "more": 1}
    assert len(model.asked) == 1


def test_a_server_that_fails_is_not_asked_again_here() -> None:
    model = Scripted(ModelUnavailableError("down"), {"rows": []})
    with pytest.raises(ModelUnavailableError):
        complete_json(model, REQUEST)
    assert parse_loosely('{"rows": []}', SCHEMA) == {"rows": []}
