"""Which names are proposed as one."""

from __future__ import annotations

import pytest

from memory import Memory

HANNE = ("Hanne Achterberg", "Phone: 0161 496 0222\nEmail: hanne@a.example")


def propose(memory: Memory, *notes: tuple[str, str]) -> set[tuple[str, str]]:
    for title, fields in notes:
        memory.ingest.remember(f"# {title}\n{fields}", title=title, source=f"/notes/{title}.md")
    return {(pair.one, pair.other) for pair in memory.knowledge.list_alias_suspects()}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ("Bosun Ek", "Phone: 0161 496 0222\nEmail: bo@a.example"),
            ("Bo Ek", "Phone: 0161 496 0222\nEmail: bo@a.example"),
        ),
        (("Anna Ruiz", "Phone: 0161 496 0111\nCity: Hove"), ("Ana Ruiz", "Phone: 0161 496 0111\nCity: Hove")),
    ],
)
def test_two_signs_propose_two_names_as_one(fresh: Memory, one: tuple[str, str], other: tuple[str, str]) -> None:
    assert propose(fresh, one, other) == {tuple(sorted((one[0], other[0])))}


def test_a_first_name_is_proposed_as_the_only_contact_that_is_called_so(fresh: Memory) -> None:
    assert propose(fresh, HANNE, ("Trip", "We asked Hanne to bring the tent.")) == {("Hanne", "Hanne Achterberg")}
    assert propose(fresh, ("Guests", "Hanne Oldroyd comes, too.")) == set()


@pytest.mark.parametrize(
    "notes",
    [
        [("Border", "A line."), ("Order", "A thing.")],
        [("Catherine Bell", "City: Hove\nPhone: 1 22 33 44"), ("Katherine Bell", "City: Hove\nPhone: 5 66 77 88")],
        [("Ana Ruiz", "Phone: 0161 496 0111\nCity: Hove"), ("Bo Ek", "Phone: 0161 496 0111\nCity: Hove")],
    ],
)
def test_one_sign_proposes_nothing(fresh: Memory, notes: list[tuple[str, str]]) -> None:
    assert propose(fresh, *notes) == set()
