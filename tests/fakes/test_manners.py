"""Ordinary manners: what is right said otherwise, the same each time, and nothing that is not known."""

from __future__ import annotations

import json

import pytest

from memory.answering.grounding import Proof, is_refusal, judge_claim, split_claims
from memory.facts.json_replies import parse_loosely
from memory.facts.llm_requests import EXTRACTION_SCHEMA
from tests.fakes.manners import Manners
from tests.fakes.oracle import Oracle
from tests.fakes.recorded import Recorded, Recording
from tests.fakes.server import Says
from tests.fakes.test_oracle import KNOWN, QUESTION, TEXTS, asked, guided, reply, shown
from tests.fakes.test_recorded import FILES

SEEDS = range(60)


@pytest.mark.parametrize(
    ("question", "answer", "behind", "said"),
    [
        ("What did I pay for the bike?", "640", " €, and", "You paid 640 euros for the bike"),
        ("What is my rent?", "712", " EUR a month since", "Your rent is 712 euros per month"),
        ("Where did Ana go in May?", "Oslo", "", "Ana went in May Oslo"),
        ("When was the shed painted?", "1 May", "", "The shed was painted 1 May"),
        ("Which course does Mira teach?", "Latin", "", "Mira teaches Latin"),
    ],
)
def test_it_says_the_question_again_with_the_answer(question: str, answer: str, behind: str, said: str) -> None:
    texts = [Manners(seed).answer(question, answer, [2, 1], behind) for seed in SEEDS]
    assert sum(said.lower() in text.lower() for text in texts) > len(texts) / 2
    assert all(answer in text and "[2" in text and "1]" in text for text in texts)
    assert 3 <= sum(len(split_claims(text, ended=True)[0]) == 2 for text in texts) <= 30  # now and then two sentences
    assert texts == [Manners(seed).answer(question, answer, [2, 1], behind) for seed in SEEDS]


def test_it_refuses_in_prose() -> None:
    question = "What colour is my bicycle?"
    said = {Manners(seed).refusal(question) for seed in SEEDS}
    assert len(said) > 8 and sum(not one.startswith("NO ANSWER") for one in said) > 8
    assert "Your notes do not mention what colour is your bicycle." in said
    proofs = {1: Proof("The shed is green.")}
    assert [one for one in said if not is_refusal(one, question, proofs)] == []


def test_it_writes_json_for_a_reader() -> None:
    data = {"episodes": [{"episode": 1, "facts": []}]}
    said = {Manners(seed).write_json(json.dumps(data)) for seed in SEEDS}
    assert any(one.startswith("Here is the JSON") for one in said) and any(one.endswith("```") for one in said)
    assert all(parse_loosely(one, EXTRACTION_SCHEMA) == data for one in said)


def test_the_oracle_has_them() -> None:
    context = shown([*TEXTS])
    oracles = [Oracle({QUESTION: KNOWN}, seed=seed, manners=Manners(seed)) for seed in SEEDS]
    answers = [reply(oracle, asked(context)) for oracle in oracles]
    assert len(set(answers)) > 5 and all("Quill" in one for one in answers)
    claims = [split_claims(one, ended=True)[0][0] for one in answers]
    assert not [one for one in claims if judge_claim(one, context.proofs, QUESTION).problem]
    again = [reply(oracle, asked(context, QUESTION, answers[0])) for oracle in oracles]
    assert all("He was born in the village of Quill" in one for one in again)
    kept = asked(context, QUESTION, answers[0])
    kept["messages"].append(
        {"role": "user", "content": "The sentences before it are kept. Write only what belongs there."}
    )
    assert {reply(oracle, kept) for oracle in oracles} == {"END"}
    refusals = {reply(oracle, asked(shown(["Brack"]))) for oracle in oracles}
    assert len(refusals) > 5 and not any("Quill" in one for one in refusals)


def test_the_oracle_then_does_not_know_the_way() -> None:
    """The gold is the last of four places; it is not chosen more often than another."""
    options = ['open "Brack"', 'open "Aske"', 'open "Lower Fenwick"', 'open "Odo Tarn"']
    said = [reply(Oracle({QUESTION: KNOWN}, seed=seed, manners=Manners(seed)), guided(options)) for seed in range(200)]
    counts = [sum(one.strip("[].").endswith(str(number)) for one in said) for number in (1, 2, 3, 4)]
    assert all(20 <= count <= 65 for count in counts) and sum(counts) + said.count("DONE") == len(said)


def test_a_blind_oracle_knows_nothing() -> None:
    blind = Oracle({QUESTION: KNOWN}, blind=True)
    assert reply(blind, asked(shown([*TEXTS]))) == "Weir Cottage was built by Odo Tarn in 1811 [1]."
    assert reply(blind, asked(shown([*TEXTS]), "Who sings?")).startswith("NO ANSWER")


def test_a_recorded_model_has_them() -> None:
    def said(seed: int) -> str:
        model = Recorded(Recording(FILES), lambda old, new: "unrelated", manners=Manners(seed))
        answer = model({"messages": [{"role": "user", "content": "Episode 1: a\nQWERTZ\nAna has a boat.\nQWERTZ"}]})
        assert isinstance(answer, Says)
        return answer.text

    texts = {said(seed) for seed in SEEDS}
    assert len(texts) > 3 and all(parse_loosely(text, EXTRACTION_SCHEMA)["episodes"] for text in texts)
