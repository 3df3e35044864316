"""Answers in the shape of their question, without a model."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory import Memory
from memory.answering.briefing import MAX_BRIEFING_LINES
from memory.answering.candidates import AnswerCandidate, Sentence
from memory.answering.selection import add_date
from memory.nouns import Answer, Episode, Source
from plugins import manager
from plugins.readers import documents
from tests.memory.conftest import OpenFilled
from tests.memory.facts.asserting import assert_quoted

NOTES = (
    ("2023-01-09", "Team", "Standup 9:30, 15 minutes, cameras optional. We are in the small room."),
    ("2023-09-11", "Retro", "Standup moves to 10:00 starting tomorrow. The cake was eaten."),
    ("2024-05-06", "Status", "The standup is async from now on, in the channel #ship. Nobody complained."),
    ("2025-01-21", "Postmortem", "The standup is a live call again, 9:45. It was the certificate."),
    ("2023-02-01", "Ana", "Ana Silva lives in Utrecht. She repairs violins."),
    ("2024-03-02", "Move", "Ana Silva moved to Leipzig. Ana Silva works at Lumen."),
    ("2024-06-01", "Lake", "Ana Silva swam across the Cospudener See in 54 minutes."),
    ("2024-08-01", "Bo", "Bo Lind lives in Riga. Bo is a baker."),
    ("2024-09-01", "Books", "I read the novel Solaris by Stanislaw Lem on the train."),
    ("2024-10-01", "Books again", "I read the novel Dune on the sofa, all of it."),
    ("2024-11-01", "More", "I read the novel Emma in bed with a cold."),
    ("2025-10-02", "Good news", "It is done: Cleo is tech lead as of yesterday."),
    ("2025-10-05", "Umzug", "Greta Holm wohnt jetzt in Kiel und arbeitet bei der Werft."),
)


@pytest.fixture
def life(open_filled: OpenFilled) -> Memory:
    return open_filled(fill_life)


def fill_life(memory: Memory) -> None:
    for day, title, text in NOTES:
        memory.ingest.remember(
            text, title=title, source=f"/{title}.md", at=datetime.fromisoformat(day).replace(tzinfo=UTC)
        )
    for quote, name, predicate, value in (
        ("Standup moves to 10:00 starting tomorrow.", "Retro", "standup", "10:00"),
        ("Ana Silva lives in Utrecht.", "Ana Silva", "lives in", "Utrecht"),
        ("Ana Silva moved to Leipzig.", "Ana Silva", "lives in", "Leipzig"),
        ("Ana Silva works at Lumen.", "Ana Silva", "works at", "Lumen"),
        ("Bo Lind lives in Riga.", "Bo Lind", "lives in", "Riga"),
    ):
        assert_quoted(memory, quote, name, predicate, value)


def answered(memory: Memory, question: str) -> Answer:
    *_, answer = memory.questions.ask(question)
    assert isinstance(answer, Answer)
    lines = [line for line in answer.text.splitlines() if line.startswith("- ")]
    assert all(f"[{citation.n}]" in answer.text for citation in answer.citations)
    assert answer.no_answer or len(answer.citations) >= len(lines) > 0
    return answer


def lines(memory: Memory, question: str) -> list[str]:
    return answered(memory, question).text.splitlines()


def test_when_it_changed_says_when_a_sentence_was_written(life: Memory) -> None:
    (line,) = [one for one in lines(life, "When did I read Emma?") if "Emma" in one]
    assert "(written 2024-11-01)" in line
    (line,) = [one for one in lines(life, "Where did I read Emma?") if "Emma" in one]
    assert "written" not in line, "other questions show the sentence alone"


def test_a_fact_shows_the_day_that_its_sentence_names_and_it_does_not() -> None:
    quote = "Invoices dated on or after 1 October 2024 are paid within 45 days."
    at = datetime(2024, 9, 16, tzinfo=UTC)
    episode = Episode(1, Source(1, "/a.eml", "file", "Terms", "mail"), 0, "Terms", quote, at)
    told = AnswerCandidate(Sentence(episode, 1), 0, quote, "Fenix, term: 45 days (as of 2024-09-16)", is_statement=True)
    assert add_date(told).shown == f'Fenix, term: 45 days (as of 2024-09-16): "{quote}"'
    known = replace(told, shown="Fenix, term: 45 days (since 2024-10-01)")
    assert add_date(known) == known


def test_what_was_before_stands_behind_what_changed(life: Memory) -> None:
    first, second, *_ = lines(life, "When did Ana Silva move?")
    assert first == "- Ana Silva moved to Leipzig (as of 2024-03-02) [1]"
    assert second == "- earlier: Ana Silva lives in Utrecht. She repairs violins. (written 2023-02-01) [2]"


def test_what_is_counted_is_shown_and_no_number_is_made_up(life: Memory) -> None:
    text = answered(life, "How many novels did I read?").text
    assert all(title in text for title in ("Solaris", "Dune", "Emma"))
    assert "three" not in text and " 3 " not in text


def test_a_comparison_begins_with_a_line_of_each_side(life: Memory) -> None:
    first, second, *_ = lines(life, "Which of Ana Silva and Bo Lind lives in Riga?")
    assert {"Ana" in first or "Ana" in second, "Bo" in first or "Bo" in second} == {True}
    assert ("Ana" in first) != ("Ana" in second)


def test_two_questions_are_answered_from_the_passages_of_both(life: Memory) -> None:
    text = answered(life, "Where does Bo Lind live and when did Ana Silva move?").text
    assert "Riga" in text and "Leipzig" in text


def test_a_briefing_tells_what_holds_and_what_was_before(life: Memory) -> None:
    answer = answered(life, "What do I know about Ana Silva?")
    assert "Ana Silva lives in Leipzig (as of 2024-03-02, before that: Utrecht) [" in answer.text
    assert "Ana Silva works at Lumen" in answer.text and "54 minutes. (2024-06-01)" in answer.text
    assert "Riga" not in answer.text and "standup" not in answer.text.lower()
    assert len(answer.text.splitlines()) <= MAX_BRIEFING_LINES
    assert len({(one.episode_id, one.quote) for one in answer.citations}) >= 3


def test_a_short_name_means_the_only_one_who_has_it(life: Memory) -> None:
    assert "Ana Silva works at Lumen" in answered(life, "Ana?").text
    life.ingest.remember("Ana Duarte lives in Lyon.", source="/other.md", at=datetime(2024, 1, 1, tzinfo=UTC))
    assert_quoted(life, "Ana Duarte lives in Lyon.", "Ana Duarte", "lives in", "Lyon")
    text = answered(life, "Ana?").text
    assert "before that" not in text, "which of the two is meant is not known"


def test_a_briefing_as_of_then_knows_nothing_later(life: Memory) -> None:
    *_, answer = life.questions.ask("Who is Ana Silva?", as_of=datetime(2023, 6, 1, tzinfo=UTC))
    assert isinstance(answer, Answer)
    assert "Utrecht" in answer.text and "Leipzig" not in answer.text and "before" not in answer.text


def test_a_briefing_in_german(life: Memory) -> None:
    assert "Kiel" in answered(life, "Was weiß ich über Greta Holm?").text


@pytest.mark.parametrize("question", ["Who is Ana Duarte?", "What do I know about Zenobia?", "Zenobia?"])
def test_nothing_is_said_of_somebody_who_is_not_known(life: Memory, question: str) -> None:
    answer = answered(life, question)
    assert answer.no_answer and not answer.citations


@pytest.mark.parametrize("question", ["Who is Ana?", "How has it changed?", "Which books did I read?", "Ana or Bo?"])
def test_an_empty_memory_says_so(fresh: Memory, question: str) -> None:
    assert answered(fresh, question).no_answer


def test_a_briefing_without_any_facts_has_the_note_of_it_first(fresh: Memory) -> None:
    notes = Path(__file__).parents[3] / "examples" / "notes"
    plugins = manager.load()
    for file in sorted(path for path in notes.rglob("*") if path.is_file()):
        reader = plugins.reader_for(file, file.stat().st_size)
        fresh.ingest.remember_many(documents(reader, file, file.read_bytes(), file.stat()))
    told = lines(fresh, "What do I know about Beatrice?")
    assert "second-order Fresnel lens" in told[0]
    assert any("£11,200" in line for line in told) and any("Ferelith" in line for line in told)
    assert not any(line.startswith("- tags") for line in told)


LISTS = (
    (
        "Books I read",
        "- 2024-03-02: Nine Doors\n- 2025-06-28: The Glass Map by Mirela Costin\n- 2025-12-11: Winter Orchard",
    ),
    ("Zoe Larsen", "Boss since July. Allergic to peanuts. Plays chess on Thursdays."),
    ("2 May", "Swam at the Marsh Pool with Zoe."),
    ("9 May", "Swam at the Marsh Pool alone, 40 lengths."),
    ("Magpie", "The old engine.\n\nKnown bugs:\n- rounding of credit notes\n- reminders twice\n- leap days"),
    ("Packing list", "- passport\n- charger\n- rain jacket\n- aspirin"),
)


@pytest.fixture
def lists(open_filled: OpenFilled) -> Memory:
    return open_filled(fill_lists)


def fill_lists(memory: Memory) -> None:
    for day, (title, text) in enumerate(LISTS, 1):
        at = datetime(2026, 5, day, tzinfo=UTC)
        memory.ingest.remember(f"# {title}\n{text}", title=title, source=f"/{day}.md", at=at)


def test_a_list_that_stands_in_a_note_is_shown_whole_and_in_its_order(lists: Memory) -> None:
    assert lines(lists, "Which books did I read?") == [
        "- 2024-03-02: Nine Doors [1]",
        "- 2025-06-28: The Glass Map by Mirela Costin [2]",
        "- 2025-12-11: Winter Orchard [3]",
    ]


def test_of_a_list_only_the_items_of_the_time_that_is_asked_of(lists: Memory) -> None:
    told = "\n".join(lines(lists, "How many books did I read in 2025?"))
    assert "Glass Map" in told and "Winter Orchard" in told and "Nine Doors" not in told


def test_of_a_list_only_the_items_that_hold_what_is_asked(lists: Memory) -> None:
    told = lines(lists, "Which books by Mirela Costin did I read?")
    assert "Glass Map" in told[0] and "Nine Doors" not in told[0]


def test_a_line_or_a_heading_above_a_list_is_answered_with_all_that_stands_below(lists: Memory) -> None:
    bugs = ["- rounding of credit notes [1]", "- reminders twice [2]", "- leap days [3]"]
    assert lines(lists, "What are the known bugs of Magpie?") == bugs
    things = ["- passport [1]", "- charger [2]", "- rain jacket [3]", "- aspirin [4]"]
    assert lines(lists, "What is on the packing list?") == things


def test_how_often_shows_the_day_of_each_time(lists: Memory) -> None:
    told = lines(lists, "How often did I swim at the Marsh Pool?")
    assert sorted(line[-23:-5] for line in told[:2]) == ["written 2026-05-03", "written 2026-05-04"]


def test_a_day_that_a_sentence_names_is_not_shown_twice() -> None:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    episode = Episode(1, Source(1, "/a.md", "note", "a", "text"), 0, "a", "words", at)
    said = "Switched to Debian on 22 January 2026."
    line = AnswerCandidate(Sentence(episode, 1), 0, said, said)
    assert add_date(line).shown == said
    assert add_date(replace(line, quote="Switched.", shown="Switched.")).shown == "Switched. (written 2026-05-01)"


def test_a_first_name_brings_the_note_of_who_has_it(lists: Memory) -> None:
    told = answered(lists, "What do I know about Zoe?").text
    assert "Allergic to peanuts." in told and "Marsh Pool with Zoe" in told
