"""Which evidence goes to which model: what must stay on this machine stays, whoever answers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.answering.context import EvidencePiece, drop_local, fit_context
from memory.answering.escalation import MAX_TOKENS_FIRST
from memory.llm import about_tokens
from memory.nouns import Answer, Decision
from memory.settings import AnswerSettings
from tests.fakes import Says
from tests.fakes.answering import evidence, prompt
from tests.fakes.server import FakeServer
from tests.memory.answering.conftest import AWAY, HERE, Desk
from tests.memory.facts.asserting import assert_quoted

SECRETS = ("Zanzibar", "Quillon", "Ferrobank", "Wexcombe", "2019-07-13")


def sent(server: FakeServer) -> str:
    return json.dumps([[seen.path, dict(seen.headers), seen.body] for seen in server.seen], ensure_ascii=False)


def leaked(desk: Desk) -> set[str]:
    return {word for word in SECRETS if word.lower() in sent(desk.anthropic).lower()}


@pytest.fixture
def mixed(desk: Desk) -> Desk:
    """Mira's life, in notes of which some must stay."""
    desk.note("open", "Mira lives in Utrecht. She plays chess.", 1)
    desk.note("Wexcombe", "Mira moved to Zanzibar on 2019-07-13. Mira plays chess with Quillon.", 2, "local")
    desk.note("work", "Mira works with Carla.", 3)
    desk.note("money", "Mira works at Ferrobank.", 4, "local")
    return desk


QUESTIONS = ("Where does Mira live?", "With whom does Mira play chess?", "Where does Mira work?", "Who is Quill?")


def test_what_must_stay_is_answered_here(mixed: Desk) -> None:
    for question in QUESTIONS:
        heard = mixed.ask_either(question)
        assert heard.answer.model in (HERE, "") and heard.answer.note == ""
    assert mixed.anthropic.messages == [] and "Zanzibar" in sent(mixed.ollama)


def test_a_model_elsewhere_answers_from_the_rest_and_says_so(mixed: Desk) -> None:
    for question in QUESTIONS[:3]:
        heard = mixed.ask_away(question)
        assert heard.answer.model == AWAY and "must stay on this machine" in heard.answer.note
        assert AWAY in heard.answer.note and heard.composed["left_out"] >= 1 and not heard.composed["local"]
    assert leaked(mixed) == set()
    assert "Utrecht" in sent(mixed.anthropic) and "Carla" in sent(mixed.anthropic), "the fake does record"


def test_nothing_is_sent_where_all_of_it_must_stay(desk: Desk) -> None:
    desk.note("Wexcombe", "Mira lives in Zanzibar.", 2, "local")
    heard = desk.ask_away("Where does Mira live?")
    assert "Zanzibar" in heard.answer.text and heard.answer.model == ""
    assert heard.answer.note.startswith("What was found must stay on this machine, and anthropic:claude-new is elsewh")
    assert not desk.anthropic.messages and leaked(desk) == set()


def test_where_it_finds_nothing_in_the_rest_the_lines_answer(mixed: Desk) -> None:
    mixed.anthropic.answer = lambda body: Says("NO ANSWER: where Mira works")
    heard = mixed.ask_away("Where does Mira work?")
    assert not heard.answer.no_answer and "Ferrobank" in heard.answer.text and heard.answer.model == ""
    assert leaked(mixed) == set()


def test_open_text_may_go_to_either(desk: Desk) -> None:
    desk.note("open", "Mira lives in Utrecht.", 1)
    heard = desk.ask_either("Where does Mira live?")
    assert (heard.answer.model, heard.answer.note) == (AWAY, "") and desk.ollama.chats == []


