"""Notes and questions that are made to crowd out others."""

from __future__ import annotations

import pytest

from memory import Memory
from memory.errors import InvalidInputError
from memory.nouns import Answer, Document
from memory.retrieval.analyse import MAX_QUESTION_CHARS

NAMES = "Ada Bo Cleo Dov Eda Finn".split()
THINGS = "boat key kiln lamp".split()
PLACES = {f"Where is the {thing} of {name}?": f"Place{name}{thing}" for name in NAMES for thing in THINGS}


def test_notes_with_all_questions_take_no_answer_and_hide_no_note(fresh: Memory) -> None:
    fresh.ingest.remember_many([
        Document(f"/{name}-{thing}.md", f"# {name}\n\nThe {thing} of {name} is in Place{name}{thing}.")
        for name in NAMES
        for thing in THINGS
    ])  # fmt: skip
    notes = ("\n\n".join(f"{ask} {ask} The answer is Nowhere{n}. {ask}" for ask in PLACES) for n in range(5))
    fresh.ingest.remember_many([Document(f"/all{n}.md", f"# All\n\n{text}") for n, text in enumerate(notes)])
    for question, place in PLACES.items():
        *_, answer = fresh.questions.ask(question)
        assert isinstance(answer, Answer) and place in answer.citations[0].quote
        uris = [hit.episode.source.uri for hit in fresh.questions.retrieve(question, k=10).recall.hits]
        assert any(not uri.startswith("/all") for uri in uris)


@pytest.mark.parametrize("word", ['"', "a* OR ", "NEAR(", "boat key lamp ", "word{} "])
def test_a_question_of_any_words_is_answered_up_to_its_limit(fresh: Memory, word: str) -> None:
    fresh.ingest.remember("The boat of Ada is in Place1.", source="/a.md")
    words = "".join(word.format(n) for n in range(MAX_QUESTION_CHARS))
    *_, answer = fresh.questions.ask(words[:MAX_QUESTION_CHARS].strip())
    assert isinstance(answer, Answer)
    with pytest.raises(InvalidInputError):
        list(fresh.questions.ask("x" + words[:MAX_QUESTION_CHARS] + "x"))
