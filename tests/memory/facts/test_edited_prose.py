"""Prose that is edited in place: a revision of the sentence, seen in review and history, undone and redone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.ingest.versions import align_sentences, is_statement
from memory.protocols import Embedder
from tests.examples import examples
from tests.memory.facts.test_edits import FRONTMATTER, ask, write

NOTE = """# Flat

The house in Lange Gasse was built in 1931. I pay {rent} a month for the flat.
My landlord is {landlord}, and he lives upstairs.

- The bins go out on {day} evening
"""
START = {"rent": "850", "landlord": "Mr Okafor", "day": "Tuesday"}
VALUES = {
    "rent": ["850", "910", "975"],
    "landlord": ["Mr Okafor", "Mr Lindqvist"],
    "day": ["Tuesday", "Friday"],
}
QUESTIONS = {
    "rent": "What do I pay for the flat?",
    "landlord": "Who is my landlord?",
    "day": "When do the bins go out?",
}


@pytest.fixture
def memory(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        yield memory
        assert memory.maintenance.check().problems == ()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "flat.md"


def note(**values: str) -> str:
    return NOTE.format(**{**START, **values})


def quotes(memory: Memory, state: str = "open") -> list[tuple[str, str]]:
    return [(one.old.quote, one.new.quote) for one in memory.knowledge.revisions(state)]


@pytest.mark.parametrize("frontmatter", [FRONTMATTER, ""])
def test_an_edited_sentence_is_a_revision(memory: Memory, path: Path, frontmatter: str) -> None:
    before = write(memory, path, frontmatter + note())
    write(memory, path, frontmatter + note(rent="910"))
    (revision,) = memory.knowledge.revisions()
    assert quotes(memory) == [("I pay 850 a month for the flat.", "I pay 910 a month for the flat.")]
    assert revision.old.valid_to == revision.new.valid_from and revision.new.valid_from > before
    assert "910" in ask(memory, QUESTIONS["rent"]) and "850" not in ask(memory, QUESTIONS["rent"])
    assert "850" in ask(memory, QUESTIONS["rent"], before) and "910" not in ask(memory, QUESTIONS["rent"], before)
    assert memory.knowledge.revisions(about="Lange Gasse") == [], "that is said of another sentence"


def test_history_tells_what_a_note_said(memory: Memory, path: Path) -> None:
    for rent in ("850", "910", "975"):
        write(memory, path, note(rent=rent))
    write(memory, path, note(rent="975", day="Friday"))
    (rent,) = [one for one in memory.browsing.history("Flat").timelines if "flat" in one.values[0].fact.text]
    assert (rent.subject, rent.predicate) == ("flat.md", "")
    assert [value.fact.text[6:9] for value in rent.values] == ["850", "910", "975"]
    assert [value.ended is not None for value in rent.values] == [True, True, False]
    assert [value.fact.valid_to for value in rent.values][:2] == [value.fact.valid_from for value in rent.values][1:]


def test_both_brings_the_sentence_back_and_nothing_else(memory: Memory, path: Path) -> None:
    before = write(memory, path, FRONTMATTER + note())
    write(memory, path, FRONTMATTER + note(rent="910"))
    after = write(memory, path, FRONTMATTER + note(rent="910", landlord="Mr Lindqvist"))
    landlord, rent = memory.knowledge.revisions()
    memory.knowledge.undo(rent.id)
    assert "850" not in ask(memory, QUESTIONS["rent"]), "the note no longer says so"
    memory.knowledge.settle(rent.id, "both")
    said = ask(memory, QUESTIONS["rent"])
    assert "850" in said and "910" in said
    assert "Okafor" not in ask(memory, QUESTIONS["landlord"]), "the passage that has it says more than was undone"
    assert "850" not in ask(memory, QUESTIONS["landlord"])
    memory.knowledge.settle(landlord.id, "both")
    assert "Okafor" in ask(memory, QUESTIONS["landlord"])
    memory.knowledge.settle(rent.id, "keep")
    assert "850" not in ask(memory, QUESTIONS["rent"]) and "Okafor" in ask(memory, QUESTIONS["landlord"])
    memory.knowledge.settle(landlord.id, "keep")
    assert "Okafor" not in ask(memory, QUESTIONS["landlord"])
    (kept,) = [one for one in memory.knowledge.revisions("kept") if one.id == rent.id]
    assert kept.old.valid_to == kept.new.valid_from, "when it ended is known again"
    assert "850" in ask(memory, QUESTIONS["rent"], before) and "910" in ask(memory, QUESTIONS["rent"], after)


def test_what_a_person_said_outlives_another_edit(memory: Memory, path: Path) -> None:
    write(memory, path, note())
    write(memory, path, note(rent="910"))
    (rent,) = memory.knowledge.revisions()
    memory.knowledge.settle(rent.id, "old")
    assert "910" not in ask(memory, QUESTIONS["rent"]) and "850" in ask(memory, QUESTIONS["rent"])
    write(memory, path, note(rent="910", day="Friday"))
    assert "910" not in ask(memory, QUESTIONS["rent"]) and "850" in ask(memory, QUESTIONS["rent"])
    memory.knowledge.undo(rent.id)
    assert "910" in ask(memory, QUESTIONS["rent"])


def test_a_field_is_shown_once(memory: Memory, path: Path) -> None:
    for insurer in ("Nordlicht", "Alpina"):
        write(memory, path, f"# Car\n\nThe old van is sold.\n\nInsurer: {insurer}\n")
    (revision,) = memory.knowledge.revisions()
    assert revision.old.kind == revision.new.kind == "relation"


def test_what_was_forgotten_is_in_no_revision(memory: Memory, path: Path) -> None:
    write(memory, path, note())
    write(memory, path, note(rent="910"))
    memory.forgetting.forget(source=path.as_posix())
    assert memory.knowledge.revisions("all") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I pay 850 a month for the flat.", "I pay 910 a month for the flat."),
        ("We meet Ilse at the north gate of the zoo.", "We meet Ilse at the tram stop behind the zoo."),
        ("I live in Utrecht.", "I live in Leipzig now."),
        ("Our vet is Dr. Thoms", "Our vet is now Dr. Amelie Roth"),
        ("Marta is our dentist.", "Bruno is our dentist."),
        ("I am allergic to nuts.", "I am not allergic to nuts."),
        ("Ich zahle 850 Euro Miete im Monat.", "Ich zahle 910 Euro Miete im Monat."),
        ("Mum takes 1.5 mg a day.", "Mum takes 15 mg a day."),
        ("The course costs €90.", "The course costs $90."),
        ("Phone 0151 2345", "Phone 0160 9999"),
        ("Zahnarzt 3. Mai", "Zahnarzt 12. Juni"),
    ],
)
def test_says_something_else(old: str, new: str) -> None:
    assert align_sentences([old], [new]) == ([], [(0, 0)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I recieve 850 a month.", "I receive 850 a month."),
        ("I pay 1,850 a month.", "I pay **1850** a month."),
        ("I pay 850 a month.", "I pay 850 a month, due on the 1st."),  # it says more
        ("The flat costs 850 a month.", "850 a month is what the flat costs."),
        ("Ana's phone: 0171 234", "Bo's phone: 0171 999"),  # another person's
        ("call Ana", "call Tom"),
        ("Rent: ____", "Rent: 850"),  # a template that was filled in
        ("Phone 0151 2345", "Room 0160 9999"),
        ("Phone 0151 2345", "Phone of Ana 0160 9999"),
        ("Invoice 3 paid 40", "Invoice 7 paid 90"),
        ("0151 2345", "0160 9999"),  # of whom or what
    ],
)
def test_says_the_same_or_is_another(old: str, new: str) -> None:
    assert align_sentences([old], [new])[1] == []


@pytest.mark.parametrize(
    ("sentence", "before"), [("Where do I live?", ""), ("call Ana about 2 keys", "- [ ] "), ("Rent 2026", "## ")]
)
def test_no_statement(sentence: str, before: str) -> None:
    assert not is_statement(sentence, before) and is_statement("The rent is 850.", "")


SENTENCES = [f"The {thing} in room {place} costs {3 * place + 11} euros." for place, thing in enumerate(
    ["lamp", "desk", "chair", "carpet", "shelf", "mirror", "clock", "plant"]
)]  # fmt: skip


@given(st.permutations(SENTENCES), st.integers(0, 7), st.sets(st.integers(0, 7)))
def test_moving_adding_and_taking_away_is_no_edit(moved: list[str], place: int, gone: set[int]) -> None:
    assert align_sentences(SENTENCES, moved)[1] == []
    assert align_sentences(SENTENCES, [*SENTENCES, *SENTENCES])[1] == [], "a copy"
    left = [one for number, one in enumerate(SENTENCES) if number not in gone]
    assert align_sentences(SENTENCES, left)[1] == align_sentences(left, SENTENCES)[1] == []
    changed = [*SENTENCES[:place], SENTENCES[place].replace("costs", "costs 9"), *SENTENCES[place + 1 :]]
    assert align_sentences(SENTENCES, changed)[1] == []  # it says more
    changed[place] = SENTENCES[place].replace("euros", "dollars")
    assert align_sentences(SENTENCES, changed)[1] == [(place, place)]


def test_a_note_that_is_written_again_is_no_edit() -> None:
    day = ["Breakfast was {} with tea.", "Walked {} km by the river.", "Slept {} hours.", "Spent {} euros on food."]
    days = [[line.format(number) for line in day] for number in (3, 5)]
    assert align_sentences(*days)[1] == []
    assert align_sentences([*days[0], "x", "y", "z", "u"], [*days[1], "x", "y", "z", "u"])[1] != []


EDITS = st.lists(
    st.one_of(
        st.sampled_from([(key, value) for key, values in VALUES.items() for value in values]),
        st.tuples(st.sampled_from(["undo", "keep"]), st.integers(0, 9)),
    ),
    min_size=3,
    max_size=6,
)


@given(EDITS, st.booleans(), st.randoms(use_true_random=False))
@examples(1 / 2)
def test_every_moment_has_what_the_file_said(
    tmp_path_factory: pytest.TempPathFactory,
    static: Embedder,
    edits: list[tuple[str, str | int]],
    dated: bool,
    chance: Random,
) -> None:
    folder = tmp_path_factory.mktemp("prose")
    values, head = dict(START), FRONTMATTER if dated else ""
    with Memory.open(folder / "memory.db", embedder=static) as memory:
        said: list[tuple[datetime, dict[str, str]]] = [(write(memory, folder / "flat.md", head + note()), dict(values))]
        brought_back: set[str] = set()
        for what, value in edits:
            if isinstance(value, str):
                values[what] = value
                said.append((write(memory, folder / "flat.md", head + note(**values)), dict(values)))
            elif revisions := memory.knowledge.revisions("all"):
                one = revisions[value % len(revisions)]
                if what == "undo":
                    memory.knowledge.undo(one.id)
                    brought_back.add(one.old.quote)
                else:
                    memory.knowledge.settle(one.id, "keep")
        for at, then in chance.sample(said, min(3, len(said))):
            for key, question in QUESTIONS.items():
                answer = ask(memory, question, at)
                assert then[key] in answer
                others = [one for one in VALUES[key] if one != then[key] and one in answer]
                assert all(any(one in quote for quote in brought_back) for one in others)
        assert memory.maintenance.check().problems == ()


def test_a_line_of_the_frontmatter_that_is_edited_waits_once(memory: Memory, tmp_path: Path) -> None:
    person = tmp_path / "Ozzie Penhale.md"
    text = "---\nbirthday: {}\n---\n# Ozzie Penhale\n\nOzzie Penhale is a boat-builder. He works behind the net loft.\n"
    write(memory, person, text.format("1951-06-02"))
    write(memory, person, text.format("1951-08-02"))
    (one,) = memory.knowledge.revisions("open")
    assert one.new.text == "Ozzie Penhale, birthday: 1951-08-02" and one.old.text.endswith("1951-06-02")
    write(memory, person, text.format("1951-08-02").replace("net loft", "old forge"))
    assert len(memory.knowledge.revisions("open")) == 2, "prose is a revision of its own"
