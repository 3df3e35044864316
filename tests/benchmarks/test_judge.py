"""The rules of right and wrong answers, on invented questions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import judge


def question(type_: str = "current", accept: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"type": type_, "accept": accept or ["Bergen"], "reject": ["Tromsø"], **more}


@pytest.mark.parametrize(
    ("answer", "wanted", "found"),
    [
        ("It is in  BERGEN.", "bergen", True),
        ("It is **Ber`gen`**", "Bergen", True),
        ("north\N{NO-BREAK SPACE}bergen\nroad", "North Bergen Road", True),
        ("Ana\N{RIGHT SINGLE QUOTATION MARK}s boat", "Ana's boat", True),
        ("Nordbergen", "bergen", False),  # begins inside a word
        ("Bergenhus", "Bergen", True),  # an ending is not looked at
        ("snake_bergen", "bergen", True),  # an underscore separates
        ("13 euros", "3", False),
        ("3 euros", "3", True),
        ("31 euros", "3", False),
        ("3.5 euros", "3", False),
        ("2.3 euros", "3", False),
        ("1,350 euros", "350", False),
        ("at 10:30", "30", False),
        ("in 2024.", "2024", True),
        ("in 2024, then", "2024", True),
        ("A3", "3", False),
        ("€3", "€3", True),
        ("3rd", "3", True),
        ("anything", "", True),
    ],
)
def test_containment(answer: str, wanted: str, found: bool) -> None:
    assert judge.contains(answer, wanted) is found


def test_an_accepted_value_is_right_and_a_rejected_one_spoils_it() -> None:
    assert judge.is_right(question(), "She lives in Bergen.")
    assert judge.is_right(question(accept_also=["up north"]), "Up north.")
    assert not judge.is_right(question(), "Bergen (formerly Tromsø)")
    assert not judge.is_right(question(), "She lives in Oslo.")


def test_when_changed_may_name_both_values() -> None:
    assert judge.is_right(question("when_changed", ["May 2024"]), "From Tromsø to Bergen in May 2024.")


def test_a_history_must_name_all() -> None:
    asked = question("history", require=["Tromsø", "Bergen"])
    assert judge.is_right(asked, "Tromsø until 2023, then Bergen.")
    assert not judge.is_right(asked, "Bergen")


def test_a_refusal_is_right_where_there_is_no_answer() -> None:
    asked = question("no_answer", ["not recorded", "don't know"], reject=["Halvard"])
    assert judge.is_right(asked, "That is not recorded.")
    assert judge.is_right(asked, "I don\N{RIGHT SINGLE QUOTATION MARK}t know.")
    assert not judge.is_right(asked, "It is not recorded, maybe Halvard.")


def test_stale_is_a_wrong_answer_with_a_value_of_another_time() -> None:
    assert judge.is_stale(question(), "Tromsø")
    assert judge.is_stale(question("past_as_of"), "Bergen, Tromsø")
    assert not judge.is_stale(question(), "Bergen")
    assert not judge.is_stale(question(), "Oslo")
    assert not judge.is_stale(question("single"), "Tromsø")


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_value_between_blanks_is_always_found(before: str, value: str) -> None:
    stripped = value.strip(" \t\r\n*`.,:")
    assert judge.contains(f"({before}) {stripped} (end)", stripped)


@pytest.mark.parametrize(
    ("answer", "wanted", "exact", "overlap"),
    [
        ("The Anglican Communion.", "the Anglican communion", True, 1),
        ("Ana’s boat", "Anas boat", True, 1),
        ("It is Quill", "Quill", False, 0.5),
        ("Oslo, Oslo", "Oslo", False, 2 / 3),
        ("", "Quill", False, 0),
        ("the", "a", True, 1),
    ],
)
def test_exact_answers(answer: str, wanted: str, exact: bool, overlap: float) -> None:
    assert judge.is_exact(answer, wanted) == exact
    assert judge.overlap(answer, wanted) == pytest.approx(overlap)
