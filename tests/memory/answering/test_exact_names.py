"""Things that are called nearly the same: other numbers, other codes, other accents, other folders."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from memory import Memory
from memory.nouns import Answer, Document, Turn
from memory.store import check
from plugins.embedders.static import StaticEmbedder


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        yield memory


def ask(memory: Memory, question: str) -> Answer:
    *_, answer = memory.questions.ask(question, now=datetime(2026, 7, 20, 12, tzinfo=UTC))
    assert isinstance(answer, Answer)
    return answer


def read(memory: Memory, location: str, text: str, title: str = "") -> None:
    memory.ingest.remember_many(
        [Document(uri=f"/home/vault/{location}", text=text, title=title or None, kind="file", location=location)]
    )


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("Platform {} is closed until May.", "Until when is platform {} closed?"),
        ("The permit 19/{}/B costs {} euros.", "How much is permit 19/{}/B?"),
        ("Valve v-{} was replaced in the boiler room.", "Where was v-{} replaced?"),
        ("Gleis {} ist bis Mai gesperrt.", "Bis wann ist Gleis {} gesperrt?"),
    ],
)
def test_another_number_is_another_thing(memory: Memory, line: str, question: str) -> None:
    numbers = ("37", "73", "38")
    read(memory, "list.md", "\n\n".join(line.format(one, f"{one}0") for one in numbers))
    for one in numbers:
        text = ask(memory, question.format(one)).text
        assert one in text and not any(other in text for other in numbers if other != one), text


def test_a_sentence_with_another_number_in_the_same_line_is_no_answer(memory: Memory) -> None:
    read(memory, "dogs.md", "At 6:20 the dog eats in kennel 3. At 6:40 the dog eats in kennel 13.")
    text = ask(memory, "When does the dog in kennel 3 eat?").text
    assert "6:20" in text and "6:40" not in text, text


def test_a_line_that_leads_to_the_next_is_no_answer(memory: Memory) -> None:
    read(memory, "devices.yaml", "pump:\n  power: 400 W\nlamp:\n  power: 12 W\n")
    assert "12 W" in ask(memory, "What is the power of the lamp?").lines[0].text


def test_a_row_is_found_by_the_number_in_its_column(memory: Memory) -> None:
    read(memory, "shelf.md", "| Tray | Screws |\n|---|---|\n| 7 | 50 |\n| 50 | 7 |\n")
    assert ask(memory, "How many screws are in tray 7?").text.startswith("- Tray: 7; Screws: 50 [1]")


def test_a_code_is_unknown_without_the_verb_before_it(memory: Memory) -> None:
    read(memory, "shelf.md", "Mara repairs press41.")
    assert "about press77." in ask(memory, "Who repairs press77?").text
    assert not ask(memory, "Who repairs press41?").no_answer


def test_accents_tell_people_apart_but_need_not_be_typed(memory: Memory) -> None:
    read(memory, "a.md", "José Pina plays the viola.")
    assert "viola" in ask(memory, "What does Jose Pina play?").text
    read(memory, "b.md", "Jose Pina plays the harp.")
    assert "harp" in ask(memory, "What does Jose Pina play?").lines[0].text
    assert "viola" in ask(memory, "What does José Pina play?").lines[0].text


def test_a_note_is_found_by_its_folders_and_its_file(memory: Memory) -> None:
    for folder, colour in (("North barn", "red"), ("South barn", "green")):
        read(memory, f"{folder}/Paint.md", f"Colour: {colour}", title="Paint")
    assert "red" in ask(memory, "Which colour has the north barn?").lines[0].text
    assert "green" in ask(memory, "Which colour has the south barn?").lines[0].text
    memory.ingest.move("/home/vault/North barn/Paint.md", "/home/vault/Boat house/Paint.md")
    assert "red" in ask(memory, "Which colour has the boat house?").lines[0].text
    assert not check.check(memory.store).problems


@pytest.mark.parametrize(
    ("notes", "questions"),
    [
        (
            {"North barn/Plan.md": "Cost: 410 euros", "South barn/Plan.md": "Cost: 730 euros"},
            {"What is the cost of the north barn?": "410", "What does the south barn cost?": "730"},
        ),
        (
            {"Mara Voss.md": "# Voss\n\nTelefon: 0161 496 0101", "Nils Voss.md": "# Voss\n\nTelefon: 0161 496 0102"},
            {"Wie ist die Telefonnummer von Mara Voss?": "0101", "Wie ist die Telefonnummer von Nils Voss?": "0102"},
        ),
        (
            {"devices.md": "# Devices\n\n## Pump\n\nPower: 400 W\n\n## Oven\n\nPower: 3 kW"},
            {"What power has the oven?": "3 kW", "What power has the pump?": "400 W"},
        ),
        (
            {"fees.md": "# Fees\n\n## 2025\n\nBerth: 70 euros\n\n## 2026\n\nBerth: 90 euros"},
            {"What was the fee of the berth in 2025?": "70", "What is the fee of the berth in 2026?": "90"},
        ),
        (
            {"fees.md": "# Fees\n\n## 2025\n\n|Boat|Fee|\n|-|-|\n|Ibis|70|\n\n## 2026\n\n|Boat|Fee|\n|-|-|\n|Ibis|90|"},
            {"What was the fee of the Ibis in 2025?": "70", "What is the fee of the Ibis in 2026?": "90"},
        ),
    ],
)
def test_a_field_of_another_note_or_section_is_no_answer(
    memory: Memory, notes: dict[str, str], questions: dict[str, str]
) -> None:
    for month, (location, text) in enumerate(notes.items(), 1):
        at = datetime(2026, month, 1, tzinfo=UTC)
        title = "Voss" if "Voss" in text else None
        uri = f"/home/vault/{location}"
        memory.ingest.remember_many([Document(uri=uri, text=text, title=title, kind="file", location=location, at=at)])
    for question, value in questions.items():
        text = ask(memory, question).text
        assert value in text and not any(other in text for other in set(questions.values()) - {value}), text


def test_a_newer_note_that_names_the_thing_in_its_text_answers(memory: Memory) -> None:
    read(memory, "Barn.md", "Cost: 410 euros")
    at = datetime(2026, 6, 1, tzinfo=UTC)
    memory.ingest.remember_many(
        [Document(uri="/mail.md", text="The barn again.\n\nCost: 730 euros", location="mail.md", at=at)]
    )
    assert "730" in ask(memory, "What does the barn cost?").text


def test_a_number_in_the_name_of_a_file_is_a_number(memory: Memory) -> None:
    for number, sum in ((14, 320), (41, 910)):
        read(memory, f"bills/invoice_{number}.md", f"The sum is {sum} euros.", title="Bill")
    assert "320" in ask(memory, "What is the sum of invoice 14?").lines[0].text
    assert "910" in ask(memory, "What is the sum of invoice 41?").lines[0].text


def test_what_somebody_said_on_a_day(memory: Memory) -> None:
    turns = [
        Turn("Mila", "the nets are dry", datetime(2026, 6, 3, 9, tzinfo=UTC)),
        Turn("Mila", "the nets are torn", datetime(2026, 7, 9, 9, tzinfo=UTC)),
        Turn("Joss", "I mend the sails", datetime(2026, 7, 9, 10, tzinfo=UTC)),
    ]
    memory.ingest.remember_many([Document(uri="/chat.txt", turns=tuple(turns), kind="chat")])
    assert [line.text for line in ask(memory, "What did Mila say on 9 July 2026?").lines] == ["Mila: the nets are torn"]
    assert "torn" in ask(memory, "What did Mila write?").text
    refused = ask(memory, "What did Mila say in May 2026?")
    assert refused.no_answer and "nets" not in refused.text
    refused = ask(memory, "What is on 3 May 2026?")
    assert (refused.no_answer, refused.text) == (True, "No note is about that time.")


def test_all_of_a_time_that_is_named_relatively(memory: Memory) -> None:
    read(memory, "log.md", "Painted the fence.")
    memory.ingest.remember_many(
        [
            Document(uri="/may.md", text="Planted two elms.", at=datetime(2026, 5, 8, tzinfo=UTC)),
            Document(uri="/june.md", text="Sold the cart.", at=datetime(2026, 6, 8, tzinfo=UTC)),
        ]
    )
    assert [line.text for line in ask(memory, "What did I do last month?").lines] == ["2026-06-08: Sold the cart."]


def test_a_value_that_the_owner_rejected_is_no_answer(memory: Memory) -> None:
    for day, name in (("2026-01-02", "Ida Brook"), ("2026-03-02", "Ned Fern")):
        memory.ingest.remember(
            f"# Choir\n\nConductor: {name}", source="/choir.md", title="Choir", at=datetime.fromisoformat(f"{day}T00Z")
        )
    (revision,) = memory.knowledge.revisions()
    memory.knowledge.settle(revision.id, "old")
    lines = ask(memory, "Who is the conductor of the choir?").lines
    assert "Ida Brook" in lines[0].text and not any("Ned Fern" in line.text for line in lines)
