"""What models say where JSON is asked for, and their thoughts."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import MalformedOutputError
from plugins.llms.guard import parse_json
from plugins.llms.ollama import CLOSE, OPEN, without_thoughts

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


@given(st.text(max_size=60), st.text(max_size=60).filter(lambda text: not text.lstrip().startswith("<")), st.data())
def test_thoughts_are_left_out_however_they_come(thought: str, answer: str, data: st.DataObject) -> None:
    thought = thought.replace(CLOSE, "")
    whole = f"\n{OPEN}{thought}{CLOSE}\n\n{answer}"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert "".join(without_thoughts(pieces)) == answer.lstrip()


@given(st.lists(st.text("<think/> a\n", max_size=6), max_size=8))
def test_what_is_no_thought_is_said(pieces: list[str]) -> None:
    whole = "".join(pieces)
    if not whole.lstrip().startswith(OPEN):
        assert "".join(without_thoughts(pieces)) == whole


def test_a_thought_without_end_is_no_answer_and_is_not_kept() -> None:
    thought = (f"hm {number} " * 100 for number in range(10_000))
    tracemalloc.start()
    assert list(without_thoughts(itertools.chain([OPEN], thought))) == []
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=9))
def test_any_json_is_taken_as_it_is(value: Any) -> None:
    assert parse_json(json.dumps(value), {}) == value
