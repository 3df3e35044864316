"""What is around an object."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory import Memory
from memory.errors import NotFoundError
from memory.nouns import Document
from tests.memory.conftest import OpenFilled


def at(month: int) -> datetime:
    return datetime(2026, month, 1, tzinfo=UTC)


@pytest.fixture
def town(open_filled: OpenFilled) -> Memory:
    """Ana has had two phones, one after the other; Bo is told of beside her, and Cy beside him."""
    return open_filled(fill_town)


def fill_town(memory: Memory) -> None:
    for month, version, phone in ((1, "", "0161 900"), (5, " v2", "0161 950")):
        properties = {"phone": phone}
        memory.ingest.remember_many(
            [Document(f"Ana Ruiz{version}.md", "# Ana Ruiz", title="Ana Ruiz", at=at(month), properties=properties)]
        )
    memory.ingest.remember_many(
        [
            Document("met.md", "[[Ana Ruiz]] met [[Bo Lind]].", title="met", at=at(2)),
            Document("sailed.md", "[[Bo Lind]] sailed with [[Cy Berg]].", title="sailed", at=at(6)),
        ]
    )


def test_it_has_what_facts_and_mentions_join_each_once(town: Memory) -> None:
    near = town.browsing.object("Ana Ruiz").neighbours
    assert [(one.name, one.relation, one.passages) for one in near] == [
        ("0161 950", "phone", 0), ("met", "", 1), ("Bo Lind", "", 1)
    ]  # fmt: skip
    assert {"Ana Ruiz", "Cy Berg"} <= {one.name for one in town.browsing.object("Bo Lind").neighbours}


def test_the_nearest_are_kept(town: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.services.browsing.MAX_NEIGHBOURS", 2)
    assert [one.name for one in town.browsing.object("Ana Ruiz").neighbours] == ["0161 950"]


def test_of_an_unknown_name_there_is_none(town: Memory) -> None:
    with pytest.raises(NotFoundError):
        town.browsing.object("Nobody")
