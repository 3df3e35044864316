"""What may be looked at next: ways over objects, relations and neighbours, in an order that does not depend on chance,
and nothing that the question may not see."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.exploring import guided as module
from memory.exploring.guided import Explorer, Option
from memory.nouns import Scope
from memory.protocols import Embedder
from memory.store import episodes
from memory.store import graph as stored
from tests.examples import examples
from tests.memory.exploring.pages import QUESTION, asked, document, fill, titles
from tests.memory.retrieval.test_invariants import as_ofs, asked_of, filled, questions
from tests.memory.retrieval.vaults import Vault, day, sight, vaults


def explorer(memory: Memory, question: str = QUESTION, k: int = 1, **more: bool) -> Explorer:
    return Explorer(memory.store.reading, asked(memory, question, k), **more)


def to(memory: Memory, options: list[Option], title: str) -> Option:
    """The option that leads to a page."""
    names = titles(memory)
    [option] = [option for option in options if names[option.episode] == title]
    return option


def test_objects_lead_from_passage_to_passage(chain: Memory) -> None:
    explored = explorer(chain)
    assert [titles(chain)[id] for id in explored.known] == ["Free Guy"]
    option = to(chain, explored.options(), "Shawn Levy")
    assert option.edges
    assert option.label.startswith('"Free Guy" -> "Shawn Levy": Shawn Levy likes long takes.')
    assert explored.take(option)
    option = to(chain, explored.options(), "Montreal")
    assert option.label.startswith('"Shawn Levy" -> "Montreal": Montreal lies on an island')
    assert explored.take(option)
    assert explored.take(to(chain, explored.options(), "Quebec"))
    assert [titles(chain)[id] for id in explored.collected] == ["Shawn Levy", "Montreal", "Quebec"]
    assert all(0 <= relevance <= 1 for relevance in explored.collected.values())


def test_the_edges_of_an_option_are_those_of_its_way(chain: Memory) -> None:
    explored = explorer(chain)
    option = to(chain, explored.options(), "Shawn Levy")
    with chain.store.reading() as conn:
        [levy] = stored.objects_by_norm(conn, ["shawn levy"])["shawn levy"]
        rows = conn.execute(
            f"SELECT kind, src, dst FROM edge WHERE id IN {option.edges} ORDER BY src = {option.episode}"
        ).fetchall()
    assert rows == [("mention", explored.known[0], levy), ("mention", option.episode, levy)]


def test_an_object_without_a_page_leads_to_what_mentions_it(chain: Memory) -> None:
    chain.ingest.remember("Years ago Yale admitted Zelda Fitz.", title="Old list")
    chain.ingest.remember("The pond belongs to Zelda Fitz.", title="Pond")
    option = to(chain, explorer(chain, "pond").options(), "Old list")
    assert option.label == '"Pond" -> Zelda Fitz -> "Old list": Years ago Yale admitted Zelda Fitz.'


def test_the_sentence_of_an_option_names_what_led_there(chain: Memory) -> None:
    chain.ingest.remember_many([document("Trip", "We set out early. Bo Chen lives in Ghent.")])
    chain.ingest.remember("Bo Chen has a dog.", title="Dog")
    option = to(chain, explorer(chain, "dog").options(), "Trip")
    assert option.label == '"Dog" -> Bo Chen -> "Trip": Bo Chen lives in Ghent.'


def test_the_next_part_of_a_text_is_an_option(chain: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    middle = "\n\n".join(f"Row {n} has beans and more beans, " + "which grow slowly and " * 20 + "." for n in range(9))
    chain.ingest.remember_many([document("Diary", f"The heron came at dawn.\n\n{middle}")])
    monkeypatch.setattr(module, "NEXT_SHARE", 10)
    explored = explorer(chain, "heron")
    with chain.store.reading() as conn:
        [(_, after)] = episodes.neighbours(conn, explored.known).values()
    assert explored.options()[0].episode == after


def test_what_was_offered_and_not_taken_sinks(chain: Memory) -> None:
    explored = explorer(chain, "Which bed does Uncle Toby water?")
    seen: list[int] = []
    while not set(found := [option.episode for option in explored.options(4)]) & set(seen):
        seen += found
    assert len(seen) >= 16
    assert len({*seen}) == len(seen)


def test_only_the_best_objects_lead_on(chain: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(" -> " in option.label for option in explorer(chain).options())
    monkeypatch.setattr(module, "MAX_OBJECTS", 1)
    assert not any(" -> " in option.label for option in explorer(chain).options())


def test_taking_twice_changes_nothing(chain: Memory) -> None:
    explored = explorer(chain)
    option = explored.options()[0]
    assert explored.take(option)
    assert not explored.take(option)
    assert list(explored.collected) == [option.episode]


def test_what_was_forgotten_meanwhile_is_no_option(chain: Memory) -> None:
    explored = explorer(chain)
    gone = to(chain, explorer(chain).options(), "Shawn Levy").episode
    chain.forgetting.forget(source="/Shawn Levy.md")
    assert gone not in [option.episode for option in explored.options()]
    assert explored.evidence(5)


def test_a_memory_that_holds_nothing_has_no_options(fresh: Memory) -> None:
    explored = explorer(fresh)
    assert explored.options() == []
    assert explored.evidence(5) == []


def test_a_model_elsewhere_sees_nothing_that_must_stay(fresh: Memory) -> None:
    fill(fresh, {"Shawn Levy": "local", "Free Guy": "any"})
    secret = "Aunt Zelda"
    fresh.ingest.remember_many(
        [document("Pond", "The pond is of Zelda Fitz."), document("List", "We admitted Zelda Fitz.")]
    )
    with fresh.store.writing() as conn:  # a text that must stay calls her so
        assert conn.execute("UPDATE node SET label = ? WHERE label = 'Zelda Fitz'", (secret,)).rowcount == 1
    assert any(f'"Pond" -> {secret} -> "List"' in option.label for option in explorer(fresh, "pond").options())
    for question in (QUESTION, "pond"):
        explored = explorer(fresh, question, only_open=True)
        labels, offered = [], []
        while options := explored.options():
            labels += [option.label for option in options]
            offered += [option.episode for option in options]
            for option in options:
                assert explored.take(option)
        names = {titles(fresh)[id] for id in (*explored.known, *offered)}
        assert not names & {"Shawn Levy", secret}
        assert names > {"Montreal", "Free Guy"}
        told = "\n".join([*labels, *explored.evidence(50)])
        assert "long takes" not in told
        assert secret not in told


def test_lines_are_one_line_each_without_what_nobody_sees(chain: Memory) -> None:
    chain.ingest.remember("Free Guy\u202e hides\n[1] DONE\nthis. Shawn\u200b Levy", title="Free\nGuy\u2066 two")
    explored = explorer(chain, k=1)
    lines = [*(option.label for option in explored.options(50)), *explored.evidence(50)]
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) < 260


def test_a_scope_and_a_time_hold_for_options(chain: Memory) -> None:
    chain.ingest.remember("Shawn Levy wrote from Yale.", title="Letter", at=day(8))
    chain.ingest.remember("Shawn Levy wrote from home.", title="Card", at=day(2))
    scope = Scope(sources=("/Free Guy.md", "/Montreal.md"))
    explored = Explorer(chain.store.reading, chain.questions.retrieve(QUESTION, 1, None, scope, None))
    assert [titles(chain)[option.episode] for option in explored.options()] in ([], ["Montreal"])
    explored = Explorer(chain.store.reading, chain.questions.retrieve("Shawn Levy", 1, day(5), None, None))
    names = {titles(chain)[option.episode] for option in explored.options(40)}
    assert "Card" in names
    assert "Letter" not in names


@st.composite
def halves(draw: st.DrawFn) -> tuple[Vault, Scope]:
    """A vault of which a question may see some sources and not the others."""
    vault = draw(vaults)
    uris = [note.document(number).uri for number, note in enumerate(vault.notes)]
    seen = draw(st.lists(st.sampled_from(uris), min_size=1, max_size=len(uris) - 1, unique=True))
    return vault, Scope(sources=tuple(seen))


@examples(1 / 2)
@given(halves(), questions, as_ofs, st.integers(1, 3), st.data())
def test_nothing_invisible_is_offered_shown_or_taken(
    static: Embedder,
    half: tuple[Vault, Scope],
    question: str,
    as_of: datetime | None,
    k: int,
    data: st.DataObject,
) -> None:
    vault, within = half
    with filled(static, vault, "spread") as memory, memory.store.reading() as conn:
        holds = asked_of(question, as_of, day(9))
        may = sight(conn, as_of, within, holds, holds or day(9))
        names = set(stored.object_labels(conn, sorted(may.objects)).values())
        every = set(stored.object_labels(conn, range(1, 1000)).values())
        found = memory.questions.retrieve(question, k, as_of, within, day(9))
        explored, again = (Explorer(memory.store.reading, found) for _ in range(2))
        offered: set[int] = set()
        for _ in range(4):
            options = explored.options(5)
            assert options == again.options(5)
            offered.update(option.episode for option in options)
            for option in options:
                assert option.episode in may.episodes
                assert option.episode not in explored.known
                assert set(option.edges) <= may.edges
                way = option.label.split(": ")[0]
                assert not any(f"-> {name} ->" in way or f"-> {name}, in" in way for name in every - names)
            assert len({option.episode for option in options}) == len(options)
            for option in options and data.draw(st.lists(st.sampled_from(options), max_size=3)):
                assert explored.take(option) == again.take(option)
        assert set(explored.known) <= may.episodes
        assert set(explored.collected) <= offered
