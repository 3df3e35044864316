"""Facts while their files change: edited, emptied, taken away, brought back, told by two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory import Memory
from memory.facts.extraction import OWNER, Extraction
from memory.nouns import TOLD, Document, Fact
from memory.protocols import Embedder
from memory.revisions import Decision
from tests.memory.facts.asserting import day, held, relation, state


@pytest.fixture
def reading(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    """A memory that reads facts by rules."""
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        yield memory
        assert memory.maintenance.check().problems == ()


def past(memory: Memory, name: str) -> list[Fact]:
    """All relations of `name` that were ever known, the oldest first."""
    return [fact for fact in reversed(memory.knowledge.facts(name, history=True)) if fact.kind == "relation"]


def noted(memory: Memory, source: str, text: str, at: str) -> int:
    """The episode of what the owner said to the program."""
    (receipt,) = memory.ingest.remember_many([Document(source, text, title="Ana", reader=TOLD, at=day(at))])
    return receipt.episode_ids[0]


def property_of(memory: Memory, at: str, **properties: str) -> None:
    memory.ingest.remember_many([Document("b.md", "It is here.", title="Boat", at=day(at), properties=properties)])


@pytest.mark.parametrize("edited", ["a.md", "b.md"])
def test_a_fact_is_the_same_after_its_file_was_edited_elsewhere(reading: Memory, edited: str) -> None:
    notes = {"a.md": ("I live in Bonn.", "2022-01-01"), "b.md": ("I live in Riga.", "2023-01-01")}
    for source, (text, at) in notes.items():
        noted(reading, source, text, at)
    before, revisions = state(reading), reading.knowledge.revisions("all")
    noted(reading, edited, f"{notes[edited][0]} Bo sang.", "2023-06-01")
    assert state(reading) == before
    assert [row.id for row in reading.knowledge.revisions("all")] == [row.id for row in revisions]
    assert held(reading, "me") == ["lives in Riga"]


@pytest.mark.parametrize("verdict", ["both", "old", "keep"])
def test_what_a_person_said_outlives_an_edit(reading: Memory, verdict: str) -> None:
    noted(reading, "a.md", "I live in Bonn.", "2022-01-01")
    noted(reading, "b.md", "I live in Riga.", "2023-01-01")
    (revision,) = reading.knowledge.revisions()
    reading.knowledge.settle(revision.id, verdict)  # type: ignore[arg-type]
    before = held(reading, "me")
    noted(reading, "a.md", "I live in Bonn. Bo sang.", "2022-01-01")
    assert held(reading, "me") == before
    assert reading.knowledge.revision(revision.id).state == ("settled" if verdict == "both" else "kept")


def test_a_new_value_in_the_same_file_makes_the_old_one_history(reading: Memory) -> None:
    noted(reading, "a.md", "I live in Bonn.", "2022-01-01")
    noted(reading, "a.md", "I live in Riga.", "2023-01-01")
    assert held(reading, "me") == ["lives in Riga"]
    old, new = past(reading, "me")
    assert (old.objects[1], old.valid_to, old.superseded_by) == ("Bonn", day("2023-01-01"), new.id)
    assert old.retired and not new.retired, "no passage tells it any more"
    noted(reading, "a.md", "I live in Kyiv.", "2024-01-01")
    assert [fact.valid_to for fact in past(reading, "me")] == [day("2023-01-01"), day("2024-01-01"), None]


def test_a_new_value_under_the_same_date_takes_the_place_of_the_old_one_when_it_is_seen(reading: Memory) -> None:
    noted(reading, "a.md", "I live in Bonn.", "2022-01-01")
    noted(reading, "a.md", "I live in Riga.", "2022-01-01")
    assert held(reading, "me") == ["lives in Riga"]
    assert held(reading, "me", as_of=day("2023-01-01")) == ["lives in Bonn"]
    (revision,) = reading.knowledge.revisions("all")
    assert (revision.old.objects[1], revision.new.objects[1]) == ("Bonn", "Riga")


def test_a_property_that_changes_has_a_history(reading: Memory) -> None:
    for at, value in (("2022-01-01", "draft"), ("2022-02-01", "done"), ("2022-03-01", "draft")):
        property_of(reading, at, status=value)
        assert held(reading, "Boat") == [f"status {value}"]
    assert [(fact.objects[1], fact.valid_to) for fact in past(reading, "Boat")] == [
        ("draft", day("2022-02-01")), ("done", day("2022-03-01")), ("draft", None)
    ]  # fmt: skip


def test_a_source_that_comes_back_brings_the_same_facts(reading: Memory) -> None:
    noted(reading, "a.md", "I live in Bonn.", "2022-01-01")
    noted(reading, "b.md", "I live in Riga.", "2023-01-01")
    before = state(reading)
    for source, text, at, meanwhile in (
        ("b.md", "I live in Riga.", "2023-01-01", "Bonn"),
        ("a.md", "I live in Bonn.", "2022-01-01", "Riga"),
    ):
        reading.ingest.retire(source)
        assert held(reading, "me") == [f"lives in {meanwhile}"]
        noted(reading, source, text, at)
        assert state(reading) == before
    reading.ingest.retire("a.md")
    reading.ingest.retire("b.md")
    noted(reading, "a.md", "I live in Bonn.", "2022-01-01")
    assert held(reading, "me") == ["lives in Bonn"], "what took its place is not there"


def test_a_link_of_a_chain_that_comes_back_stands_between_again(reading: Memory) -> None:
    for source, text, at in (
        ("a.md", "I live in Bonn.", "2021-01-01"),
        ("b.md", "I live in Riga.", "2022-01-01"),
        ("c.md", "I live in Kyiv.", "2023-01-01"),
    ):
        noted(reading, source, text, at)
    before = state(reading)
    reading.ingest.retire("b.md")
    assert held(reading, "me", as_of=day("2022-06-01")) == ["lives in Riga"], "a note that is no more said so then"
    noted(reading, "b.md", "I live in Riga.", "2022-01-01")
    assert state(reading) == before


def test_of_two_sources_that_tell_a_fact_one_is_enough(reading: Memory) -> None:
    noted(reading, "a.md", "I live in Bonn.", "2022-01-01")
    noted(reading, "b.md", "I live in Riga.", "2023-01-01")
    noted(reading, "c.md", "I live in Riga.", "2023-02-01")
    for source, left in (("b.md", "Riga"), ("c.md", "Bonn")):
        reading.forgetting.forget(source=source)
        assert held(reading, "me") == [f"lives in {left}"]


@pytest.mark.parametrize(
    ("text", "left"), [("She took Riga to heart, at last. Bo sang.", "Riga"), ("Bo sang.", "Bonn")]
)
def test_what_a_model_read_stays_where_its_quote_does(reading: Memory, text: str, left: str) -> None:
    for source, said, place, at in (
        ("a.md", "She took Bonn to heart.", "Bonn", "2022-01-01"),
        ("b.md", "She took Riga to heart, at last.", "Riga", "2023-01-01"),
    ):
        episode = noted(reading, source, said, at)
        pairs = reading.knowledge.assert_facts(
            {episode: Extraction((relation(said, said, OWNER, "adores", place),))}, "m"
        ).undecided
    reading.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9) for pair in pairs], "m")
    assert held(reading, "me") == ["adores Riga"]
    noted(reading, "b.md", text, "2023-01-01")
    assert held(reading, "me") == [f"adores {left}"]


def test_what_is_to_come_ends_nothing_before(reading: Memory) -> None:
    noted(reading, "a.md", "I live in Bonn.", "2022-01-01")
    text = "From 2091 on it is Oslo."
    episode = noted(reading, "b.md", text, "2023-01-01")
    reading.knowledge.assert_facts(
        {episode: Extraction((relation(text, text, OWNER, "lives in", "Oslo", valid_from=day("2091-01-01")),))}
    )
    for at, places in (("2021-01-01", []), ("2090-01-01", ["lives in Bonn"]), ("2092-01-01", ["lives in Oslo"])):
        assert held(reading, "me", as_of=day(at)) == places


def note(memory: Memory, path: str, at: str, text: str) -> None:
    """A note of a title that its file need not have."""
    memory.ingest.remember_many([Document(path, text, title="Mill", kind="file", at=day(at))])


def test_notes_of_one_title_replace_nothing_and_wait_for_the_person(reading: Memory) -> None:
    note(reading, "/n/a.md", "2026-01-05", "Warden: Ann Sedge")
    note(reading, "/n/b.md", "2026-06-05", "Warden: Tom Skua")
    note(reading, "/other/c.md", "2026-07-05", "Warden: Ida Holm")
    assert held(reading, "Mill") == ["warden Ann Sedge", "warden Ida Holm", "warden Tom Skua"]
    (pair,) = reading.knowledge.revisions()
    assert (pair.relation, pair.old.objects[1], pair.new.objects[1]) == ("contradicts", "Ann Sedge", "Tom Skua")
    reading.knowledge.settle(pair.id, "old")
    assert held(reading, "Mill") == ["warden Ann Sedge", "warden Ida Holm"]


@pytest.mark.parametrize(
    ("one", "other", "is_open"),
    [
        ("water mill.md", "Wind-Mill.md", False),
        ("mill.md", "wind mill.md", True),
        ("mill 2025.md", "mill 2026.md", True),
        ("Boat.md", "Barn.md", False),
        ("Boat.md", "mill.md", True),
    ],
)
def test_files_of_one_title_with_names_of_different_words_are_about_different_things(
    reading: Memory, one: str, other: str, is_open: bool
) -> None:
    note(reading, f"/n/{one}", "2026-01-05", "Warden: Ann Sedge")
    note(reading, f"/n/{other}", "2026-06-05", "Warden: Tom Skua")
    assert bool(reading.knowledge.revisions()) is is_open


@pytest.mark.parametrize(("exact", "rough"), [("1871-05-03", "1871"), ("4 May 1990", "May 1990")])
def test_a_value_with_less_detail_contradicts_nothing(reading: Memory, exact: str, rough: str) -> None:
    note(reading, "/n/a.md", "2026-01-05", f"Quay: {exact}")
    note(reading, "/n/b.md", "2026-06-05", f"Quay: {rough}")
    assert reading.knowledge.revisions() == [] and len(held(reading, "Mill")) == 2


def test_a_newer_version_of_a_document_replaces_the_values_of_the_older_ones(reading: Memory) -> None:
    for path, at, rate in (
        ("/n/r v3.md", "2026-03-01", 3),
        ("/n/r.md", "2026-01-01", 1),
        ("/n/r v2.md", "2026-02-01", 2),
    ):
        reading.ingest.remember_many([Document(path, f"Rate: {rate}", title="Rates", kind="file", at=day(at))])
    assert held(reading, "Rates") == ["rate 3"]
    assert [fact.objects[1] for fact in past(reading, "Rates")] == ["1", "2", "3"]
    assert {row.relation for row in reading.knowledge.revisions()} == {"supersedes"}
