"""What led to each vertex that a question visited: stored with its trace, and told with the answer."""

from __future__ import annotations

from memory import Memory
from memory.nouns import Answer, Document, Visit
from memory.retrieval.traversers import _find_steps
from tests.memory.retrieval.walking import A, X, Y, related


def learn(memory: Memory) -> None:
    memory.ingest.remember_many([
        Document("belt.md", "# Beatrice\n\nBeatrice was built by Ingrid Falk in 1908.", title="Beatrice"),
        Document("falk.md", "# Works\n\nIngrid Falk kept a workshop on Pier Nine.", title="Works"),
    ])  # fmt: skip


def test_every_visit_leads_back_to_where_the_question_began(fresh: Memory) -> None:
    learn(fresh)
    *events, answer = fresh.questions.ask("Where did the builder of Beatrice keep a workshop?")
    assert isinstance(answer, Answer) and answer.trace_id is not None
    visits = {event.node_id: event for event in events if isinstance(event, Visit)}
    for visit in visits.values():
        at, steps = visit, 0
        while at.parent is not None:
            assert at.parent_edge is not None and visits[at.parent].depth == at.depth - 1
            at, steps = visits[at.parent], steps + 1
        assert at.stage == "seed" or (at.kind == "episode" and at.parent_edge is None)
        assert steps == visit.depth
    assert fresh.questions.trace(answer.trace_id).visits == tuple(visits.values())


def test_why_tells_the_path_object_by_object(fresh: Memory) -> None:
    learn(fresh)
    *_, answer = fresh.questions.ask("Who built Beatrice?")
    assert isinstance(answer, Answer) and answer.trace_id is not None
    [used, *_] = fresh.questions.why(answer.trace_id).used
    assert [(hop.kind, hop.label) for hop in used.path] == [("object", "Beatrice"), ("episode", "Beatrice")]


def test_what_was_visited_before_keeps_its_depth_though_something_later_is_nearer() -> None:
    steps = _find_steps(related({1: (A, X), 2: (X, Y)}), {A: 0.0, X: 3.0}, {X: 3}, (A, X, Y))
    assert X not in steps and (steps[Y].parent, steps[Y].depth) == (X, 4)
