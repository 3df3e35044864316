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
    events = list(memory.questions.ask(question))
    *_, step = [event for event in events if isinstance(event, Step) and event.name == "answer"]
    assert isinstance(events[-1], Answer)
    return events[-1], dict(step.detail)


def test_both_steps_are_cited_in_their_order(fresh: Memory) -> None:
    fresh.ingest.remember_many(documents())
    answer, detail = asked(fresh, QUESTION)
    quotes = [citation.quote for citation in answer.citations]
    assert quotes[:2] == ["The Salt Road is a film directed by Ilse Maron.", "Ilse Maron was born in Tavira."]
    assert detail["chain"] == [
        "The Salt Road - is a film directed by -> Ilse Maron [1]; Ilse Maron - was born in -> Tavira [2]"
    ]
    assert all("Piet" not in quote for quote in quotes[:2])


def test_of_two_that_are_compared_each_is_followed(fresh: Memory) -> None:
    fresh.ingest.remember_many(documents())
    answer, detail = asked(fresh, "Whose director was born in Delft, The Salt Road or The Glass Road?")
    cited = {citation.title for citation in answer.citations}
    assert {"The Salt Road", "Ilse Maron", "The Glass Road", "Piet Aalders"} <= cited
    assert detail["chain"][:2] == [
        "The Glass Road - is a film directed by -> Piet Aalders [1]; Piet Aalders - was born in -> Delft [2]",
        "The Salt Road - is a film directed by -> Ilse Maron [3]; Ilse Maron - was born in -> Tavira [4]",
    ]


WORK = {  # three steps from Ana to Hammerfest, and others that were born somewhere
    "2026-05-01": "Ana works at Nordlys now. She likes tea.",
    "2026-05-03": "Heard that Nordlys is led by Tobias Renn. Its office is in Bergen.",
    "2026-05-09": "Tobias Renn was born in Hammerfest. He skis.",
    "2026-05-11": "Corner Mill closes on Mondays. Bo works at Corner Mill. Bo was born in Delft.",
}


def test_three_steps_are_three_lines_each_with_its_source(fresh: Memory) -> None:
    fresh.ingest.remember_many([Document(f"/{day}.md", text, title=day) for day, text in WORK.items()])
    answer, detail = asked(fresh, "Where was the person born who leads the company Ana works at?")
    assert [citation.title for citation in answer.citations][:3] == ["2026-05-01", "2026-05-03", "2026-05-09"]
    assert [line.text for line in answer.lines][1:3] == [
        "Heard that Nordlys is led by Tobias Renn.", "Tobias Renn was born in Hammerfest.",
    ]  # fmt: skip
    steps = (
        "Ana - works at -> Nordlys [1]",
        "Nordlys - is led by -> Tobias Renn [2]",
        "Tobias Renn - was born in -> Hammerfest [3]",
    )
    assert detail["chain"] == ["; ".join(steps)]
    answer, detail = asked(fresh, "Who leads the company that Ana works at?")
    assert detail["chain"] == ["; ".join(steps[:2])], "where he was born is not asked"


YARD = {
    "Marta": "Marta works at Lindqvist Rope. She cycles there.",
    "Visit": "Saw the yard today. Lindqvist Rope is led by Johan Ekdal. The kettle was cold.",
    "Bo": "Bo works at Corner Mill.",
    "Mill": "Corner Mill is led by Piet Aalders.",
    "Johan Ekdal": "Johan Ekdal was born in Visby. He sails.",
}
MARTA = "Marta - works at -> Lindqvist Rope [1]; Lindqvist Rope - is led by -> Johan Ekdal [2]"


@pytest.mark.parametrize(
    ("question", "chains"),
    [
        ("Who leads the company where Marta works?", [MARTA]),
        (
            "Where was the person born who leads the company where Marta works?",
            [f"{MARTA}; Johan Ekdal - was born in -> Visby [3]"],
        ),
    ],
)
def test_why_draws_the_chain_with_the_numbers_of_the_answer(fresh: Memory, question: str, chains: list[str]) -> None:
    fresh.ingest.remember_many([Document(f"/{title}.md", text, title=title) for title, text in YARD.items()])
    answer, _ = asked(fresh, question)
    assert answer.trace_id is not None
    assert list(fresh.questions.why(answer.trace_id).chain) == chains
    assert not any(citation.folded for citation in answer.citations), "each hop is shown"
    titles = [citation.title for citation in answer.citations]
    assert titles == ["Marta", "Visit", *(["Johan Ekdal"] if "born" in question else [])]


def test_the_best_line_stays_first_and_chains_can_be_left_out(tmp_path: Path, static: Embedder) -> None:
    firsts = []
    for chains in (True, False):
        settings = MemorySettings(answer=AnswerSettings(chains=chains))
        with Memory.open(tmp_path / f"{chains}.db", embedder=static, settings=settings) as memory:
            memory.ingest.remember_many(documents())
            answer, detail = asked(memory, QUESTION)
        firsts.append(answer.citations[0].quote)
        assert len(answer.citations) <= settings.answer.lines
        assert bool(detail["chain"]) == chains
    assert firsts[0] == firsts[1]


def test_a_line_that_does_not_hold_bridges_nothing(fresh: Memory) -> None:
    fresh.ingest.remember_many(documents())
    with fresh.store.writing() as conn:
        [(thesis,)] = conn.execute("SELECT id FROM thesis_content WHERE body LIKE '%born in Tavira%'").fetchall()
        conn.execute("UPDATE thesis SET valid_to = 1 WHERE node_id = ?", (thesis,))
    answer, detail = asked(fresh, QUESTION)
    assert "born in Tavira" not in answer.text
    assert all("Tavira" not in chain for chain in detail["chain"])


def test_what_is_not_recalled_costs_nothing(fresh: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No thesis of an episode that was not recalled is read, however many there are."""
    fresh.ingest.remember_many(documents())
    fresh.ingest.remember_many(
        [Document(f"/{n}.md", f"Ilse Maron wrote letter {n}.", title=f"Letter {n}") for n in range(40)]
    )
    read: list[int] = []
    original = episodes.theses_of

    def counted(conn: Any, ids: Sequence[Any]) -> Any:
        found = original(conn, ids)
        read.extend(thesis.id for thesis in found)
        return found

    monkeypatch.setattr(episodes, "theses_of", counted)
    asked(fresh, QUESTION)
    assert 0 < len(read) <= 2 * fresh.state.settings.answer.episodes


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_writing_does_not_matter(tmp_path: Path, static: Embedder, seed: int) -> None:
    def said(titles: Sequence[str], name: str) -> tuple[str, dict[str, Any]]:
        with Memory.open(tmp_path / name, embedder=static) as memory:
            for document in documents(titles):
                memory.ingest.remember_many([document])
            answer, detail = asked(memory, QUESTION)
            return answer.text, detail

    shuffled = list(NOTES)
    random.Random(seed).shuffle(shuffled)
    assert said(shuffled, "shuffled.db") == said(list(NOTES), "plain.db")
