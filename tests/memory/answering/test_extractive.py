"""The answers to the parts of a question as one."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from memory.answering.candidates import AnswerCandidate, Sentence
from memory.answering.extractive import stream_extractive
from memory.answering.parts import NOT_SAID, ExtractiveAnswer, merge_answers, stream_lines
from memory.nouns import Answer, Citation, Episode, Source, Step, Token

NUMBER = re.compile(r"\[(\d+)\]")


def found(*lines: tuple[int, str], also: int = 0) -> ExtractiveAnswer:
    """An answer of lines (episode, words); the last one has so many more proofs."""
    numbers = count(1)
    cited = [
        (
            f"- {words}",
            tuple(
                Citation(next(numbers), episode + 100 * n, "/a.md", "a", words)
                for n in range(1 + (also if place == len(lines) else 0))
            ),
        )
        for place, (episode, words) in enumerate(lines, 1)
    ]
    answer = Answer("", tuple(one for _, proofs in cited for one in proofs), confidence=0.7)
    return ExtractiveAnswer(answer, tuple(cited), Step("answer", 1.0, {"lines": 1}))


def nothing(*missing: str) -> ExtractiveAnswer:
    return ExtractiveAnswer(Answer("Nothing.", no_answer=True, missing=missing), (), Step("answer", 2.0, {}))


def streamed(answer: ExtractiveAnswer) -> list[Token | Citation]:
    return list(stream_extractive(answer))


def test_each_answer_stands_under_its_question_and_is_numbered_through() -> None:
    both = merge_answers(
        [found((1, "Ana lives in Porto"), (2, "By the river")), found((3, "Dr Ito"))], ["Where?", "Who?"]
    )
    assert both.answer.text == "Where?\n- Ana lives in Porto [1]\n- By the river [2]\n\nWho?\n- Dr Ito [3]"
    assert [(one.n, one.episode_id) for one in both.answer.citations] == [(1, 1), (2, 2), (3, 3)]
    assert "".join(one.text for one in streamed(both) if isinstance(one, Token)).rstrip() == both.answer.text
    assert tuple(one for one in streamed(both) if isinstance(one, Citation)) == both.answer.citations


def test_what_was_not_found_is_said_once() -> None:
    both = merge_answers(
        [found((1, "Porto")), nothing("dentist"), nothing("cat")], ["Where?", "Which dentist?", "What cat?"]
    )
    assert both.answer.text.endswith(f"\n{NOT_SAID} Which dentist? What cat?")
    assert both.answer.text.count(NOT_SAID) == 1 and not both.answer.no_answer
    assert both.answer.missing == ("dentist", "cat")


def test_it_is_no_answer_only_if_all_are() -> None:
    none = merge_answers([nothing("dentist"), nothing("cat", "dentist")], ["Which dentist?", "What cat?"])
    assert none.answer.no_answer and none.answer.missing == ("dentist", "cat") and not none.answer.citations
    assert none.step.ms == 4.0


def test_no_line_stands_twice() -> None:
    line = (1, "Ana lives in Porto, near Dr Ito")
    both = merge_answers([found(line), found(line)], ["Where?", "Who?"])
    assert both.answer.text == "Where?\n- Ana lives in Porto, near Dr Ito [1]\n\nWho?\n- as above [1]"
    assert len(both.answer.citations) == 1
    assert [one for one in streamed(both) if isinstance(one, Citation)] == list(both.answer.citations)


def test_the_best_line_of_each_comes_before_the_rest_of_any() -> None:
    at = datetime(2024, 1, 1, tzinfo=UTC)
    episode = Episode(1, Source(1, "/a.md", "note", "a", "text"), 0, "a", "words", at)
    some = [AnswerCandidate(Sentence(episode, id), 0, "words", "words") for id in range(5)]
    one = replace(found((1, "a")), candidates=(some[0], some[1], some[2]))
    other = replace(found((2, "b")), candidates=(some[3], some[0], some[4]))
    assert [line.thesis_id for line in merge_answers([one, other], ["A?", "B?"]).candidates] == [0, 3, 1, 2, 4]


def test_numbers_that_stand_in_a_note_are_left_alone() -> None:
    both = merge_answers([found((1, "a")), found((2, "see [1] and [7] there"), also=1)], ["A?", "B?"])
    assert "- see [1] and [7] there [2] [3]" in both.answer.text


_LINES = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["a", "b [1]", "c", "d"])), min_size=1, max_size=4)


@given(st.lists(st.one_of(_LINES, st.none()), min_size=1, max_size=3))
def test_every_number_has_its_citation(given: list[list[tuple[int, str]] | None]) -> None:
    answers = [nothing() if lines is None else found(*lines) for lines in given]
    both = merge_answers(answers, [f"Question {n}?" for n in range(len(given))])
    assert [one.n for one in both.answer.citations] == list(range(1, len(both.answer.citations) + 1))
    assert both.answer.no_answer == all(lines is None for lines in given)
    shown = [int(NUMBER.findall(line)[-1]) for line in both.answer.text.splitlines() if line.startswith("- ")]
    assert set(shown) == {one.n for one in both.answer.citations}
    told = [(one.episode_id, one.quote) for one in both.answer.citations]
    assert len(set(told)) == len(told), "no line stands twice"


def test_a_line_stands_under_the_question_that_it_answers_best() -> None:
    both = merge_answers(
        [found((1, "Oma: 1938"), (2, "Ines: 1991")), found((2, "Ines: 1991"), (3, "Born"))], ["A?", "B?"]
    )
    assert both.answer.text == "A?\n- Oma: 1938 [1]\n\nB?\n- Ines: 1991 [2]\n- Born [3]"


def test_the_best_line_of_a_part_is_pointed_to_first() -> None:
    both = merge_answers([found((1, "a")), found((1, "a"), (2, "b"))], ["A?", "B?"])
    assert both.answer.text == "A?\n- a [1]\n\nB?\n- as above [1]\n- b [2]"


def test_all_numbers_of_a_line_move_behind_what_was_cited_before() -> None:
    (*cited, token) = stream_lines(found((1, "She moved [twice] in 2021"), also=1).lines, 3)
    assert token == Token("- She moved [twice] in 2021 [4] [5]\n")
    assert [one.n for one in cited if isinstance(one, Citation)] == [4, 5]
