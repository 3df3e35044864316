"""What stands around an object, step by step and at a time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory import Memory
from memory.errors import NotFoundError
from memory.nouns import Document
from memory.views import Neighbourhood


def at(month: int) -> datetime:
    return datetime(2026, month, 1, tzinfo=UTC)


@pytest.fixture
def town(fresh: Memory) -> Memory:
    """Ana has had two phones, one after the other; Bo is told of beside her, and Cy beside him."""
    for month, version, phone in ((1, "", "0161 900"), (5, " v2", "0161 950")):
        properties = {"phone": phone}
        fresh.remember_many(
            [Document(f"Ana Ruiz{version}.md", "# Ana Ruiz", title="Ana Ruiz", at=at(month), properties=properties)]
        )
    fresh.remember_many(
        [
            Document("met.md", "[[Ana Ruiz]] met [[Bo Lind]].", title="met", at=at(2)),
            Document("sailed.md", "[[Bo Lind]] sailed with [[Cy Berg]].", title="sailed", at=at(6)),
        ]
    )
    return fresh


def seen(found: Neighbourhood) -> dict[str, int]:
    return {node.name: node.steps for node in found.nodes}


def test_each_step_reaches_further(town: Memory) -> None:
    near, far = (seen(town.browsing.explore("Ana Ruiz", depth, 40, None)) for depth in (1, 2))
    assert near["Ana Ruiz"] == 0 and near["Bo Lind"] == near["0161 950"] == 1 and "Cy Berg" not in near
    assert far["Cy Berg"] == 2 and near.items() <= far.items()


def test_facts_are_those_of_the_time(town: Memory) -> None:
    def phones(as_of: datetime | None) -> set[str]:
        return {label for label in seen(town.browsing.explore("Ana Ruiz", 1, 40, as_of)) if label.startswith("0161")}

    assert phones(None) == {"0161 950"} and phones(at(3)) == {"0161 900"}


def test_what_was_told_later_is_not_beside_it_yet(town: Memory) -> None:
    assert "Cy Berg" in seen(town.browsing.explore("Bo Lind", 1, 40, None))
    assert "Cy Berg" not in seen(town.browsing.explore("Bo Lind", 1, 40, at(3)))


def test_a_fact_is_told_once_and_what_it_joins_is_not_also_beside(town: Memory) -> None:
    found = town.browsing.explore("Ana Ruiz", 3, 40, None)
    ids = [one.fact.id for one in found.edges if one.fact]
    assert len(ids) == len({*ids})
    pairs = [frozenset((edge.source, edge.target)) for edge in found.edges]
    assert len(pairs) == len({*pairs})


def test_the_nearest_are_kept_and_the_others_counted(town: Memory) -> None:
    found = town.browsing.explore("Ana Ruiz", 2, 2, None)
    assert [*seen(found)] == ["Ana Ruiz", "0161 950"] and found.left_out > 0


def test_of_an_unknown_name_there_is_none(town: Memory) -> None:
    with pytest.raises(NotFoundError):
        town.browsing.explore("Nobody", 1, 40, None)
