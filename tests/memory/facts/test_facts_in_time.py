"""What the memory knew on a day, and what becomes of a row of facts when one note of them goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from memory import Memory
from memory.nouns import TOLD, Document
from tests.memory.store.building import HashEmbedder

HOMES = {"Lisbon": 2020, "Porto": 2021, "Faro": 2022, "Evora": 2023}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", embedder=HashEmbedder(dimension=64)) as memory:  # type: ignore[arg-type]
        yield memory


def home(memory: Memory, place: str) -> datetime:
    """The owner says that they live there; when it was read."""
    written = datetime(HOMES[place], 1, 1, tzinfo=UTC)
    memory.ingest.remember_many([Document(place, f"I live in {place}.", reader=TOLD, at=written)])
    read = datetime.now(UTC)
    while time.time_ns() // 1_000_000 == int(read.timestamp() * 1000):  # the store counts milliseconds
        pass
    return read


def homes(memory: Memory, known_on: datetime | None = None) -> list[tuple[str, int | None]]:
    """Where she lives now, as the memory knew it then, and the year until which."""
    found = memory.knowledge.facts("me", known_on=known_on)
    return [(one.objects[1], one.valid_to and one.valid_to.year) for one in found if one.kind == "relation"]


def until(memory: Memory) -> dict[str, int | None]:
    found = memory.knowledge.facts("me", history=True)
    live = [one for one in found if one.kind == "relation" and one.uri in HOMES]
    return {one.objects[1]: one.valid_to and one.valid_to.year for one in live}


def test_what_was_replaced_later_still_held_as_far_as_was_known(memory: Memory) -> None:
    read = {place: home(memory, place) for place in HOMES}
    for place, moment in read.items():
        assert homes(memory, moment) == [(place, None)]
    assert homes(memory) == [("Evora", None)]
    [fact] = [one for one in memory.knowledge.facts("me", known_on=read["Porto"]) if one.kind == "relation"]
    assert fact.superseded_by is None


def test_when_a_note_goes_what_was_before_ends_where_the_next_begins(memory: Memory) -> None:
    for place in HOMES:
        home(memory, place)
    memory.ingest.retire("Porto")
    assert homes(memory) == [("Evora", None)]
    assert until(memory)["Lisbon"] == 2022
    memory.ingest.retire("Faro")
    assert homes(memory) == [("Evora", None)]
    assert until(memory)["Lisbon"] == 2023
    home(memory, "Porto")
    assert homes(memory) == [("Evora", None)]
    assert until(memory)["Lisbon"] == 2021
    memory.ingest.retire("Evora")
    assert homes(memory) == [("Porto", None)]
