"""What a model is asked about new facts and those nearest to them, and what it can decide."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.facts import decisions
from memory.nouns import Fact
from memory.revisions import Decision

DAY = datetime(2024, 9, 1, tzinfo=UTC)


def fact(id: int, predicate: str | None, value: str, **more: Any) -> Fact:
    fields = {"valid_from": None, "valid_to": None, "recorded": DAY, "retired": None, "superseded_by": None}
    kind, objects = ("relation", ("Mira", value)) if predicate else ("thesis", ())
    text = f"Mira {predicate} {value}" if predicate else value
    return Fact(id, kind, text, objects, episode_id=1, uri="a", line=1, predicate=predicate, **(fields | more))


UTRECHT = fact(11, "lives in", "Utrecht", quote="she lived\nin Utrecht")
LEIPZIG = fact(12, "lives in", "Leipzig", valid_from=DAY)
GHENT = fact(10, "lives in", "Ghent", modality="past", valid_to=DAY)
PAIRS = [
    (UTRECHT, LEIPZIG),
    (fact(13, None, "She speaks Dutch."), fact(14, None, "She speaks German.", modality="plan")),
]


def row(**more: Any) -> dict[str, Any]:
    return {"older": 1, "newer": 2, "relation": "replaces", "words": "moved", "confidence": "high"} | more


def test_a_request_names_each_slot_once_and_asks_for_all_pairs() -> None:
    request = decisions.decision_request([*PAIRS, (GHENT, LEIPZIG)])
    text = request.messages[0].text
    (fence,) = re.findall(r"  1\. Utrecht \(asserted\) ([A-Z]{6}) she lived in Utrecht \1", text)
    assert len(fence) == 6
    assert text.splitlines() == [
        "Mira - lives in",
        f"  1. Utrecht (asserted) {fence} she lived in Utrecht {fence}",
        "  2. Leipzig (asserted, from 2024-09-01)",
        "  3. Ghent (past, until 2024-09-01)",
        "Statements",
        "  4. She speaks Dutch. (asserted)",
        "  5. She speaks German. (plan)",
        "",
        "Compare",
        "2: 1, 3",
        "5: 4",
    ]
    assert (request.purpose, request.local_only) == ("decide", True), "it stays here unless somebody has looked"
    assert not decisions.decision_request(PAIRS, local_only=False).local_only


def test_decisions_are_of_the_pairs_that_were_asked_about() -> None:
    rows = [row(), row(older=3, newer=4, relation="both true", words="", confidence="medium"), row(older=1, newer=4)]
    assert decisions.parse_decisions({"decisions": rows}, PAIRS) == [
        Decision(11, 12, "supersedes", 0.95, "moved"),
        Decision(13, 14, "complements", 0.75),
    ]


@pytest.mark.parametrize(
    "spoilt",
    [
        {"older": 0}, {"older": 3}, {"newer": "2"}, {"older": True}, {"newer": None}, {"older": 11}, {"older": [1]},
        {"relation": "deletes"}, {"relation": None}, {"relation": ["replaces"]},
        {"confidence": 0.9}, {"confidence": "sure"}, {"confidence": None}, {"confidence": ["high"]},
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_dropped_alone(spoilt: dict[str, Any]) -> None:
    rows = [row(**spoilt), "prose", row(older=3, newer=4)]
    assert [one.old for one in decisions.parse_decisions({"decisions": rows}, PAIRS)] == [13]


def test_a_pair_is_decided_once_and_words_are_short() -> None:
    (one,) = decisions.parse_decisions({"decisions": [row(words="so " * 999), row(relation="unrelated")]}, PAIRS)
    assert one.relation == "supersedes" and 80 < len(one.words) <= decisions.MAX_REASON_CHARS


@pytest.mark.parametrize("data", [None, "prose", [], {}, {"decisions": {"older": 1}}, {"decisions": None}])
def test_what_is_no_answer_decides_nothing(data: Any) -> None:
    assert decisions.parse_decisions(data, PAIRS) == []
    assert not decisions.is_empty(data) and decisions.is_empty({"decisions": []})


VALUES = st.integers(-2, 4) | st.floats() | st.sampled_from([*decisions.RELATIONS]) | st.none()


@given(st.lists(st.dictionaries(st.sampled_from(["older", "newer", "relation", "words", "confidence"]), VALUES)))
def test_whatever_is_said_only_asked_pairs_are_decided(rows: list[dict[str, Any]]) -> None:
    found = decisions.parse_decisions({"decisions": rows}, PAIRS)
    asked = [(old.id, new.id) for old, new in PAIRS]
    assert {(one.old, one.new) for one in found} <= {*asked}
    assert all(0 <= one.confidence <= 1 for one in found)
    assert len(found) == len({one.old for one in found})
