"""Reading with a model in the background: what is read when, what is learnt of it, and what can be in the way."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from daemon.config.settings import EnrichmentSettings
from daemon.jobs import extraction
from daemon.jobs.enrichment import Enrichment
from memory.facts import decisions, llm_requests
from memory.llm import LlmRequest, Message, Usage
from memory.store import jobs
from memory.store import jobs as store
from memory.store.jobs import Use
from plugins.settings import OllamaSettings
from tests.daemon.enriching import AWAY, HERE, Make, World, able, passages, system_of
from tests.fakes import Fails, FakeOllama, Hangs, Reply, Says
from tests.memory.facts.asserting import assert_quoted


@pytest.fixture
def ready(make: Make) -> Iterator[World]:
    with make() as here:
        yield here


def read(here: World) -> list[str]:
    """The passages that were given to the model on this machine, in order."""
    asked = [body for body in here.ollama.chats if system_of(body) == llm_requests.EXTRACTION_PROMPT]
    return [text for body in asked for _, text in passages(body)]


# What is read, and what comes of it -------------------------------------------------------------------


def test_what_was_added_is_read_and_learnt(ready: World) -> None:
    ready.note("first", "Mira lives in Utrecht.", 1)
    ready.note("second", "Mira moved to Leipzig.", 20)
    assert_quoted(ready.memory, "Mira lives in Utrecht.", "Mira", "lives in", "Utrecht")
    assert_quoted(ready.memory, "Mira moved to Leipzig.", "Mira", "lives in", "Leipzig")
    ready.run()
    assert ready.facts("Mira") == ["Mira lives in Leipzig"]
    state = ready.enrichment.state()
    assert (state.state, state.read, state.total, state.jobs, state.failed_total) == ("idle", 2, 2, 0, 0)
    assert state.tokens > 0
    assert len(ready.ollama.chats) == 1, "both in one call"
    assert ready.run() and len(ready.ollama.chats) == 1, "nothing is read twice"


def test_what_no_rule_can_judge_is_decided_by_the_model(ready: World) -> None:
    ready.note("first", "Mira works with Ana.", 1)
    ready.note("second", "Mira works with Bob.", 20)
    ready.run()
    asked = [body for body in ready.ollama.chats if system_of(body) == decisions.DECISION_PROMPT]
    assert len(asked) == 1, "one call for all pairs"
    assert ready.facts("Mira") == ["Mira works with Bob"]
    (revision,) = ready.memory.knowledge.revisions()
    assert (revision.author, revision.confidence) == ("model", 0.95)
    assert {use.purpose for use in uses(ready)} == {"extract", "decide"}
    assert ready.enrichment.state().jobs == 0


def test_what_was_asked_about_goes_first_and_then_the_newest(ready: World) -> None:
    for day in range(1, 31):
        ready.note(f"note {day}", f"Person{day} met Somebody.", day)
    list(ready.memory.questions.ask("Whom did Person3 meet?", now=None))
    ready.run()
    order = [text.split()[0] for text in read(ready)]
    assert len(order) == 30
    asked = order.index("Person3")
    assert asked < 10, "before what is newer"
    rest = [int(name.removeprefix("Person")) for name in order[12:]]
    assert rest == sorted(rest, reverse=True)


def test_a_file_of_three_passages_is_read_in_one_call(ready: World) -> None:
    long = "\n\n".join(f"# Day {n}\n\n" + f"Person{n} met Somebody. " + "It rained. " * 60 for n in range(3))
    ready.note("short", "Mira met Bob.", 3)
    ready.note("long", long, 2)
    ready.run()
    asked = [body for body in ready.ollama.chats if system_of(body) == llm_requests.EXTRACTION_PROMPT]
    assert [len(passages(body)) for body in asked] == [4], "with a short file before it"


def test_short_passages_of_a_file_are_read_in_one_call(ready: World) -> None:
    ready.note(
        "log", "\n\n".join(f"# Day {n}\n\n" + f"Person{n} met Somebody. " + "It rained. " * 60 for n in range(8))
    )
    ready.run()
    asked = [body for body in ready.ollama.chats if system_of(body) == llm_requests.EXTRACTION_PROMPT]
    assert [len(passages(body)) for body in asked] == [8]


def test_what_several_notes_change_is_decided_in_one_call(make: Make) -> None:
    with make() as here:
        for name in ("Mira", "Petra", "Juno", "Odile", "Sefton"):
            here.note(f"{name} before", f"{name} works with Ana.", 1)
            here.note(f"{name} now", f"{name} works with Bob.", 20)
        here.run()
        asked = [system_of(body) == decisions.DECISION_PROMPT for body in here.ollama.chats]
        assert asked == [False] * (len(asked) - 1) + [True], "after all that is read"
        assert here.facts("Juno") == ["Juno works with Bob"]
        assert here.enrichment.state().jobs == 0


def test_few_decisions_wait_for_others_and_not_for_ever(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "GATHER_PAIRS", 2)
    with make(gather=3600.0) as here:
        here.note("before", "Mira works with Ana.", 1)
        here.note("now", "Mira works with Bob.", 20)
        here.run()
        state = here.enrichment.state()
        assert (state.state, state.read, state.jobs) == ("idle", 2, 1)
        assert len(here.facts("Mira")) == 2, "both are shown until then"
        here.note("Petra before", "Petra works with Ana.", 1)
        here.note("Petra now", "Petra works with Bob.", 20)
        here.run()
        asked = [system_of(body) == decisions.DECISION_PROMPT for body in here.ollama.chats]
        assert asked == [False, False, True], "two pairs are enough"
        assert here.facts("Mira", "Petra") == ["Mira works with Bob", "Petra works with Bob"]
        here.note("Juno before", "Juno works with Ana.", 1)
        here.note("Juno now", "Juno works with Bob.", 20)
        here.run()
        here.later()
        here.run()
        assert here.facts("Juno") == ["Juno works with Bob"], "the time is over"


def test_no_pair_is_lost_where_one_call_cannot_hold_all(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "MAX_PAIRS", 2)
    names = ("Mira", "Petra", "Juno", "Odile", "Sefton", "Ilse", "Hanno")
    with make() as here:
        for name in names:
            here.note(f"{name} before", f"{name} works with Ana.", 1)
            here.note(f"{name} now", f"{name} works with Bob.", 20)
        here.run()
        assert [here.facts(name) for name in names] == [[f"{name} works with Bob"] for name in names]
        asked = [body for body in here.ollama.chats if system_of(body) == decisions.DECISION_PROMPT]
        assert len(asked) > 2


def test_what_came_today_goes_before_what_is_left_of_earlier_days(ready: World) -> None:
    for day in (3, 5):
        ready.note(f"note {day}", f"Person{day} met Somebody.", day)
    with ready.memory.store.writing() as conn:
        conn.execute("UPDATE node SET t_created = t_created - 86400000")
    ready.note("changed", "Person1 met Somebody.", 1)
    ready.run()
    assert [text.split()[0] for text in read(ready)] == ["Person1", "Person5", "Person3"]


def test_an_edited_note_is_read_again_and_an_old_one_is_not(ready: World) -> None:
    ready.note("one", "Mira lives in Utrecht.")
    ready.note("two", "Ana lives in Porto.")
    ready.run()
    ready.note("one", "Mira lives in Bonn.")
    ready.run()
    assert read(ready)[2:] == ["Mira lives in Bonn."]


def test_what_was_forgotten_meanwhile_is_not_read(ready: World) -> None:
    ready.note("one", "Mira lives in Utrecht.")
    ready.note("two", "Ana lives in Porto.")
    ready.note("three", "Bob lives in Riga.")
    assert ready.enrichment._plan()
    ready.memory.ingest.retire("/notes/two.md")
    assert len(ready.jobs("queued")) == 1
    ready.memory.forgetting.forget(source="/notes/one.md")
    ready.run()
    assert read(ready) == ["Bob lives in Riga."]
    assert ready.enrichment.state().jobs == 0


def test_what_was_deleted_meanwhile_is_not_read(ready: World) -> None:
    ready.note("one", "Mira lives in Utrecht.")
    assert ready.enrichment._plan()
    ready.memory.ingest.retire("/notes/one.md")
    ready.run()
    assert ready.ollama.chats == [] and ready.enrichment.state().jobs == 0


@pytest.mark.parametrize("says", [None, Says("prose"), Fails(500)])
@pytest.mark.parametrize("how", ["forget", "retire"])
def test_what_has_gone_while_the_model_read_is_not_learnt(ready: World, how: str, says: Any) -> None:
    episode = ready.note("one", "Mira lives in Utrecht.")
    able = ready.ollama.answer
    ready.models._registry.open(HERE)._pause = 0.0
    there = iter([True])

    def slowly(body: dict[str, Any]) -> Any:
        if next(there, False):
            (ready.memory.forgetting.forget if how == "forget" else ready.memory.ingest.retire)("/notes/one.md")
        return says or able(body)

    ready.ollama.answer = slowly
    ready.run()
    with ready.memory.store.reading() as conn:
        assert not conn.execute("SELECT * FROM extraction WHERE episode_id = ?", (episode,)).fetchall()
        assert not conn.execute("SELECT * FROM provenance WHERE extractor <> 'rule'").fetchall()
    ready.ollama.answer = able
    ready.later()
    ready.run()
    state = ready.enrichment.state()
    assert (state.jobs, state.read, state.total) == (0, 0, 0)


def test_a_daemon_that_was_killed_does_it_again(ready: World) -> None:
    ready.note("one", "Mira lives in Utrecht.")
    assert ready.enrichment._plan()
    job = ready.enrichment._claim()
    assert job is not None and ready.jobs("leased") == [job]
    again = Enrichment(ready.memory, ready.models, ready.writer, EnrichmentSettings())
    with ready.memory.store.writing() as conn:
        jobs.requeue(conn, "another boot")
    assert ready.jobs("leased") == []
    while not again._step():
        pass
    assert ready.facts("Mira") == ["Mira lives in Utrecht"]
    assert again.state().jobs == 0


# Without a model, and within a budget -----------------------------------------------------------------


def test_without_a_model_nobody_is_asked_and_nothing_is_queued(make: Make) -> None:
    with make(graded=False) as here:
        here.note("one", "Mira lives in Utrecht.")
        assert here.run() > 1
        state = here.enrichment.state()
        assert (state.state, state.jobs, state.read, state.total) == ("no_model", 0, 0, 1)
        assert here.ollama.seen == here.anthropic.seen == []


def test_a_model_that_cannot_be_reached_is_looked_for_later(make: Make) -> None:
    with FakeOllama() as gone:
        pass
    with make(ollama=OllamaSettings(host=gone.url)) as here:
        here.note("one", "Mira lives in Utrecht.")
        here.run()
        assert (here.enrichment.state().state, here.jobs("queued")) == ("no_model", [])


def test_another_model_is_used_as_soon_as_somebody_says_so(make: Make) -> None:
    with make(graded=False) as here:
        here.models.changed = here.enrichment.retry
        here.note("one", "Mira lives in Utrecht.")
        here.run()

        here.models.use("extract", (HERE,))
        here.run()
        assert here.enrichment.state().read == 1


def uses(here: World) -> list[Use]:
    with here.memory.store.reading() as conn:
        return store.list_uses(conn, date.today().isoformat())


@pytest.mark.parametrize(
    ("settings", "usage", "ms", "why"),
    [
        ({"daily_minutes": 2}, Usage(1, 1), 120_000.0, "enrichment.daily_minutes"),
        ({"battery": True}, Usage(), 0.0, "enrichment.on_battery"),
    ],
)
def test_it_keeps_within_its_budget(make: Make, settings: dict[str, Any], usage: Usage, ms: float, why: str) -> None:
    with make(**settings) as here:
        here.note("one", "Mira lives in Utrecht.")
        with here.memory.store.writing() as conn:
            store.count_use(conn, Use(date.today().isoformat(), HERE, "extract", True, 1, 0, usage, ms))
            store.count_use(conn, Use(date.today().isoformat(), HERE, "answer", True, 1, 0, Usage(9_999, 9_999), 1e9))
        assert here.run() > 1
        state = here.enrichment.state()
        assert state.state == "waiting" and why in state.detail
        assert here.ollama.chats == []


@pytest.mark.parametrize(
    "settings", [{"battery": None}, {"battery": False}, {"battery": True, "on_battery": True}, {"daily_minutes": 0}]
)
def test_what_is_allowed_or_not_known_is_no_obstacle(make: Make, settings: dict[str, Any]) -> None:
    with make(**settings) as here:
        here.note("one", "Mira lives in Utrecht.")
        here.run()
        assert here.enrichment.state().read == 1


def test_nothing_is_read_where_it_is_switched_off(make: Make) -> None:
    with make(enabled=False) as here:
        here.note("one", "Mira lives in Utrecht.")
        here.run()
        assert (here.enrichment.state().state, here.ollama.seen) == ("off", [])
        here.enrichment.enable(True)
        here.run()
        assert here.enrichment.state().read == 1


# Who goes first, and how it ends ----------------------------------------------------------------------


def test_a_pause_breaks_off_what_is_being_asked(ready: World) -> None:
    ready.note("one", "Mira lives in Utrecht.")
    ready.ollama.enqueue(Hangs())
    ready.enrichment.start()
    ready.ollama.until(lambda server: bool(server.chats))
    ready.enrichment.enable(False)
    ready.ollama.until(lambda server: server.left == 1)
    assert ready.enrichment.close(60)
    (job,) = ready.jobs("queued")
    assert job.attempts == 0, "that was not its fault"
    assert ready.enrichment.state().state == "off"


def test_it_ends_when_it_is_asked_whatever_the_model_does(ready: World) -> None:
    ready.note("one", "Mira lives in Utrecht.")
    ready.ollama.enqueue(Hangs())
    ready.enrichment.start()
    ready.ollama.until(lambda server: bool(server.chats))
    assert ready.enrichment.close(60)
    ready.ollama.until(lambda server: server.left == 1)
    assert len(ready.jobs("queued")) == 1


def test_a_question_to_the_same_model_goes_first(ready: World) -> None:
    ready.note("one", "Mira lives in Utrecht.")
    ready.ollama.enqueue(Hangs())
    ready.enrichment.start()
    ready.ollama.until(lambda server: bool(server.chats))
    model = ready.models.for_role("answer", local_only=True)
    assert model is not None
    ready.ollama.enqueue(Says("In Utrecht."))
    said = model.complete(LlmRequest(messages=(Message("user", "Where does Mira live?"),), purpose="answer"))
    assert said.text == "In Utrecht."
    assert ready.enrichment.close(60)
    ready.ollama.until(lambda server: server.left == 1)
    assert [job.attempts for job in ready.jobs("queued")] == [0]


def test_reading_does_not_hold_up_who_writes(ready: World) -> None:
    ready.note("one", "Mira lives in Utrecht.")
    ready.ollama.enqueue(Hangs())
    ready.enrichment.start()
    ready.ollama.until(lambda server: bool(server.chats))
    assert ready.writer.submit(lambda: ready.note("two", "Ana lives in Porto.")).result(20)
    assert ready.enrichment.state().state == "reading"


def test_a_named_model_that_nobody_graded_gets_one_passage_a_call(make: Make) -> None:
    with make(graded=False, extract=(AWAY,)) as here:
        for name in ("one", "two"):
            here.note(name, f"Mira met {name.title()}.", policy="any")
        here.run()
        assert [len(passages(body)) for body in here.anthropic.messages[:2]] == [1, 1]
        assert here.enrichment.state().read == 2


# A model that cannot ----------------------------------------------------------------------------------


def test_a_model_that_cannot_read_is_not_asked_for_ever(make: Make) -> None:
    with make() as here:
        here.models.changed = here.enrichment.retry
        for day in range(1, 9):
            here.note(f"note {day}", f"Mira met Bob{day}.", day)
        here.ollama.answer = lambda body: Says("I cannot read that.")
        here.run()
        state = here.enrichment.state()
        assert (state.state, state.read, state.failed_total) == ("waiting", 0, 3), "three notes, and no more"
        assert state.detail == (
            f"{HERE} could not read 3 notes in a row and is not asked any more."
            " Use another: pal models use extract NAME"
        )
        assert state.unable == state.detail and here.models.reply().warnings[0] == state.detail, "pal models says it"
        assert all(job.reason.startswith(f"{HERE}: ") for job in state.failed), "whose fault it was"
        assert here.memory.questions.retrieve("Who met Bob8?").recall.hits

        here.later()
        calls = len(here.ollama.chats)
        here.run()
        assert len(here.ollama.chats) == calls, "not by itself"

        with here.memory.store.writing() as conn:
            conn.execute("UPDATE source SET policy = 'any'")
        here.models.use("extract", (AWAY,))
        here.later()
        here.run()
        state = here.enrichment.state()
        assert (state.read, state.failed_total) == (8, 0), "another one reads what that one could not, too"


def test_a_note_that_can_be_read_makes_up_for_those_before(make: Make) -> None:
    with make() as here:
        for day in range(1, 13):
            here.note(f"note {day}", "Mira met Bob." if day % 3 else "Nothing that anybody could read.", day)

        def touchy(body: dict[str, Any]) -> Reply:
            return able(body) if all("met" in text for _, text in passages(body)) else Says("No.")

        here.ollama.answer = touchy
        here.run()
        state = here.enrichment.state()
        assert (state.state, state.read, state.failed_total) == ("idle", 8, 4)
