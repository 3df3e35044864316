"""Facts found by meaning: what a new fact is compared with, and what a model's word about it may do."""

from __future__ import annotations

import pytest

from memory import Memory
from memory.facts.extraction import ExtractedObject, ExtractedThesis, Extraction
from memory.nouns import FactRelation, Modality
from memory.protocols import Embedder
from memory.revisions import Decision
from memory.store import facts
from tests.memory.facts.asserting import day, held, relation, tell, written


def vectors_of(memory: Memory) -> set[int]:
    with memory.store.reading() as conn:
        return {id for (id,) in conn.execute("SELECT id FROM vec_fact")}


def told(
    memory: Memory, at: str, text: str, subject: str, predicate: str, value: str, modality: Modality = "asserted"
) -> list[tuple[int, int]]:
    """Tells one fact as a model reads it; the pairs that it is to judge."""
    return [*tell(memory, at, text, (subject, predicate, value), model="m", modality=modality).undecided]


def test_a_fact_is_compared_with_the_nearest_whatever_its_subject_is_called(fresh: Memory) -> None:
    told(fresh, "2024-01-01", "We pay 690 for the flat.", "the flat", "costs", "690 euros a month")
    told(fresh, "2024-01-02", "Bo plays the cello.", "Bo", "plays", "cello")
    (flat,) = [one.id for one in fresh.knowledge.facts("the flat")]
    pairs = told(
        fresh, "2025-01-01", "The landlord wants 735 now for the flat.", "Ana", "pays rent", "735 euros a month"
    )
    (pair,) = [pair for pair in pairs if pair[0] == flat]
    fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9, "wants 735 now")], "m")
    assert held(fresh, "the flat") == []
    (revision,) = fresh.knowledge.revisions()
    assert (revision.old.objects[1], revision.reason) == ("690 euros a month", "m decided so: “wants 735 now”")
    fresh.knowledge.undo(revision.id)
    assert held(fresh, "the flat") == ["costs 690 euros a month"]


def find_relations(memory: Memory, older: str = "the flat", newer: str = "Harbour Street 3") -> list[int]:
    """The one relation of each of two names."""
    return [fact.id for name in (older, newer) for fact in memory.knowledge.facts(name) if fact.kind == "relation"]


def alias_suspects(memory: Memory) -> list[tuple[str, str, int]]:
    return [(pair.one, pair.other, pair.facts) for pair in memory.knowledge.list_alias_suspects()]


@pytest.mark.parametrize(
    ("value", "relation", "expected"),
    [
        ("735 euros", "supersedes", []),  # of another subject: it waits
        ("690 euros", "duplicates", [("Harbour Street 3", "the flat", 1)]),
        ("690 euros", "supersedes", []),  # another has the same now: two things
        ("735 euros", "contradicts", []),
    ],
)
def test_names_of_which_a_model_says_that_facts_replace_each_other_may_be_one(
    fresh: Memory, value: str, relation: FactRelation, expected: list[tuple[str, str, int]]
) -> None:
    told(fresh, "2024-01-01", "We pay 690 euros rent for the flat.", "the flat", "rent", "690 euros")
    told(fresh, "2025-01-01", f"Harbour Street 3: rent {value}.", "Harbour Street 3", "rent", value)
    assert alias_suspects(fresh) == []
    (revision,) = fresh.knowledge.apply_decisions([Decision(*find_relations(fresh), relation, 0.9)], "m")
    assert alias_suspects(fresh) == expected
    fresh.knowledge.undo(revision)
    assert alias_suspects(fresh) == [], "a person says that it was wrong"


def test_names_that_are_one_already_are_no_longer_suspected(fresh: Memory) -> None:
    told(fresh, "2024-01-01", "We pay 690 euros rent for the flat.", "the flat", "rent", "690 euros")
    told(fresh, "2025-01-01", "Harbour Street 3: rent 735 euros.", "Harbour Street 3", "rent", "735 euros")
    fresh.knowledge.apply_decisions([Decision(*find_relations(fresh), "supersedes", 0.9)], "m")
    fresh.knowledge.join_names("the flat", "Harbour Street 3")
    assert alias_suspects(fresh) == []
    fresh.knowledge.separate_names("the flat", "Harbour Street 3")
    assert alias_suspects(fresh) == [], "said by hand to be two: what they replaced of each other is undone"


def test_vectors_come_and_go_with_their_facts(fresh: Memory) -> None:
    text = "Ana lives in Porto."
    episode = written(fresh, text, "2024-01-01", source="a.md")
    thesis = ExtractedThesis(text="Ana moved for the sea.", objects=("Ana",), start=0, end=len(text))
    read = Extraction((relation(text, text, "Ana", "lives in", "Porto"),), (thesis,))
    learnt = fresh.knowledge.assert_facts({episode: read}, "m")
    assert len(vectors_of(fresh)) == 2 and {*learnt.facts} < vectors_of(fresh)
    fresh.ingest.retire("a.md")
    assert vectors_of(fresh) == set()
    again = written(fresh, text, "2024-01-01", source="a.md")
    fresh.knowledge.assert_facts({again: read}, "m")
    assert len(vectors_of(fresh)) == 2
    fresh.forgetting.forget(fact=next(iter(learnt.facts)))
    assert len(vectors_of(fresh)) == 1
    fresh.forgetting.forget(episode=again)
    assert vectors_of(fresh) == set() and not fresh.maintenance.check().problems


