"""Which names are told to be alike, and how much work that is."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.insight import aliases
from memory.insight.aliases import WINDOW, list_alike
from tests.examples import examples


@pytest.mark.parametrize(
    ("one", "other"),
    [("Harbor Office", "Harbour Office"), ("Ruiz, Ana Maria", "Ana Maria Ruiz"), ("Jérôme Petit", "Jerome Petit"),
     ("Ana Ruiz", "Anna Ruiz"), ("Catherine Bell", "Katherine Bell")],
)  # fmt: skip
def test_two_spellings_of_one(one: str, other: str) -> None:
    (found,) = list_alike([other, "Bosun", one], 5)
    assert {found.one, found.other} == {one, other}
    assert 0.9 <= found.similarity <= 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("Bosun", "Beatrice"), ("Room 1120 of the west wing", "Room 1121 of the west wing"), ("Ana", "Anna"),
     ("Ferelith Oakes", "Ferelith"), ("James II of Cyprus", "James III of Cyprus")],
)  # fmt: skip
def test_two_names(one: str, other: str) -> None:
    assert list_alike([one, other], 5) == ()


@examples(1)
@given(st.lists(st.text("abco ", min_size=3, max_size=8), max_size=30), st.integers(0, 100))
def test_the_order_does_not_matter(spelt: list[str], seed: int) -> None:
    assert list_alike(random.Random(seed).sample(spelt, len(spelt)), 5) == list_alike(spelt, 5)


def test_the_work_grows_with_the_names_and_not_with_their_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    ratio = aliases.fuzz.ratio
    monkeypatch.setattr(aliases.fuzz, "ratio", lambda *of, **how: compared.append(of) or ratio(*of, **how))
    list_alike([f"Name {chr(97 + n % 26)}{chr(97 + n // 26)} of a ship" for n in range(500)], 5)
    assert 0 < len(compared) <= 2 * 500 * WINDOW
