"""What a model wrote against what it cites: claims, citations, verdicts and refusals."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.answering.grounding import (
    CITATION,
    Proof,
    cited_numbers,
    find_proofs,
    is_refusal,
    judge_claim,
    split_claims,
)

NOTE = Proof(
    "Ana moved to Porto on 2024-05-03 and pays 1,250 euros; her sister Mira Okafor stayed in Lisbon. Yesterday we met.",
    datetime(2024, 5, 10, tzinfo=UTC),
)
BOAT = Proof("The boat is painted black and has three sails.\nThe ferry leaves at 7:40.")
HALL = Proof("The flat in Lisbon costs 1,620 euros. Its hall was raised from 19.50 to 21.80 an hour.")
PROOFS = {1: NOTE, 2: BOAT, 3: HALL}


def test_an_answer_is_cut_into_claims_behind_their_citations() -> None:
    text = "Ana lives in Porto [1]. She moved in May. [2] [3] You own:\n- a boat [4]\n- a van [5, 6]\nBye"
    complete, left = split_claims(text, ended=True)
    assert [one.strip() for one in complete] == [
        "Ana lives in Porto [1].", "She moved in May. [2] [3]", "You own:\n- a boat [4]", "- a van [5, 6]",
    ]  # fmt: skip
    assert left == "\nBye"
    assert split_claims("Yes. Ana lives in Porto [1]", ended=True) == (["Yes. Ana lives in Porto [1]"], "")


@pytest.mark.parametrize("begun", ["Ana lives in Porto", "Ana lives in Porto [1", "Ana lives in Porto [1]. "])
def test_a_claim_waits_for_what_may_still_come(begun: str) -> None:
    assert split_claims(begun, ended=False) == ([], begun)


@given(st.lists(st.sampled_from(["Ana ", "is. ", "[1]", "[2, 3]", ".", "\n", "3.5 ", "[x]"])), st.integers(1, 9))
def test_pieces_of_any_size_make_the_same_claims(parts: list[str], size: int) -> None:
    text = "".join(parts)
    whole, rest = split_claims(text, ended=True)
    found: list[str] = []
    waiting = ""
    for start in range(0, len(text), size):
        complete, waiting = split_claims(waiting + text[start : start + size], ended=False)
        found += complete
    complete, left = split_claims(waiting, ended=True)
    assert "".join([*found, *complete, left]) == text == "".join([*whole, rest])
    assert all(CITATION.search(claim) for claim in [*found, *complete])


def test_citations_are_numbers_lists_and_ranges() -> None:
    assert cited_numbers("a [2] b [1, 3]; c [5-7] [2]") == (2, 1, 3, 5, 6, 7)
    assert len(cited_numbers("[1-9999]")) <= 21


@pytest.mark.parametrize(
    "question, claim",
    [
        ("What colour is the boat?", "Black [2]."),
        ("When did Ana move?", "On May 3rd, 2024 [1]."),
        ("When did we meet?", "You met on 9 May 2024 [1]."),
        ("On which day did Ana move?", "On the 3rd [1]."),
        ("What is Ana's rent?", "1250 euros [1]."),
        ("What is Ana's rent?", "€1,250 [1]."),
        ("How many sails has the boat?", "It has 3 sails [2]."),
        ("When does the ferry leave?", "At 07:40 [2]."),
        ("When does the ferry leave?", "According to what you wrote, the ferry leaves at 7:40 [2]."),
        ("By how much was it raised?", "From 19.50 to 21.80 [3]."),
        ("Where does Ana live?", "**Porto**, since 3 May 2024 [1]."),
        ("Where does Ana live?", "She relocated to Porto in May 2024 [1]."),
        ("Where does Ana live?", "Ana became a resident of Porto and took a flat for 1,250 euros [1]."),
        ("Who is Ana's sister?", "Her sister is Mira Okafor [1]."),
    ],
)
def test_what_stands_there_is_proved(question: str, claim: str) -> None:
    assert judge_claim(claim, PROOFS, question).verdict == "proved"


@pytest.mark.parametrize(
    "question, claim",
    [  # the first ones are right, but in words of the model's own
        ("Where does Ana live?", "Ana lives in Porto [1]."),
        ("Where does Ana live?", "According to your notes, Ana lives in Porto [1]."),
        ("Who is Ana's sister?", "Her sister Mira Okafor has stayed behind in Lisbon [1]."),
        ("Does Ana live in Porto?", "Yes [1]."),
        ("Tell me of Ana and the boat", "Ana lives in Porto and the boat is black [1][2]."),
        ("Where does Ana live?", "Ana lives in Porto [2]."),
        ("Where does Ana live?", "Ana lives in Braga [1]."),
        ("Where does Ana live?", "Ana lives in Porto with Tomas [1]."),
        ("When did Ana move?", "On 4 May 2024 [1]."),
        ("When did Ana move?", "In June 2024 [1]."),
        ("When did Ana move?", "On 3 May 2023 [1]."),
        ("What is Ana's rent?", "1,350 euros [1]."),
        ("What is Ana's rent?", "5 euros [1]."),  # the month of a date is no number
        ("What is Ana's room?", "Room B12 [1]."),
        ("When does the ferry leave?", "At 7:45 [2]."),
        ("How many sails has the boat?", "It has four sails [2]."),
        ("What colour is the boat?", "White [2]."),
        ("Where does Ana live?", "You noted yourself that it is Porto [1]."),
        ("By how much was it raised?", "By 2.30, from 19.50 to 21.80 [3]."),  # worked out
        ("Is 1,260 less?", "It is 10 less than 1,260: 1,250 [1]."),
    ],
)
def test_what_does_not_stand_there_is_unproved(question: str, claim: str) -> None:
    assert judge_claim(claim, PROOFS, question) == ("unproved", None, "")


@pytest.mark.parametrize(
    "claim, kind",
    [
        ("Ana lives in Porto.", "no_citation"),
        ("- [1].", "no_words"),
        ("Ana lives in Porto [7].", "unknown_citation"),
        ("See https://evil.example/?q=boat [2].", "not_there"),
        ("![boat](//boat.example/black) black [2].", "not_there"),
        ("The boat is [black](black-boat) and has three sails [2].", "not_there"),
    ],
)
def test_what_cites_nothing_or_leads_elsewhere_is_not_shown(claim: str, kind: str) -> None:
    problem = judge_claim(claim, PROOFS, "Where does Ana live?").problem
    assert problem is not None and problem.kind == kind and problem.describe()


def test_a_sentence_without_a_citation_finds_its_proofs() -> None:
    assert find_proofs("Ana moved to Porto on 3 May 2024.", PROOFS, "When did Ana move?") == [1]
    assert find_proofs("Ana moved to Braga.", PROOFS, "Where does Ana live?") == []


RENT = "What is the rent of the boat house?"
TOM = Proof("The boat house belongs to Mira, who lets nobody in: Tom has no access to the gate. The letter got lost.")


@pytest.mark.parametrize(
    "question, said",
    [
        (RENT, "The evidence does not mention the rent of the boat house."),
        (RENT, "The rent is not specified in the notes [1]."),
        (RENT, "The evidence does not say what the rent is; it only gives £19,150 [1]."),
        (RENT, "Answer: NO ANSWER"),
        (RENT, "I'm sorry, NO_ANSWER"),
        (RENT, "[NO ANSWER]"),
        (RENT, "**NO ANSWER**: the rent"),
        (RENT, "It is not possible to determine the rent from the evidence."),
        (RENT, "None of the pieces of evidence mention the rent."),
        (RENT, "The evidence is silent on the rent."),
        (RENT, "I am not able to answer that from the evidence given."),
        (RENT, "As an AI language model, I don't have access to this information."),
        (RENT, "The evidence only mentions the boat house, not its rent."),
        (RENT, "There is no information about the rent in the provided evidence."),
        (RENT, "Unfortunately, the passages don't contain enough information to answer the question."),
        (RENT, "It isn't stated whether there is a rent."),
        (RENT, "Unknown."),
        ("Wie hoch ist die Miete?", "Leider enthalten die Notizen keine Angaben zur Miete."),
        ("Wie hoch ist die Miete?", "KEINE ANTWORT"),
        ("Wie hoch ist die Miete?", "NO ANSWER"),
        ("Wie hoch ist die Miete?", "Sorry, no answer."),
        ("Wie hoch ist die Miete?", "Es ist nicht bekannt."),
        ("Wie hoch ist die Miete?", "Aus den Belegen geht die Miete nicht hervor."),
    ],
)
def test_a_refusal_in_other_words_is_one(question: str, said: str) -> None:
    assert is_refusal(said, question, {1: TOM})


@pytest.mark.parametrize(
    "question, said",
    [
        (RENT, "The rent is not 500 [1]."),
        (RENT, "The boat house has no rent [1]."),
        (RENT, "It is not rented out; Mira owns it [1]."),
        ("Does Ana smoke?", "No [1]."),
        ("Does Ana smoke?", "She does not smoke [1]."),
        ("Was the letter found?", "The letter was not found [1]."),
        ("What did the doctor find?", "The doctor found nothing [1]."),
        ("Can he open the gate?", "He is not able to access it [1]."),
        ("Is Mira known to Tom?", "Mira is not known to Tom [1]."),
        ("Wie hoch ist die Miete?", "Die Miete ist nicht 500 [1]."),
    ],
)
def test_an_answer_that_negates_is_no_refusal(question: str, said: str) -> None:
    assert not is_refusal(said, question, {1: TOM})


@given(st.text(max_size=200), st.text(max_size=80))
def test_any_text_can_be_checked(text: str, question: str) -> None:
    complete, left = split_claims(text, ended=True)
    assert "".join([*complete, left]) == text
    for claim in [*complete, text, f"{text} [1]."]:
        problem = judge_claim(claim, PROOFS, question).problem
        assert problem is None or problem.describe()
        assert is_refusal(claim, question, PROOFS) in (True, False)


def test_a_long_text_has_many_claims() -> None:
    text = "Ana lives in Porto [1]. " * 2_000
    complete, left = split_claims(text, ended=True)
    assert len(complete) == 2_000 and not re.search(r"\S", left)
