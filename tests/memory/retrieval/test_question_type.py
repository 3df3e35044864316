"""The shape of a question, by its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import InvalidInputError
from memory.retrieval.analyse import analyse
from memory.retrieval.question_type import MANY, QuestionType, episode_count, format_hint, question_type

SHAPES = {
    "fact": (
        "Where does Ana live?", "What is the rent?", "Who is Ana's dentist?", "Who is my neighbour?", "Who is she?",
        "What colour is the house?", "Which bus do I take?", "Which city does Bo live in?", "When is the party?",
        "When was Ana born?", "How many euros is the rent?", "Who wrote War and Peace?", "What happened on 5 March?",
        "Which broker handled carrier events in September?", "What is Ana's phone number?", "What about Ana?",
        "Wo wohnt Ana?", "Welche Farbe hat das Haus?", "Wann ist Anas Geburtstag?", "Wie viele Euro kostet das?",
        "Où habite Ana ?", "Kde bydlí Ana?",
    ),
    "when_changed": (
        "When did Ana move?", "Since when do I live here?", "When was team Harbor renamed?", "When did I stop smoking?",
        "From what date did the rent go up?", "Wann ist Ana umgezogen?", "Seit wann wohne ich hier?",
    ),
    "compare": (
        "Who is older, Ana or Bo?", "Is Ana older than Bo?", "Which of Ana and Bo lives in Porto?",
        "Are Ana and Bo both vegan?", "Do Ana and Bo live in the same city?", "Compare the Outback with the Ioniq",
        "What is the difference between Kafka and RabbitMQ?", "What do Ana and Bo have in common?",
        "Wer ist älter, Ana oder Bo?",
        "Sind Ana und Bo beide Veganer?",
    ),
    "list": (
        "Which of the founders of the Institute of Arts and Letters wrote the Act?",
        "Which books did I read in 2024?", "What countries have I visited?", "List my dentists.",
        "Who are my neighbours?",
        "Everyone who came to the wedding", "Which of my friends are vegan?", "How has the standup changed?",
        "What is on the packing list?", "What's still on my list?", "Was steht alles auf der Einkaufsliste?",
        "Welche Bücher habe ich gelesen?", "Wer sind meine Nachbarn?", "Alle meine Ärzte",
    ),
    "count": (
        "How many times was I in Rome?", "How often do I run?", "How many books did I read?", "Wie oft war ich in Rom?",
        "Wie viele Bücher habe ich gelesen?",
    ),
    "about": (
        "What do I know about Ana Silva?", "Tell me about the flat in Porto", "Who is Ana?", "Who is Dr. Wiebke Thoms?",
        "Brief me on Lumen.", "Ana?", "Werkraum Plagwitz", "What is the Werkraum?", "Was weiß ich über Ana?",
        "Wer ist Ana?", "Erzähl mir von der Wohnung in Porto", "Everything I know about Bo",
    ),
    "yes_no": ("Is Ana vegan?", "Did I pay the rent?", "Does the flat have a balcony?", "Ist Ana vegan?"),
}  # fmt: skip


def of(text: str, *known: str) -> QuestionType:
    question = analyse(text)
    return question_type(question.text, question.language, known)


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SHAPES.items() for text in texts])
def test_the_shape_of(kind: str, text: str) -> None:
    assert of(text).kind == kind


def test_what_it_is_about() -> None:
    assert of("What do I know about Ana Silva?").subjects == ("Ana Silva",)
    assert of("Tell me about the flat in Porto").subjects == ("flat in Porto",)
    assert of("Who is older, Ana or Bo?").subjects == ("Ana", "Bo")
    assert of("Where does Ana live?").subjects == ()


def test_a_name_without_capitals_counts_where_it_is_known() -> None:
    assert of("who is ana?").kind == "fact"
    assert of("who is ana?", "Ana") == QuestionType("about", ("ana",))
    assert of("werkraum", "Werkraum").kind == "about"


def test_what_asks_for_an_order_of_time() -> None:
    assert of("How has the standup changed over the years?") == QuestionType("list", in_order=True)
    assert of("How often was I in Rome?").in_order and not of("How many books did I read?").in_order


def test_many_episodes_for_what_asks_for_many() -> None:
    many = ("Which books did I read?", "Who is Ana?", "How often was I in Rome?")
    assert [episode_count(of(text), 10) for text in many] == [MANY] * 3
    assert episode_count(of("Where does Ana live?"), 10) == episode_count(of("How many desks are there?"), 10) == 10
    assert episode_count(of("Who is Ana?"), MANY + 10) == MANY + 10


def test_a_hint_is_a_sentence_and_a_fact_needs_none() -> None:
    assert format_hint(of("Where does Ana live?")) == ""
    hints = {kind: format_hint(of(texts[0])) for kind, texts in SHAPES.items()}
    assert {kind for kind, hint in hints.items() if hint} == {"list", "about"}
    assert all(hint.endswith(".") for hint in hints.values() if hint)
    assert "oldest first" in format_hint(of("How has the standup changed?"))


@given(st.text(max_size=80) | st.sampled_from([text for texts in SHAPES.values() for text in texts]).map(str.upper))
def test_any_text_has_a_shape(text: str) -> None:
    try:
        question = analyse(text)
    except InvalidInputError:
        return
    found = question_type(question.text, question.language)
    assert len(found.subjects) == {"about": 1, "compare": 2}.get(found.kind, 0)
    assert all(subject.strip() for subject in found.subjects)
