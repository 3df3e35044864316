"""What a person finds who comes back, from a real memory."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from daemon import wire
from daemon.api.facts import digest, list_plans, suggest
from daemon.api.services import Cache
from daemon.client.client import Client, DaemonError
from memory import Memory
from memory.nouns import Document
from memory.views import PlannedEntry
from plugins import manager
from plugins.readers import documents
from plugins.readers.registry import READERS

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
DAY = date(2026, 11, 23)
TASKS = (
    "# Bathroom\n\n- [ ] Order the tray 📅 2026-11-27\n- [ ] Pay the plumber 📅 2026-11-20\n"
    "- [x] Choose tiles 📅 2026-11-24\n- [ ] Paint 📅 2027-03-01\n- [ ] Old debt 📅 2026-01-01"
)
REHEARSAL = """BEGIN:VCALENDAR
BEGIN:VEVENT
UID:1
SUMMARY:Choir rehearsal
DTSTART:20260903T193000
DTEND:20260903T210000
RRULE:FREQ=WEEKLY;BYDAY=TH
LOCATION:St Olave's hall
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", embedder=manager.load().embedder("static")) as memory:
        yield memory


def tell(memory: Memory, name: str, text: str, day: str = "2026-05-01") -> None:
    at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    memory.ingest.remember_many([Document(f"{name}.md", text, kind="file", title=name, at=at)])


def told(planned: list[PlannedEntry]) -> list[tuple[str, str, str, bool]]:
    return [(one.day, one.time, one.text, one.due) for one in planned]


def test_what_is_due_and_planned_stands_in_order(memory: Memory, tmp_path: Path) -> None:
    tell(memory, "Bathroom", TASKS)
    reader = next(reader for reader in READERS if reader.name == "ics")
    (calendar := tmp_path / "choir.ics").write_text(REHEARSAL)
    memory.ingest.remember_many(documents(reader, calendar, calendar.read_bytes(), calendar.stat()))
    planned = memory.knowledge.list_planned(DAY, 7)
    assert [(day, text.partition(",")[0], due) for day, _, text, due in told(planned)] == [
        ("2026-01-01", "Old debt", True),
        ("2026-11-20", "Pay the plumber", True),
        ("2026-11-26", "Choir rehearsal", False),
        ("2026-11-27", "Order the tray", True),
    ]
    assert planned[2].time == "19:30 to 21:00" and planned[3].line == 3
    later = told(memory.knowledge.list_planned(date(2027, 6, 1), 7))
    assert [text for _, _, text, due in later if not due] == ["Choir rehearsal, St Olave's hall"]
    assert [text for _, _, text, due in later if due] == ["Old debt", "Pay the plumber", "Order the tray", "Paint"]


def test_a_plan_does_not_repeat_the_day_and_the_time_that_its_line_begins_with(memory: Memory) -> None:
    tell(memory, "Plans", "# Plans\n\n- 2026-11-26 19:00 concert in Halifax\n")
    assert told(memory.knowledge.list_planned(DAY, 7)) == [("2026-11-26", "19:00", "concert in Halifax", False)]


def test_what_is_new_is_counted_from_the_last_time(memory: Memory) -> None:
    tell(memory, "Marta", "---\nphone: 0161 496 01\n---\n# Marta\n\nPhone: 0161 496 01", "2024-05-01")
    first = datetime.now(UTC)
    home = digest(memory, (), LONG_AGO)
    assert (home.read_total, [one.title for one in home.read], home.changed_total) == (1, ["Marta"], 0)
    assert digest(memory, (), None).read == () and digest(memory, (), first).read_total == 0
    tell(memory, "Marta", "# Marta\n\nPhone: 0161 496 99", "2026-05-01")
    tell(memory, "Boat", "The hull is green.")
    home = digest(memory, (), first)
    assert {one.title for one in home.read} == {"Marta", "Boat"} and home.read_total == 2
    assert home.changed_total >= 1 and "99" in home.changed[0].new.text and "01" in home.changed[0].old.text
    assert home.review_total == memory.knowledge.count_open_revisions()
    memory.forgetting.forget(source="Boat.md")
    assert [one.title for one in digest(memory, (), first).read] == ["Marta"]


