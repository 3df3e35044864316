"""What is around an object, now and at a time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory import Memory
from memory.errors import NotFoundError
from memory.nouns import Document
from memory.views import GraphReply
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


def seen(found: GraphReply) -> set[str]:
    return {node.name for node in found.nodes}


def test_it_has_what_facts_and_mentions_join(town: Memory) -> None:
    found = town.browsing.explore("Ana Ruiz", 40, None)
    assert seen(found) >= {"Ana Ruiz", "Bo Lind", "0161 950"} and "Cy Berg" not in seen(found)
    names = {node.id: node.name for node in found.nodes}
    assert [names[id] for id in found.center] == ["Ana Ruiz"]
    edges = {names[edge.target]: edge for edge in found.edges}
    assert (edges["0161 950"].relation, edges["0161 950"].passages) == ("phone", 0)
    assert (edges["Bo Lind"].relation, edges["Bo Lind"].passages) == ("", 1)


def test_facts_are_those_of_the_time(town: Memory) -> None:
    def phones(as_of: datetime | None) -> set[str]:
        return {label for label in seen(town.browsing.explore("Ana Ruiz", 40, as_of)) if label.startswith("0161")}

    assert phones(None) == {"0161 950"} and phones(at(3)) == {"0161 900"}


def test_what_was_stated_later_is_not_beside_it_yet(town: Memory) -> None:
    assert "Cy Berg" in seen(town.browsing.explore("Bo Lind", 40, None))
    assert "Cy Berg" not in seen(town.browsing.explore("Bo Lind", 40, at(3)))


def test_a_fact_is_shown_once_and_what_it_joins_is_not_also_beside(town: Memory) -> None:
    found = town.browsing.explore("Ana Ruiz", 40, None)
    ids = [edge.id for edge in found.edges if not edge.passages]
    assert len(ids) == len({*ids})
    pairs = [frozenset((edge.source, edge.target)) for edge in found.edges]
    assert len(pairs) == len({*pairs})


def test_the_nearest_are_kept_and_the_others_counted(town: Memory) -> None:
    found = town.browsing.explore("Ana Ruiz", 2, None)
    assert seen(found) == {"Ana Ruiz", "0161 950"} and found.left_out > 0


def test_of_an_unknown_name_there_is_none(town: Memory) -> None:
    with pytest.raises(NotFoundError):
        town.browsing.explore("Nobody", 40, None)
