"""Consolidation, through the library's door: what was told twice is one, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.edge_memory.edges import ENOUGH
from memory.edge_memory.reinforce import Credit, reinforce_edges
from memory.errors import NotFoundError
from memory.facts.extraction import OWNER, ExtractedRelation, Extraction
from memory.nouns import Answer, Citation, Fact, Trace
from memory.protocols import Embedder
from memory.services import maintenance
from memory.settings import MemorySettings
from memory.store import edge_memory, facts, queries, relations, traces, vectors
from memory.store.edge_memory import Slots
from memory.views import ConsolidationReport
from tests.examples import examples

STALE = "SELECT count(*) FROM edge_memory m JOIN edge e ON e.id = m.edge_id WHERE e.t_expired IS NOT NULL"
UNTOLD = MemorySettings(rules=False)
PLACES = ("Utrecht", "Leipzig", "Riga")
DAYS = ("2021-01-01", "2022-01-01", "2023-01-01", "2024-01-01")
Twice = tuple[str, str, str, str, str | None, str | None]


@pytest.fixture
def fresh(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=static, settings=UNTOLD) as memory:
        yield memory


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def tell(memory: Memory, at: str, subject: str, object: str, predicate: str = "lives in") -> int:
    """A note of that day that tells the relation, as a model reads it; its episode."""
    text = f"{subject} {predicate} {object}."
    episode = memory.ingest.remember(text, source=f"{at} {text}", at=day(at)).episode_ids[0]
    told = ExtractedRelation(subject=subject, predicate=predicate, object=object, start=0, end=len(text))
    memory.knowledge.assert_facts({episode: Extraction((told,))}, "a model")
    return episode


def again(memory: Memory, at: str, subject: str, object: str, predicate: str = "lives in", **more: Any) -> int:
    """The same relation a second time, as another id: how that comes about depends on the life of a memory (a name for
    who was nameless, what stood in between forgotten), so it is made here as `relations` makes it."""
    text = f"It is {at}. {subject} {predicate} {object}."
    episode = memory.ingest.remember(text, source=f"{at} {text}", at=day(at)).episode_ids[0]
    with memory.knowledge.transaction() as asserter:
        found = asserter._resolver.resolve
        pred, _ = relations.ensure_predicate(asserter.conn, predicate, "lives in")
        start, end = (int(more.get(key, day(at)).timestamp() * 1000) if more.get(key, 1) else None
                      for key in ("valid_from", "valid_to"))  # fmt: skip
        end = end if "valid_to" in more else None
        id = relations.insert(
            asserter.conn, found(subject), pred, found(object), more.get("modality", "asserted"), 1.0, start, end, 1
        )
        relations.add_evidence(asserter.conn, id, episode, 0, len(text), "a model")
        asserter._new.append(id)
        facts.put_vectors(asserter.conn, asserter._embedder, [id])
    return id


def held(memory: Memory, name: str, **how: Any) -> list[str]:
    return sorted(f"{f.predicate} {f.objects[1]}" for f in memory.knowledge.facts(name, **how) if f.kind == "relation")


def stored(memory: Memory) -> list[Any]:
    """All that a consolidation may change, and a person can take back."""
    with memory.store.reading() as conn:
        return [
            conn.execute(query).fetchall()
            for query in (
                "SELECT id, src, dst, pred_id, valid_from, valid_to, superseded_by, t_expired, modality FROM edge"
                " ORDER BY id",
                "SELECT item_kind, item_id, episode_id, span_from, span_to, extractor FROM provenance ORDER BY 1, 2, 3",
                "SELECT * FROM edge_memory ORDER BY edge_id, slot",
                "SELECT id, relation, old_id, new_id, state FROM revision WHERE state <> 'undone' ORDER BY id",
                "SELECT * FROM alias ORDER BY norm, node_id",
                "SELECT item_id, field, old, new, revision_id FROM journal ORDER BY id",
            )
        ]


def test_an_empty_memory_is_in_order(fresh: Memory) -> None:
    assert fresh.maintenance.consolidate() == ConsolidationReport()
    assert fresh.maintenance.check().problems == ()


def test_what_was_stated_twice_is_one_fact_that_both_notes_tell(fresh: Memory) -> None:
    first = tell(fresh, "2021-01-01", "Ana", "Utrecht")
    twice = again(fresh, "2022-01-01", "Ana", "Utrecht", "resides in")
    assert held(fresh, "Ana") == ["lives in Utrecht", "resides in Utrecht"]
    before = stored(fresh)
    assert fresh.maintenance.consolidate().joined == 1
    (fact,) = [fact for fact in fresh.knowledge.facts("Ana") if fact.kind == "relation"]
    assert (fact.predicate, fact.valid_from, fact.episode_id) == ("lives in", day("2021-01-01"), first)
    (revision,) = fresh.knowledge.revisions("kept")
    assert (revision.relation, revision.author, revision.new.id) == ("duplicates", "rule", twice)
    assert fresh.knowledge.revisions() == [], "nobody has to look at it"
    with fresh.store.reading() as conn:
        assert len(relations.get_many(conn, [fact.id])[0].sources) == 2
    after = stored(fresh)
    assert fresh.maintenance.consolidate().joined == 0 and stored(fresh) == after
    fresh.knowledge.undo(revision.id)
    assert stored(fresh) == before
    assert fresh.maintenance.consolidate().joined == 0, "a person has said that they are two"
    assert stored(fresh) == before and fresh.maintenance.check().problems == ()


def test_a_name_for_whose_memory_it_is_shows_its_facts_and_moves_none(tmp_path: Path, static: Embedder) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=static, settings=UNTOLD) as memory:
        tell(memory, "2021-01-01", OWNER, "Utrecht")
        tell(memory, "2022-01-01", "Mira Jansen", "Utrecht")
        assert memory.maintenance.consolidate().joined == 0, "nobody has said that they are one"
    named = replace(UNTOLD, owner_names=("Mira Jansen",))
    with Memory.open(tmp_path / "memory.db", embedder=static, settings=named) as memory:
        tell(memory, "2023-01-01", OWNER, "a dog", "owns")
        assert held(memory, "Mira Jansen") == ["lives in Utrecht", "lives in Utrecht", "owns a dog"]
        assert memory.maintenance.consolidate().joined == 0, "whose name it is may turn out otherwise"
        assert held(memory, "me") == ["lives in Utrecht", "lives in Utrecht", "owns a dog"]


def test_what_is_left_when_replacements_are_taken_back(fresh: Memory) -> None:
    for at, place in (("2021-01-01", "Utrecht"), ("2022-01-01", "Riga"), ("2023-01-01", "Utrecht")):
        text = f"On {at} Ana lives in {place}."
        episode = fresh.ingest.remember(text, source=at, at=day(at)).episode_ids[0]
        fresh.knowledge.assert_facts(
            {
                episode: Extraction(
                    (ExtractedRelation(subject="Ana", predicate="lives in", object=place, start=0, end=5, single=True),)
                )
            }
        )
    assert held(fresh, "Ana") == ["lives in Utrecht"]
    for revision in fresh.knowledge.revisions("all"):
        fresh.knowledge.undo(revision.id)
    assert held(fresh, "Ana") == ["lives in Riga", "lives in Utrecht", "lives in Utrecht"]
    assert fresh.maintenance.consolidate().joined == 1
    assert held(fresh, "Ana") == ["lives in Riga", "lives in Utrecht"]
    assert held(fresh, "Ana", as_of=day("2021-06-01")) == ["lives in Utrecht"]


def test_it_is_shown_as_long_as_one_of_the_notes_is_there(fresh: Memory) -> None:
    tell(fresh, "2021-01-01", "Ana", "Utrecht")
    again(fresh, "2022-01-01", "Ana", "Utrecht")
    fresh.maintenance.consolidate()
    fresh.forgetting.forget(source="2021-01-01 Ana lives in Utrecht.")
    assert held(fresh, "Ana") == ["lives in Utrecht"]
    assert fresh.maintenance.check().problems == ()
    fresh.knowledge.undo(fresh.knowledge.revisions("kept")[0].id)
    assert set(held(fresh, "Ana")) == {"lives in Utrecht"}
    assert fresh.maintenance.check().problems == ()


def test_what_comes_between_takes_them_apart(fresh: Memory) -> None:
    text = "Ana lives in {}."
    for at, place in (("2021-01-01", "Utrecht"), ("2023-01-01", "Utrecht")):
        (tell if at < "2022" else again)(fresh, at, "Ana", place)
    assert fresh.maintenance.consolidate().joined == 1
    episode = fresh.ingest.remember(text.format("Riga"), source="late", at=day("2022-01-01")).episode_ids[0]
    told = ExtractedRelation(subject="Ana", predicate="lives in", object="Riga", start=0, end=5, single=True)
    fresh.knowledge.assert_facts({episode: Extraction((told,))})
    assert held(fresh, "Ana", as_of=day("2021-06-01")) == ["lives in Utrecht"]
    assert held(fresh, "Ana", as_of=day("2022-06-01")) == ["lives in Riga"]
    assert held(fresh, "Ana") == ["lives in Utrecht"], "that was told after it"
    assert fresh.maintenance.check().problems == ()


@pytest.mark.parametrize(
    "other",
    [
        lambda memory: again(memory, "2022-01-01", "Ana", "Leipzig"),
        lambda memory: again(memory, "2022-01-01", "Ben", "Utrecht"),
        lambda memory: again(memory, "2022-01-01", "Ana", "Utrecht", modality="plan"),
        lambda memory: again(memory, "2022-01-01", "Ana", "Utrecht", valid_to=day("2022-06-01")),
    ],
    ids=["another value", "another subject", "only planned", "another end"],
)
def test_what_is_not_the_same_stays(fresh: Memory, other: Callable[[Memory], int]) -> None:
    tell(fresh, "2021-01-01", "Ana", "Utrecht")
    other(fresh)
    before = stored(fresh)
    assert fresh.maintenance.consolidate().joined == 0
    assert stored(fresh) == before


def test_memory_of_edges_that_are_gone_goes(fresh: Memory) -> None:
    tell(fresh, "2021-01-01", "Ana", "Utrecht")
    (fact,) = [fact for fact in fresh.knowledge.facts("Ana") if fact.kind == "relation"]
    slot, one = np.zeros((1, fresh.embedder.dimension), np.float16), np.ones(1, np.int64)
    with fresh.store.writing() as conn:
        edge_memory.put(conn, fresh.state.serving.embedder_id, {fact.id: Slots(slot, one, one, one)})
        conn.execute("UPDATE edge SET t_expired = 1 WHERE id = ?", (fact.id,))
        assert conn.execute(STALE).fetchone() == (1,)
    assert fresh.maintenance.consolidate().stale == 1
    with fresh.store.reading() as conn:
        assert conn.execute(STALE).fetchone() == (0,)


def test_what_has_no_vector_gets_one(fresh: Memory) -> None:
    episode = tell(fresh, "2021-01-01", "Ana", "Utrecht")
    assert list(fresh.questions.ask("Where does Ana live?"))
    serving = fresh.state.serving.embedder_id
    with fresh.store.writing() as conn:
        vectors.delete_many(conn, [episode])
        conn.execute("DELETE FROM query")
        asked = len(queries.list_missing(conn, serving))
    assert asked == 1
    report = fresh.maintenance.consolidate()
    assert (report.episodes, report.questions) == (1, 1)
    with fresh.store.reading() as conn:
        assert vectors.list_missing(conn, serving, 9) == [] == queries.list_missing(conn, serving)
    row = fresh.state.serving.snapshot.graph.row_of[episode]
    assert fresh.state.serving.snapshot.vectors is not None
    assert np.isclose(np.linalg.norm(fresh.state.serving.snapshot.vectors[row]), 1), (
        "questions find it by its vector again"
    )
    assert fresh.maintenance.check().problems == ()
    assert fresh.maintenance.consolidate() == ConsolidationReport()


def test_names_that_may_be_one_are_listed_and_not_merged(fresh: Memory) -> None:
    tell(fresh, "2021-01-01", "Katharina Brandl", "0161 496 0355", "phone")
    tell(fresh, "2021-01-02", "Katharina Brandel", "0161 496 0355", "phone")
    before = stored(fresh)
    listed = fresh.knowledge.list_alias_suspects()
    assert {"Katharina Brandl", "Katharina Brandel"} in [{pair.one, pair.other} for pair in listed]
    assert stored(fresh) == before
    for pair in listed:
        fresh.knowledge.join_names(pair.one, pair.other)
    assert fresh.knowledge.list_alias_suspects() == (), "that is settled"


def test_it_breaks_off_between_two_units(fresh: Memory) -> None:
    for place in PLACES:
        tell(fresh, "2021-01-01", f"Ana {place}", place)
        again(fresh, "2022-01-01", f"Ana {place}", place)
    units: list[int] = []

    def write(unit: Callable[[], Any]) -> Any:
        units.append(1)
        return unit()

    report = fresh.maintenance.consolidate(write=write, cancelled=lambda: len(units) == 2)
    assert report.stopped and report.joined == len(PLACES) and len(units) == 2
    assert not fresh.maintenance.consolidate().stopped


told_facts = st.lists(
    st.tuples(
        st.sampled_from(("Ana", "Ben")),
        st.sampled_from(PLACES),
        st.sampled_from(DAYS),
        st.sampled_from((None, *DAYS)),
        st.sampled_from((None, "2024-06-01")),
        st.sampled_from(("asserted", "plan", "past")),
        st.booleans(),
    ),
    min_size=1,
    max_size=8,
)


def served(memory: Memory) -> set[tuple[Any, ...]]:
    """What is served of anybody at any of these times, but for ids and for how often it is said. The words of a
    predicate are the first's."""

    def row(fact: Fact, at: str) -> tuple[Any, ...]:
        return at, fact.objects, fact.modality, fact.valid_to

    return {
        row(fact, at)
        for name in ("Ana", "Ben")
        for at in (*DAYS, "2024-12-01")
        for fact in memory.knowledge.facts(name, as_of=day(at))
        if fact.kind == "relation"
    }


