"""Which evidence goes to which model: what must stay on this machine stays, whoever answers."""

from __future__ import annotations

import json

import pytest

from memory.answering.context import (
    MAX_PASSAGES_MORE,
    EvidencePiece,
    PieceKind,
    drop_local,
    fit_context,
)
from memory.answering.escalation import MAX_TOKENS_MORE
from memory.llm import about_tokens
from memory.nouns import Answer, Episode, Source
from tests.fakes import Says
from tests.fakes.answering import evidence, prompt
from tests.fakes.server import FakeServer
from tests.memory.answering.conftest import AWAY, HERE, Desk

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


def test_the_evidence_has_lines_and_passages_in_its_room(desk: Desk) -> None:
    for day in range(1, 25):
        desk.note(f"log {day}", f"Mira saw ship number {day}. " + "The sea was calm and grey. " * 40, day)
    list(desk.memory.questions.ask("Which ship did Mira see?", llm=lambda _: desk.here))
    pieces = evidence(desk.ollama.chats[0])
    assert pieces and list(pieces) == list(range(1, len(pieces) + 1))
    assert about_tokens("".join(pieces.values())) <= desk.memory.state.settings.answer.context_tokens


def test_one_piece_fits_always_and_every_piece_has_its_episode(mixed: Desk) -> None:
    heard = mixed.ask("Where does Mira live?")
    assert isinstance(heard.answer, Answer)
    episode = mixed.memory.questions.retrieve("Where does Mira live?").recall.hits[0].episode
    long = EvidencePiece("passage", "word " * 5000, episode, 0, episode.text, False)
    context = fit_context([long], 300)
    assert len(context.pieces) == 1 and about_tokens(context.text()) < 400
    assert drop_local([long, EvidencePiece("line", "x", episode, 0, "x", True)])[0] == (long,)


def log(desk: Desk, days: int) -> None:
    for day in range(1, days):
        desk.note(f"log {day}", f"Mira saw ship number {day:02}.\n" + f"The sea of day {day:02} was grey.\n" * 40, day)


def test_no_words_are_sent_twice(desk: Desk) -> None:
    log(desk, 12)
    desk.ask("Which ship did Mira see?", effort="quick")
    pieces = list(evidence(desk.ollama.chats[-1]).values())
    whole = [text for text in pieces if text.count("was grey.") == 40]
    assert whole and len(pieces) > len(whole)
    assert not any(text in other for other in whole for text in pieces if text != other)


def test_a_second_look_shows_other_passages_and_the_best_of_the_first(desk: Desk) -> None:
    log(desk, 25)
    desk.ollama.enqueue(Says("NO ANSWER: the ship"))
    list(desk.memory.questions.ask("Which ship did Mira see?", llm=lambda _: desk.here, replay=False))
    first, second = desk.ollama.chats
    assert len(second["messages"]) == len(first["messages"]) == 2, "a prompt of its own"
    shown, more = evidence(first), evidence(second)
    assert more[1] == shown[1] and 0 < len(more) - 1 <= MAX_PASSAGES_MORE
    new = [text for number, text in more.items() if number > 1]
    assert any(text.count("was grey.") == 40 for text in new)
    assert not any(text in other for text in new for other in shown.values())
    assert about_tokens("".join(shown.values())) <= desk.memory.state.settings.answer.context_tokens
    assert about_tokens("".join(new)) <= MAX_TOKENS_MORE


def test_a_second_look_may_cite_the_best_passage_of_the_first(desk: Desk) -> None:
    log(desk, 25)
    requests = []
    desk.ollama.answer = lambda body: Says(
        "NO ANSWER" if requests.append(body) or len(requests) == 1
        else " ".join(f"{text.split('.')[0]} [{number}]." for number, text in list(evidence(body).items())[:3])
    )  # fmt: skip
    heard = desk.ask("Which ship did Mira see?", replay=False)
    assert heard.answer.model and not heard.answer.no_answer
    best, *others = (one.title for one in heard.answer.citations)
    assert f"number {best[-2:].strip():0>2}" in evidence(desk.ollama.chats[0])[1] and len(others) == 2


def test_a_second_look_by_another_model_shows_the_first_again(desk: Desk) -> None:
    """The one elsewhere found nothing in what it may see; the one here, reachable by then, sees all."""
    log(desk, 25)
    models = iter([desk.away])
    desk.anthropic.enqueue(Says("NO ANSWER: the ship"))
    list(desk.memory.questions.ask("Which ship did Mira see?", llm=lambda _: next(models, desk.here), replay=False))
    (body,) = desk.ollama.chats
    assert len(body["messages"]) == 2 and min(evidence(body)) == 1


def piece(episode: Episode, words: str, kind: PieceKind = "line") -> EvidencePiece:
    return EvidencePiece(kind, words, episode, episode.text.index(words), words, False)


def test_lines_of_a_passage_have_one_head(mixed: Desk) -> None:
    episode = mixed.memory.questions.retrieve("Mira chess Utrecht").recall.hits[0].episode
    plays, lives = piece(episode, "She plays chess."), piece(episode, "Mira lives in Utrecht.")
    context = fit_context([plays, lives, plays], 300)
    assert context.text() == ('[1] 2024-05-01, in "open":\n Mira lives in Utrecht.\n She plays chess.')
    assert [one.quote for one in context.pieces] == [episode.text]
    passage = piece(episode, episode.text, "passage")
    assert [one.kind for one in fit_context([plays, passage, lives], 300).pieces] == ["passage"]


def test_the_head_of_a_mail_stands_there_once(desk: Desk) -> None:
    text = "From: Ana Kern <ana@kern.example>\nSubject: The hall\n\nIt is free in May."
    mail = Episode(1, Source(1, "/a.eml", "file", "a", "mail"), 0, "The hall", text, None, speaker="Ana Kern")
    assert fit_context([piece(mail, text, "passage")], 300).text().startswith("[1] undated:\n From: Ana Kern")
    assert fit_context([piece(mail, "It is free in May.")], 300).text() == (
        '[1] undated, in "The hall", by Ana Kern:\n It is free in May.'
    )
    part = Episode(1, Source(1, "/a.md", "file", "a", "md"), 0, "Log › The hall", "# The hall\nFree in May.", None)
    assert fit_context([piece(part, part.text, "passage")], 300).text().startswith('[1] undated, in "Log":\n # The')


@pytest.mark.parametrize(("question", "hint"), [
    ("Where does Mira live?", ""),
    ("Since when has Mira lived in Utrecht?", ""),
    ("How many sheep does Mira have?", ""),
    ("Does Mira live in Utrecht?", ""),
    ("In which cities did Mira live, in order?", "the oldest first"),
])  # fmt: skip
def test_only_lists_and_histories_have_a_hint(desk: Desk, question: str, hint: str) -> None:
    desk.note("open", "Mira lives in Utrecht. She has nine sheep.", 1)
    list(desk.memory.questions.ask(question, llm=lambda _: desk.here))
    end = prompt(desk.ollama.chats[0]).rpartition(question)[2].split("\n", 2)[2:]
    assert hint in "".join(end) and bool(hint) == bool(end)
