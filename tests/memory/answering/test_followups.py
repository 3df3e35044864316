"""Questions that go on from the one before: searched as questions that stand for themselves, and answered in a chat."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from memory import Memory
from memory.answering.followups import EarlierAnswer, resolve_followup
from memory.nouns import Answer
from plugins.embedders.static import StaticEmbedder
from tests.fakes.answering import prompt
from tests.memory.answering.conftest import Desk

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
STUDIO = EarlierAnswer(named=("Studio",), is_title=lambda name: name in ("studio", "boat"))
NOTES = {
    "Studio": "# Studio\n\nThe studio is in Mill Lane 4.\n\nIt costs 420 euros a month.\n\n- telephone: 0151 4432",
    "Boat": "# Boat\n\nThe boat lies at Kalmar Dock.\n\nIt costs 90 euros a month.\n\n- telephone: 0162 8811",
    "Ana Ferro": "# Ana Ferro\n\nAna Ferro works at the tile museum.\n\n- phone: 0170 55512\n- birthday: 12 May 1988",
    "Bob Tanner": "# Bob Tanner\n\nBob Tanner works at Fjord Marine.\n\n- phone: 0170 77799\n- birthday: 3 June 1979",
    "2 May": "Planted two elms by the gate.",
    "9 June": "Sold the old cart to Bruno.",
}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does she live?", "Where does Ana live?"),
        ("and what is her phone?", "what is Ana's phone?"),
        ("And the phone?", "the phone (Ana)?"),
        ("What about Bob?", "Where does Bob work?"),
        ("and Bob?", "Where does Bob work?"),
        ("And where does Bob live?", "where does Bob live?"),
        ("and in 2024?", "Where does Ana work in 2024?"),
        ("And before that?", "Where does Ana work? And before that?"),
        ("since when?", "Where does Ana work? since when?"),
        ("Why?", "Where does Ana work? Why?"),
    ],
)
def test_what_refers_to_something_is_searched_with_it(question: str, expected: str) -> None:
    assert resolve_followup(question, ["Who is Elvis?", "Where does Ana work?"], now=NOW) == expected
    assert resolve_followup(question, []) == question


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        ("What is Ana's phone?", "and Bob's?", "What is Bob's phone?"),
        ("Who is the vet for Bosun?", "and for Juno?", "Who is the vet for Juno?"),
        ("What happened in March?", "and in May?", "What happened in May?"),
        ("What did I do yesterday?", "and the day before?", "What did I do the day before yesterday?"),
        ("What happened last week?", "and the week before?", "What happened the week before last week?"),
        ("Wo wohnt Ana?", "und wo arbeitet sie?", "wo arbeitet sie (Ana)"),
        ("What did Ana say about Bob?", "and about Carl?", "What did Ana say about Carl?"),
        ("How is the weather in Porto?", "and in Lisbon?", "How is the weather in Lisbon?"),
        ("What do I have to do tomorrow?", "and on Friday?", "What do I have to do on Friday?"),
        ("What is on Friday?", "and Saturday?", "What is on Saturday?"),
        ("Was ist im März passiert?", "und im Mai?", "Was ist im Mai passiert?"),
        ("¿Dónde vive Ana?", "¿y su teléfono?", "su teléfono (Ana)?"),
        ("Où habite Ana ?", "et son téléphone ?", "son téléphone (Ana)?"),
    ],
)
def test_another_name_or_time_takes_the_place_of_the_first(before: str, question: str, expected: str) -> None:
    assert resolve_followup(question, [before], now=NOW) == expected


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        ("Where is the studio?", "and what does it cost?", "what does the studio cost?"),
        ("Where is the studio?", "and the phone?", "the phone (the studio)?"),
        ("Is the studio heated?", "how much is it?", "how much is the studio?"),
        ("What does the studio cost?", "and the boat?", "What does the boat cost?"),
        ("What does the studio cost?", "and what about Bob?", "What does Bob cost?"),
        ("Wo ist das Studio?", "und was kostet es?", "was kostet es (Studio)"),
    ],
)
def test_what_the_question_was_found_to_name_is_the_subject(before: str, question: str, expected: str) -> None:
    assert resolve_followup(question, [before], STUDIO) == expected


def test_what_is_done_with_the_subject_is_kept() -> None:
    before = "What will the restoration of the studio cost?"
    assert resolve_followup("who does it?", [before], STUDIO) == f"{before} who does it?"


@pytest.mark.parametrize(
    "question",
    ["Where does Bob live?", "Is it true that Bob lives in Porto?", "a b c d e f g h it", "What is Bob's phone?"],
)
def test_what_says_itself_what_it_is_about_stands_alone(question: str) -> None:
    assert resolve_followup(question, ["Where does Ana work?"]) == question


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?", "When is lunch?", "Where is the key?", "What is on this week?", "What did I do this month?",
        "Is there a spare key?", "How much did the book that I bought cost?", "Wo wohne ich?", "¿Qué es una silla?",
        "Qu'est-ce qu'il y a demain ?", "Waar is de sleutel?",
    ],
)  # fmt: skip
def test_a_short_question_is_no_follow_up(question: str) -> None:
    assert resolve_followup(question, ["What is the wifi password?"]) == question


@pytest.mark.parametrize(
    "question", ["Who is that?", "When was that?", "What is this?", "Who lives there?", "Since when?", "Which one?"]
)
def test_what_stands_for_all_of_it_is_searched_with_all_of_it(question: str) -> None:
    assert resolve_followup(question, ["What is the wifi password?"]) == f"What is the wifi password? {question}"


def test_the_newest_question_that_names_something_counts() -> None:
    assert resolve_followup("And then?", ["Where does Ana work?", "since when?"]) == "Where does Ana work? And then?"


def test_a_question_stays_short_enough_to_be_asked() -> None:
    assert len(resolve_followup("And then?", ["Ana " * 1000])) < 600


# In a chat --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder: Path = tmp_path_factory.mktemp("followups")
    with Memory.open(folder / "memory.db", embedder=StaticEmbedder()) as memory:
        for title, text in NOTES.items():
            at = datetime(2026, 6, 9, 12, tzinfo=UTC) if "June" in title else datetime(2026, 5, 2, 12, tzinfo=UTC)
            memory.ingest.remember(text, title=title, source=f"/{title}.md", at=at)
        yield memory


def talk(memory: Memory, *questions: str) -> list[Answer]:
    chat, answers = memory.conversations.create("talk"), []
    for question in questions:
        events = memory.questions.ask(question, now=NOW, conversation=chat)
        memory.conversations.add_question(chat, question)
        *_, answer = events
        assert isinstance(answer, Answer)
        memory.conversations.add_answer(chat, answer)
        answers.append(answer)
    return answers


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        (("Where is the studio?", "and what does it cost?"), "420 euros"),
        (("Where is the boat?", "what does it cost?"), "90 euros"),
        (("Where is the studio?", "and the telephone?"), "0151 4432"),
        (("Where is the studio?", "and what does it cost?", "and the telephone?"), "0151 4432"),
        (("Who works at the tile museum?", "What is her birthday?"), "12 May 1988"),
        (("Who works at Fjord Marine?", "and his phone?"), "0170 77799"),
        (("Who is Ana Ferro?", "When is her birthday?"), "12 May 1988"),
        (("What is Ana Ferro's phone?", "What is Bob Tanner's phone?"), "0170 77799"),
        (("What is Ana Ferro's phone?", "and Bob Tanner's?"), "0170 77799"),
        (("What is Ana Ferro's phone?", "and Bob Tanner's?", "and his birthday?"), "3 June 1979"),
        (("What does the studio cost?", "and the boat?"), "90 euros"),
        (("What happened in May?", "and in June?"), "Sold the old cart"),
    ],
)
def test_the_subject_of_the_answer_before_counts_as_named(
    notes: Memory, questions: tuple[str, ...], expected: str
) -> None:
    *_, answer = talk(notes, *questions)
    assert expected in answer.lines[0].text, answer.text


@pytest.mark.parametrize("strategy", ["", "sketches"])
def test_a_name_that_only_an_answer_stated_is_not_sent_away(desk: Desk, strategy: str) -> None:
    desk.note("studio", "Odalys Ferro shares the studio with me.", policy="local")
    desk.note("lists", "The phone list of the studio is in the drawer.")
    chat = desk.memory.conversations.create("talk")
    for n, question in enumerate(("Who shares the studio with me?", "What is her phone?", "and where is her list?")):
        model = desk.away if n else None
        asked = partial(desk.memory.questions.ask, question, conversation=chat, strategy=strategy)
        *_, answer = asked(llm=lambda local_only, model=model: None if local_only else model)
        desk.memory.conversations.add_question(chat, question)
        assert isinstance(answer, Answer)
        desk.memory.conversations.add_answer(chat, answer)
    with desk.memory.store.reading() as conn:
        (searched,) = conn.execute("SELECT plan ->> 'searched' FROM trace ORDER BY id LIMIT 1 OFFSET 1").fetchone()
    assert searched == "What is Odalys Ferro's phone?"
    assert desk.anthropic.messages and not any("Odalys" in prompt(body) for body in desk.anthropic.messages)
