"""Learning from answers: the second time is cheaper, a verdict counts, and nothing false is brought back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from memory.nouns import Step, Token
from memory.protocols import Embedder
from memory.store import edge_memory, traces
from tests.fakes import Fails, Says
from tests.fakes.answering import evidence, places, seeking
from tests.memory.answering.conftest import Desk, Heard, desk, note, opened
from tests.memory.conftest import FilledCopy

__all__ = ["desk"]

QUESTION = "In which harbour does the boat of the Okafor family lie?"
REWORDED = "In what harbour is it that the boat of the Okafor family lies?"
OTHER = "Which doctor did Berit Lund see about her knee?"


def fill(memory: Memory) -> None:
    note(memory, "family", "The Okafor family has owned the boat Marlin since 1987.")
    note(memory, "Marlin", "Marlin is a ketch. It lies in Skagen all winter.", day=2)
    note(memory, "knee", "Berit Lund saw Doctor Voss about her knee.", day=3)
    for day in range(4, 24):
        words = f"Okafor family boat log {day}: we painted the boat of the family in the harbour."
        note(memory, f"log {day}", words, day)


@pytest.fixture
def fleet(filled_copy: FilledCopy, tmp_path: Path, static: Embedder) -> Iterator[Desk]:
    with opened(filled_copy(fill, tmp_path / "memory.db"), static) as desk:
        desk.ollama.answer = seeking("Marlin", "Skagen")
        yield desk


def tiers(heard: Heard) -> list[str]:
    return [str(e.detail["tier"]) for e in heard.events if isinstance(e, Step) and e.name == "route"]


def place(memory: Memory, question: str) -> int:
    """Of the passage that answers, among all that is recalled."""
    return [hit.episode.title for hit in memory.questions.retrieve(question, k=50).recall.hits].index("Marlin")


def score(memory: Memory, question: str) -> float:
    """Of the passage that answers."""
    return next(
        hit.score for hit in memory.questions.retrieve(question, k=50).recall.hits if hit.episode.title == "Marlin"
    )


def edges(desk: Desk) -> int:
    memory = desk.memory
    with memory.store.reading() as conn:
        return edge_memory.counts(conn, memory.state.serving.embedder_id)[0]


def learnt(desk: Desk) -> dict[int, bytes]:
    """What every edge remembers, to the bit."""
    with desk.memory.store.reading() as conn:
        rows = conn.execute("SELECT edge_id, slot, data FROM edge_memory ORDER BY edge_id, slot").fetchall()
    found: dict[int, bytes] = {}
    for edge, _, data in rows:
        found[edge] = found.get(edge, b"") + data
    return found


def test_the_second_time_only_what_helped_is_read(fleet: Desk) -> None:
    first = fleet.ask(QUESTION, replay=True)
    calls = len(fleet.ollama.chats)
    second = fleet.ask(QUESTION, replay=True)
    assert tiers(first)[-1] == "R2" and tiers(second) == ["R0"]
    assert len(fleet.ollama.chats) == calls + 1
    assert second.answer.text == first.answer.text and second.answer.citations[0].title == "Marlin"
    shown = " ".join(evidence(fleet.ollama.chats[-1]).values())
    assert "Skagen" in shown and "painted" not in shown
    assert fleet.memory.questions.trace(second.answer.trace_id or 0).asked.tier == "R0"


def test_other_words_for_the_same_find_it_as_well(fleet: Desk) -> None:
    reworded = "Which harbour is the Okafor family's boat in?"
    before = score(fleet.memory, reworded)
    fleet.ask(QUESTION, replay=True)
    assert score(fleet.memory, reworded) > before


def test_in_other_words_only_what_helped_is_read(fleet: Desk) -> None:
    fleet.ask(QUESTION, replay=True)
    calls = len(fleet.ollama.chats)
    heard = fleet.ask(REWORDED, replay=True)
    assert tiers(heard) == ["R0"] and len(fleet.ollama.chats) == calls + 1
    assert heard.answer.citations[0].title == "Marlin"


@pytest.mark.parametrize(
    "whole",
    [
        "In which harbours has the boat of the Okafor family lain over the years, in order?",
        "Which harbours does the boat of the Okafor family lie in?",
        "In how many harbours does the boat of the Okafor family lie?",
        "When did the boat of the Okafor family change its harbour?",
    ],
)
def test_what_is_asked_whole_is_not_answered_from_what_helped_with_one(fleet: Desk, whole: str) -> None:
    fleet.ask(QUESTION, replay=True)
    heard = fleet.ask(whole, replay=True)
    assert "R0" not in [e.detail["tier"] for e in heard.events if isinstance(e, Step) and e.detail.get("enough")]


def test_all_but_the_same_words_about_somebody_else_are_another_question(fleet: Desk) -> None:
    fleet.ask(QUESTION, replay=True)
    heard = fleet.ask("In which harbour does the boat of the Mensah family lie?", replay=True)
    assert "R0" not in tiers(heard)


def test_an_answer_from_memory_counts_only_if_it_is_that_of_before(fleet: Desk) -> None:
    fleet.ask(QUESTION, replay=True)
    errs = [Says("A ketch [1]."), seeking("Marlin", "Skagen")]
    fleet.ollama.answer = lambda body: errs.pop(0) if isinstance(errs[0], Says) else errs[0](body)
    heard = fleet.ask(QUESTION, replay=True)
    assert tiers(heard)[-1] == "R2" and "Skagen" in heard.answer.text
    reasons = [e.detail.get("reason") for e in heard.events if isinstance(e, Step) and e.name == "route"]
    assert "It was answered otherwise before." in reasons


def test_a_replay_that_fails_leaves_the_search_as_it_was_and_is_not_tried_again(fleet: Desk) -> None:
    fleet.ask(QUESTION, replay=True)
    knows, calls = fleet.ollama.answer, len(fleet.ollama.chats)
    errs = [Says("NO ANSWER: it")]
    fleet.ollama.answer = lambda body: errs.pop() if errs else knows(body)
    heard = fleet.ask(QUESTION, replay=True)
    assert tiers(heard)[:2] == ["R0", "R2"] and "Skagen" in heard.answer.text
    first, again = (list(evidence(fleet.ollama.chats[place]).values()) for place in (0, calls + 1))
    assert again == first
    for _ in range(2):
        heard = fleet.ask(QUESTION, replay=True)
        assert "R0" not in tiers(heard) and "Skagen" in heard.answer.text


@pytest.mark.parametrize("wrong", ["NO ANSWER: it", "It lies in Zabriskie [1]."])
@pytest.mark.parametrize("is_rebuilt", [False, True])
def test_a_question_asked_in_vain_gets_both_looks_at_once(fleet: Desk, wrong: str, is_rebuilt: bool) -> None:
    knows = fleet.ollama.answer
    fleet.ollama.answer = lambda body: Says(wrong)
    fleet.ask(QUESTION, replay=True)
    looks = [set(evidence(chat).values()) for chat in fleet.ollama.chats]
    if is_rebuilt:
        fleet.memory.state.reload_edge_memory()
    fleet.ollama.answer = knows
    calls = len(fleet.ollama.chats)
    assert "Skagen" in fleet.ask(QUESTION, replay=True).answer.text
    assert len(fleet.ollama.chats) == calls + 1
    shown = " ".join(evidence(fleet.ollama.chats[-1]).values())
    assert all(text in shown for look in looks for text in look)
    fleet.ollama.answer = lambda body: Says("NO ANSWER: it")
    fleet.ask(OTHER, replay=True)
    assert len(evidence(fleet.ollama.chats[calls + 1])) < len(evidence(fleet.ollama.chats[calls])), "another question"


def test_a_question_with_two_parts_is_brought_back_as_well(fleet: Desk) -> None:
    fleet.ollama.answer = seeking("Marlin", "Skagen", "Voss")
    both = f"{QUESTION[:-1]} and which doctor did Berit Lund see about her knee?"
    first = fleet.ask(both, replay=True)
    calls = len(fleet.ollama.chats)
    second = fleet.ask(both, replay=True)
    assert tiers(first)[-1] == "R2" and tiers(second) == ["R0"] and len(fleet.ollama.chats) == calls + 1
    assert second.answer.text == first.answer.text


def test_another_question_gets_nothing_of_it(fleet: Desk) -> None:
    fleet.ask(QUESTION, replay=True)
    fleet.ollama.answer = seeking("Voss")
    heard = fleet.ask(OTHER, replay=True)
    assert "R0" not in tiers(heard) and "Voss" in heard.answer.text


def test_without_replay_nothing_is_used_and_nothing_learnt(fleet: Desk) -> None:
    fleet.ask(QUESTION, replay=False)
    assert edges(fleet) == 0
    fleet.ask(QUESTION, replay=True)
    assert edges(fleet) > 0
    assert "R0" not in tiers(fleet.ask(QUESTION, replay=False))


def test_what_was_not_answered_teaches_nothing(fleet: Desk) -> None:
    fleet.ollama.answer = lambda body: Says("DONE") if places(body) else Says("NO ANSWER: it")
    fleet.ask(QUESTION, replay=True)
    assert edges(fleet) == 0


def test_a_question_that_is_broken_off_leaves_nothing(fleet: Desk) -> None:
    events = fleet.memory.questions.ask(QUESTION, llm=lambda local_only: fleet.here)
    for event in events:
        if isinstance(event, Token):
            break
    else:
        raise AssertionError("it was over before")
    events.close()  # type: ignore[attr-defined]
    with fleet.memory.store.reading() as conn:
        assert traces.count(conn) == 0
    assert edges(fleet) == 0


def test_a_search_that_the_model_broke_off_was_not_in_vain(fleet: Desk) -> None:
    answers = fleet.ollama.answer
    fleet.ollama.answer = lambda body: Fails(400) if body.get("tools") or places(body) else Says("NO ANSWER: it")
    broken = fleet.ask(QUESTION, replay=True, effort="deep")
    assert broken.answer.no_answer and broken.answer.model
    fleet.ollama.answer = answers
    assert "Skagen" in fleet.ask(QUESTION, replay=True, effort="deep").answer.text


def test_the_lines_alone_teach_only_if_a_person_says_so(fleet: Desk) -> None:
    heard = fleet.ask(OTHER, lambda local_only: None, replay=True)
    assert heard.answer.citations and edges(fleet) == 0
    fleet.memory.questions.feedback(heard.answer.trace_id or 0, "good")
    assert edges(fleet) > 0
    fleet.memory.questions.feedback(heard.answer.trace_id or 0, "none")
    assert edges(fleet) == 0


def test_an_unproved_answer_teaches_only_if_a_person_says_so(fleet: Desk) -> None:
    knows = fleet.ollama.answer
    fleet.ollama.answer = lambda body: Says("Her knee was seen to by a healer named Voss [1].")
    heard = fleet.ask(OTHER, replay=True)
    assert {citation.verdict for citation in heard.answer.citations} == {"unproved"} and edges(fleet) == 0
    fleet.memory.questions.feedback(heard.answer.trace_id or 0, "good")
    assert edges(fleet) > 0
    fleet.ollama.answer = knows
    assert "R0" in tiers(fleet.ask(OTHER, replay=True))


def test_a_wrong_answer_is_not_brought_back(fleet: Desk) -> None:
    heard = fleet.ask(QUESTION, replay=True)
    fleet.memory.questions.feedback(heard.answer.trace_id or 0, "bad")
    assert "R0" not in tiers(fleet.ask(QUESTION, replay=True))


def test_a_wrong_answer_that_was_brought_back_is_not_brought_back_again(fleet: Desk) -> None:
    first = fleet.ask(QUESTION, replay=True)
    second = fleet.ask(QUESTION, replay=True)
    assert tiers(second) == ["R0"]
    fleet.memory.questions.feedback(second.answer.trace_id or 0, "bad")
    assert "R0" not in tiers(fleet.ask(QUESTION, replay=True)), "nor from the first answer, which it was made of"
    fleet.memory.questions.feedback(second.answer.trace_id or 0, "none")
    assert tiers(fleet.ask(QUESTION, replay=True)) == ["R0"]
    assert fleet.memory.questions.trace(first.answer.trace_id or 0).asked.verdict is None


def test_a_no_reaches_what_was_answered_again_from_the_same(fleet: Desk) -> None:
    first = fleet.ask(QUESTION, replay=True)
    second = fleet.ask(QUESTION, replay=True)
    assert tiers(second) == ["R0"]
    before = learnt(fleet)
    fleet.memory.questions.feedback(first.answer.trace_id or 0, "bad")
    assert edges(fleet) == 0, "the second answer rests on nothing else"
    for again in (QUESTION, REWORDED):
        assert "R0" not in tiers(fleet.ask(again, replay=True)), "nor by what was answered in between"
    kept = learnt(fleet)
    fleet.memory.maintenance.rebuild_edge_memory()
    assert learnt(fleet) == kept
    fleet.memory.questions.feedback(first.answer.trace_id or 0, "none")
    assert learnt(fleet).keys() >= before.keys()
    assert tiers(fleet.ask(QUESTION, replay=True)) == ["R0"]
    kept = learnt(fleet)
    fleet.memory.maintenance.rebuild_edge_memory()
    assert learnt(fleet) == kept


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_no_reaches_what_was_answered_in_other_words(fleet: Desk, wrong: int) -> None:
    asked = [fleet.ask(QUESTION, replay=True), fleet.ask(REWORDED, replay=True)]
    assert tiers(asked[1]) == ["R0"]
    fleet.memory.questions.feedback(asked[wrong].answer.trace_id or 0, "bad")
    assert "R0" not in tiers(fleet.ask(REWORDED, replay=True))
    assert "R0" not in tiers(fleet.ask(QUESTION, replay=True))


def test_a_later_yes_lifts_a_no(fleet: Desk) -> None:
    first = fleet.ask(QUESTION, replay=True)
    fleet.memory.questions.feedback(first.answer.trace_id or 0, "bad")
    second = fleet.ask(QUESTION, replay=True)
    assert "R0" not in tiers(second) and edges(fleet) == 0
    fleet.memory.questions.feedback(second.answer.trace_id or 0, "good")
    assert tiers(fleet.ask(QUESTION, replay=True)) == ["R0"]
    fleet.memory.questions.feedback(second.answer.trace_id or 0, "none")
    assert "R0" not in tiers(fleet.ask(QUESTION, replay=True))


def test_a_no_is_said_of_what_was_read_and_of_such_a_question_only(fleet: Desk) -> None:
    fleet.ollama.answer = seeking("Voss")
    fleet.ask(OTHER, replay=True)
    fleet.ollama.answer = seeking("Marlin", "Skagen")
    first = fleet.ask(QUESTION, replay=True)
    fleet.memory.questions.feedback(first.answer.trace_id or 0, "bad")
    fleet.ollama.answer = seeking("Voss")
    assert tiers(fleet.ask(OTHER, replay=True)) == ["R0"], "another question"
    fleet.ollama.answer = seeking("Marlin", "Skagen")
    fleet.note("mooring", "The boat of the Okafor family lies in the harbour of Skagen since May.", day=28)
    assert fleet.ask(QUESTION, replay=True).answer.citations[0].title == "mooring"
    assert tiers(fleet.ask(QUESTION, replay=True)) == ["R0"], "another passage answers it"


def test_a_replay_that_does_not_hold_the_answer_costs_one_small_call(fleet: Desk) -> None:
    fleet.ask(QUESTION, replay=True)
    fleet.note("Marlin", "Marlin is a ketch. She was sold.", day=2)
    fleet.note("mooring", "The boat of the Okafor family lies in the harbour of Skagen since May.", day=28)
    heard = fleet.ask(QUESTION, replay=True)
    assert "Skagen" in heard.answer.text and heard.answer.citations[0].title == "mooring"


def test_what_was_forgotten_is_forgotten_here_too(fleet: Desk) -> None:
    fleet.ask(QUESTION, replay=True)
    fleet.memory.forgetting.forget(source="/notes/Marlin.md")
    assert edges(fleet) == 0, "the trace that showed it is gone, and all that was learnt by it"
    fleet.ollama.answer = lambda body: Says("DONE") if places(body) else Says("NO ANSWER: it")
    assert "R0" not in tiers(fleet.ask(QUESTION, replay=True))


def test_the_traces_make_it_again_to_the_bit(fleet: Desk) -> None:
    fleet.ask(QUESTION, replay=True)
    fleet.ask(QUESTION, replay=True)
    fleet.ollama.answer = seeking("Voss")
    fleet.ask(OTHER, replay=True)
    before = learnt(fleet)
    assert fleet.memory.maintenance.rebuild_edge_memory() == len(before) > 0
    assert learnt(fleet) == before


def test_it_is_made_again_piece_by_piece_while_questions_go_on(fleet: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.services.maintenance.EDGES_AT_ONCE", 1)
    fleet.ask(QUESTION, replay=True)
    told: list[tuple[int, int]] = []
    before = edges(fleet)

    def tell(done: int, total: int) -> None:
        if not told:
            fleet.ask(QUESTION, replay=True)  # learns more of the same edges
        told.append((done, total))

    assert fleet.memory.maintenance.rebuild_edge_memory(tell) == edges(fleet) >= before > 1
    assert told == [(done, told[0][1]) for done in range(told[0][1] + 1)]
    kept = learnt(fleet)
    assert fleet.memory.maintenance.rebuild_edge_memory() == len(kept) and learnt(fleet) == kept


def test_what_was_damaged_is_mended(fleet: Desk) -> None:
    fleet.ask(QUESTION, replay=True)
    before = learnt(fleet)
    with fleet.memory.store.writing() as conn:
        (one, _) = conn.execute("SELECT min(edge_id), max(edge_id) FROM edge_memory").fetchone()
        conn.execute("DELETE FROM edge_memory WHERE edge_id = ?", (one,))
        stray = conn.execute(
            "SELECT id FROM edge WHERE t_expired IS NULL AND id NOT IN (SELECT edge_id FROM trace_edge)"
        ).fetchone()[0]
        conn.execute(
            "UPDATE edge_memory SET edge_id = ? WHERE edge_id = (SELECT max(edge_id) FROM edge_memory)", (stray,)
        )
    assert learnt(fleet) != before
    fleet.memory.maintenance.rebuild_edge_memory()
    assert learnt(fleet) == before


def renamed(static: Any) -> Any:
    """The same embedder under another name."""

    class Renamed:
        batch, query_prefix, document_prefix, dimension = 64, "", "", static.dimension
        name = "the same under another name"
        embed_documents = staticmethod(static.embed_documents)
        embed_query = staticmethod(static.embed_query)

    return Renamed()


def test_it_survives_another_embedder(fleet: Desk, static: Any) -> None:
    fleet.ask(QUESTION, replay=True)
    list(fleet.memory.maintenance.switch_embedder(renamed(static)))
    assert edges(fleet) > 0
    assert tiers(fleet.ask(QUESTION, replay=True)) == ["R0"]


def test_what_is_asked_while_another_embedder_takes_over_counts_beside_what_was(fleet: Desk, static: Any) -> None:
    fleet.ask(QUESTION, replay=True)
    asked: list[Heard] = []

    def write(unit: Any) -> Any:
        if fleet.memory.embedder.name != static.name and not asked:  # it answers, and has learnt nothing yet
            asked.append(fleet.ask("Which harbour is the Okafor family's boat in?", replay=True))
        return unit()

    list(fleet.memory.maintenance.switch_embedder(renamed(static), write=write))
    before = learnt(fleet)
    assert asked and fleet.memory.maintenance.rebuild_edge_memory() == len(before) > 0
    assert learnt(fleet) == before


def test_what_is_forgotten_while_another_embedder_takes_over_does_not_stop_it(fleet: Desk, static: Any) -> None:
    fleet.ask(QUESTION, replay=True)

    def write(unit: Any) -> Any:
        if fleet.memory.embedder.name != static.name and fleet.memory.questions.traces():
            fleet.memory.forgetting.forget(source="/notes/Marlin.md")
        return unit()

    list(fleet.memory.maintenance.switch_embedder(renamed(static), write=write))
    assert (
        fleet.memory.questions.traces() == [] and edges(fleet) == 0 and fleet.memory.maintenance.check().problems == ()
    )


def test_it_is_there_after_the_memory_was_closed(fleet: Desk, tmp_path: Any, static: Any) -> None:
    before = place(fleet.memory, QUESTION)
    fleet.ask(QUESTION, replay=True)
    with Memory.open(fleet.memory.store.path, embedder=static) as again:
        assert place(again, QUESTION) == place(fleet.memory, QUESTION) < before


def test_what_an_agent_asks_teaches_nothing_until_the_answer_is_judged(fleet: Desk) -> None:
    heard = fleet.ask(QUESTION, replay=True, agent="scout")
    assert heard.answer.citations[0].title == "Marlin" and learnt(fleet) == {}
    fleet.memory.questions.feedback(heard.answer.trace_id or 0, "good")
    assert learnt(fleet) and fleet.memory.maintenance.check().problems == ()
    fleet.memory.questions.take_back_verdicts("scout")
    assert learnt(fleet) == {}
    fleet.ask(QUESTION, replay=True)
    assert learnt(fleet)
