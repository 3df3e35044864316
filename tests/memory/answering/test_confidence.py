"""When what was found is an answer, and when it only is near one."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from memory import Memory
from memory.answering.confidence import ANSWERED, CLEAR, confidence, measure
from memory.answering.extractive import extract_answer
from memory.answering.features import AnswerState, QueryFeatures
from memory.nouns import Answer
from memory.retrieval.analyse import analyse
from plugins.embedders.static import StaticEmbedder
from tests.memory.conftest import OpenFilled

NOTES = (
    "Bo Lindqvist works at Gleistakt as an engineer.",
    "Pixel the cat got a new vet, Dr. Thoms, around the corner.",
    "The rent of the flat in Lime Street is 940 euros a month.",
    "We looked at a split keyboard in the shop.",
    "Mira's daughter sings in the choir on Fridays.",
)


@pytest.fixture
def life(open_filled: OpenFilled) -> Memory:
    return open_filled(fill_life)


def fill_life(memory: Memory) -> None:
    for number, text in enumerate(NOTES):
        memory.ingest.remember(text, source=f"note {number}")


def sure(memory: Memory, question: str) -> tuple[float, dict[str, float]]:
    """The confidence, and what it is made of."""
    embedder = StaticEmbedder()
    found = memory.questions.retrieve(question, 10, None, None, None)
    with memory.store.reading() as conn:
        state = AnswerState(conn, found, embedder)
        candidates = state.read(hit.episode for hit in found.recall.hits)
    return confidence(state, candidates), measure(state, candidates[0], candidates)


@pytest.mark.parametrize(
    ("answered", "near_miss"),
    [
        ("Where does Bo Lindqvist work?", "What is Bo Lindqvist's salary?"),
        ("What is the rent of the flat in Lime Street?", "What is the rent of the flat in Oak Street?"),
        ("Who is Pixel's vet?", "What is Pixel's microchip number?"),
    ],
)
def test_a_near_miss_is_less_sure_than_an_answer(life: Memory, answered: str, near_miss: str) -> None:
    assert sure(life, answered)[0] > sure(life, near_miss)[0]


def test_what_nothing_tells_of_is_refused_and_what_a_note_says_is_not(life: Memory) -> None:
    *_, answer = life.questions.ask("Where does Bo Lindqvist work?")
    *_, nothing = life.questions.ask("What is the salary of Henrike Olander?")
    assert isinstance(answer, Answer) and "Gleistakt" in answer.text
    assert isinstance(nothing, Answer) and nothing.no_answer


def test_each_feature_says_what_it_is_named_after(life: Memory) -> None:
    exact = "What is the rent of the flat in Lime Street?"
    assert sure(life, exact)[1]["asked"] > sure(life, "What is the colour of the flat in Lime Street?")[1]["asked"]
    assert sure(life, "Tell me of the choir.")[1]["kind"] == 0.5, "any kind of thing is asked for"
    assert sure(life, "What is the price of the split keyboard?")[1]["kind"] == 0
    assert sure(life, "What is the rent of the flat in Lime Street?")[1]["kind"] == 1
    assert set(sure(life, "Who is Pixel's vet?")[1]) == {*ANSWERED, *CLEAR, "named"}
    lead = sure(life, exact)[1]["lead"]
    life.ingest.remember("The rent of the flat in Lime Street is paid.", source="note 9")
    assert 0 <= sure(life, exact)[1]["lead"] < lead, "another line answers as well"


@pytest.mark.parametrize(
    ("question", "other", "line"),
    [
        ("What is the phone number of the choir?", "The choir has number 17.", "The choir: 0341 5550172."),
        ("Wie hoch ist die Gebühr des Chors?", "Der Chor hat eine Gebühr.", "Der Chor hat eine Gebühr von 40 Euro."),
    ],
)
def test_a_figure_of_another_kind_is_not_what_is_asked_for(question: str, other: str, line: str) -> None:
    for text, kind in ((other, 0), (line, 1)):
        with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
            memory.ingest.remember(text, source="choir")
            assert sure(memory, question)[1]["kind"] == kind, text


def refused(memory: Memory, question: str) -> str:
    """What a refusal says; "" if there is an answer."""
    *_, answer = memory.questions.ask(question)
    assert isinstance(answer, Answer)
    return answer.text if answer.no_answer else ""


def test_a_name_or_number_of_which_nothing_tells_is_refused(life: Memory) -> None:
    life.ingest.remember("# Attic\n\nBox 12: coats\nBox 13: school books\n", source="attic.md", title="Attic")
    life.ingest.remember("Flight LH1172 leaves at 9:35. Ana Silva books the hotel, room 304.", source="trip.md")
    assert not refused(life, "What is in Box 12?") and not refused(life, "When does flight LH1172 leave?")
    assert not refused(life, "What did Anna Silva book?"), "a slip of the pen"
    box = refused(life, "What is in Box 999?")
    assert box.startswith("There is nothing in your memory about Box 999.") and "school books [" in box
    for question, name in (
        ("When does flight LH4000 leave?", "LH4000"),
        ("Who is in room 12?", "room 12"),
        ("What did Ana Duarte book?", "Ana Duarte"),
        ("When did Bartholomew Fink call?", "Bartholomew Fink"),
    ):
        assert refused(life, question).startswith(f"There is nothing in your memory about {name}."), question
    assert not refused(life, "What are the top 2 boxes in the attic?"), "a count names nothing"


def test_a_refusal_says_what_comes_nearest_and_where_it_stands(life: Memory) -> None:
    *_, answer = life.questions.ask("What is Pixel's microchip number?")
    assert isinstance(answer, Answer) and answer.no_answer
    said, line = answer.text.splitlines()[:2]
    assert said == "Your memory does not say this plainly. Closest:" and "Pixel the cat" in line
    assert answer.kind == "closest" and len(answer.citations) <= 3
    assert answer.citations[0].uri == "note 1" and "pixel" not in answer.missing, "it is there"


def test_the_threshold_is_the_least_confidence_of_an_answer(life: Memory) -> None:
    question = "Where does Bo Lindqvist work?"
    found, settings = life.questions.retrieve(question, 10, None, None, None), life.state.settings.answer
    with life.store.reading() as conn:
        answer = extract_answer(conn, found, StaticEmbedder(), settings).answer
        above = replace(settings, threshold=min(1.0, answer.confidence + 0.01))
        assert not answer.no_answer and 0 < answer.confidence < 1
        assert extract_answer(conn, found, StaticEmbedder(), above).answer.no_answer


def test_words_that_mean_the_same_are_near() -> None:
    features = QueryFeatures(analyse("cost live"), {}, 10, StaticEmbedder())
    assert features.stems == ("cost", "live")
    near = features.max_similarity("price office")
    assert near[0] > 0.5 > near[1]
    assert np.array_equal(features.max_similarity("live"), features.max_similarity("live"))
    assert features.max_similarity("live")[1] == 1
    assert features.max_similarity("").tolist() == [0, 0]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Was ist Oma Helgas Telefonnummer?", "0341 556677"),
        ("Wie lautet Annas Adresse?", "Ringstraße 8"),
        ("Was ist Annas Telefonnummer?", "0171 99887"),
        ("Wann hat Papa Geburtstag?", "12. März 1956"),
        ("Was ist Oma Helgas Schuhgröße?", ""),
        ("Was ist Onkel Dieters Telefonnummer?", ""),
        ("Wie lautet Ottos Adresse?", ""),
        ("Wer ist Zenobia Kraut?", ""),
    ],
)
def test_a_german_noun_is_no_name_because_of_its_capital(fresh: Memory, question: str, value: str) -> None:
    people = ("Oma Helga\nTelefon: 0341 556677\nAdresse: Lindenweg 3, Leipzig",)
    people += ("Anna Brandt\nAdresse: Ringstraße 8, Halle\nTelefon: 0171 99887", "Papa\nGeburtstag: 12. März 1956")
    fresh.ingest.remember("# Kontakte\n\n" + "\n\n".join(f"## {one}" for one in people), source="Kontakte.md")
    fresh.ingest.remember("# Garten\n\nDas Beet ist umgegraben. Die Tomaten stehen am Zaun.", source="Garten.md")
    *_, answer = fresh.questions.ask(question)
    assert isinstance(answer, Answer) and answer.no_answer is not bool(value)
    assert value in answer.text.split("\n")[0]


@pytest.mark.parametrize(
    ("question", "is_told"), [("Wie hoch ist unsere Miete?", True), ("Wie hoch ist die Kaution?", False)]
)
def test_how_much_of_something_is_asked_for_with_words_that_answer_nothing(
    fresh: Memory, question: str, is_told: bool
) -> None:
    fresh.ingest.remember("Es war kalt. Unsere Miete beträgt 940 Euro.", source="Wohnung.md")
    fresh.ingest.remember("Der Turm in Paris ist 330 m hoch.", source="Paris.md")
    *_, answer = fresh.questions.ask(question)
    assert isinstance(answer, Answer) and answer.no_answer is not is_told


def test_what_comes_nearest_is_said_once_and_little_words_are_not_missing(fresh: Memory) -> None:
    for source in ("a", "b", "c"):
        fresh.ingest.remember("Bo's shoe size is 44.", source=source)
    *_, answer = fresh.questions.ask("What is my shoe size?")
    assert isinstance(answer, Answer) and answer.no_answer
    near = [re.sub(r" \[\d+\]", "", line) for line in answer.text.splitlines() if line.startswith("- ")]
    assert near == ["- Bo's shoe size is 44."]
    *_, nothing = fresh.questions.ask("What do I have to do?")
    assert isinstance(nothing, Answer) and nothing.no_answer and nothing.missing == ()
    *_, pasted = fresh.questions.ask("Why do " + " ".join(f"wombat{n}s" for n in range(40)) + " sing?")
    assert isinstance(pasted, Answer) and pasted.no_answer and len(pasted.missing) == 5


@pytest.mark.parametrize(
    ("notes", "question", "answer"),
    [
        (("Tariq Aziz leads billing. His deputy is Hanna Ek.",), "Who is Tariq's deputy?", "Hanna Ek"),
        (("# Ärzte\n\nZahnarzt: Dr. Mülhauser\nHausarzt: Dr. Aebischer",), "Wie heißt mein Zahnarzt?", "Mülhauser"),
        (("# Boiler\n\nService: Herr Zbinden",), "Who services the boiler?", "Zbinden"),
        (
            ("# Payment\n\nIBAN: CH93 0076 2011 6238 5295 7\nAccount number: 0700016539",),
            "What is the account number?",
            "Account",
        ),
        (("Mette moved. Her new phone is 26 60 71 15.",), "What is Mette's phone number?", "26 60 71 15"),
        (("# Shed\n\nThe shed is green.",), "What colour is the shed?", "green"),
        (("# Guild\n\nPresident: vacant",), "Who is president of the guild?", "vacant"),
    ],
)
def test_what_a_line_says_is_clear_and_what_only_looks_alike_is_not(
    fresh: Memory, notes: tuple[str, ...], question: str, answer: str
) -> None:
    for number, text in enumerate((*notes, "The kettle whistles in the kitchen.")):
        fresh.ingest.remember(text, source=f"note {number}.md")
    *_, reply = fresh.questions.ask(question)
    assert isinstance(reply, Answer)
    first = reply.text.split("\n")[0]
    assert answer in first if answer else first.startswith("Your memory does not say")


def test_a_day_of_writing_that_is_shown_is_no_value_of_a_line(life: Memory) -> None:
    question = "When was the fence painted?"
    found = life.questions.retrieve(question, 10, None, None, None)
    with life.store.reading() as conn:
        state = AnswerState(conn, found, StaticEmbedder())
        first, *others = state.read(hit.episode for hit in found.recall.hits)
        written = [replace(line, shown=f"{line.shown} (written 2026-11-03)") for line in (first, *others)]
        assert measure(state, written[0], written)["agreement"] == measure(state, first, [first, *others])["agreement"]
