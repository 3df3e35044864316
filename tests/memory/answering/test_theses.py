"""A model's theses as lines of an answer."""

from __future__ import annotations

from memory import Memory
from memory.facts.extraction import ExtractedThesis, Extraction
from memory.graph.arrays import NO_END
from memory.graph.snapshot import load_graph
from memory.nouns import Answer
from memory.revisions import Decision
from tests.memory.facts.asserting import day, fresh, written

__all__ = ["fresh"]


def told(memory: Memory, at: str, text: str, thesis: str, source: str) -> list[tuple[int, int]]:
    """A note, and what a model made of its whole text; the pairs that it is to judge."""
    episode = written(memory, text, at, source=source)
    one = ExtractedThesis(text=thesis, objects=("Ana", "Porto"), start=0, end=len(text))
    return [*memory.knowledge.assert_facts({episode: Extraction((), (one,))}, "m").undecided]


def asked(memory: Memory, question: str, **more: object) -> Answer:
    *_, answer = memory.questions.ask(question, **more)  # type: ignore[arg-type]
    assert isinstance(answer, Answer)
    return answer


def test_a_thesis_answers_with_the_words_it_was_made_from(fresh: Memory) -> None:
    told(fresh, "2024-01-05", "It had to be the sea, she said.", "Ana moved to Porto because of the sea.", "a.md")
    answer = asked(fresh, "Why did Ana move to Porto?")
    assert answer.text.splitlines() == ["- Ana moved to Porto because of the sea. [1]"], "once, not as a sentence too"
    assert answer.citations[0].quote == "It had to be the sea, she said."


def test_a_thesis_that_was_replaced_answers_of_its_time_only(fresh: Memory) -> None:
    told(fresh, "2024-01-05", "Nine it is, for the shop in Porto.", "Ana opens the shop in Porto at nine.", "a.md")
    (pair,) = told(
        fresh, "2025-01-05", "Ten from now on, for the shop in Porto.", "Ana opens the shop in Porto at ten.", "b.md"
    )
    fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9)], "m")
    question = "When does Ana open the shop in Porto?"
    assert "at ten" in asked(fresh, question).text and "at nine" not in asked(fresh, question).text
    assert "at nine" in asked(fresh, question, as_of=day("2024-06-01")).text


def test_the_graph_in_memory_ends_a_replaced_thesis_as_the_file_does(fresh: Memory) -> None:
    def times() -> tuple[dict[int, tuple[int, int]], ...]:
        with fresh.store.reading() as conn:
            graphs = fresh.state.serving.snapshot.graph, load_graph(conn)
        columns = ((one.theses.ids, one.theses.valid_from, one.theses.valid_to) for one in graphs)
        return tuple({int(id): (int(a), int(b)) for id, a, b in zip(*of, strict=True)} for of in columns)

    told(fresh, "2024-01-05", "Nine it is, for the shop in Porto.", "Ana opens the shop in Porto at nine.", "a.md")
    (pair,) = told(
        fresh, "2025-01-05", "Ten now, for the shop in Porto.", "Ana opens the shop in Porto at ten.", "b.md"
    )
    (revision,) = fresh.knowledge.apply_decisions([Decision(*pair, "supersedes", 0.9)], "m")
    grown, stored = times()
    assert grown == stored and grown[pair[0]][1] != NO_END
    fresh.knowledge.undo(revision)
    grown, stored = times()
    assert grown == stored and grown[pair[0]][1] == NO_END