def test_lost_vectors_are_made_again(fresh: Memory, static: Embedder) -> None:
    told(fresh, "2024-01-01", "Ana lives in Porto.", "Ana", "lives in", "Porto")
    before = vectors_of(fresh)
    with fresh.store.writing() as conn:
        facts.delete_vectors(conn, [*before])
        conn.execute("INSERT INTO vec_fact SELECT 7, vec_bit(zeroblob(32)), vec_bit(zeroblob(32)), x'00', x'00', 0")
    assert fresh.maintenance.check().problems
    fresh.maintenance.rebuild_text()
    assert vectors_of(fresh) == before and not fresh.maintenance.check().problems


def test_another_embedder_makes_an_empty_index(fresh: Memory, static: Embedder) -> None:
    told(fresh, "2024-01-01", "Ana lives in Porto.", "Ana", "lives in", "Porto")
    with fresh.store.writing() as conn:
        facts.open_vectors(conn, static)
        assert conn.execute("SELECT count(*) FROM vec_fact").fetchone() == (1,)
        conn.execute("UPDATE meta SET value = 'another 3' WHERE key = 'fact_vectors'")
        facts.open_vectors(conn, static)
        assert conn.execute("SELECT count(*) FROM vec_fact").fetchone() == (0,)
        assert len(facts.list_without_vectors(conn, 9)) == 1


@pytest.mark.parametrize(
    ("relation", "confidence", "state"),
    [("supersedes", 0.5, "contradicts"), ("contradicts", 0.9, "contradicts"), ("ends", 0.9, "negates")],
)
def test_what_is_unsure_waits_for_a_person(
    fresh: Memory, relation: FactRelation, confidence: float, state: str
) -> None:
    told(fresh, "2024-01-01", "Lumen pays 0.11 a word.", "Lumen", "pays rate", "0.11")
    (pair,) = told(fresh, "2025-01-01", "Lumen pays 0.12 a word.", "Lumen", "pays rate", "0.12")
    fresh.knowledge.apply_decisions([Decision(*pair, relation, confidence)], "m")
    (revision,) = fresh.knowledge.revisions()
    assert revision.relation == state
    if state == "contradicts":
        assert len(held(fresh, "Lumen")) == 2
        fresh.knowledge.settle(revision.id, "keep")
    assert held(fresh, "Lumen") == ["pays rate 0.12"]


def test_one_persons_value_is_not_replaced_by_anothers(fresh: Memory) -> None:
    people = tuple(ExtractedObject(name, "person") for name in ("Marta Sole", "Marta Kowal"))
    pairs: tuple[tuple[int, int], ...] = ()
    for at, name, phone in (("2024-01-01", "Marta Sole", "555 0100"), ("2025-01-01", "Marta Kowal", "555 0199")):
        text = f"{name} has the phone number {phone}."
        episode = written(fresh, text, at)
        read = Extraction((relation(text, text, name, "has phone number", phone),), (), people)
        pairs = fresh.knowledge.assert_facts({episode: read}, "m").undecided
    assert pairs == (), "nobody is asked"
    pair = find_relations(fresh, "Marta Sole", "Marta Kowal")
    fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.95)], "m")
    assert [one.relation for one in fresh.knowledge.revisions()] == ["contradicts"]
    assert held(fresh, "Marta Sole") == ["has phone number 555 0100"]


def test_a_plan_follows_what_is_stated_to_be_over_and_an_event_stays(fresh: Memory) -> None:
    told(fresh, "2024-03-01", "I no longer work 37 hours.", "Hamid", "has hours", "37 a week", modality="past")
    (pair,) = told(fresh, "2024-03-02", "I am to work 30 hours.", "Hamid", "has hours", "30 a week", modality="plan")
    fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9)], "m")
    assert [one.relation for one in fresh.knowledge.revisions()] == ["supersedes"]
    bygone = {"valid_from": day("2024-05-08"), "valid_to": day("2024-05-08")}
    tell(fresh, "2024-05-09", "The choir sang in Ghent.", ("choir", "sings in", "Ghent"), model="m", **bygone)
    (event,) = [one.id for one in fresh.knowledge.facts("choir", history=True)]
    pairs = told(fresh, "2024-09-01", "The choir sings in Bruges.", "choir", "sings in", "Bruges")
    assert event not in {id for pair in pairs for id in pair}


def test_theses_of_a_model_are_revised_like_relations(fresh: Memory) -> None:
    ids: list[tuple[int, int]] = []
    for at, text in (
        ("2024-01-01", "The shop opens at 9 on Mondays."),
        ("2025-01-01", "The shop opens at 10 on Mondays."),
    ):
        episode = written(fresh, text, at, source=f"{at}.md")
        thesis = ExtractedThesis(text=text, objects=("the shop",), start=0, end=len(text))
        ids = [*fresh.knowledge.assert_facts({episode: Extraction((), (thesis,))}, "m").undecided]
    (pair,) = ids
    fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9)], "m")
    old, new = fresh.knowledge.facts_by_id([*pair])
    assert (old.valid_to, old.superseded_by) == (day("2025-01-01"), new.id)
    fresh.ingest.retire("2025-01-01.md")
    (old,) = fresh.knowledge.facts_by_id([old.id])
    assert (old.valid_to, old.superseded_by) == (None, None)
    assert not fresh.maintenance.check().problems
