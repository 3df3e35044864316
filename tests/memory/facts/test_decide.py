"""What a model is asked about two facts, and what it can decide."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.facts import llm_requests
from memory.nouns import Decision, Fact

DAY = datetime(2024, 9, 1, tzinfo=UTC)


def fact(id: int, text: str, **more: Any) -> Fact:
    fields = {"valid_from": None, "valid_to": None, "recorded": DAY, "retired": None, "superseded_by": None}
    return Fact(id, "relation", text, ("Mira",), episode_id=1, uri="a", line=1, **(fields | more))


PAIRS = [
    (
        fact(11, "Mira lives in Utrecht", quote="she lived\nin Utrecht"),
        fact(12, "Mira lives in Leipzig", valid_from=DAY),
    ),
    (fact(13, "Mira speaks Dutch"), fact(14, "Mira speaks German", modality="plan")),
]


def row(**more: Any) -> dict[str, Any]:
    return {"pair": 1, "relation": "supersedes", "confidence": 0.9} | more


def test_a_request_shows_both_facts_with_their_days_and_words() -> None:
    request = llm_requests.decision_request(PAIRS)
    text = request.messages[0].text
    fence = re.search(r"\(asserted\) ([0-9a-f]{8}) ", text)
    assert fence is not None
    assert f"Pair 1\nolder: Mira lives in Utrecht (asserted) {fence[1]} she lived in Utrecht {fence[1]}\n" in text
    assert "newer: Mira lives in Leipzig (asserted, from 2024-09-01)" in text
    assert "Pair 2" in text and "Mira speaks German (plan)" in text
    assert (request.purpose, request.local_only) == ("decide", True), "it stays here unless somebody has looked"
    assert not llm_requests.decision_request(PAIRS, local_only=False).local_only


def test_decisions_are_of_the_pairs_that_were_asked_about() -> None:
    rows = [row(), row(pair=2, relation="complements", confidence=1)]
    assert llm_requests.parse_decisions({"decisions": rows}, PAIRS) == [
        Decision(11, 12, "supersedes", 0.9),
        Decision(13, 14, "complements", 1.0),
    ]


@pytest.mark.parametrize(
    "spoilt",
    [
        {"pair": 0}, {"pair": 3}, {"pair": "1"}, {"pair": True}, {"pair": None}, {"pair": 11},
        {"relation": "deletes"}, {"relation": None}, {"relation": ["supersedes"]},
        {"confidence": 1.5}, {"confidence": -0.1}, {"confidence": "sure"}, {"confidence": None}, {"confidence": True},
        {"confidence": float("nan")}, {"confidence": float("inf")},
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_dropped_alone(spoilt: dict[str, Any]) -> None:
    rows = [row(**spoilt), "prose", row(pair=2)]
    assert [one.old for one in llm_requests.parse_decisions({"decisions": rows}, PAIRS)] == [13]


def test_a_pair_is_decided_once() -> None:
    (one,) = llm_requests.parse_decisions({"decisions": [row(), row(relation="unrelated")]}, PAIRS)
    assert one.relation == "supersedes"


@pytest.mark.parametrize("data", [None, "prose", [], {}, {"decisions": {"pair": 1}}, {"decisions": None}])
def test_what_is_no_answer_decides_nothing(data: Any) -> None:
    assert llm_requests.parse_decisions(data, PAIRS) == []


VALUES = st.integers(-2, 4) | st.floats() | st.sampled_from(llm_requests.RELATIONS) | st.none()


@given(st.lists(st.dictionaries(st.sampled_from(["pair", "relation", "confidence"]), VALUES)))
def test_whatever_is_said_only_asked_pairs_are_decided(rows: list[dict[str, Any]]) -> None:
    found = llm_requests.parse_decisions({"decisions": rows}, PAIRS)
    asked = [(old.id, new.id) for old, new in PAIRS]
    assert {(one.old, one.new) for one in found} <= {*asked}
    assert all(0 <= one.confidence <= 1 for one in found)
    assert len(found) == len({one.old for one in found})
