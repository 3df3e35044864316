"""The benchmark of a real model: what it asks, and what it takes for a fact that no note holds."""

from __future__ import annotations

from pathlib import Path

from benchmarks import real_model
from memory import Memory
from memory.facts.extraction import Extraction
from plugins.manager import load
from tests.memory.facts.asserting import relation, written

TEXT = "Juno keeps the timetable in the blue drawer."


def test_it_asks_as_many_questions_as_it_is_asked_of_all_notes() -> None:
    asked = real_model.questions(50)
    assert len(set(asked)) == len(asked) == 50
    assert real_model.questions(2) == asked[:2] and all(one.endswith("?") for one in asked)


def test_a_word_that_the_passage_does_not_have_is_poison(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=load().embedder("static")) as memory:
        id = written(memory, TEXT, "2031-05-06")
        told = [relation(TEXT, TEXT, "Juno", "keeps in", place) for place in ("blue drawer", "Elm Road 3")]
        memory.knowledge.assert_facts({id: Extraction((told[0],), (), ())}, real_model.NAME)
        assert real_model.count_facts(path) == (1, 0)
        memory.knowledge.assert_facts({id: Extraction((told[1],), (), ())}, real_model.NAME)
        assert real_model.count_facts(path) == (2, 1)
