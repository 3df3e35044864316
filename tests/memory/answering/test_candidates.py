"""What makes a sentence an answer, and when two sentences say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory.answering.candidates import AnswerCandidate, same_statement
from memory.answering.features import QueryFeatures
from memory.answering.places import find_units
from memory.nouns import Episode, Hit, Source
from memory.retrieval.analyse import analyse
from memory.store.episodes import Thesis
from plugins.embedders.static import StaticEmbedder


def line(
    question: str,
    sentence: str,
    *,
    title: str = "Note",
    year: int = 2024,
    hits: Sequence[Hit] = (),
    before: str = "",
) -> AnswerCandidate:
    source = Source(1, "/n.md", "file", title, "markdown")
    episode = Episode(1, source, 0, title, sentence, at=datetime(year, 1, 1, tzinfo=UTC))
    thesis = Thesis(1, 1, sentence, 0, len(sentence), "sentence", "asserted", None, None)
    features = QueryFeatures(analyse(question), {}, 10, StaticEmbedder(), hits)
    unit = find_units(sentence, [(0, len(sentence))])[0]
    return features.measure(AnswerCandidate.from_thesis(episode, thesis, unit, before), 0.0, 0.0)


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        ("Where is the harbour office?", "The harbour office is in Mole Lane.", "The gulls are loud."),
        ("When does the choir meet?", "The choir meets on 5 May 2025.", "The choir meets in the hall."),
        ("How much is the rent?", "The rent is 690 now.", "The rent is due."),
        ("Who keeps the key?", "Nuria keeps the key.", "The key keeps well."),
        ("Where is the office?", "The office is in Mole Lane.", "Where is the office?"),
        ("What is the title of the map?", "The map is the Salt Map.", "title: the map"),
    ],
)
def test_the_better_line(question: str, better: str, worse: str) -> None:
    assert line(question, better).score > line(question, worse).score


def test_a_heading_is_no_answer() -> None:
    heading = line("Where is the harbour office?", "Harbour office", title="Harbour office")
    assert heading.score < line("Where is the harbour office?", "It moved.", title="Harbour office").score


def test_the_newer_and_the_better_placed_line() -> None:
    plain = line("rent", "The rent is 690.")
    newer = line("rent", "The rent is 690.", hits=[Hit(replace(plain.episode, id=2), 1.0)])
    found = line("rent", "The rent is 690.", hits=[Hit(replace(plain.episode, at=None), 1.0)])
    assert newer.score > plain.score
    assert found.score > plain.score


def test_what_follows_a_question_speaks_of_it() -> None:
    alone = line("Where do we meet?", "Rui: At the Café Nero.")
    after = line("Where do we meet?", "Rui: At the Café Nero.", before="Ana: Where do we meet?")
    assert after.score > alone.score


def test_the_title_counts_towards_what_a_passage_covers() -> None:
    assert line("Pixel's vet", "New vet: Dr. Thoms.", title="Pixel").coverage > line("Pixel's vet", "New vet.").coverage


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("The hourly rate is 48 euros.", "The hourly rate is 52 euros.", True),
        ("The harbour office is in Quay Street.", "The harbour office is in Mole Lane.", True),
        ("The hourly rate is 48 euros.", "The cat is 48 days old.", False),
        ("The hourly rate is 48 euros.", "The hourly rate is 48 euros.", False),
        ("Nordlys Medical 0.15", "Nordlys Medical (Odense)", False),
        ("Flights cost 210 euros each.", "The guillotine costs 12,400 euros, Tom wants it.", False),
        ("Hosting is with Strato, 9 euros a month.", "Hosting is with Uberspace, 5 euros a month.", True),
    ],
)
def test_same_statement(a: str, b: str, same: bool) -> None:
    old, new = line("What is it?", a, year=2023), line("What is it?", b, year=2025)
    assert same_statement(old, new) is same
    assert same_statement(new, old) is same


def test_two_rows_of_one_day_are_no_change() -> None:
    rows = [line("rate", f"The hourly rate of {name} is {n} euros.", year=2024) for name, n in (("A", 1), ("B", 2))]
    assert not same_statement(*rows)


def test_two_things_that_one_person_said_are_no_change_by_the_name_alone() -> None:
    def said(sentence: str, year: int) -> AnswerCandidate:
        row = line("Where is Ana Fuchs?", f"Ana Fuchs: {sentence}", year=year)
        return replace(row, episode=replace(row.episode, speaker="Ana Fuchs"))

    assert not same_statement(said("We drive to Linz.", 2023), said("His name is Bruno.", 2025))
    assert same_statement(said("My rate is 48.", 2023), said("My rate is 52.", 2025))
