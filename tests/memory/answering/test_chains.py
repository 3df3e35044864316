"""A question in two steps is answered by two lines: that which answers, and that which leads to it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from memory.nouns import Answer, Document, Step
from memory.protocols import Embedder
from memory.settings import AnswerSettings, MemorySettings
from memory.store import episodes

NOTES = {
    "The Salt Road": "The Salt Road is a film directed by Ilse Maron. It was shown in five towns.",
    "Ilse Maron": "Ilse Maron was born in Tavira. Her mother ran a bakery.",
    "The Glass Road": "The Glass Road is a film directed by Piet Aalders. It was never shown.",
    "Piet Aalders": "Piet Aalders was born in Delft. He kept bees.",
    "Road films": "A film about a road has to be directed with patience. The birth of a film takes years.",
    "Tavira": "Tavira lies on the river Gilão. The salt pans are south of it.",
    "Bakery": "The bakery opens at six. Bread is cheaper after noon.",
}
QUESTION = "Where was the director of The Salt Road born?"


def documents(titles: Sequence[str] = tuple(NOTES)) -> list[Document]:
    return [Document(f"/{title}.md", NOTES[title], title=title) for title in titles]


def asked(memory: Memory, question: str) -> tuple[Answer, dict[str, Any]]:
    events = list(memory.ask(question))
    *_, step = [event for event in events if isinstance(event, Step) and event.name == "answer"]
    assert isinstance(events[-1], Answer)
    return events[-1], dict(step.detail)


def test_both_steps_are_cited_in_their_order(fresh: Memory) -> None:
    fresh.remember_many(documents())
    answer, detail = asked(fresh, QUESTION)
    quotes = [citation.quote for citation in answer.citations]
    assert quotes[:2] == ["The Salt Road is a film directed by Ilse Maron.", "Ilse Maron was born in Tavira."]
    assert detail["chain"] == ["The Salt Road -> [1] -> Ilse Maron -> [2] -> Tavira"]
    assert detail["bridging"] == [2]
    assert detail["chains"] > 1
    assert all("Piet" not in quote for quote in quotes[:2])


def test_of_two_that_are_compared_each_is_followed(fresh: Memory) -> None:
    fresh.remember_many(documents())
    answer, detail = asked(fresh, "Whose director was born in Delft, The Salt Road or The Glass Road?")
    cited = {citation.title for citation in answer.citations}
    assert {"The Salt Road", "Ilse Maron", "The Glass Road", "Piet Aalders"} <= cited
    assert detail["chain"][:2] == [
        "The Glass Road -> [1] -> Piet Aalders -> [2] -> Delft",
        "The Salt Road -> [3] -> Ilse Maron -> [4] -> Tavira",
    ]


def test_the_best_line_stays_first_and_chains_can_be_left_out(tmp_path: Path, static: Embedder) -> None:
    firsts = []
    for chains in (True, False):
        settings = MemorySettings(answer=AnswerSettings(chains=chains))
        with Memory.open(tmp_path / f"{chains}.db", embedder=static, settings=settings) as memory:
            memory.remember_many(documents())
            answer, detail = asked(memory, QUESTION)
        firsts.append(answer.citations[0].quote)
        assert len(answer.citations) <= settings.answer.lines
        assert bool(detail["chains"]) == chains
    assert firsts[0] == firsts[1]


def test_a_line_that_does_not_hold_bridges_nothing(fresh: Memory) -> None:
    fresh.remember_many(documents())
    with fresh.store.writing() as conn:
        [(thesis,)] = conn.execute("SELECT id FROM thesis_content WHERE body LIKE '%born in Tavira%'").fetchall()
        conn.execute("UPDATE thesis SET valid_to = 1 WHERE node_id = ?", (thesis,))
    answer, detail = asked(fresh, QUESTION)
    assert "born in Tavira" not in answer.text
    assert all("Tavira" not in chain for chain in detail["chain"])


def test_what_is_not_recalled_costs_nothing(fresh: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No thesis of an episode that was not recalled is read, however many there are."""
    fresh.remember_many(documents())
    fresh.remember_many([Document(f"/{n}.md", f"Ilse Maron wrote letter {n}.", title=f"Letter {n}") for n in range(40)])
    read: list[int] = []
    original = episodes.theses_of

    def counted(conn: Any, ids: Sequence[Any]) -> Any:
        found = original(conn, ids)
        read.extend(thesis.id for thesis in found)
        return found

    monkeypatch.setattr(episodes, "theses_of", counted)
    _, detail = asked(fresh, QUESTION)
    assert detail["considered"] == len(read) <= 2 * fresh.settings.answer.episodes


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_writing_does_not_matter(tmp_path: Path, static: Embedder, seed: int) -> None:
    def said(titles: Sequence[str], name: str) -> tuple[str, dict[str, Any]]:
        with Memory.open(tmp_path / name, embedder=static) as memory:
            for document in documents(titles):
                memory.remember_many([document])
            answer, detail = asked(memory, QUESTION)
            with memory.store.reading() as conn:
                bridged = [one.title for one in episodes.by_ids(conn, detail["bridged"])]
            return answer.text, detail | {"bridged": sorted(bridged)}

    shuffled = list(NOTES)
    random.Random(seed).shuffle(shuffled)
    assert said(shuffled, "shuffled.db") == said(list(NOTES), "plain.db")