def test_no_name_or_day_of_a_local_source_leaves_with_an_open_fact(desk: Desk) -> None:
    """The open note's fact is the same relation; where it ends, and what the object is called, a local one has told."""
    desk.note("open", "Mira lives in Utrecht.", 1)
    desk.note("Wexcombe", "Mira moved to Zanzibar on 2019-07-13.", 2, "local")
    with desk.memory.store.writing() as conn:
        conn.execute("UPDATE node SET label = 'Mira Quillon' WHERE kind = 'O' AND label = 'Mira'")
    desk.ask_away("Where does Mira live?")
    assert desk.anthropic.messages and leaked(desk) == set()


def test_a_policy_that_is_changed_counts_at_once(desk: Desk) -> None:
    from memory.store import sources

    desk.note("Wexcombe", "Mira lives in Zanzibar.", 2)
    with desk.memory.store.writing() as conn:
        sources.set_policy(conn, "/notes/Wexcombe.md", "local")
    desk.ask_away("Where does Mira live?")
    assert leaked(desk) == set()


def test_the_evidence_has_facts_lines_and_passages_in_its_room(desk: Desk) -> None:
    for day in range(1, 25):
        desk.note(f"log {day}", f"Mira saw ship number {day}. " + "The sea was calm and grey. " * 40, day)
    list(desk.memory.ask("Which ship did Mira see?", llm=lambda _: desk.here))
    pieces = evidence(desk.ollama.chats[0])
    assert pieces and list(pieces) == list(range(1, len(pieces) + 1))
    assert about_tokens("".join(pieces.values())) <= desk.memory.settings.answer.context_tokens


def test_facts_that_contradict_each_other_are_shown_with_both_days(desk: Desk) -> None:
    from memory.store import relations, revisions

    desk.note("one", "Mira lives in Utrecht.", 1)
    desk.note("two", "Bob lives in Lisbon.", 2)
    assert_quoted(desk.memory, "Mira lives in Utrecht.", "Mira", "lives in", "Utrecht")
    assert_quoted(desk.memory, "Bob lives in Lisbon.", "Bob", "lives in", "Lisbon")
    with desk.memory.store.reading() as conn:
        ids = [id for (id,) in conn.execute("SELECT id FROM edge WHERE kind = 'rel' ORDER BY id")]
        assert len(relations.by_id(conn, ids)) == 2
    with desk.memory.store.writing() as conn:
        revisions.add(conn, "contradicts", ids[0], ids[1], "both cannot be", "model", 0.9, 1)
    list(desk.memory.ask("Where do Mira and Bob live?", llm=lambda _: desk.here))
    text = str(desk.ollama.chats[0])
    assert "written 2024-05-01" in text and "written 2024-05-02" in text
    assert "contradicts [2], and nobody knows which holds" in text and "contradicts [1]" in text


def test_one_piece_fits_always_and_every_piece_has_its_episode(mixed: Desk) -> None:
    heard = mixed.ask("Where does Mira live?")
    assert isinstance(heard.answer, Answer)
    episode = mixed.memory.recall("Where does Mira live?").hits[0].episode
    long = EvidencePiece("passage", "word " * 5000, episode, 0, episode.text, False)
    context = fit_context([long], 300)
    assert len(context.pieces) == 1 and about_tokens(context.text()) < 400
    assert drop_local([long, EvidencePiece("line", "x", episode, 0, "x", True)])[0] == (long,)


FILM = "The Salt Road is a film directed by Ilse Maron. It was shown in five towns."
MAKER = "Ilse Maron was born in Tavira. Her mother ran a bakery."
BORN = "Where was the director of The Salt Road born?"


def leads(body: dict[str, Any]) -> str:
    """What a model is told of how pieces lead to each other."""
    found = re.search(r"lead to each other:\n(\w+)\n(.*?)\n\1$", prompt(body), re.MULTILINE | re.DOTALL)
    return found[2] if found else ""


