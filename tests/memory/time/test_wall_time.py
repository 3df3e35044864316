"""Days stay what they are when the computer moves to another time zone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from memory import Memory
from memory.nouns import Answer, Document
from memory.protocols import Embedder
from memory.time.timestamps import from_wall, to_ms, to_wall, wall_of

Move = Callable[[str], None]


@pytest.fixture
def move(monkeypatch: pytest.MonkeyPatch) -> Iterator[Move]:
    if not hasattr(time, "tzset"):
        pytest.skip("this system cannot change its zone")

    def to(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield to
    monkeypatch.undo()
    time.tzset()


def test_what_the_clock_showed_is_kept(move: Move) -> None:
    move("Pacific/Auckland")
    stored = to_wall(datetime(2026, 3, 20, 0, 30).astimezone())
    for zone in ("America/Los_Angeles", "UTC", "Pacific/Auckland"):
        move(zone)
        at = from_wall(stored)
        assert at.isoformat()[:16] == "2026-03-20T00:30" and to_wall(at) == stored
        assert at == datetime(2026, 3, 20, 0, 30).astimezone()


def test_an_hour_that_a_zone_leaves_out_is_kept(move: Move) -> None:
    move("Europe/Berlin")
    stored = to_wall(datetime(2026, 3, 29, 2, 30, tzinfo=UTC).replace(tzinfo=timezone(timedelta(hours=9))))
    assert to_wall(from_wall(stored)) == stored and from_wall(stored).hour == 2


def test_an_instant_is_shown_in_the_zone_in_which_it_is_read(move: Move) -> None:
    move("America/Los_Angeles")
    instant = datetime(2026, 3, 20, 4, tzinfo=UTC)
    assert from_wall(to_wall(instant)) == instant and from_wall(to_wall(instant)).day == 19
    assert wall_of(to_ms(instant)) == to_wall(instant)
    other = instant.astimezone(timezone(timedelta(hours=13)))
    assert from_wall(to_wall(other)).isoformat()[:13] == "2026-03-20T17"  # as in the head of a mail from there


def test_a_day_is_found_and_shown_wherever_the_memory_is_opened(move: Move, tmp_path: Path, static: Embedder) -> None:
    move("Pacific/Auckland")
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        memory.ingest.remember_many(
            [Document("a", "The diver inspected the mooring.", at=datetime(2026, 3, 20).astimezone())]
        )
    for zone in ("America/Los_Angeles", "Pacific/Kiritimati"):
        move(zone)
        with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
            *_, answer = memory.questions.ask("When did the diver inspect the mooring?")
            assert isinstance(answer, Answer) and "2026-03-20" in answer.text
            found = [
                len(memory.questions.retrieve(f"What happened on {day} March 2026?").recall.hits)
                for day in (19, 20, 21)
            ]
            assert found == [0, 1, 0]