@examples(1 / 4)
@given(rows=told_facts)
def test_nothing_else_changes_and_undo_restores(static: Embedder, rows: list[Any]) -> None:
    with Memory.open(":memory:", embedder=static, settings=UNTOLD) as memory:
        for name in ("Ana", "Ben"):
            tell(memory, "2020-01-01", name, "Bonn", "works in")
        for subject, place, at, since, until, modality, plain in rows:
            if plain:
                tell(memory, at, subject, place)
            else:
                more: dict[str, Any] = {"valid_to": day(until)} if until else {}
                again(memory, at, subject, place, valid_from=day(since) if since else None, modality=modality, **more)
        before, seen = stored(memory), served(memory)
        memory.maintenance.consolidate()
        assert served(memory) == seen
        after = stored(memory)
        assert memory.maintenance.consolidate().joined == 0 and stored(memory) == after
        assert memory.maintenance.check().problems == ()
        for revision in memory.knowledge.revisions("kept"):
            memory.knowledge.undo(revision.id)
        assert stored(memory) == before


class Asked:
    """Questions about what a memory was told, each learnt from as if it had been answered."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.episodes = [tell(memory, "2021-01-01", f"Ana {place}", place) for place in PLACES]
        with memory.store.reading() as conn:
            self.edges = [id for (id,) in conn.execute("SELECT id FROM edge WHERE kind = 'rel' ORDER BY id")]

    def ask(self, count: int) -> None:
        memory = self.memory
        of, known = memory.state.edge_memory
        with memory.store.writing() as conn:
            for n in range(count):
                place = n % len(PLACES)
                cited = Citation(1, self.episodes[place], "a", "A title", "Ana")
                now, text = 1000 + n, f"Where does Ana number {n} live?"
                trace = traces.store(conn, Trace(text), Answer("There. [1]", (cited,), model="m"), now)
                edge = self.edges[n % len(self.edges)]
                credit = Credit(True, {edge: 4}, (self.episodes[place],), (), {}, {}, (edge,), ())
                known = reinforce_edges(conn, known, of, trace, memory.embedder.embed_query(text), credit, now)
        memory.state.edge_memory = of, known

    def rows(self) -> list[Any]:
        with self.memory.store.reading() as conn:
            return conn.execute("SELECT * FROM edge_memory ORDER BY edge_id, slot").fetchall()

    def center(self) -> int:
        """Of how many questions the center is that is stored, and that questions are compared by."""
        of, known = self.memory.state.edge_memory
        with self.memory.store.reading() as conn:
            assert queries.geometry(conn, of).n == known.geometry.n
        return known.geometry.n


def test_questions_are_compared_again_while_others_are_asked(fresh: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "EDGES_FOLDED", 2)
    asked = Asked(fresh)
    asked.ask(ENOUGH)
    before, waited = asked.rows(), 0

    def write(unit: Callable[[], Any]) -> Any:
        nonlocal waited
        waited += 1
        if waited in (3, 4):  # where edges are made anew
            asked.ask(1)
            fresh.questions.feedback(1, ("bad", "good")[waited - 3])
            assert asked.center() == 0
        return unit()

    assert fresh.maintenance.consolidate(write=write).recentred
    assert waited > 4 and asked.center() == ENOUGH
    after = asked.rows()
    assert after != before and fresh.maintenance.rebuild_edge_memory() > 3 and asked.rows() == after
    assert not fresh.maintenance.consolidate().recentred


def test_what_is_forgotten_meanwhile_is_in_nothing_that_is_made_again(
    fresh: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "EDGES_FOLDED", 2)
    asked = Asked(fresh)
    asked.ask(2 * ENOUGH)
    gone = asked.episodes[0]

    def write(unit: Callable[[], Any]) -> Any:
        with suppress(NotFoundError):
            fresh.forgetting.forget(episode=gone)
        return unit()

    fresh.maintenance.recentre(write, fresh.state.edge_memory[0], fresh.embedder.dimension)
    assert asked.center() == 0, "it was made of questions that are forgotten"
    assert fresh.maintenance.consolidate().recentred
    assert ENOUGH < asked.center() < 2 * ENOUGH
    after = asked.rows()
    fresh.maintenance.rebuild_edge_memory()
    assert asked.rows() == after