def test_plans_are_looked_up_again_when_something_was_written(memory: Memory) -> None:
    cache, today = Cache(memory), date.today()
    assert not list_plans(memory, cache, today)
    assert list_plans(memory, cache, today) is list_plans(memory, cache, today)
    tomorrow = date.today() + timedelta(days=1)
    tell(memory, "Tasks", f"# Tasks\n\n- [ ] Call Ida 📅 {tomorrow}\n- [ ] Something else")
    (planned,) = list_plans(memory, cache, today)
    assert (planned.text, planned.day, planned.due) == ("Call Ida", str(tomorrow), True)


def test_every_question_that_is_proposed_has_one_line_as_its_answer_and_leaves_no_trace(memory: Memory) -> None:
    assert suggest(memory) == wire.SuggestionsReply()
    tell(memory, "Marta", "# Marta Reis\n\nPhone: 0161 496 01\nBirthday: 1980-02-03", "2024-05-01")
    tell(memory, "Bathroom", TASKS)
    tell(memory, "Ozzie", "# Ozzie Penhale\n\nPhone: none, and proud of it\nEmail: ozzie@boats.example", "2024-05-01")
    tell(memory, "Ana", "# Ana Ruiz\n\nPhone: 0161 496 02\n\nPhone: 0161 496 03", "2024-05-01")
    tell(memory, "Mill", "Marta Reis repaired the mill with Ida Holm. Ida Holm paid for it.")
    memory.ingest.remember("address: Leeds", source="note:me/address", title="About me")
    suggested = suggest(memory)
    assert "About me" not in [one.title for one in suggested.notes]
    proposed = suggested.questions
    assert [one.title for one in suggested.notes][:1] == ["Mill"] and "Marta" in suggested.names
    assert sorted(proposed) == [
        "What is Marta's phone?", "What is Ozzie's email?", "When is Marta's birthday?",
    ]  # fmt: skip
    for question in proposed:
        answer = memory.questions.answer_unkept(question)
        assert [line.kind for line in answer.lines].count("answer") == 1 and not answer.no_answer
    assert memory.questions.count_traces() == 0


def read(memory: Memory, path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    reader = next(reader for reader in READERS if path.suffix in reader.suffixes)
    memory.ingest.remember_many(documents(reader, path, path.read_bytes(), path.stat()))


def test_only_things_that_notes_are_about_are_proposed(memory: Memory, tmp_path: Path) -> None:
    piano = "---\ntags: [music]\ntimezone: Europe/Berlin\n---\n# Piano\n\n- Practice move's is: scales\n- From: Jo"
    read(memory, tmp_path / "Piano.md", piano)
    read(memory, tmp_path / "Bosun.md", "---\nborn: 2019-04-01\n---\n# Bosun\n\nBosun, the goat, knows [[Ida Holm]].\n")
    read(memory, tmp_path / "9 May 2026.md", "# 9 May 2026\n\nMet Karl Henning in Leeds; Phone: 0161 496 03.\n")
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:Jonas Berg\nTEL;TYPE=CELL:+44 7700 900142\nEND:VCARD\n"
    read(memory, tmp_path / "jonas.vcf", card)
    read(memory, tmp_path / "choir.ics", REHEARSAL.replace("DTSTART:", "DTSTART;TZID=Europe/Berlin:"))
    read(memory, tmp_path / "Crew.md", "# Crew\n\n## Ida Holm\n\nEmail: ida@vell.example\n\nIda Holm sings.\n")
    names = suggest(memory).names
    assert {"Piano", "Bosun", "Jonas Berg", "Ida Holm"} <= set(names)
    assert not {"Europe", "Phone", "music", "tags", "Karl Henning"} & set(names)
    assert sorted(memory.questions.suggest([], 20)) == ["What is Jonas Berg's phone?", "When is Bosun's birthday?"]


def test_the_daemon_tells_it(client: Client) -> None:
    client.remember("The lighthouse at Cabo Mondego was painted white by Henrique Dias in June.", title="Lighthouse")
    home = client.home(LONG_AGO)
    assert home.since == LONG_AGO and "Lighthouse" in [one.title for one in home.read]
    assert client.home().since is None and client.home().read_total == 0
    assert all(client.suggestions().questions), "an answer stands behind each"


def test_a_day_has_its_own(client: Client) -> None:
    assert client.home(LONG_AGO, "2001-01-01").day == "2001-01-01"
    assert client.home(LONG_AGO, "2001-01-01").read_total == 0
    with pytest.raises(DaemonError, match="day is no day: 'soonish'"):
        client.home(LONG_AGO, "soonish")
