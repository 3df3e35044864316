"""Answers from facts: what holds, what held, and how it changed, with the sentence that tells it as the quote."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory import Memory
from memory.answering import facts
from memory.facts.extraction import OWNER
from memory.nouns import Answer
from tests.memory.conftest import OpenFilled
from tests.memory.facts.asserting import assert_quoted

NOTES = (
    ("2023-09-04", "The fixed desk costs 120 euros a month at Werkraum."),
    ("2024-03-01", "From 1 April 2024 the fixed desk costs 135 euros a month at Werkraum, until now it was 120."),
    ("2025-10-21", "The fixed desk goes from 135 to 165 euros a month in November."),
)


@pytest.fixture
def desk(open_filled: OpenFilled) -> Memory:
    return open_filled(fill_desk)


def fill_desk(memory: Memory) -> None:
    for at, text in (
        ("2023-01-15", "Lumen's office is in Utrecht."),
        ("2023-01-20", "Ana lives in Utrecht and likes it."),
        ("2023-09-03", "Ana moved to Leipzig with two boxes."),
        ("2024-02-01", "Bo lives in Riga."),
    ):
        memory.ingest.remember(text, source=text, at=datetime.fromisoformat(at).replace(tzinfo=UTC))
    for quote, name, place in (
        ("Ana lives in Utrecht and likes it.", "Ana", "Utrecht"),
        ("Ana moved to Leipzig with two boxes.", "Ana", "Leipzig"),
        ("Bo lives in Riga.", "Bo", "Riga"),
    ):
        assert_quoted(memory, quote, name, "lives in", place)


def answered(memory: Memory, question: str, as_of: str | None = None) -> Answer:
    moment = datetime.fromisoformat(as_of).replace(tzinfo=UTC) if as_of else None
    *_, answer = memory.questions.ask(question, as_of=moment)
    assert isinstance(answer, Answer)
    return answer


def first(answer: Answer) -> str:
    return answer.text.splitlines()[0]


def test_what_holds_now_answers_first(desk: Memory) -> None:
    answer = answered(desk, "Where does Ana live now?")
    assert "Leipzig" in first(answer) and "Utrecht" not in first(answer)
    assert answer.citations[0].quote == "Ana moved to Leipzig with two boxes."
    assert "2023-09-03" in first(answer), "since when is told with it"


def test_what_held_then_answers_a_question_about_then(desk: Memory) -> None:
    assert "Utrecht" in first(answered(desk, "Where does Ana live?", as_of="2023-05-01"))
    assert "Leipzig" not in answered(desk, "Where does Ana live?", as_of="2023-05-01").text


def test_as_of_a_day_nothing_is_shown_that_was_known_later(desk: Memory) -> None:
    for question in ("Where does Ana live?", "Who is Ana?"):
        now, then = (answered(desk, question, as_of=day).text for day in (None, "2023-05-01"))
        assert "2023-09" in now and "2023-09" not in then and "Utrecht" in then


def test_how_it_changed_is_shown_in_order(desk: Memory) -> None:
    answer = answered(desk, "Which places did Ana live in, in order?")
    assert first(answer) == (
        "- Ana lives in: Utrecht (2023-01-20 to 2023-09-03), then Leipzig (as of 2023-09-03) [1] [2]"
    )
    assert [citation.quote for citation in answer.citations[:2]] == [
        "Ana lives in Utrecht and likes it.",
        "Ana moved to Leipzig with two boxes.",
    ]


def test_an_undone_replacement_no_longer_hides_the_old_fact(desk: Memory) -> None:
    (revision,) = desk.knowledge.revisions()
    desk.knowledge.undo(revision.id)
    assert "Utrecht" in answered(desk, "Where does Ana live?").text


def test_where_somebody_else_lives_is_not_where_i_do(fresh: Memory) -> None:
    fresh.ingest.remember(
        "Jana lives in Hamburg with her two cats.", source="jana", at=datetime(2024, 1, 1, tzinfo=UTC)
    )
    fresh.ingest.remember("I live in Leipzig now, in a small flat.", source="me", at=datetime(2023, 1, 1, tzinfo=UTC))
    assert_quoted(fresh, "Jana lives in Hamburg with her two cats.", "Jana", "lives in", "Hamburg")
    assert_quoted(fresh, "I live in Leipzig now, in a small flat.", OWNER, "lives in", "Leipzig")
    assert "Leipzig" in first(answered(fresh, "Where do I live?"))
    assert "Hamburg" in first(answered(fresh, "Where does Jana live?"))


def test_what_another_one_does_is_no_answer(desk: Memory) -> None:
    assert "Riga" in first(answered(desk, "Where does Bo live?"))


def test_a_fact_that_has_only_a_name_in_common_with_the_question_stands_back(
    fresh: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh.ingest.remember("Bo Lind works at Lumen.", source="bo", at=datetime(2025, 1, 1, tzinfo=UTC))
    assert_quoted(fresh, "Bo Lind works at Lumen.", "Bo Lind", "works at", "Lumen")
    fresh.ingest.remember("The blue kite of Bo hangs in the hall.", source="kite", at=datetime(2022, 1, 1, tzinfo=UTC))

    def told(question: str) -> list[str]:
        return answered(fresh, question).text.splitlines()

    kite, job = "Where is the kite of Bo Lind?", "Where does Bo Lind work?"
    monkeypatch.setattr(facts, "NAMED_ONLY", 0.0)
    assert "kite" not in told(kite)[0]  # the fact leads, and is refused
    same = told(job)
    monkeypatch.undo()
    monkeypatch.setattr(facts, "NAMED_ONLY", 20 * facts.NAMED_ONLY)
    assert "kite" in next(line for line in told(kite) if line[:2] == "- ") and told(job) == same


def test_a_statement_that_says_less_of_what_is_asked_does_not_hide_its_line(fresh: Memory) -> None:
    fresh.ingest.remember("tyres: winter on since 24 Oct; summer tyres are at Ahrens, no. 3318", title="The car")
    assert "Ahrens" in answered(fresh, "Where are the summer tyres?").text.split("\n")[0]
    fresh.ingest.remember(
        "* TODO Prune the apple tree\n  DEADLINE: <2027-02-15 Mon>".replace("* ", "# "), title="Garden"
    )
    assert "2027-02-15" in answered(fresh, "When do I have to prune the apple tree?").text.split("\n")[0]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Who is the boss of Nordlicht Verlag?", "Karl Meier (since 2015)"),
        ("Who is the editor of Nordlicht Verlag?", "Sabine Roth (since 2019-03)"),
        ("What is the fax of Nordlicht Verlag?", "0341 12345 (since 2020-01-01)"),
        ("How much is electricity?", "Price: 84 €; Since: 2022-10 (as of 2025-06-05)"),
        ("What is the fee of the tennis club?", "40 € (as of 2025-02)"),
    ],
)
def test_a_fact_is_dated_as_precisely_as_its_note_says(fresh: Memory, question: str, told: str) -> None:
    at = datetime(2025, 6, 5).astimezone()
    fields = "Editor: Sabine Roth since March 2019\nBoss: Karl Meier since 2015\nFax: 0341 12345 from 1 January 2020"
    fresh.ingest.remember(f"# Nordlicht Verlag\n{fields}", source="/verlag.md", title="Nordlicht Verlag", at=at)
    table = "| Contract | Price | Since |\n|---|---|---|\n| Electricity | 84 € | 2022-10 |\n| Water | 20 € | 2021 |"
    fresh.ingest.remember(f"# Contracts\n\n{table}", source="/contracts.md", title="Contracts", at=at)
    month = datetime(2025, 2, 1).astimezone()
    fresh.ingest.remember("# Tennis club\nFee: 40 €", source="/2025-02.md", title="Tennis club", at=month)
    first = answered(fresh, question).text.split(" [1]")[0]
    assert first.endswith(told)


def test_the_course_of_something_is_reported_as_precisely_as_its_notes_say(fresh: Memory) -> None:
    for year, said in ((2020, "Boss: Karl Meier since 2015"), (2022, "Boss: Ana Lund since March 2021")):
        at = datetime(year, 6, 5).astimezone()
        fresh.ingest.remember(f"# Nordlicht Verlag\n{said}", source="/verlag.md", title="Nordlicht Verlag", at=at)
    told = answered(fresh, "How did the boss of Nordlicht Verlag change?").text
    assert "Karl Meier (2015 to 2021-03), then Ana Lund (since 2021-03)" in told
    held = [one for one in fresh.knowledge.facts("Nordlicht Verlag", history=True) if one.kind == "relation"]
    old, new = sorted(held, key=lambda one: one.since)
    assert (old.since, old.until, new.since, new.until) == ("2015", "2021-03", "2021-03", "")


def test_what_is_newer_of_somebody_else_is_no_news(fresh: Memory) -> None:
    table = (
        "# Address book\n\n| Name | Phone |\n|---|---|\n| Hanna Brück | +49 341 998877 |\n| Odo Marsh | 020 7946 0011 |"
    )
    fresh.ingest.remember(table, source="people.md", at=datetime(2026, 5, 2, tzinfo=UTC))
    fresh.ingest.remember("My phone number is 07700 900444.", source="me.md", at=datetime(2026, 11, 20, tzinfo=UTC))
    fresh.ingest.remember(
        "Priya's new phone number is 0117 496 0333.", source="p.md", at=datetime(2026, 11, 21, tzinfo=UTC)
    )
    assert "998877" in first(answered(fresh, "What is Hanna's phone number?"))
    assert "900444" in first(answered(fresh, "What is my phone number?"))
