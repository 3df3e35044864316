"""What makes a sentence an answer, and when two sentences say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory.answering.candidates import AnswerCandidate
from memory.answering.features import QueryFeatures
from memory.answering.places import find_units
from memory.answering.selection import same_statement
from memory.nouns import Episode, Hit, Source
from memory.retrieval.analyse import analyse
from memory.store.graph import Thesis
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
    thesis = Thesis(1, 1, 0, len(sentence), sentence)
    features = QueryFeatures(analyse(question), {}, 10, StaticEmbedder(), hits)
    unit = find_units(sentence, [(0, len(sentence))])[0]
    return features.measure(AnswerCandidate.from_thesis(episode, thesis, unit, before))


def score(question: str, *sentences: str, titles: Sequence[str] = (), years: Sequence[int] = ()) -> list[float]:
    """The scores of lines of one question, each in a passage of its own."""
    embedder, lines = StaticEmbedder(), []
    for place, sentence in enumerate(sentences):
        one = line(question, sentence, title=titles[place] if titles else "Note", year=years[place] if years else 2024)
        source = replace(one.source, thesis_id=place, episode=replace(one.episode, id=place))
        lines.append(replace(one, source=source))
    hits = [Hit(one.episode, 1.0) for one in lines]
    features = QueryFeatures(analyse(question), {}, 10, embedder, hits)
    cosines = embedder.embed_documents(sentences) @ embedder.embed_query(question)
    return [one.score for one in features.score(lines, dict(enumerate(cosines.tolist())))]


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        ("Where is the harbour office?", "The harbour office is in Mole Lane.", "The gulls are loud."),
        ("When does the choir meet?", "The choir meets on 5 May 2025.", "The choir meets in the hall."),
        ("How much is the rent?", "The rent is 690 now.", "The rent is due."),
        ("When was the map drawn?", "The map was drawn in 1734.", "The map was drawn by hand."),
    ],
)
def test_the_better_line(question: str, better: str, worse: str) -> None:
    best, other = score(question, better, worse)
    assert best > other


def test_a_heading_or_a_title_said_again_is_no_answer() -> None:
    question, titles = "Where is the harbour office?", ["Harbour office"] * 2
    heading, text = score(question, "# Harbour office", "It moved.", titles=titles)
    title, _ = score(question, "Harbour office", "It moved.", titles=titles)
    assert max(heading, title) < text


def test_of_lines_alike_the_newer_one_leads() -> None:
    old, new = score("What is the rent?", "The rent is 690.", "The rent is 720.", years=[2021, 2024])
    assert new > old


def test_a_newer_line_about_somebody_else_gains_nothing() -> None:
    said = "Hanna's phone number is 998877.", "Priya's new phone number is 960333."
    asked, other = score("What is Hanna's phone number?", *said, years=[2021, 2024])
    assert asked > other


def test_a_line_without_a_vector_counts_as_the_others_do() -> None:
    one = line("rent", "The rent is 690.")
    lines = [replace(one, source=replace(one.source, thesis_id=number)) for number in (1, 2, 3)]
    features = QueryFeatures(analyse("rent"), {}, 10, StaticEmbedder(), [Hit(one.episode, 1.0)])
    first, second, third = (line.features.cosine for line in features.score(lines, {1: 0.8, 2: 0.2}))
    assert (first, second, third) == pytest.approx((0.8, 0.2, 0.5))


def test_what_follows_a_question_speaks_of_it() -> None:
    alone = line("Where do we meet?", "Rui: At the Café Nero.")
    after = line("Where do we meet?", "Rui: At the Café Nero.", before="Ana: Where do we meet?")
    assert after.features.late > alone.features.late


def test_the_title_counts_towards_what_a_passage_covers() -> None:
    titled, untitled = line("Pixel's vet", "New vet: Dr. Thoms.", title="Pixel"), line("Pixel's vet", "New vet.")
    assert titled.features.coverage > untitled.features.coverage


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


@pytest.mark.parametrize(
    ("uri", "value", "same"),
    [
        ("/a/well.md", "16 m", True),
        ("/a/Well2.md", "16 m", True),
        ("/a/pump.md", "16 m", False),
        ("/b/well.md", "16 m", False),
        ("/a/well/well.md", "16 m", False),
        ("/a/well.md", "about 14.5 or 14 m", False),
    ],
)
def test_fields_of_one_key_are_versions_in_one_note_or_in_versions_of_it(uri: str, value: str, same: bool) -> None:
    def field(number: int, path: str, value: str, year: int) -> AnswerCandidate:
        row = line("How deep is the well?", f"Depth: {value}", title="Well", year=year)
        source = replace(row.episode.source, id=number, uri=path)
        return replace(row, source=replace(row.source, episode=replace(row.episode, source=source)))

    old, new = field(1, "/a/well.md", "14 m", 2023), field(2, uri, value, 2025)
    assert same_statement(old, new) is same is same_statement(new, old)


def test_two_rows_of_one_day_are_no_change() -> None:
    rows = [line("rate", f"The hourly rate of {name} is {n} euros.", year=2024) for name, n in (("A", 1), ("B", 2))]
    assert not same_statement(*rows)


def test_two_things_that_one_person_said_are_no_change_by_the_name_alone() -> None:
    def said(sentence: str, year: int) -> AnswerCandidate:
        row = line("Where is Ana Fuchs?", f"Ana Fuchs: {sentence}", year=year)
        return replace(row, source=replace(row.source, episode=replace(row.episode, speaker="Ana Fuchs")))

    assert not same_statement(said("We drive to Linz.", 2023), said("His name is Bruno.", 2025))
    assert same_statement(said("My rate is 48.", 2023), said("My rate is 52.", 2025))