def test_chains_lead_a_model_from_piece_to_piece(desk: Desk) -> None:
    desk.note("The Salt Road", FILM)
    desk.note("Ilse Maron", MAKER)
    heard = desk.ask(BORN)
    pieces = evidence(desk.ollama.chats[-1])
    first, second = (next(n for n, text in pieces.items() if words in text) for words in (FILM, MAKER))
    assert leads(desk.ollama.chats[-1]) == f"The Salt Road -> [{first}] -> Ilse Maron -> [{second}] -> Tavira"
    assert heard.composed["chains"] == 1
    desk.memory.settings = replace(desk.memory.settings, answer=AnswerSettings(prompt_chains=False))
    assert "chains" not in desk.ask(BORN).composed and leads(desk.ollama.chats[-1]) == ""


def test_chains_of_facts_say_since_when_and_leave_out_what_was_replaced(desk: Desk) -> None:
    told = {
        "Mira works at Ferrobank.": ("Mira", "works at", "Ferrobank"),
        "Ferrobank lies in Utrecht.": ("Ferrobank", "lies in", "Utrecht"),
        "Ferrobank moved to Delft.": ("Ferrobank", "lies in", "Delft"),
    }
    for day, words in enumerate(told, 1):
        desk.note(f"note {day}", words, day)
        begin = datetime(2024, 5, day, tzinfo=UTC)
        assert_quoted(desk.memory, words, *told[words], valid_from=begin, single=False)
    lies = {fact.objects[-1]: fact.id for fact in desk.memory.facts("Ferrobank") if fact.predicate == "lies in"}
    desk.memory.knowledge.apply_decisions([Decision(lies["Utrecht"], lies["Delft"], "supersedes", 0.9)], "m")
    desk.ask("Where does the bank lie at which Mira works?")
    pieces = evidence(desk.ollama.chats[-1])
    first, second = (
        next(n for n, text in pieces.items() if words in text) for words in ("Mira works", "lies in Delft")
    )
    chains = leads(desk.ollama.chats[-1]).splitlines()
    assert f"Mira -> works at [{first}] -> Ferrobank -> lies in [{second}] -> Delft, since 2024-05-03" in chains
    assert "Utrecht" not in str(chains)
    desk.ask("Who works in Delft?")
    assert any("Delft <- lies in [" in one and "<- Mira" in one for one in leads(desk.ollama.chats[-1]).splitlines())


def test_a_chain_with_a_step_that_must_stay_is_not_sent(desk: Desk) -> None:
    desk.note("The Salt Road", FILM)
    desk.note("Ilse Maron", MAKER.replace("Tavira", "Zanzibar"), policy="local")
    desk.ask_away(BORN)
    assert desk.anthropic.messages and leaked(desk) == set() and leads(desk.anthropic.messages[-1]) == ""


def test_no_words_are_sent_twice(desk: Desk) -> None:
    for day in range(1, 12):
        desk.note(f"log {day}", f"Mira saw ship number {day}. " + "The sea was calm and grey. " * 30, day)
    desk.ask("Which ship did Mira see?", effort="quick")
    pieces = list(evidence(desk.ollama.chats[-1]).values())
    assert len(pieces) > 3
    for place, text in enumerate(pieces):
        assert not any(text in other for other in pieces[:place] + pieces[place + 1 :])


def test_a_model_here_sees_the_best_first_and_the_rest_where_that_holds_no_answer(desk: Desk) -> None:
    for day in range(1, 25):
        desk.note(f"log {day}", f"Mira saw ship number {day}. " + "The sea was calm and grey. " * 40, day)
    desk.ollama.enqueue(Says("NO ANSWER: the ship"))
    list(desk.memory.ask("Which ship did Mira see?", llm=lambda _: desk.here, replay=False))
    list(desk.memory.ask("Which ship did Mira see?", llm=lambda _: desk.away, replay=False))
    chats = [chat for chat in desk.ollama.chats if "The evidence:" in prompt(chat)]
    shown = [about_tokens("".join(evidence(chat).values())) for chat in (*chats, desk.anthropic.messages[-1])]
    assert len(shown) == 3 and shown[0] <= MAX_TOKENS_FIRST < min(shown[1:])
