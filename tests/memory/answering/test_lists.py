"""Questions for several things: answered with the entries that they ask for, counted, and none besides."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory import Memory
from memory.answering.entries import read_entries
from memory.nouns import Answer, Episode, Source
from plugins.embedders.static import StaticEmbedder
from plugins.readers import documents
from plugins.readers.registry import READERS

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)  # a Monday
NOTES = {
    "Lentil soup": "# Lentil soup\n\n## Ingredients\n- red lentils\n- 2 carrots\n\n## Method\n1. Fry them.\n2. Simmer.",
    "Bathroom": "# Bathroom\n\n## Tasks\n- [x] Choose tiles ✅ 2026-09-12\n- [ ] Order the tray 📅 2026-11-27\n"
    "- [ ] Sign the contract due:2026-12-01\n- [-] Buy a bidet",
    "Garden": "# Garden\n\n## TODO Prune the pear tree\nSCHEDULED: <2026-11-28 Sat>\n"
    "## DONE Plant garlic\nCLOSED: [2026-10-20 Tue]",
    "Books": "# Books\n\n## Read in 2025\n- Old Harbour\n- The Kiln\n\n## Read in 2026\n"
    "| Title | Finished |\n|---|---|\n"
    "| Salt Roads | 2026-03-19 |\n| Nine Lanterns | 2026-09-08 |\n| A Quiet Ferry | 2026-06-30 |",
    "Contracts": "# Contracts of Ida\n\n| Contract | Provider | Price |\n|---|---|---|\n"
    "| **Power** | [[Nordstrom]] | 84 € |\n| Phone | Lyra | 15 € |",
    "Films": "# Films to see\n\n| Film | Director | On |\n|---|---|---|\n| Solaris | Tarkov | 2026-11-30 |\n"
    "| Ran | Kurosawa | 2027-01-02 |",
    "Kürbissuppe": "# Kürbissuppe\n\nZutaten:\n- 1 kg Kürbis\n- 2 Zwiebeln\n- 200 ml Sahne\n\nAlles kochen.",
    "Umzug": "# Umzug\n\n- [x] Kartons besorgen\n- [ ] Strom ummelden\n- [ ] Schlüssel abgeben",
    "Wedding": "# Wedding\n\nGuests: all of us.\n\nThe hall seats 120 guests.",
    "Birds": "# Birds seen at the lake\n\n" + "\n".join(f"- bird number {n}" for n in range(1, 19)),
}
CALENDAR = """BEGIN:VCALENDAR
BEGIN:VEVENT
UID:1
SUMMARY:Choir rehearsal
DTSTART:20260903T193000
DTEND:20260903T210000
RRULE:FREQ=WEEKLY;BYDAY=TH
LOCATION:St Olave's hall
END:VEVENT
BEGIN:VEVENT
UID:2
SUMMARY:Dentist Dr. Vale
DESCRIPTION:Bring the card.
DTSTART:20261127T093000
END:VEVENT
BEGIN:VEVENT
UID:4
SUMMARY:Christmas at Ida's
DESCRIPTION:Candles: the long white ones
DTSTART;VALUE=DATE:20171224
RRULE:FREQ=YEARLY
END:VEVENT
BEGIN:VEVENT
UID:5
SUMMARY:Geburtstag Oma Rosa
DTSTART;VALUE=DATE:19500203
RRULE:FREQ=YEARLY
END:VEVENT
BEGIN:VEVENT
UID:7
SUMMARY:Tom's birthday
DTSTART;VALUE=DATE:19800203
RRULE:FREQ=YEARLY
END:VEVENT
BEGIN:VEVENT
UID:6
SUMMARY:Friseur Lang
DTSTART:20261202T100000
END:VEVENT
BEGIN:VEVENT
UID:3
SUMMARY:Dentist
DTSTART:20260514T093000
END:VEVENT
END:VCALENDAR
"""
REHEARSAL = "Choir rehearsal, 19:30 to 21:00, St Olave's hall, every week since 2026-09-03"


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("lists")
    calendar = folder / "home.ics"
    calendar.write_text(CALENDAR)
    with Memory.open(folder / "memory.db", embedder=StaticEmbedder()) as memory:
        for title, text in NOTES.items():
            memory.ingest.remember(text, title=title, source=f"/{title}.md", at=datetime(2026, 11, 20, tzinfo=UTC))
        reader = next(reader for reader in READERS if reader.name == "ics")
        memory.ingest.remember_many(documents(reader, calendar, calendar.read_bytes(), calendar.stat()))
        yield memory


def ask(notes: Memory, question: str) -> Answer:
    *_, answer = notes.questions.ask(question, now=NOW)
    assert isinstance(answer, Answer)
    return answer


def lines(notes: Memory, question: str) -> list[str]:
    return [line.text for line in ask(notes, question).lines]


def test_a_list_is_shown_as_it_is_with_a_citation_for_each(notes: Memory) -> None:
    answer = ask(notes, "What are the ingredients of the lentil soup?")
    assert [line.text for line in answer.lines] == ["red lentils", "2 carrots"]
    assert [cited.quote for cited in answer.citations] == ["- red lentils", "- 2 carrots"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What is still open for the bathroom?",
            ["Order the tray (due 2026-11-27)", "Sign the contract (due 2026-12-01)"],
        ),
        ("What is already done in the bathroom?", ["Choose tiles"]),
        ("What is still to do in the garden?", ["Prune the pear tree (due 2026-11-28)"]),
        ("Was ist beim Umzug noch offen?", ["Strom ummelden", "Schlüssel abgeben"]),
    ],
)
def test_tasks_are_listed_by_their_state(notes: Memory, question: str, expected: list[str]) -> None:
    assert lines(notes, question) == expected


def test_open_tasks_of_everything_are_found_where_nothing_is_named(notes: Memory) -> None:
    told = " ".join(lines(notes, "What are my open tasks?"))
    assert all(task in told for task in ("Order the tray", "Prune the pear tree", "Strom ummelden"))
    assert not any(task in told for task in ("Choose tiles", "garlic", "Kartons", "bidet"))


def test_the_list_of_the_year_that_is_asked_of_answers(notes: Memory) -> None:
    told = lines(notes, "Which books did I read in 2026?")
    assert told == ["Salt Roads: 2026-03-19", "Nine Lanterns: 2026-09-08", "A Quiet Ferry: 2026-06-30"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Which contracts do I have?",
            [
                f"Contract: {row}"
                for row in ("Power; Provider: Nordstrom; Price: 84 €", "Phone; Provider: Lyra; Price: 15 €")
            ],
        ),
        ("What happens on 30 November?", ["2026-11-30: Film: Solaris; Director: Tarkov"]),
    ],
)
def test_a_row_is_shown_with_what_stands_over_it(notes: Memory, question: str, expected: list[str]) -> None:
    assert lines(notes, question) == expected


def test_of_more_than_can_be_listed_the_number_of_the_rest_is_reported(fresh: Memory) -> None:
    items = "\n".join(f"- stamp {n}" for n in range(130))
    fresh.ingest.remember(f"# Stamps\n\n{items}", title="Stamps", source="/s.md")
    *_, answer = fresh.questions.ask("Which stamps do I have?")
    assert isinstance(answer, Answer) and answer.lines[-1].text == "stamp 99 (and 30 more)"


def test_a_count_is_counted(notes: Memory) -> None:
    first, *rest = ask(notes, "How many books did I read in 2026?").lines
    assert (first.text, first.value, len(rest)) == ("3 (Read in 2026)", "3", 3)


def test_a_number_that_a_note_says_is_not_counted(notes: Memory) -> None:
    assert "120 guests" in lines(notes, "How many guests does the wedding hall seat?")[0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is on Friday?", ["2026-11-27: Order the tray", "2026-11-27 09:30: Dentist Dr. Vale"]),
        ("Am I free on Friday?", ["2026-11-27: Order the tray", "2026-11-27 09:30: Dentist Dr. Vale"]),
        ("Habe ich am Freitag Zeit?", ["2026-11-27: Order the tray", "2026-11-27 09:30: Dentist Dr. Vale"]),
        ("What is due this week?", ["2026-11-27: Order the tray", "2026-11-28: Prune the pear tree"]),
        ("What is on Thursday?", ["2026-11-26: Choir rehearsal, 19:30 to 21:00, St Olave's hall"]),
        ("What happens on Thursday?", ["2026-11-26: Choir rehearsal, 19:30 to 21:00, St Olave's hall"]),
        ("Was ist am Donnerstag?", ["2026-11-26: Choir rehearsal, 19:30 to 21:00, St Olave's hall"]),
        ("Was mache ich am Donnerstag?", ["2026-11-26: Choir rehearsal, 19:30 to 21:00, St Olave's hall"]),
        ("What is on 24 December 2029?", ["2029-12-24: Christmas at Ida's"]),  # by its rule, years behind its first
        ("Was steht am 20. Dezember 2029 an?", ["2029-12-20: Choir rehearsal, 19:30 to 21:00, St Olave's hall"]),
    ],
)
def test_days_have_what_is_on_them_with_what_comes_again(notes: Memory, question: str, expected: list[str]) -> None:
    assert lines(notes, question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When is the next choir rehearsal?", f"2026-11-26: {REHEARSAL}"),
        ("When is the rehearsal of the choir?", f"2026-11-26: {REHEARSAL}"),
        ("When is the next dentist appointment?", "2026-11-27 09:30: Dentist Dr. Vale"),
        ("When is my dentist appointment?", "2026-11-27 09:30: Dentist Dr. Vale"),
        ("When is Christmas at Ida's?", "2026-12-24: Christmas at Ida's, every year since 2017"),
        ("Wann hat Oma Rosa Geburtstag?", "2027-02-03: Geburtstag Oma Rosa, every year since 1950"),
    ],
)
def test_the_next_time_answers_with_how_often_it_comes(notes: Memory, question: str, expected: str) -> None:
    answer = ask(notes, question)
    assert ([line.text for line in answer.lines], answer.lines[0].value) == ([expected], expected[:10])


def test_what_was_is_not_answered_with_what_comes(notes: Memory) -> None:
    assert "2026-05-14" in "".join(lines(notes, "When was I at the dentist?"))


def test_what_everybody_has_is_not_answered_with_an_event_of_somebody(notes: Memory) -> None:
    assert ask(notes, "When is my birthday?").no_answer


def test_what_a_recurring_event_says_is_not_as_old_as_its_first_day(notes: Memory) -> None:
    answer = ask(notes, "Which candles does Christmas at Ida's need?")
    assert "every year since 2017" in answer.text or "2017" not in answer.text
    assert all(cited.at is None or cited.at.year == 2026 for cited in answer.citations)


def test_of_a_long_list_the_rest_is_folded(notes: Memory) -> None:
    answer = ask(notes, "Which birds were seen at the lake?")
    assert [line.kind for line in answer.lines] == ["answer"] * 12 + ["folded"] * 6
    assert answer.lines[-1].text == "bird number 18"


def test_a_list_that_goes_on_in_the_next_passage_is_whole(notes: Memory, tmp_path: Path) -> None:
    items = "\n".join(f"- mineral {n}, found near the old quarry behind the mill on a rainy day" for n in range(60))
    with Memory.open(tmp_path / "memory.db", embedder=StaticEmbedder()) as memory:
        memory.ingest.remember(f"# Minerals\n\n{items}", title="Minerals", source="/m.md")
        *_, answer = memory.questions.ask("How many minerals do I have?")
        assert isinstance(answer, Answer) and answer.lines[0].value == "60"


def test_what_is_listed_is_not_counted_for_something_else(fresh: Memory) -> None:
    fresh.ingest.remember("From Judith, serves 4.\n\n- 250 g lentils\n- 2 onions\n- salt", title="Lentil soup")
    *_, answer = fresh.questions.ask("How many people does the lentil soup serve?")
    assert isinstance(answer, Answer)
    assert answer.lines[0].text == "From Judith, serves 4."


def test_the_due_date_of_a_task_is_reported_and_not_when_it_was_written(fresh: Memory) -> None:
    fresh.ingest.remember("(A) 2026-11-18 Pay the school deposit due:2026-11-30 @bank\n(B) Call the vet", title="tasks")
    told = lines(fresh, "What are my open tasks?")
    assert told == ["Pay the school deposit (due 2026-11-30)", "Call the vet"]


@pytest.mark.parametrize(
    ("task", "days", "shown"),
    [
        ("🛫 2026-11-20 ⏳ 2026-11-25 📅 2026-11-27", ["2026-11-25", "2026-11-27"], "Mow (due 2026-11-27)"),
        ("#task ⏫ 📅 2026-11-27", ["2026-11-27"], "Mow (due 2026-11-27)"),
        ("⏫ 🔁 every week 📅 2026-11-27", ["2026-11-27"], "Mow (due 2026-11-27, repeats every week)"),
        ("🛫 2026-11-20 ➕ 2026-11-01", [], "Mow"),
        ("[start:: 2026-11-20] [due:: 2026-11-27] [created:: 2026-11-01]", ["2026-11-27"], "Mow (due 2026-11-27)"),
        ("[due:: next week]", [], "Mow (due next week)"),
    ],
)
def test_a_task_is_on_the_days_on_which_it_is_planned_and_due(task: str, days: list[str], shown: str) -> None:
    text = f"- [ ] Mow {task}"
    (entry,) = read_entries(Episode(1, Source(1, "a.md", "file", "a", "markdown"), 0, "a", text))
    assert [day.isoformat() for day in entry.days()] == days and entry.show() == shown
    assert (entry.due is None) == ("📅" not in task and "due:: 2026" not in task)


def test_a_task_is_due_on_its_deadline_and_not_when_it_is_scheduled(fresh: Memory) -> None:
    day = datetime.now().date() + timedelta(days=9)
    plan = f"SCHEDULED: <{day - timedelta(days=3)}>\nDEADLINE: <{day}>"
    fresh.ingest.remember(f"# TODO Oil the winch\n{plan}\n", title="Boat")
    *_, answer = fresh.questions.ask("When is the winch due?")
    assert isinstance(answer, Answer) and answer.text.startswith(f"- {day}: Oil the winch")
