"""Notes that are read in batches by a model elsewhere: sent once, learnt like any other reply, and given back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from daemon.jobs import batches, enrichment
from daemon.jobs.enrichment import Enrichment
from daemon.settings import EnrichmentSettings
from memory.errors import LocalOnlyError
from memory.facts import decisions, llm_requests
from memory.llm import LlmRequest, Message
from memory.store import jobs
from tests.daemon.enriching import AWAY, HERE, Make, World, able, passages, system_of
from tests.fakes import ClaudeModel, Fails, FakeAnthropic, Says

BATCHED = {"batches": True, "extract": (AWAY,)}


def sent(here: World) -> list[list[str]]:
    """The passages of each batch."""
    return [
        [text for body in batch.requests.values() for _, text in passages(body)]
        for batch in here.anthropic.batches.values()
    ]


def read_alone(here: World) -> list[str]:
    """The passages of ordinary calls."""
    asked = [body for body in here.anthropic.messages if system_of(body) == llm_requests.EXTRACTION_PROMPT]
    return [text for body in asked for _, text in passages(body)]


def poll(here: World) -> None:
    """A minute later; what waits behind a batch still does."""
    with here.memory.store.writing() as conn:
        conn.execute("UPDATE job SET not_before = 0 WHERE kind = 'batch'")
    here.run()


def notes(here: World, *names: str) -> list[int]:
    """The ids of their episodes."""
    texts = {name: f"{name.title()} lives in Porto." for name in names}
    return [here.note(name, text, day, policy="any") for day, (name, text) in enumerate(texts.items(), 1)]


def test_notes_are_read_in_a_batch(make: Make) -> None:
    with make(**BATCHED) as here:
        here.note("first", "Mira works with Ana.", 1, policy="any")
        here.note("second", "Mira works with Bob.", 20, policy="any")
        here.run()
        assert sorted(sent(here)[0]) == ["Mira works with Ana.", "Mira works with Bob."], "one note a request"
        assert here.anthropic.messages == []
        state = here.enrichment.state()
        assert (state.read, state.jobs) == (0, 2)
        assert state.detail.startswith(f"A batch of 2 notes is being read by {AWAY} since 20")

        poll(here)
        assert here.enrichment.state().read == 0, "it is not ready"
        here.anthropic.end_batches()
        poll(here)
        state = here.enrichment.state()
        assert (state.state, state.detail, state.read, state.jobs, state.failed_total) == ("idle", "", 2, 0, 0)
        assert state.tokens > 0 and here.models.day_is_spent == ""
        assert here.facts("Mira") == ["Mira works with Bob"]
        assert {system_of(body) for body in here.anthropic.messages} == {decisions.DECISION_PROMPT}, "at once"
        here.run()
        assert len(sent(here)) == 1, "nothing is sent twice"


def test_what_is_new_meanwhile_waits_for_the_next_batch(make: Make) -> None:
    with make(batches=True, extract=(AWAY, HERE)) as here:
        notes(here, "ana")
        here.run()
        notes(here, "ana", "bob", "carla")
        here.note("closed", "Mira met Zenobia.", 9)
        here.run()
        assert sent(here) == [["Ana lives in Porto."]] and read_alone(here) == []
        assert here.facts("Mira") == ["Mira met Zenobia"], "others go on"
        here.anthropic.end_batches()
        poll(here)
        assert [len(texts) for texts in sent(here)] == [1, 2]


def test_a_batch_waits_a_while_for_more(make: Make) -> None:
    with make(**BATCHED, gather=60.0) as here:
        notes(here, "ana")
        here.run()
        assert (here.enrichment.state().state, sent(here)) == ("waiting", [])
        notes(here, "ana", "bob")
        here.enrichment._gather = 0.0
        here.enrichment.wake()
        here.run()
        assert [len(texts) for texts in sent(here)] == [2]


def test_a_full_batch_waits_for_nothing(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (batches, enrichment):
        monkeypatch.setattr(module, "MAX_JOBS", 2)
    with make(**BATCHED, gather=60.0) as here:
        notes(here, "ana", "bob", "carla")
        here.run()
        assert [len(texts) for texts in sent(here)] == [2]


def test_a_daemon_that_starts_again_asks_for_the_batch_and_sends_nothing_twice(make: Make) -> None:
    with make(**BATCHED) as here:
        notes(here, "ana", "bob")
        here.run()
        here.enrichment = Enrichment(here.memory, here.models, here.writer, EnrichmentSettings())
        with here.memory.store.writing() as conn:
            jobs.requeue(conn, "another boot")
        here.run()
        assert "A batch of 2 notes" in here.enrichment.state().detail
        here.anthropic.end_batches()
        poll(here)
        assert here.enrichment.state().read == 2
        assert len(sent(here)) == 1 and read_alone(here) == []


def test_one_that_died_while_it_took_the_results_takes_the_rest(make: Make) -> None:
    with make(**BATCHED) as here:
        notes(here, "ana", "bob")
        here.run()
        here.anthropic.end_batches()
        learn, told = here.enrichment._reading.learn_reply, iter([True])

        def die(*arguments: Any) -> None:
            if not next(told, False):
                raise KeyboardInterrupt
            learn(*arguments)

        here.enrichment._reading.learn_reply = die  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            poll(here)
        again = Enrichment(here.memory, here.models, here.writer, EnrichmentSettings())
        with here.memory.store.writing() as conn:
            jobs.requeue(conn, "another boot")
        here.enrichment = again
        poll(here)
        assert (again.state().read, again.state().jobs) == (2, 0)
        assert len(sent(here)) == 1 and read_alone(here) == []


@pytest.mark.parametrize("fate", ["errored", "expired"])
def test_what_was_not_answered_is_read_by_an_ordinary_call(make: Make, fate: str) -> None:
    with make(**BATCHED) as here:
        notes(here, "ana", "bob")
        here.run()
        (asked,) = sent(here)
        here.anthropic.end_batches({1: fate})
        poll(here)
        assert read_alone(here) == [asked[1]]
        state = here.enrichment.state()
        assert (state.read, state.jobs, state.failed_total) == (2, 0, 0)
        assert len(sent(here)) == 1


def test_a_reply_that_cannot_be_used_is_asked_for_once_more_and_then_given_up(make: Make) -> None:
    with make(**BATCHED) as here:
        notes(here, "ana", "bob")
        here.anthropic.answer = lambda body: Says("No.") if "Ana" in json.dumps(body) else able(body)
        here.run()
        here.anthropic.end_batches()
        poll(here)
        state = here.enrichment.state()
        assert (state.read, state.jobs, state.failed_total) == (1, 0, 1)
        assert len(sent(here)) == 1 and len(read_alone(here)) == 2


def test_a_batch_that_is_gone_is_read_by_ordinary_calls(make: Make) -> None:
    with make(**BATCHED) as here:
        notes(here, "ana", "bob")
        here.run()
        asked, here.anthropic.batches = sent(here), {}
        poll(here)
        assert sorted(read_alone(here)) == sorted(asked[0])
        assert here.enrichment.state().read == 2


def test_no_word_of_a_local_note_is_in_a_batch(make: Make) -> None:
    with make(batches=True, extract=(AWAY, HERE)) as here:
        here.note("Wexcombe", "Mira lives in Zanzibar.", 1)
        here.note("open", "Mira lives in Utrecht.", 2, policy="any")
        here.note("changed", "Mira met Oxley.", 3, policy="any")
        assert here.enrichment._plan()
        with here.memory.store.writing() as conn:
            conn.execute("UPDATE source SET policy = 'local' WHERE uri = '/notes/changed.md'")
        here.run()
        assert sent(here) == [["Mira lives in Utrecht."]]
        here.anthropic.end_batches()
        poll(here)
        everything = json.dumps([[seen.path, seen.body] for seen in here.anthropic.seen])
        assert not any(word in everything for word in ("Wexcombe", "Zanzibar", "Oxley")) and "Utrecht" in everything
        assert here.enrichment.state().read == 3


def test_a_local_note_waits_for_a_model_here_while_others_are_in_a_batch(make: Make) -> None:
    with make(**BATCHED) as here:
        here.note("Wexcombe", "Mira lives in Zanzibar.", 1)
        notes(here, "ana")
        here.run()
        assert sent(here) == [["Ana lives in Porto."]]
        assert "on this machine" in here.enrichment.state().detail
        assert "A batch of 1 note is being read" in here.enrichment.state().detail


def test_what_was_forgotten_meanwhile_is_not_learnt(make: Make) -> None:
    with make(**BATCHED) as here:
        *_, carla = notes(here, "ana", "bob", "carla")
        here.run()
        here.memory.forget(source="/notes/ana.md")
        here.memory.ingest.retire("/notes/bob.md")
        here.anthropic.end_batches()
        poll(here)
        assert {fact.episode_id for fact in here.memory.facts("Porto")} == {carla}
        assert here.enrichment.state().jobs == 0


def test_a_pause_cancels_the_batch_and_what_was_read_by_then_is_learnt(make: Make) -> None:
    with make(**BATCHED) as here:
        notes(here, "ana", "bob")
        here.run()
        here.enrichment.enable(False)
        here.run()
        here.run()
        paths = [seen.path for seen in here.anthropic.seen if seen.path.endswith("/cancel")]
        assert paths == ["/v1/messages/batches/msgbatch_1/cancel"]
        here.anthropic.end_batches()
        here.enrichment.enable(True)
        poll(here)
        assert [len(texts) for texts in sent(here)] == [2, 2], "in the next one"
        here.anthropic.end_batches()
        poll(here)
        assert here.enrichment.state().read == 2


def test_a_batch_ends_when_batches_are_switched_off(make: Make) -> None:
    with make(**BATCHED) as here:
        notes(here, "ana")
        here.run()
        backend: Any = here.models.open(AWAY)._backend
        backend.has_batches = False
        poll(here)
        assert here.anthropic.batches["msgbatch_1"].cancelled
        here.anthropic.end_batches()
        poll(here)
        assert here.enrichment.state().read == 1 and len(read_alone(here)) == 1


@pytest.mark.parametrize("status", [401, 529])
def test_what_cannot_be_sent_waits(make: Make, status: int) -> None:
    with make(**BATCHED) as here:
        notes(here, "ana", "bob")
        here.anthropic.refuses = Fails(status)
        here.run()
        state = here.enrichment.state()
        assert (state.state, state.jobs, here.anthropic.batches) == ("waiting", 2, {}) and state.detail
        here.anthropic.refuses = None
        here.later()
        here.run()
        assert here.anthropic.batches


def test_a_batch_takes_no_more_tokens_than_the_day_has(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_most_tokens", lambda request: 400)
    with make(**BATCHED, daily_tokens=1_000) as here:
        notes(here, "ana", "bob", "carla")
        here.run()
        assert [len(texts) for texts in sent(here)] == [2]
        here.anthropic.end_batches()
        poll(here)
        state = here.enrichment.state()
        assert state.read == 2 and "enrichment.daily_tokens" in state.detail
        assert len(sent(here)) == 1


def test_where_one_request_must_not_leave_nothing_is_sent(make: Make) -> None:
    with make(**BATCHED) as here:
        free = LlmRequest(messages=(Message("user", "Mira lives in Utrecht."),), local_only=False)
        with pytest.raises(LocalOnlyError):
            here.models.open(AWAY).send_batch({"1": free, "2": replace(free, local_only=True)})
        assert not any(seen.method == "POST" for seen in here.anthropic.seen)


def test_the_key_does_not_follow_the_results_elsewhere(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with make(**BATCHED) as here, FakeAnthropic() as elsewhere:
        notes(here, "ana")
        here.run()
        here.anthropic.end_batches()
        about = here.anthropic._about_batch
        monkeypatch.setattr(here.anthropic, "_about_batch", lambda id: about(id) | {"results_url": elsewhere.url})
        poll(here)
        assert elsewhere.seen == []
        assert read_alone(here) == ["Ana lives in Porto."]


def test_a_model_that_answers_with_a_tool_is_read_in_batches_too(make: Make) -> None:
    with make(**BATCHED) as here:
        here.anthropic.models["claude-new"] = ClaudeModel("claude-new", structured=False)
        notes(here, "ana")
        here.run()
        here.anthropic.end_batches()
        poll(here)
        assert here.enrichment.state().read == 1 and read_alone(here) == []


def test_without_the_setting_there_are_no_batches(make: Make) -> None:
    with make(extract=(AWAY,)) as here:
        notes(here, "ana")
        here.run()
        assert here.enrichment.state().read == 1 and here.anthropic.batches == {}
