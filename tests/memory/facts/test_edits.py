"""Notes that are edited in place: what they said before is history, and answers as of a day before the edit."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.nouns import Answer, Fact
from memory.protocols import Embedder
from plugins import manager, readers
from tests.examples import examples

FRONTMATTER = "---\ndate: 2026-01-05\n---\n"
FORMS = {
    "field": "# Car\n\nInsurer: {}\n",
    "list item": "# Car\n\n- Plate: AB 123\n- Insurer: {}\n- Colour: red\n",
    "table": "# Garage\n\n| thing | insurer |\n| --- | --- |\n| Car | {} |\n| Van | Helvia |\n",
}
QUESTION = "Which insurer does the car have?"


@pytest.fixture
def memory(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        yield memory
        assert memory.maintenance.check().problems == ()
    assert not [*tmp_path.glob(".past-*")], "a copy outlives its memory"


def write(memory: Memory, path: Path, text: str) -> datetime:
    """Reads a file as the daemon does; a moment after it was read."""
    path.write_text(text)
    os.utime(path, ns=(time.time_ns(),) * 2)  # a file system's own clock may be some milliseconds late
    reader = manager.load().reader_for(path, path.stat().st_size)
    memory.ingest.remember_many(readers.documents(reader, path, path.read_bytes(), path.stat()))
    return moment()


def moment() -> datetime:
    """A time between what was done before and what is done next: times are kept in milliseconds."""
    time.sleep(0.002)
    now = datetime.now(UTC)
    time.sleep(0.002)
    return now


def ask(memory: Memory, question: str = QUESTION, as_of: datetime | None = None) -> str:
    """What the answer says, without what stood there before an edit."""
    *_, answer = memory.questions.ask(question, as_of=as_of)
    assert isinstance(answer, Answer)
    return "\n".join(line for line in answer.text.splitlines() if not line.startswith("- earlier: "))


def insurers(memory: Memory, as_of: datetime | None = None) -> list[str]:
    return [fact.objects[1] for fact in memory.knowledge.facts("Car", as_of) if is_insurer(fact)]


def is_insurer(fact: Fact) -> bool:
    return fact.kind == "relation" and fact.predicate == "insurer"


def test_a_row_with_a_fact_is_shown_as_any_row(memory: Memory, tmp_path: Path) -> None:
    rows = "| Internet | Telko | 39 € | 2021 |\n| Electricity | Volta | 84 € | 2022-10 |\n"
    table = f"# Contracts\n\n| Contract | Provider | Price | Since |\n|---|---|---|---|\n{rows}"
    write(memory, tmp_path / "contracts.md", table)
    said = ask(memory, "How much do we pay for electricity?")
    assert "Contract: Electricity; Provider: Volta; Price: 84 €; Since: 2022-10" in said and "|" not in said, said


@pytest.mark.parametrize("frontmatter", [FRONTMATTER, ""])
@pytest.mark.parametrize("form", FORMS)
def test_a_value_that_is_edited_in_place_ends_when_the_edit_is_seen(
    memory: Memory, tmp_path: Path, form: str, frontmatter: str
) -> None:
    path = tmp_path / "car.md"
    before = write(memory, path, frontmatter + FORMS[form].format("Nordlicht"))
    write(memory, path, frontmatter + FORMS[form].format("Alpina"))
    assert insurers(memory) == ["Alpina"]
    assert insurers(memory, before) == ["Nordlicht"], memory.knowledge.facts("Car", history=True)
    (revision,) = memory.knowledge.revisions()
    assert (revision.old.objects[1], revision.new.objects[1]) == ("Nordlicht", "Alpina")
    assert revision.old.valid_to == revision.new.valid_from and revision.new.valid_from > before
    assert "Alpina" in ask(memory).splitlines()[0]
    then = ask(memory, as_of=before)
    assert "Nordlicht" in then.splitlines()[0] and "Alpina" not in then


def test_a_property_that_is_edited_replaces_its_value_in_that_note_alone(memory: Memory, tmp_path: Path) -> None:
    note, copy = tmp_path / "Ozzie Penhale.md", tmp_path / "backup" / "Ozzie Penhale.md"
    copy.parent.mkdir()
    contacts = (
        "# Contacts\n\n| who | phone |\n| --- | --- |\n| Ozzie Penhale | none, and proud of it |\n| Mara | 17 |\n"
    )
    write(memory, tmp_path / "contacts.md", contacts)
    values = ("none, and proud of it", "01326 555 014")
    before, after = (f"---\nphone: {value}\n---\n# Ozzie Penhale\n\nHe builds boats.\n" for value in values)
    write(memory, note, before)
    write(memory, copy, before)

    def phones() -> list[str]:
        return [fact.objects[1] for fact in memory.knowledge.facts("Ozzie Penhale") if fact.predicate == "phone"]

    write(memory, note, after)
    (revision,) = memory.knowledge.revisions()
    assert (revision.old.objects[1], revision.new.objects[1]) == values
    assert sorted(phones()) == [values[1], values[0], values[0]], "the copy and the table still say the old one"
    write(memory, copy, after)
    assert sorted(phones()) == [values[1], values[1], values[0]]


def test_what_changed_tells_what_a_note_said_until_it_was_edited(memory: Memory, tmp_path: Path) -> None:
    for value in ("none, and proud of it", "01326 555 014"):
        write(memory, tmp_path / "Ozzie Penhale.md", f"---\nphone: {value}\n---\n# Ozzie Penhale\n\nHe builds boats.\n")
    *_, answer = memory.questions.ask("What changed about Ozzie Penhale?")
    assert isinstance(answer, Answer)
    assert (
        answer.text.startswith("- Ozzie Penhale, phone: none, and proud of it (")
        and ", then 01326 555 014" in answer.text
    )
    told = [("phone: 01326 555 014", False), ("phone: none, and proud of it", True)]
    assert [(one.quote, one.earlier) for one in answer.citations] == told
    *_, answer = memory.questions.ask("What is the phone number of Ozzie Penhale?")
    assert isinstance(answer, Answer)
    assert "phone: 01326 555 014" in answer.text.splitlines()[0]
    assert answer.text.splitlines()[1].startswith("- earlier: Ozzie Penhale, phone: none, and proud of it (until ")


def test_prose_that_is_edited_answers_as_of_a_day_before(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "trip.md"
    before = write(memory, path, FRONTMATTER + "We meet Ilse at the north gate of the zoo.\n")
    write(memory, path, FRONTMATTER + "We meet Ilse at the tram stop behind the zoo.\n")
    question = "Where do we meet Ilse?"
    assert "tram stop" in ask(memory, question) and "north gate" not in ask(memory, question)
    assert "north gate" in ask(memory, question, before) and "tram stop" not in ask(memory, question, before)


def test_undo_shows_no_value_that_no_note_says_but_the_owners_word_does(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "car.md"
    write(memory, path, FRONTMATTER + FORMS["field"].format("Nordlicht"))
    write(memory, path, FRONTMATTER + FORMS["field"].format("Alpina"))
    (revision,) = memory.knowledge.revisions()
    memory.knowledge.undo(revision.id)
    assert insurers(memory) == ["Alpina"] and "Nordlicht" not in ask(memory), "the note no longer says so"
    memory.knowledge.settle(revision.id, "both")
    assert set(insurers(memory)) == {"Nordlicht", "Alpina"}
    assert "Nordlicht" in ask(memory)
    memory.knowledge.undo(revision.id)
    assert insurers(memory) == ["Alpina"] and "Nordlicht" not in ask(memory)
    memory.knowledge.settle(revision.id, "keep")
    assert insurers(memory) == ["Alpina"]
    assert "Nordlicht" not in ask(memory).splitlines()[0]
    memory.knowledge.settle(revision.id, "old")
    assert insurers(memory) == ["Nordlicht"]
    write(memory, path, FRONTMATTER + FORMS["field"].format("Alpina") + "\nIt needs new tyres.\n")
    assert "Nordlicht" in insurers(memory), "another edit does not take back what a person said"


def test_a_note_that_goes_and_comes_back_says_what_it_said(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "car.md"
    write(memory, path, FRONTMATTER + FORMS["field"].format("Nordlicht"))
    memory.ingest.retire(path.as_posix())
    assert insurers(memory) == []
    write(memory, path, FRONTMATTER + FORMS["field"].format("Nordlicht"))
    (fact,) = [fact for fact in memory.knowledge.facts("Car") if is_insurer(fact)]
    assert fact.valid_from is not None and fact.valid_from.date().isoformat() == "2026-01-05", "it is no news"


def test_a_note_that_was_deleted_answers_as_of_a_day_before(memory: Memory, tmp_path: Path) -> None:
    path, other = tmp_path / "car.md", tmp_path / "trip.md"
    write(memory, other, "We meet Ilse at the north gate of the zoo.\n")
    before = write(memory, path, FRONTMATTER + FORMS["field"].format("Nordlicht"))
    memory.ingest.retire(path.as_posix())
    after = moment()
    assert "Nordlicht" in ask(memory, as_of=before) and insurers(memory, before) == ["Nordlicht"]
    for day in (None, after):
        assert "Nordlicht" not in ask(memory, as_of=day)
    write(memory, path, FRONTMATTER + FORMS["field"].format("Nordlicht"))
    assert "Nordlicht" in ask(memory, as_of=before) and "Nordlicht" in ask(memory, as_of=after)
    assert memory.state.past.state_at(before) is memory.state, "what it says again it never ceased to say"
    memory.forgetting.forget(source=path.as_posix())
    assert "Nordlicht" not in ask(memory, as_of=before)


def test_a_note_that_moves_keeps_its_past(memory: Memory, tmp_path: Path) -> None:
    path, moved = tmp_path / "car.md", tmp_path / "vehicle.md"
    before = write(memory, path, FORMS["field"].format("Nordlicht"))
    path.rename(moved)
    memory.ingest.move(path.as_posix(), moved.as_posix())
    write(memory, moved, FORMS["field"].format("Alpina"))
    assert insurers(memory) == ["Alpina"] and insurers(memory, before) == ["Nordlicht"]


def test_a_value_that_comes_back_by_an_edit_holds_again(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "car.md"
    text = FRONTMATTER + FORMS["field"]
    days = [write(memory, path, text.format(one)) for one in ("Nordlicht", "Alpina", "Nordlicht")]
    assert [insurers(memory, day) for day in days] == [["Nordlicht"], ["Alpina"], ["Nordlicht"]]
    assert [revision.new.objects[1] for revision in memory.knowledge.revisions()] == ["Nordlicht", "Alpina"]


def test_forgetting_takes_earlier_versions_with_it(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "car.md"
    before = write(memory, path, FORMS["field"].format("Nordlicht"))
    write(memory, path, FORMS["field"].format("Alpina"))
    assert "Nordlicht" in ask(memory, as_of=before)
    memory.forgetting.forget(source=path.as_posix())
    assert not [*tmp_path.glob(".past-*")]
    assert "Nordlicht" not in ask(memory, as_of=before)


def test_the_copy_of_a_process_that_was_killed_is_discarded(tmp_path: Path) -> None:
    left = tmp_path / ".past-x7"
    left.mkdir()
    (left / "memory.db").write_text("what a note said")
    Memory.discard_copies(tmp_path / "memory.db")
    assert not left.exists()


@given(values=st.lists(st.sampled_from(["Nordlicht", "Alpina", "Helvia"]), min_size=2, max_size=5))
@examples(1 / 2)
def test_every_moment_has_what_the_file_said(
    tmp_path_factory: pytest.TempPathFactory, static: Embedder, values: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("edits")
    path = folder / "car.md"
    with Memory.open(folder / "memory.db", embedder=static) as memory:
        said = [(write(memory, path, FRONTMATTER + FORMS["field"].format(one)), one) for one in values]
        for at, value in said:
            assert insurers(memory, at) == [value]
            assert [one for one in ("Nordlicht", "Alpina", "Helvia") if one in ask(memory, as_of=at)] == [value]
        assert memory.maintenance.check().problems == ()
