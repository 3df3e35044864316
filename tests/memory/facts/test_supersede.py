"""Facts in time, through the library's door: learning, replacing, late arrivals, taking back."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.facts.extraction import OWNER, ExtractedThesis, Extraction
from memory.nouns import Fact
from memory.protocols import Embedder
from memory.revisions import Decision
from memory.store import facts, relations
from memory.store.connect import FIRST_EDGE, Connection
from tests.examples import examples
from tests.memory.facts.asserting import UNTOLD, day, fresh, held, relation, state, tell, written

__all__ = ["fresh"]


def test_a_newer_fact_ends_the_older_one(fresh: Memory) -> None:
    tell(fresh, "2023-01-15", "Ana lives in Utrecht.", ("Ana", "lives in", "Utrecht"))
    learnt = tell(fresh, "2023-09-03", "Ana moved to Leipzig.", ("Ana", "lives_in", "Leipzig"))
    assert held(fresh, "Ana") == ["lives in Leipzig"]
    assert held(fresh, "Ana", as_of=day("2023-05-01")) == ["lives in Utrecht"]
    assert held(fresh, "Ana", history=True) == ["lives in Leipzig", "lives in Utrecht"]
    (revision,) = fresh.knowledge.revisions()
    assert learnt.revisions == (revision.id,)
    assert (revision.relation, revision.author, revision.state) == ("supersedes", "rule", "open")
    assert revision.old.valid_to == revision.new.valid_from == day("2023-09-03")
    assert revision.old.superseded_by == revision.new.id
    assert revision.new.quote == "Ana moved to Leipzig." and revision.reason


def test_what_arrives_late_is_put_between(fresh: Memory) -> None:
    tell(fresh, "2022-01-01", "Ana lives in Bonn.", ("Ana", "lives in", "Bonn"))
    tell(fresh, "2024-01-01", "Ana lives in Riga.", ("Ana", "lives in", "Riga"))
    tell(fresh, "2023-01-01", "Ana lives in Kyiv.", ("Ana", "lives in", "Kyiv"))
    for at, place in (("2022-06-01", "Bonn"), ("2023-06-01", "Kyiv"), ("2024-06-01", "Riga")):
        assert held(fresh, "Ana", as_of=day(at)) == [f"lives in {place}"]
    assert held(fresh, "Ana") == ["lives in Riga"]


def test_the_order_of_arrival_does_not_matter(fresh: Memory) -> None:
    for at, place in (("2024-01-01", "Riga"), ("2022-01-01", "Bonn"), ("2023-01-01", "Kyiv")):
        tell(fresh, at, f"Ana lives in {place}.", ("Ana", "lives in", place))
    for at, place in (("2022-06-01", "Bonn"), ("2023-06-01", "Kyiv"), ("2024-06-01", "Riga")):
        assert held(fresh, "Ana", as_of=day(at)) == [f"lives in {place}"]


def test_the_same_telling_again_changes_nothing(fresh: Memory) -> None:
    text = "Ana lives in Utrecht."
    episode = written(fresh, text, "2023-01-15")
    telling = Extraction((relation(text, text, "Ana", "lives in", "Utrecht"),))
    assert len(fresh.knowledge.assert_facts({episode: telling}).facts) == 1
    before = state(fresh)
    assert fresh.knowledge.assert_facts({episode: telling}).facts == ()
    assert state(fresh) == before


def test_undo_restores_exactly_and_is_not_done_again(fresh: Memory) -> None:
    tell(fresh, "2023-01-15", "Ana lives in Utrecht.", ("Ana", "lives in", "Utrecht"))
    (old,) = state(fresh)
    tell(fresh, "2023-09-03", "Ana moved to Leipzig.", ("Ana", "lives in", "Leipzig"))
    (revision,) = fresh.knowledge.revisions()
    undone = fresh.knowledge.undo(revision.id)
    assert undone.state == "undone" and undone.settled
    assert state(fresh)[0] == old
    assert held(fresh, "Ana") == ["lives in Leipzig", "lives in Utrecht"]
    tell(fresh, "2023-09-04", "Ana lives in Leipzig now.", ("Ana", "lives in", "Leipzig"))
    assert held(fresh, "Ana") == ["lives in Leipzig", "lives in Utrecht"], "a person has said that it is not so"


def test_revisions_can_be_undone_in_any_order(fresh: Memory) -> None:
    for at, place in (("2022-01-01", "Bonn"), ("2024-01-01", "Riga"), ("2023-01-01", "Kyiv")):
        tell(fresh, at, f"Ana lives in {place}.", ("Ana", "lives in", place))
    for revision in sorted(fresh.knowledge.revisions(), key=lambda revision: revision.id):
        fresh.knowledge.undo(revision.id)
    assert all(row[5] is row[6] is row[7] is None for row in state(fresh)), "nothing ends, nothing is replaced"


@pytest.mark.parametrize(
    ("verdict", "now"),
    [("keep", ["Leipzig"]), ("both", ["Leipzig", "Utrecht"]), ("old", ["Utrecht"])],
)
def test_a_person_decides(fresh: Memory, verdict: Any, now: list[str]) -> None:
    tell(fresh, "2023-01-15", "Ana lives in Utrecht.", ("Ana", "lives in", "Utrecht"))
    tell(fresh, "2023-09-03", "Ana moved to Leipzig.", ("Ana", "lives in", "Leipzig"))
    (revision,) = fresh.knowledge.revisions()
    settled = fresh.knowledge.settle(revision.id, verdict)
    assert settled.state == ("settled" if verdict == "both" else "kept")
    assert held(fresh, "Ana") == [f"lives in {place}" for place in now]
    assert fresh.knowledge.revisions() == []
    fresh.knowledge.undo(revision.id)
    assert held(fresh, "Ana") == ["lives in Leipzig", "lives in Utrecht"]


@pytest.mark.parametrize("verdict", ["keep", "both", "old"])
def test_what_a_person_decided_can_be_asked_again(fresh: Memory, verdict: Any) -> None:
    tell(fresh, "2023-01-15", "Ana lives in Utrecht.", ("Ana", "lives in", "Utrecht"))
    tell(fresh, "2023-09-03", "Ana moved to Leipzig.", ("Ana", "lives in", "Leipzig"))
    (found,), before = fresh.knowledge.revisions(), state(fresh)
    fresh.knowledge.settle(found.id, verdict)
    assert fresh.knowledge.settle(found.id, "open") == found and fresh.knowledge.revisions() == [found]
    assert state(fresh) == before


def test_a_negation_ends_a_fact_without_another(fresh: Memory) -> None:
    tell(fresh, "2023-01-15", "Ana works at Lumen.", ("Ana", "works at", "Lumen"))
    tell(fresh, "2024-02-01", "Ana left Lumen.", ("Ana", "works at", "Lumen"), modality="negated")
    assert "works at Lumen" not in [
        f"{f.predicate} {f.objects[1]}"
        for f in fresh.knowledge.facts("Ana")
        if f.modality == "asserted" and f.predicate
    ]
    (revision,) = fresh.knowledge.revisions()
    assert revision.relation == "negates" and revision.old.valid_to == day("2024-02-01")


@pytest.mark.parametrize("modality", ["plan", "hypothesis", "question"])
def test_what_is_not_asserted_replaces_nothing(fresh: Memory, modality: Any) -> None:
    tell(fresh, "2023-01-15", "Ana lives in Utrecht.", ("Ana", "lives in", "Utrecht"))
    tell(fresh, "2023-09-03", "Ana may move to Leipzig.", ("Ana", "lives in", "Leipzig"), modality=modality)
    assert fresh.knowledge.revisions(state="all") == []
    assert [f.objects[1] for f in fresh.knowledge.facts("Ana") if f.predicate and f.modality == "asserted"] == [
        "Utrecht"
    ]


def test_a_plan_replaces_a_plan_and_a_fact_replaces_both(fresh: Memory) -> None:
    tell(fresh, "2023-01-01", "Orbit launches on 3 May.", ("Orbit", "launch date", "3 May"), modality="plan")
    tell(fresh, "2023-02-01", "Orbit launches on 9 June.", ("Orbit", "launch date", "9 June"), modality="plan")
    assert [r.old.objects[1] for r in fresh.knowledge.revisions()] == ["3 May"]
    tell(fresh, "2023-07-01", "Orbit was launched on 1 July.", ("Orbit", "launch date", "1 July"))
    assert held(fresh, "Orbit") == ["launch date 1 July"]


def test_an_old_page_that_turns_up_again_brings_nothing_back(fresh: Memory) -> None:
    tell(fresh, "2023-01-01", "Rent: 690", ("flat", "rent", "690"))
    tell(fresh, "2024-01-01", "Rent: 735", ("flat", "rent", "735"))
    again = tell(fresh, "2025-01-01", "Rent was 690, says this old copy.", ("flat", "rent", "690"), model="m")
    assert held(fresh, "flat") == ["rent 735"]
    (pair,) = again.undecided
    fresh.knowledge.apply_decisions([Decision(*pair, "unrelated", 0.9)], "m")
    assert held(fresh, "flat") == ["rent 735"]
    fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.5)], "m")
    assert held(fresh, "flat") == ["rent 735"]
    fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9)], "m")
    assert held(fresh, "flat") == ["rent 690"], "unless a model is sure that it holds again"
    fresh.knowledge.undo(fresh.knowledge.revisions()[0].id)
    assert held(fresh, "flat") == ["rent 735"]
    assert not fresh.maintenance.check().problems


def test_a_value_that_comes_back_holds_again(fresh: Memory) -> None:
    tell(fresh, "2023-01-01", "I work with Trados.", (OWNER, "works with", "Trados"), single=True)
    tell(fresh, "2023-11-01", "I work with memoQ.", (OWNER, "works with", "memoQ"), single=True)
    tell(fresh, "2025-02-01", "Trados again instead of memoQ.", (OWNER, "works with", "Trados"))
    assert held(fresh, "me") == ["works with Trados"]
    assert held(fresh, "me", as_of=day("2024-01-01")) == ["works with memoQ"]
    assert held(fresh, "me", as_of=day("2023-05-01")) == ["works with Trados"]


def test_a_value_that_only_says_more_replaces_nothing(fresh: Memory) -> None:
    tell(fresh, "2023-01-01", "Take: morning, before food", ("patch", "take", "morning, before food"))
    tell(fresh, "2024-01-01", "Take: morning", ("patch", "take", "morning"))
    assert fresh.knowledge.revisions() == []
    tell(fresh, "2024-02-01", "Take: evening", ("patch", "take", "evening"))
    assert held(fresh, "patch") == ["take evening"]


def test_a_model_decides_what_no_rule_can(fresh: Memory) -> None:
    tell(fresh, "2023-01-01", "Lumen pays 0.11 a word.", ("Lumen", "pays rate", "0.11"), model="m")
    learnt = tell(fresh, "2024-01-01", "Lumen pays 0.12 a word.", ("Lumen", "pays rate", "0.12"), model="m")
    (pair,) = learnt.undecided
    ((old, new),) = fresh.knowledge.pairs([pair])
    assert old and new and (old.objects[1], new.objects[1]) == ("0.11", "0.12")
    assert fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.3)], "m") == (), "not sure enough"
    assert len(fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9)], "m")) == 1
    assert held(fresh, "Lumen") == ["pays rate 0.12"]
    assert fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9)], "m") == (), "decided already"


def test_a_model_cannot_turn_the_order_of_time_around(fresh: Memory) -> None:
    tell(fresh, "2023-01-01", "Lumen pays 0.11 a word.", ("Lumen", "pays rate", "0.11"), model="m")
    ((old, new),) = tell(fresh, "2024-01-01", "It pays 0.12.", ("Lumen", "pays rate", "0.12"), model="m").undecided
    fresh.knowledge.apply_decisions([Decision(new, old, "supersedes", 0.9)], "m")
    assert held(fresh, "Lumen") == ["pays rate 0.12"]


def test_duplicates_are_one_fact_that_both_notes_tell(fresh: Memory) -> None:
    tell(fresh, "2023-01-01", "Ana is a vet.", ("Ana", "practises", "veterinary medicine"), model="m")
    learnt = tell(fresh, "2023-02-01", "Ana is an animal doctor.", ("Ana", "practises as", "animal doctor"), model="m")
    assert learnt.undecided
    fresh.knowledge.apply_decisions([Decision(*learnt.undecided[0], "duplicates", 0.9)], "m")
    assert held(fresh, "Ana") == ["practises veterinary medicine"]
    (revision,) = fresh.knowledge.revisions(state="kept")
    fresh.knowledge.undo(revision.id)
    assert len(held(fresh, "Ana")) == 2


def test_a_note_that_is_gone_replaces_nothing_any_more(fresh: Memory) -> None:
    tell(fresh, "2023-01-15", "Ana lives in Utrecht.", ("Ana", "lives in", "Utrecht"))
    text = "Ana moved to Leipzig."
    episode = written(fresh, text, "2023-09-03", source="move.md")
    fresh.knowledge.assert_facts({episode: Extraction((relation(text, text, "Ana", "lives in", "Leipzig"),))})
    assert held(fresh, "Ana") == ["lives in Leipzig"]
    fresh.ingest.retire("move.md")
    assert held(fresh, "Ana") == ["lives in Utrecht"]
    assert [r.state for r in fresh.knowledge.revisions(state="all")] == ["undone"]
    again = written(fresh, text, "2023-09-03", source="move.md")
    fresh.knowledge.assert_facts({again: Extraction((relation(text, text, "Ana", "lives in", "Leipzig"),))})
    assert held(fresh, "Ana") == ["lives in Leipzig"], "nobody has said that it is not so"


def test_theses_of_a_model_are_found_and_listed(fresh: Memory) -> None:
    text = "She got the job at Lumen on Monday."
    episode = written(fresh, text, "2024-01-01")
    thesis = ExtractedThesis(text="Ana Ruiz works at Lumen.", objects=("Ana Ruiz", "Lumen"), start=0, end=len(text))
    fresh.knowledge.assert_facts({episode: Extraction((), (thesis,))}, "m")
    fresh.knowledge.assert_facts({episode: Extraction((), (thesis,))}, "m")
    found: list[Fact] = [fact for fact in fresh.knowledge.facts("Ana Ruiz") if fact.origin == "model"]
    assert [fact.text for fact in found] == ["Ana Ruiz works at Lumen."]
    assert not fresh.maintenance.check().problems


def test_unread_episodes_come_asked_about_first(fresh: Memory) -> None:
    old = written(fresh, "The boiler was repaired by Pirelli Sanitary.", "2020-01-01")
    new = written(fresh, "Bought two apples.", "2024-01-01")
    assert [episode.id for episode in fresh.knowledge.unread_episodes(5)] == [new, old]
    list(fresh.questions.ask("Who repaired the boiler?"))
    assert fresh.knowledge.unread_episodes(1)[0].id == old
    fresh.knowledge.assert_facts({old: Extraction()}, "m")
    assert [episode.id for episode in fresh.knowledge.unread_episodes(5)] == [new]


def test_wrong_ids_and_words(fresh: Memory) -> None:
    with pytest.raises(NotFoundError):
        fresh.knowledge.undo(7)
    with pytest.raises(NotFoundError):
        fresh.knowledge.fact(7)
    with pytest.raises(InvalidInputError):
        fresh.knowledge.revisions(state="lost")
    assert fresh.knowledge.revisions() == [] and fresh.knowledge.pairs([(1, 2)]) == []


def test_parallel_relations_are_facts_of_their_own(fresh: Memory) -> None:
    tell(fresh, "2023-01-01", "Ana founded Lumen.", ("Ana", "founded", "Lumen"))
    tell(fresh, "2023-01-02", "Ana works at Lumen.", ("Ana", "works at", "Lumen"))
    tell(fresh, "2024-01-02", "Ana works at Orbit.", ("Ana", "works at", "Orbit"))
    assert held(fresh, "Ana") == ["founded Lumen", "works at Orbit"]


def test_what_was_never_true_keeps_no_memory_of_questions(fresh: Memory) -> None:
    tell(fresh, "2023-01-15", "Ana lives in Utrecht.", ("Ana", "lives in", "Utrecht"))
    tell(fresh, "2023-09-03", "Ana moved to Leipzig.", ("Ana", "lives in", "Leipzig"))
    (revision,) = fresh.knowledge.revisions()
    with fresh.store.writing() as conn:
        conn.execute(
            "INSERT INTO edge_memory(edge_id, slot, embedder_id, data, norm, t_last)"
            " SELECT ?, 0, id, x'00', 0.5, 0 FROM embedder LIMIT 1",
            (revision.new.id,),
        )
    fresh.knowledge.settle(revision.id, "old")
    with fresh.store.reading() as conn:
        assert conn.execute("SELECT count(*) FROM edge_memory").fetchone() == (0,)


PLACES = ("Bonn", "Kyiv", "Lima", "Oslo", "Riga")


@examples(1 / 4)
@given(st.permutations(range(len(PLACES))), st.randoms(use_true_random=False))
def test_a_life_in_any_order_is_the_same_life(static: Embedder, order: list[int], random: Random) -> None:
    with Memory.open(":memory:", embedder=static, settings=UNTOLD) as memory:
        for number in order:
            place = PLACES[number]
            tell(memory, f"202{number}-01-01", f"Ana is in {place} now.", ("Ana", "lives in", place))
        for number, place in enumerate(PLACES):
            assert held(memory, "Ana", as_of=day(f"202{number}-06-01")) == [f"lives in {place}"]
        revisions = memory.knowledge.revisions("all", limit=100)
        random.shuffle(revisions)
        for revision in revisions:
            memory.knowledge.undo(revision.id)
        assert all(row[5] is row[6] is row[7] is None for row in state(memory)), "undone in any order"
        assert not memory.maintenance.check().problems


def test_what_was_learnt_is_there_after_opening_again(static: Any, tmp_path: Any) -> None:
    with Memory.open(tmp_path / "m.db", embedder=static, settings=UNTOLD) as memory:
        tell(memory, "2023-01-15", "Ana lives in Utrecht.", ("Ana", "lives in", "Utrecht"))
        tell(memory, "2023-09-03", "Ana moved to Leipzig.", ("Ana", "lives in", "Leipzig"))
        before = memory.state.serving.snapshot.graph.links
    with Memory.open(tmp_path / "m.db", embedder=static, settings=UNTOLD) as memory:
        assert not memory.maintenance.check().problems
        after = memory.state.serving.snapshot.graph.links
        for field in ("ids", "kinds", "src", "dst", "valid_from", "valid_to", "evidence"):
            assert getattr(before, field).tolist() == getattr(after, field).tolist(), field


def test_a_slot_with_very_many_values_is_in_order_too(fresh: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "WHOLE", 8)
    years = list(range(1960, 2020))
    Random(3).shuffle(years)
    text = "Ana moves every year."
    episode = written(fresh, text, "2024-01-01")
    told = (
        relation(text, text, "Ana", "lives in", f"Place {chr(65 + n % 26) * (n - 1959)}", valid_from=day(f"{n}-01-01"))
        for n in years
    )
    fresh.knowledge.assert_facts({episode: Extraction(tuple(told))})
    for year in sorted(years):
        (found,) = held(fresh, "Ana", as_of=day(f"{year}-06-01"))
        assert len(found.removeprefix("lives in Place ")) == year - 1959


@pytest.mark.parametrize(
    ("look", "index"),
    [
        (lambda conn: relations.list_by_slot(conn, 1, 1, 2, 5), "edge_slot"),
        (lambda conn: relations.find_incident(conn, [1], 400), "edge_rel_src"),
        (lambda conn: relations.find_incident(conn, [1], 400), "edge_rel_dst"),
        (lambda conn: facts.list_about(conn, [1], 5, 5), "edge_gone_dst"),
        (lambda conn: facts.list_about(conn, [1], 5, 5, history=True), "edge_gone_src"),
    ],
)
def test_no_look_at_facts_reads_all_edges(fresh: Memory, look: Callable[[Connection], Any], index: str) -> None:
    said: list[str] = []
    with fresh.store.reading() as conn:
        conn.set_trace_callback(said.append)
        look(conn)
        conn.set_trace_callback(None)
        plans = [row[3] for query in said for row in conn.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert any(index in plan for plan in plans), plans
    assert not [plan for plan in plans if re.match(r"SCAN (edge|e|r|p|v|w|provenance|revision)\b", plan)], plans


def test_a_fact_is_quoted_from_where_it_began(fresh: Memory) -> None:
    tell(fresh, "2025-03-01", "I still live in Bonn.", (OWNER, "lives in", "Bonn"))
    tell(fresh, "2022-03-01", "I moved to Bonn.", (OWNER, "lives in", "Bonn"))
    (fact,) = [one for one in fresh.knowledge.facts("me") if one.kind == "relation"]
    assert (str(fact.valid_from)[:10], fact.quote) == ("2022-03-01", "I moved to Bonn."), "what was read first is later"


def listed(memory: Memory, name: str, **how: Any) -> list[str]:
    """All that is known of `name` now, facts and sentences, in words."""
    return sorted(
        f"{one.predicate} {one.objects[1]}" if one.kind == "relation" else one.text
        for one in memory.knowledge.facts(name, **how)
    )


def test_a_sentence_ends_with_the_fact_that_was_read_from_it(fresh: Memory) -> None:
    for at, place in (("2024-01-01", "Mondays"), ("2025-01-01", "Tuesdays")):
        text = f"Corner Mill closes on {place}."
        episode = written(fresh, text, at)
        thesis = ExtractedThesis(
            text=f"The Corner Mill is closed on {place}.", objects=("Corner Mill",), start=0, end=len(text)
        )
        facts = relation(text, text, "Corner Mill", "closes on", place, single=False)
        report = fresh.knowledge.assert_facts({episode: Extraction((facts,), (thesis,))}, "m")
    assert len([one for one in listed(fresh, "Corner Mill") if "Mondays" in one]) == 3
    pair = next(pair for pair in report.undecided if pair[0] >= FIRST_EDGE)
    (revision,) = fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9)], "m")
    known = listed(fresh, "Corner Mill")
    assert not [one for one in known if "Mondays" in one] and len([one for one in known if "Tuesdays" in one]) == 3
    before = listed(fresh, "Corner Mill", as_of=day("2024-06-01"))
    assert len([one for one in before if "Mondays" in one]) == 3
    fresh.knowledge.undo(revision)
    assert len([one for one in listed(fresh, "Corner Mill") if "Mondays" in one]) == 3


def test_a_thesis_without_the_value_that_ended_does_not_end(fresh: Memory) -> None:
    for at, place in (("2024-01-01", "Mondays"), ("2025-01-01", "Tuesdays")):
        text = f"Corner Mill, of two bakers, closes on {place}."
        told = ExtractedThesis(text="Corner Mill has two bakers.", objects=("Corner Mill",), start=0, end=len(text))
        facts = relation(text, text, "Corner Mill", "closes on", place, single=False)
        learnt = fresh.knowledge.assert_facts({written(fresh, text, at): Extraction((facts,), (told,))}, "m")
    pair = next(pair for pair in learnt.undecided if pair[0] >= FIRST_EDGE)
    fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9)], "m")
    assert listed(fresh, "Corner Mill").count("Corner Mill has two bakers.") == 2


def test_a_sentence_that_says_something_else_does_not_end(fresh: Memory) -> None:
    tell(
        fresh,
        "2024-01-01",
        "Ana lives in Vigo and works at Lumen.",
        ("Ana", "lives in", "Vigo"),
        ("Ana", "works at", "Lumen"),
        model="m",
    )
    report = tell(fresh, "2025-01-01", "Ana lives in Porto.", ("Ana", "lives in", "Porto"), model="m")
    (pair,) = report.undecided
    fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9)], "m")
    assert "Ana lives in Vigo and works at Lumen." in listed(fresh, "Vigo")
    assert held(fresh, "Ana") == ["lives in Porto", "works at Lumen"]


def test_what_was_read_from_the_words_of_an_ended_fact_ends_with_it(fresh: Memory) -> None:
    text = "Corner Mill closes on Mondays."
    episode = written(fresh, text, "2024-01-01")
    for predicate, model in (("closes on", "m"), ("has as its closing day", None)):
        claim = relation(text, text, "Corner Mill", predicate, "Mondays", single=False)
        fresh.knowledge.assert_facts({episode: Extraction((claim,))}, model)
    new = ("Corner Mill", "closes on", "Tuesdays")
    report = tell(fresh, "2025-01-01", "Corner Mill closes on Tuesdays.", new, model="m")
    pair = next(pair for pair in report.undecided if pair[0] >= FIRST_EDGE)
    (revision,) = fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9)], "m")
    for verdict in (None, "keep", "open"):
        if verdict is not None:
            fresh.knowledge.settle(revision, verdict)  # type: ignore[arg-type]
        assert not [fact for fact in listed(fresh, "Corner Mill") if "Mondays" in fact]
    *_, answer = fresh.questions.ask("When does Corner Mill close?")
    first, *others = answer.text.splitlines()
    assert "Tuesdays" in first and "Mondays" not in first
    assert any(line.startswith("- earlier: ") and "Mondays" in line for line in others)
    fresh.knowledge.settle(revision, "both")
    assert len([fact for fact in listed(fresh, "Corner Mill") if "Mondays" in fact]) == 3
