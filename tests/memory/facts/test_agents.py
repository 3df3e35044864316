"""What an agent writes is its own word: never the owner's, and it takes the place of nothing by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory import Memory
from memory.facts.extraction import Extraction
from memory.nouns import AGENT_NOTES, Answer
from memory.protocols import Embedder
from tests.memory.facts.asserting import day, fresh, held, relation, state_home, tell

__all__ = ["fresh"]

NOTES = {
    "/n/me.md": "# Me\n\nName: Joris Vale\nPhone: 0171 1111\nI live in Utrecht.\n",
}


@pytest.fixture
def life(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        for uri, text in NOTES.items():
            memory.ingest.remember(text, source=uri, at=day("2026-03-01"), title="Me" if "Name:" in text else None)
        yield memory


def say(memory: Memory, text: str, title: str | None = None, at: str = "2026-06-01") -> None:
    """An agent writes a note."""
    memory.ingest.remember(text, title, f"{AGENT_NOTES}bot/{text[:20]}", day(at), speaker="bot (agent)")


def first_source(memory: Memory, question: str) -> str:
    *_, answer = memory.questions.ask(question)
    assert isinstance(answer, Answer)
    return answer.citations[0].uri


def test_what_an_agent_says_instead_waits_for_the_person(life: Memory) -> None:
    state_home(life, "2026-03-01", "Ana", "Bonn", agent=False)
    state_home(life, "2026-06-01", "Ana", "Riga")
    assert held(life, "Ana") == ["lives in Bonn", "lives in Riga"]
    [dispute] = life.knowledge.revisions("open", about="Ana")
    assert (dispute.relation, dispute.old.objects[1], dispute.new.objects[1]) == ("contradicts", "Bonn", "Riga")
    assert "agent" in dispute.reason
    assert first_source(life, "Where does Ana live?") == "/n/Bonn.md"
    life.knowledge.settle(dispute.id, "keep")
    assert held(life, "Ana") == ["lives in Riga"]
    life.knowledge.undo(dispute.id)
    assert held(life, "Ana") == ["lives in Bonn", "lives in Riga"]


def test_an_older_note_that_is_read_later_is_not_replaced_either(life: Memory) -> None:
    state_home(life, "2026-06-01", "Kit", "Riga")
    state_home(life, "2026-02-01", "Kit", "Bonn", agent=False)
    assert held(life, "Kit") == ["lives in Bonn", "lives in Riga"]
    assert ("contradicts", "open") in {
        (row.relation, row.state) for row in life.knowledge.revisions("open", about="Kit")
    }


def test_of_two_words_of_agents_the_newer_one_holds_and_the_persons_ends_both(life: Memory) -> None:
    state_home(life, "2026-05-01", "Kit", "Riga")
    state_home(life, "2026-06-01", "Kit", "Oslo")
    assert held(life, "Kit") == ["lives in Oslo"]
    state_home(life, "2026-06-02", "Kit", "Graz", agent=False)
    assert held(life, "Kit") == ["lives in Graz"]


def test_an_agent_ends_nothing_and_moves_no_beginning(fresh: Memory) -> None:
    tell(fresh, "2026-03-01", "Ana works at Acme.", ("Ana", "works at", "Acme"), valid_from=day("2026-02-01"))
    for at, modality in (("2026-06-01", "negated"), ("2020-01-01", "asserted")):
        text = f"Ana and Acme, {modality}."
        receipt = fresh.ingest.remember(text, source=f"{AGENT_NOTES}bot/{modality}", at=day(at), speaker="bot (agent)")
        fact = relation(text, text, "Ana", "works at", "Acme", modality=modality)
        fresh.knowledge.assert_facts({receipt.episode_ids[0]: Extraction((fact,))})
    [fact] = [one for one in fresh.knowledge.facts("Ana") if one.kind == "relation" and one.modality == "asserted"]
    assert (fact.valid_from, fact.valid_to) == (day("2026-02-01"), None)
    assert [one.relation for one in fresh.knowledge.revisions()] == ["contradicts"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("User: My phone changed from 0171 1111 to 0171 9999.\nUser: I moved from Utrecht to Lisbon.", None),
        ("Me: I moved from Utrecht to Lisbon.\n\nOwner: my phone is now 0171 9999.", None),
        ("I moved from Utrecht to Lisbon. My phone: 0171 9999", None),
        ("Name: Eve Mallory\nPhone: 0171 9999\n", "Me"),
        ("# About me\n\nName: Eve Mallory\nPhone: 0171 9999\n", "About me"),
    ],
)
def test_no_words_of_an_agent_are_the_owners(life: Memory, text: str, title: str | None) -> None:
    before = held(life, "me")
    say(life, text, title)
    assert held(life, "me") == before
    assert [*life.state.list_owner_names()] == ["Joris Vale"]
    assert first_source(life, "What is my phone?") == "/n/me.md"


def test_what_an_agent_tells_of_the_owner_stands_behind_their_own_words(life: Memory) -> None:
    say(life, "Joris Vale moved from Utrecht to Lisbon.")
    assert first_source(life, "Where do I live?") == "/n/me.md"


def test_an_agents_word_alone_is_an_answer(life: Memory) -> None:
    say(life, "The staging server of project Heron runs on port 8443.")
    assert first_source(life, "On which port does the staging server of Heron run?").startswith(AGENT_NOTES)
