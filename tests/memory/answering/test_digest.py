"""Overviews: what happened in a time, of what is named and what is new of it, a line for each note and event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory import Memory
from memory.answering import digest
from memory.nouns import Answer, Document, Turn
from plugins.embedders.static import StaticEmbedder
from plugins.readers import documents
from plugins.readers.registry import READERS
from tests.fakes import Says
from tests.fakes.answering import prompt
from tests.memory.answering.conftest import Desk

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)  # a Monday
NOTES = (
    ("Lease", "2026-03-03", "# Lease\n\nRainy. Signed the lease of the kiln shed with Ida Holm."),
    ("Flight", "2026-03-29", "# Flight\n\n- Flew to Porto at six\n- Lost a blue hat in Porto"),
    ("Garden", "2026-03-30", "Walked through the gardens of Porto with Ida Holm, in the rain."),
    ("Kettle", "2026-11-17", "Bought a kettle. The pump of the Tern leaks."),
    ("Dinner", "2026-11-21", "The harvest dinner on Friday is cancelled: the hall is cold."),
    ("Rudder", "2026-11-22", "Baked bread and sanded the rudder of the Tern."),
    ("Tern", "2025-06-01", "# Tern\n\nThe Tern is a wooden boat of 1967."),
)
TASKS = "- [ ] Order paint 📅 2026-11-24\n- [ ] Renew the passport 📅 2026-12-10\n- [x] Send the form ✅ 2026-11-18"
CALENDAR = """BEGIN:VCALENDAR
BEGIN:VEVENT
UID:1
DTSTAMP:20261001T080000Z
SUMMARY:Choir rehearsal
DTSTART:20261119T190000
END:VEVENT
BEGIN:VEVENT
UID:2
DTSTAMP:20261001T080000Z
SUMMARY:Harvest dinner
DTSTART:20261127T180000
END:VEVENT
BEGIN:VEVENT
UID:3
DTSTAMP:20261001T080000Z
SUMMARY:Porto with Ida
DTSTART;VALUE=DATE:20260329
DTEND;VALUE=DATE:20260401
END:VEVENT
BEGIN:VEVENT
UID:4
DTSTAMP:20261001T080000Z
SUMMARY:Dentist
DTSTART:20261124T093000
DTEND:20261124T100000
END:VEVENT
END:VCALENDAR
"""
CHOIR, DINNER = "2026-11-19 19:00: Choir rehearsal", "2026-11-27 18:00: Harvest dinner"
DENTIST = "2026-11-24 09:30 to 10:00: Dentist"
TRIP = "2026-03-29: Porto with Ida"
LEASE = "2026-03-03: Rainy. Signed the lease of the kiln shed with Ida Holm."
FLIGHT, HAT = "2026-03-29: Flew to Porto at six", "2026-03-29: Lost a blue hat in Porto"
GARDEN = "2026-03-30: Walked through the gardens of Porto with Ida Holm, in the rain."
KETTLE = "2026-11-17: Bought a kettle. The pump of the Tern leaks."
CANCELLED = "2026-11-21: The harvest dinner on Friday is cancelled: the hall is cold."
RUDDER = "2026-11-22: Baked bread and sanded the rudder of the Tern."
BOAT = "2025-06-01: The Tern is a wooden boat of 1967."


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder: Path = tmp_path_factory.mktemp("digest")
    with Memory.open(folder / "memory.db", embedder=StaticEmbedder()) as memory:
        for title, day, text in NOTES:
            memory.ingest.remember(text, title=title, source=f"/{title}.md", at=noon(day))
        memory.ingest.remember(TASKS, title="Tasks", source="/Tasks.md")
        path = folder / "own.ics"
        path.write_text(CALENDAR)
        reader = next(reader for reader in READERS if reader.name == "ics")
        memory.ingest.remember_many(documents(reader, path, path.read_bytes(), path.stat()))
        yield memory


def noon(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)


def ask(memory: Memory, question: str) -> Answer:
    *_, answer = memory.questions.ask(question, now=NOW)
    assert isinstance(answer, Answer)
    return answer


def lines(memory: Memory, question: str) -> list[str]:
    return [line.text for line in ask(memory, question).lines]


@pytest.mark.parametrize(
    "question",
    [
        "Summarise March", "Summarize March 2026", "Summarise March 2026", "What happened in March?",
        "Tell me about March", "Give me an overview of March", "What did I do in March?",
        "What did I write in March 2026?", "Was ist im März passiert?", "Fasse März 2026 zusammen",
        "¿Qué pasó en marzo?", "Résume mars 2026", "Wat heb ik in maart gedaan?",
    ],
)  # fmt: skip
def test_a_time_is_described_by_its_notes_and_events_the_newest_last(notes: Memory, question: str) -> None:
    answer = ask(notes, question)
    assert [line.text for line in answer.lines] == [LEASE, TRIP, FLIGHT, HAT, GARDEN]
    assert [Path(one.uri).stem.partition("#")[0] for one in answer.citations] == [
        "Lease", "own", "Flight", "Flight", "Garden",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What happened last week?", [KETTLE, CHOIR, CANCELLED, RUDDER]),
        ("What did I do yesterday?", [RUDDER]),
        ("What happened since 20 November?", [CANCELLED, RUDDER]),
        ("What happened in November?", [KETTLE, CHOIR, CANCELLED, RUDDER]),  # and nothing that is to come
        ("What did I do in Porto?", [TRIP, FLIGHT, HAT, GARDEN]),
        ("Was habe ich in Porto gemacht?", [TRIP, FLIGHT, HAT, GARDEN]),
        ("What did Ida Holm and I do in March?", [LEASE, GARDEN]),
        ("What happened with the Tern in November?", [KETTLE, RUDDER]),
        ("What is new about the Tern?", [BOAT, KETTLE, RUDDER]),
        ("Was ist neu an der Tern?", [BOAT, KETTLE, RUDDER]),
    ],
)
def test_what_is_named_or_new_is_listed_by_day(notes: Memory, question: str, expected: list[str]) -> None:
    found = lines(notes, question)
    assert [line for line in found if line in expected] == expected
    assert all(line in expected or expected == [BOAT, KETTLE, RUDDER] for line in found)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What do I have to do tomorrow?", ["2026-11-24: Order paint", DENTIST]),
        ("What do I need to do this week?", ["2026-11-24: Order paint", DENTIST, DINNER]),
        ("What is in my calendar tomorrow?", [DENTIST]),
        ("What is in my calendar this week?", [DENTIST, DINNER]),
        ("Was steht morgen im Kalender?", [DENTIST]),
        ("What is in my calendar?", [DENTIST, DINNER]),
        ("Was steht in meinem Kalender?", [DENTIST, DINNER]),
    ],
)
def test_days_ahead_have_tasks_and_the_calendar_events_alone(notes: Memory, question: str, expected: list[str]) -> None:
    assert lines(notes, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What did I buy last week?", "Where was I in March?", "Who was in Porto?", "How much did I pay in March?",
        "What did the pump do?",
    ],
)  # fmt: skip
def test_a_question_for_one_thing_gets_no_digest(notes: Memory, question: str) -> None:
    assert not any(line[:4].isdigit() for line in lines(notes, question))


def test_there_are_ten_lines_at_most_and_the_rest_is_counted(fresh: Memory) -> None:
    for day in range(24):
        at = noon("2026-03-01") + timedelta(days=day)
        more = "Met Ida Holm at the Salt House about 1,200 tiles." if day == 20 else "Slept."
        fresh.ingest.remember(f"Read a book all day long. {more}", title=f"{at:%d %B}", source=f"/{day}.md", at=at)
    answer = ask(fresh, "Summarise March")
    assert len(answer.lines) == 11 and len(answer.citations) == 10
    assert answer.text.splitlines()[-1] == "and 14 more notes"
    days = [line.text[:10] for line in answer.lines[:10]]
    assert days == sorted(days) and "2026-03-21" in days, "the most telling of each part of the time"
    assert days[0] <= "2026-03-03" and days[-1] >= "2026-03-23", "all of the time is told of"


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [("Summarise March", "2026-03-01", "2026-03-24"), ("What is new about the Tern?", "2026-03-15", "2026-03-24")],
)
def test_of_very_many_notes_some_are_read_and_all_are_counted(
    fresh: Memory, monkeypatch: pytest.MonkeyPatch, question: str, first: str, last: str
) -> None:
    monkeypatch.setattr(digest, "MAX_PASSAGES", 12)
    monkeypatch.setattr(digest, "MAX_NAMING", 12)
    for day in range(24):
        at = noon("2026-03-01") + timedelta(days=day)
        fresh.ingest.remember(f"Sanded the Tern for the {day}th time.", title="Tern", source=f"/{day}.md", at=at)
    answer = ask(fresh, question)
    assert answer.text.splitlines()[-1] == "and 14 more notes"
    days = [line.text[:10] for line in answer.lines[:10]]
    assert days[0] >= first and days[-1] == last and days == sorted(days)


def test_a_note_is_shown_once_however_often_it_was_copied(fresh: Memory) -> None:
    for folder in ("a", "b"):
        fresh.ingest.remember(
            "Moved the press to the barn.", title="Press", source=f"/{folder}/Press.md", at=noon("2026-03-04")
        )
    fresh.ingest.remember("Read a book all day.", title="Book", source="/Book.md", at=noon("2026-03-05"))
    found = lines(fresh, "Summarise March")
    assert found == ["2026-03-04: Moved the press to the barn.", "2026-03-05: Read a book all day."]


def test_a_line_that_begins_with_its_day_shows_it_once(fresh: Memory) -> None:
    log = "2026-03-04: Moved the press to the barn.\n\n2026-03-05 - Read a book all day.\n"
    fresh.ingest.remember(log, title="2026-03-04", source="/log.md", at=noon("2026-03-04"))
    days = [(line[:10], line.count("2026-03-04")) for line in lines(fresh, "Summarise March") if "press" in line]
    assert days == [("2026-03-04", 1)]


def test_a_chat_is_described_by_the_days_of_its_messages(fresh: Memory) -> None:
    said = (("2026-03-04", "The press is in the barn now."), ("2026-05-09", "The barn is sold to Ida."))
    turns = tuple(Turn("Ida", words, at=noon(day)) for day, words in said)
    fresh.ingest.remember_many([Document("chat:1", turns=turns, kind="chat", title="Ida")])
    assert lines(fresh, "Summarise May") == ["2026-05-09: Ida: The barn is sold to Ida."]


@pytest.fixture
def add_days(desk: Desk) -> Callable[[], None]:
    def add() -> None:
        desk.note("one", "Planted two elms by the gate.", 3)
        desk.note("two", "Sold the old cart to Bruno.", 5)

    return add


def test_a_model_writes_the_digest_from_its_lines(desk: Desk, add_days: Callable[[], None]) -> None:
    add_days()
    desk.ollama.enqueue(
        Says("On 3 May you planted two elms by the gate [1]. On 5 May you sold the old cart to Bruno [2].")
    )
    heard = desk.ask("Summarise May 2024", now=NOW)
    assert heard.answer.model and "two elms" in heard.answer.text
    assert heard.answer.note == ""
    told = prompt(desk.ollama.chats[-1])
    assert "Sum up all of the evidence" in told and "Sold the old cart to Bruno." in told


def test_a_model_sees_ten_lines_and_the_rest_is_counted(desk: Desk) -> None:
    for day in range(1, 13):
        desk.note(f"day {day}", f"Planted elm number {day} by the gate.", day)
    desk.ollama.enqueue(Says("You planted elm number 2 by the gate [1]."))
    heard = desk.ask("Summarise May 2024", now=NOW)
    assert heard.answer.note == "And 2 more notes."
    assert prompt(desk.ollama.chats[-1]).count("by the gate.") == 10
