"""Names in facts: what they stand for, other names for the same, and a person who says which are one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.facts.extraction import OWNER, ExtractedObject, Extraction
from tests.memory.facts.asserting import UNTOLD, fresh, held, relation, tell, written

__all__ = ["fresh"]


def test_names_are_resolved_in_their_passage(fresh: Memory) -> None:
    sole, iwu = ExtractedObject("Marta Sole", "person", ("Marta",)), ExtractedObject("Marta Iwu", "person")
    for at, told, place in (("2023-01-01", sole, "Lisbon"), ("2023-02-01", iwu, "Malmö")):
        text = f"{told.name} is here. Marta lives in {place}."
        episode = written(fresh, text, at)
        fresh.knowledge.assert_facts(
            {episode: Extraction((relation(text, text, "Marta", "lives in", place),), (), (told,))}, "m"
        )
    assert held(fresh, "Marta Sole") == ["lives in Lisbon"]
    assert held(fresh, "Marta Iwu") == ["lives in Malmö"]
    assert fresh.knowledge.revisions(state="all") == [], "they are two persons"


@pytest.mark.parametrize(("written_as", "name"), [("buffer_size", "buffer_size"), ("_Ada Lunn_", "Ada Lunn")])
def test_a_name_loses_its_markup_and_no_part_of_itself(fresh: Memory, written_as: str, name: str) -> None:
    text = f"The parser uses {written_as}."
    episode = written(fresh, text, "2023-01-01")
    read = Extraction((relation(text, text, "parser", "uses", written_as),), (), ())
    fresh.knowledge.assert_facts({episode: read}, "m")
    assert held(fresh, "parser") == [f"uses {name}"]


def test_an_alias_finds_both(fresh: Memory) -> None:
    circle = ExtractedObject("Vertalerskring Oost", "organisation", ("VKO",))
    tell(fresh, "2023-01-01", "VKO dues are 50.", ("VKO", "annual dues", "50"))
    text = "Vertalerskring Oost (VKO) now asks 60 a year."
    episode = written(fresh, text, "2024-01-01")
    told = relation(text, text, "VKO", "annual dues", "60")
    fresh.knowledge.assert_facts({episode: Extraction((told,), (), (circle,))})
    assert held(fresh, "VKO") == ["annual dues 60"]


def test_the_owner_gets_a_name_later(static: Any, tmp_path: Any) -> None:
    with Memory.open(tmp_path / "m.db", embedder=static, settings=UNTOLD) as memory:
        tell(memory, "2023-01-01", "I live in Utrecht.", (OWNER, "lives in", "Utrecht"))
    settings = replace(UNTOLD, owner_names=("Ana Ruiz",))
    with Memory.open(tmp_path / "m.db", embedder=static, settings=settings) as memory:
        tell(memory, "2024-01-01", "Ana Ruiz has moved.", ("Ana", "lives in", "Leipzig"))
        assert held(memory, "me") == held(memory, "Ana Ruiz") == ["lives in Leipzig"]


@pytest.mark.parametrize("other", ["", "Ana Sole has moved."])
def test_the_first_name_of_the_owner_is_theirs_unless_somebody_shares_it(
    static: Any, tmp_path: Any, other: str
) -> None:
    with Memory.open(tmp_path / "m.db", embedder=static, settings=UNTOLD) as memory:
        for text in filter(None, (other, "Ask Ana about the loom.")):
            written(memory, text, "2024-01-01")
    settings = replace(UNTOLD, owner_names=("Ana Ruiz",))
    with Memory.open(tmp_path / "m.db", embedder=static, settings=settings) as memory:
        facts = memory.knowledge.facts("Ana Ruiz")
    assert [fact.text for fact in facts] == ([] if other else ["Ask Ana about the loom."])


def test_a_name_that_nothing_has_gets_those_that_begin_so_or_are_nearly_it(fresh: Memory) -> None:
    with pytest.raises(NotFoundError, match=r"nothing has been read yet\. .* pal add"):
        fresh.knowledge.facts("Felix")
    tell(fresh, "2023-01-15", "Felix Oberholz lives in Utrecht.", ("Felix Oberholz", "lives in", "Utrecht"))
    for part in ("felix o", "oberholz"):
        with pytest.raises(NotFoundError, match=rf"about '{part}'\. One .* words: pal facts 'Felix Oberholz'$"):
            fresh.knowledge.facts(part)
    for slip in ("Felixx", "Felix Oberhols", "Felxi Oberholz"):
        with pytest.raises(NotFoundError, match=r"Known names: .*Felix Oberholz"):
            fresh.knowledge.facts(slip)
    with pytest.raises(NotFoundError, match=r"Nothing is known about 'Xaver'\.$"):
        fresh.knowledge.facts("Xaver")


def test_a_person_says_that_two_are_one_and_that_they_are_not(fresh: Memory) -> None:
    tell(fresh, "2023-01-15", "Liz lives in Utrecht.", ("Liz", "lives in", "Utrecht"))
    tell(fresh, "2023-09-03", "Elizabeth moved to Leipzig.", ("Elizabeth", "lives in", "Leipzig"))
    assert (held(fresh, "Liz"), fresh.knowledge.revisions()) == (["lives in Utrecht"], [])
    fresh.knowledge.join_names("Liz", "Elizabeth")
    assert held(fresh, "Liz") == held(fresh, "Elizabeth") == ["lives in Leipzig", "lives in Utrecht"]
    with pytest.raises(InvalidInputError):
        fresh.knowledge.join_names("Elizabeth", "Liz")
    fresh.knowledge.separate_names("Elizabeth", "Liz")
    assert (held(fresh, "Liz"), held(fresh, "Elizabeth")) == (["lives in Utrecht"], ["lives in Leipzig"])
    with pytest.raises(InvalidInputError):
        fresh.knowledge.separate_names("Liz", "Elizabeth")


def test_an_alias_that_a_model_took_wrongly_is_taken_away(fresh: Memory) -> None:
    tell(fresh, "2023-01-15", "Berg costs 5.", ("Berg", "price", "5"))
    text = "Bergson, called Berg, costs 7."
    told = relation(text, text, "Bergson", "price", "7", single=False)
    telling = Extraction((told,), (), (ExtractedObject("Bergson", "product", ("Berg",)),))
    fresh.knowledge.assert_facts({written(fresh, text, "2024-01-15"): telling}, "m")
    assert held(fresh, "Berg") == ["price 5", "price 7"]
    fresh.knowledge.separate_names("Berg", "Bergson")
    assert (held(fresh, "Berg"), held(fresh, "Bergson")) == (["price 5"], ["price 7"])
