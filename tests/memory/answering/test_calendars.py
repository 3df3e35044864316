"""Calendars in several files, changed and cancelled: a question gets what takes place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from memory import Memory
from memory.nouns import Answer
from plugins.readers import documents
from plugins.readers.registry import READERS

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
FIRST = "UID:r\nSUMMARY:Regatta\nDTSTART:20261205T090000"
MOVED = "UID:r\nSUMMARY:Regatta\nDTSTART:20261212T090000"
WEEKLY = "UID:c\nSUMMARY:Chess club\nDTSTART;TZID=Europe/Berlin:20261103T200000\nRRULE:FREQ=WEEKLY"

Add = Callable[..., None]


@pytest.fixture
def add(fresh: Memory, tmp_path: Path) -> Add:
    def of(name: str, *events: str, head: str = "") -> None:
        path = tmp_path / name
        framed = "".join(f"BEGIN:VEVENT\n{event}\nEND:VEVENT\n" for event in events)
        path.write_text(f"BEGIN:VCALENDAR\n{head}{framed}END:VCALENDAR\n")
        reader = next(reader for reader in READERS if reader.name == "ics")
        fresh.ingest.remember_many(documents(reader, path, path.read_bytes(), path.stat()))

    return of


def lines(memory: Memory, question: str) -> list[str]:
    *_, answer = memory.questions.ask(question, now=NOW)
    assert isinstance(answer, Answer)
    return [line.text for line in answer.lines if line.citations]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SEQUENCE:0", "SEQUENCE:2"),
        ("DTSTAMP:20261001T080000Z", "DTSTAMP:20261101T080000Z"),
        ("SEQUENCE:9\nDTSTAMP:20261101T080000Z", "SEQUENCE:10\nDTSTAMP:20261001T080000Z"),
        ("LAST-MODIFIED:20261001T080000Z", "LAST-MODIFIED:20261101T080000Z"),
    ],
)
def test_of_two_exports_the_newer_version_counts(fresh: Memory, add: Add, old: str, new: str) -> None:
    add("b.ics", f"{FIRST}\n{old}")
    add("a.ics", f"{MOVED}\n{new}")
    assert lines(fresh, "When is the regatta?") == ["2026-12-12 09:00: Regatta"]
    assert lines(fresh, "What is on 5 December 2026?") == []
    assert lines(fresh, "What is on 12 December 2026?") == ["2026-12-12 09:00: Regatta"]
    assert [one.day for one in fresh.knowledge.list_planned(date(2026, 12, 1), 20)] == ["2026-12-12"]


def test_an_older_version_counts_again_where_the_newer_one_is_forgotten(
    fresh: Memory, add: Add, tmp_path: Path
) -> None:
    add("b.ics", f"{FIRST}\nSEQUENCE:0")
    add("a.ics", f"{MOVED}\nSEQUENCE:1")
    fresh.forgetting.forget(source=(tmp_path / "a.ics").as_posix())
    assert lines(fresh, "When is the regatta?") == ["2026-12-05 09:00: Regatta"]


def test_the_same_event_in_two_exports_is_shown_once(fresh: Memory, add: Add) -> None:
    add("a.ics", FIRST)
    add("b.ics", FIRST)
    assert lines(fresh, "What is on 5 December 2026?") == ["2026-12-05 09:00: Regatta"]


def test_events_of_other_ids_are_no_versions(fresh: Memory, add: Add) -> None:
    add("a.ics", f"{FIRST}\nSEQUENCE:0")
    add("b.ics", f"{MOVED.replace('UID:r', 'UID:s')}\nSEQUENCE:3")
    assert lines(fresh, "What is on 5 December 2026?") == ["2026-12-05 09:00: Regatta"]


def test_an_occurrence_in_another_file_replaces_that_of_its_series(fresh: Memory, add: Add) -> None:
    add("series.ics", WEEKLY)
    changed = "UID:c\nSUMMARY:Chess club\nSEQUENCE:1\nRECURRENCE-ID:20261208T190000Z"
    add("update.ics", f"{changed}\nDTSTART;TZID=Europe/Berlin:20261209T200000")
    assert lines(fresh, "What is on 8 December 2026?") == []
    assert lines(fresh, "What is on 9 December 2026?") == ["2026-12-09 20:00 Europe/Berlin: Chess club"]
    assert lines(fresh, "What is on 15 December 2026?") == ["2026-12-15: Chess club, 20:00"]


def test_a_cancellation_that_comes_later_cancels(fresh: Memory, add: Add) -> None:
    add("invitation.ics", f"{FIRST}\nSEQUENCE:0", head="METHOD:REQUEST\n")
    add("cancellation.ics", f"{FIRST}\nSEQUENCE:1", head="METHOD:CANCEL\n")
    assert all("CANCELLED" in line for line in lines(fresh, "What is on 5 December 2026?"))


def test_a_cancelled_event_is_only_shown_as_one(fresh: Memory, add: Add) -> None:
    add("a.ics", f"{FIRST}\nSTATUS:CANCELLED", "SUMMARY:Haircut\nDTSTART:20261205T110000")
    assert lines(fresh, "What is on 5 December 2026?") == ["2026-12-05 11:00: Haircut"]
    assert "CANCELLED" in lines(fresh, "When is the regatta?")[0]


def test_a_day_of_a_series_that_is_left_out_has_nothing(fresh: Memory, add: Add) -> None:
    add("a.ics", f"{WEEKLY}\nEXDATE:20261103T190000Z,20261201T190000Z")
    assert lines(fresh, "What is on 1 December 2026?") == lines(fresh, "What was on 3 November 2026?") == []
    assert lines(fresh, "What is on 8 December 2026?") == ["2026-12-08: Chess club, 20:00"]
    assert lines(fresh, "When is the next chess club?") == [
        "2026-11-24: Chess club, 20:00, every week since 2026-11-10"
    ]
    assert lines(fresh, "What is on 3 February 2032?") == ["2032-02-03: Chess club, 20:00"]


def test_an_event_of_several_days_is_on_each(fresh: Memory, add: Add) -> None:
    add("a.ics", "SUMMARY:Lens fair\nDTSTART;VALUE=DATE:20261210\nDTEND;VALUE=DATE:20261213")
    assert lines(fresh, "What is on 11 December 2026?") == ["2026-12-11: Lens fair"]
    assert lines(fresh, "What is on 13 December 2026?") == []
