"""What leaves this machine: not one word of a source that is marked local, whoever asks for it and whatever for.

The server of the model elsewhere records all it is sent. Every source that is local holds words that stand nowhere
else, in its text, its title, its speaker and its path.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from benchmarks.canaries import make_canaries
from memory.facts import decisions, llm_requests
from memory.nouns import Answer, Document, Turn
from memory.store import jobs, sources
from tests.daemon.enriching import AWAY, HERE, Make, World, passages, system_of
from tests.fakes.answering import answers
from tests.fakes.server import FakeServer

SECRETS = ("Zanzibar", "Quillon", "Ferrobank", "Wexcombe", "Oxley", "Hollowbrook")


def sent(server: FakeServer) -> str:
    """Every byte that a server was sent."""
    return json.dumps([[seen.path, dict(seen.headers), seen.body] for seen in server.seen], ensure_ascii=False)


def leaked(here: World) -> set[str]:
    return {word for word in SECRETS if word.lower() in sent(here.anthropic).lower()}


def fill(here: World) -> None:
    """Notes, a chat and mails, local and not, that speak of the same people."""
    here.note("Wexcombe", "Mira lives in Zanzibar.", 1, "local")
    here.note("open", "Mira lives in Utrecht.", 2, "any")
    here.note("later", "Mira works with Bob.", 3, "any")
    here.note("money", "Mira works with Ferrobank.", 4, "local")
    here.note("latest", "Mira works with Carla.", 5, "any")
    at = datetime(2024, 1, 6, tzinfo=UTC)
    turns = (Turn("Quillon", "Mira met Oxley.", at), Turn("Mira", "Mira met Dora.", at))
    mails = [
        Document(f"/mail/{n}.eml", "See you there.", title="Re: tea", kind="import", reader="eml", at=at,
                 properties={"from": "Pat Hollowbrook <pat@hollowbrook.example>", "to": f"x{n}@example.org"})
        for n in range(8)
    ]  # fmt: skip
    here.memory.ingest.remember_many([Document("/chats/a.json", turns=turns, kind="chat", title="tea"), *mails])


@pytest.fixture
def both(make: Make) -> Iterator[World]:
    """A model elsewhere is preferred; one on this machine is there for what must stay."""
    with make(extract=(AWAY, HERE)) as here:
        fill(here)
        yield here


def test_no_word_of_a_local_source_is_sent_to_a_model_elsewhere(both: World) -> None:
    both.run()
    state = both.enrichment.state()
    assert (state.read, state.jobs, state.failed_total) == (state.total, 0, 0)
    assert leaked(both) == set()
    for word in ("Utrecht", "Bob", "Carla"):
        assert word in sent(both.anthropic), "the fakes do record"
    for word in ("Zanzibar", "Quillon", "Ferrobank", "Oxley", "Wexcombe"):
        assert word in sent(both.ollama)
    for body in both.anthropic.messages:
        assert system_of(body) in (llm_requests.EXTRACTION_PROMPT, decisions.DECISION_PROMPT)


def test_no_secret_is_sent_to_any_model_or_logged(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    canaries = [
        one for one in make_canaries(40) if one.kind not in ("PIN", "door code")
    ]  # these may be part of a number
    with make(extract=(AWAY, HERE)) as here:
        for number, one in enumerate(canaries):
            here.note(
                f"server {number}", f"Mira met Anna.\n\n{one.line}", 1 + number % 28, ("any", "local")[number % 2]
            )
        here.run()
        here.ollama.answer = here.anthropic.answer = answers
        for one in canaries[:6]:
            here.models.use("answer", (AWAY, HERE))
            assert [*here.memory.questions.ask(f"Whom did Mira meet? {one.line}", llm=here.models.choose)]
        said = sent(here.anthropic) + sent(here.ollama) + caplog.text + str(here.memory.questions.traces(50))
        assert "Mira met Anna" in sent(here.anthropic) and "Mira met Anna" in sent(here.ollama)
        assert [one.kind for one in canaries if any(line in said for line in one.value.split("\n"))] == []


def test_no_word_of_a_local_source_is_in_a_question_to_a_model_elsewhere(both: World) -> None:
    both.run()
    before = len(both.anthropic.seen)
    both.ollama.answer = both.anthropic.answer = answers
    questions = (
        "Where does Mira live?",
        "Whom did Mira meet?",
        "With whom does Mira work?",
        "Where is my rent written?",
    )
    for names, models in (((AWAY, HERE), {HERE, AWAY, ""}), ((AWAY,), {AWAY, ""})):
        both.models.use("answer", names)
        said = [[*both.memory.questions.ask(question, llm=both.models.choose)][-1] for question in questions]
        assert {names[-1]} <= {one.model for one in said if isinstance(one, Answer)} <= models
    assert len(both.anthropic.messages) and len(both.anthropic.seen) > before
    assert leaked(both) == set()


def test_what_is_read_together_has_one_policy(both: World) -> None:
    both.run()
    open_texts = {"Mira lives in Utrecht.", "Mira works with Bob.", "Mira works with Carla."}
    for body in both.ollama.chats:
        assert not {text for _, text in passages(body)} & open_texts
    assert {text for body in both.anthropic.messages for _, text in passages(body)} == open_texts


def test_facts_of_local_sources_are_decided_here(both: World) -> None:
    both.run()
    here = [body for body in both.ollama.chats if system_of(body) == decisions.DECISION_PROMPT]
    away = [body for body in both.anthropic.messages if system_of(body) == decisions.DECISION_PROMPT]
    assert any("Ferrobank" in str(body) for body in here)
    assert any("Bob" in str(body) and "Carla" in str(body) for body in away)
    assert leaked(both) == set()


def test_without_a_model_here_local_sources_wait(make: Make) -> None:
    with make(extract=(AWAY,)) as here:
        fill(here)
        here.run()
        state = here.enrichment.state()
        assert state.read == 3 and state.state == "waiting" and "on this machine" in state.detail
        assert leaked(here) == set() and here.ollama.chats == []
        assert not [job for job in (*here.jobs("queued"), *here.jobs("dead")) if job.kind == "extract"]
        for _ in range(3):
            here.later()
            here.run()
        assert leaked(here) == set()
        with here.memory.store.writing() as conn:
            sources.set_policy(conn, "/notes/Wexcombe.md", "any")
        here.later()
        here.run()
        assert leaked(here) == {"Zanzibar", "Wexcombe"}, "its owner has allowed it"


def test_a_source_that_becomes_local_while_it_waits_is_not_sent(make: Make) -> None:
    with make(extract=(AWAY,)) as here:
        one = here.note("Wexcombe", "Mira lives in Zanzibar.", 1, "any")
        two = here.note("open", "Mira lives in Utrecht.", 2, "any")
        with here.memory.store.writing() as conn:
            jobs.enqueue(conn, jobs.Job("extract", "both", {"episodes": [one, two]}), 0)
            sources.set_policy(conn, "/notes/Wexcombe.md", "local")
        here.run()
        assert here.enrichment.state().read == 1
        assert "Utrecht" in sent(here.anthropic) and leaked(here) == set()


def test_a_name_that_only_a_local_source_has_does_not_leave_with_a_fact(both: World) -> None:
    """What open notes call O is known by another name since a local one was read, and facts show that name."""
    told = both.note("open 1", "Mira works with O.", 10, "any"), both.note("open 2", "Mira works with Emil.", 11, "any")
    both.run()
    known = both.memory.knowledge.facts("Mira", history=True)
    pair = sorted(fact.id for fact in known if fact.kind == "relation" and fact.episode_id in told)
    assert len(pair) == 2
    here, away = len(both.ollama.chats), len(both.anthropic.messages)
    with both.memory.store.writing() as conn:
        conn.execute("UPDATE node SET label = 'Oxley Hollowbrook' WHERE kind = 'O' AND label = 'O'")
        jobs.enqueue(conn, jobs.Job("decide", "again", {"pairs": [pair]}), 0)
    both.run()
    assert (len(both.ollama.chats), len(both.anthropic.messages)) == (here + 1, away)
    assert "Oxley Hollowbrook" in sent(both.ollama) and leaked(both) == set()
