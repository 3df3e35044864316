"""Which two facts fill one slot: a model may let the one replace the other."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.facts.slots import fill_one_slot
from memory.nouns import Fact


def fact(subject: str, predicate: str, value: str, quote: str = "") -> Fact:
    words = quote or f"{subject} {predicate} {value}"
    return Fact(
        1, "relation", words, (subject, value), None, None, datetime(2026, 1, 1, tzinfo=UTC), None, None, 1, "/a.md", 1,
        predicate=predicate, quote=words,
    )  # fmt: skip


def statement(text: str, *objects: str) -> Fact:
    return Fact(
        1, "thesis", text, objects, None, None, datetime(2026, 1, 1, tzinfo=UTC), None, None, 1, "/a.md", 1, quote=text
    )


@pytest.mark.parametrize(
    ("old", "new", "is_one"),
    [
        (fact("the studio", "costs", "300 euros"), fact("studio", "has rent", "340 euros"), True),
        (fact("Mill Lane flat", "rent", "640 a month"), fact("flat", "rent", "690 a month"), True),
        (fact("Ana", "stays in", "Bonn"), fact("Ana Reis", "lives in", "Riga"), True),
        (fact("Ana", "leads", "Orbit"), fact("Orbit team", "is led by", "Orbit"), True),
        (fact("desk", "costs", "120", "a desk at Werk costs 120"), fact("Werk", "costs", "135"), True),
        (fact("Nord flat", "rent", "640 a month"), fact("Mill house", "rent", "890 a month"), False),
        (fact("Ana", "bakes at", "Corner Mill"), fact("Nordlys", "is led by", "Tobias Renn"), False),
        (fact("Ana", "likes", "tea"), fact("Ana", "works at", "Lumen"), False),
        (fact("you", "use", "Trados"), fact("you", "use", "memoQ"), True),
        (fact("rates", "%", "good"), fact("rates", "is", "bad"), False),
        (statement("Ana bakes bread at Lumen.", "Ana"), statement("Ana bakes bread at Orbit.", "Ana"), True),
        (statement("The press prints blue.", "press"), statement("Ana sails the press.", "Ana"), False),
    ],
)
def test_two_facts_fill_one_slot(old: Fact, new: Fact, is_one: bool) -> None:
    assert fill_one_slot(old, new, old.quote, new.quote) is is_one
