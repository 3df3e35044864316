"""From a question through a real memory to what its edges remember, and back at the next question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memory import Memory
from memory.edge_memory import reinforce
from memory.edge_memory.edges import EdgeMemory
from memory.edge_memory.reinforce import Credit, rejected_keys
from memory.edge_memory.replay import ReplayResult, replay_walk, text_starts
from memory.graph.walk import Walkable
from memory.nouns import Answer, Citation, Document, Trace
from memory.retrieval.pipeline import training_signal
from memory.retrieval.state import RetrievalResult
from memory.store import facts, relations, traces
from tests.memory.conftest import OpenFilled

QUESTION, PARAPHRASE = "Where does the brother of Ana Lund live?", "In which place does Ana Lund's brother live?"
OTHER = "What did Ana Lund cook for the harvest feast in September?"


@pytest.fixture
def memory(open_filled: OpenFilled) -> Memory:
    return open_filled(fill_memory)


def fill_memory(memory: Memory) -> None:
    notes = {
        "ana": "Ana Lund has a brother, Bo Lund, who left years ago.",
        "bo": "Bo Lund rents a flat in Malmö near the harbour.",
        "feast": "For the harvest feast in September Ana Lund cooked plum dumplings.",
    }
    filler = {f"day {n}": f"On day {n} it rained and crate {n} went to depot {n % 7}." for n in range(40)}
    memory.ingest.remember_many([Document(uri, text) for uri, text in (notes | filler).items()])


def of(memory: Memory, uri: str) -> int:
    [hit] = [hit for hit in memory.questions.retrieve(uri, k=60).recall.hits if hit.episode.source.uri == uri]
    return hit.episode.id


def answered(memory: Memory, *uris: str, model: str = "a model", confidence: float = 0.9) -> Answer:
    cited = [Citation(n, of(memory, uri), uri, uri, "words") for n, uri in enumerate(uris, 1)]
    return Answer("Malmö.", tuple(cited), no_answer=not cited, confidence=confidence, model=model)


def found(memory: Memory, question: str) -> RetrievalResult:
    return memory.questions.retrieve(question, 10, None, None, None)


def learnt(memory: Memory, held: EdgeMemory, question: str, said: Answer, credit: Credit) -> EdgeMemory:
    query = memory.embedder.embed_query(question)
    with memory.store.writing() as conn:
        trace = traces.store(conn, Trace(question), said, 1000)
        return reinforce.reinforce_edges(conn, held, 1, trace, query, credit, 1000)


def replayed(memory: Memory, held: EdgeMemory, question: str) -> ReplayResult:
    seen = found(memory, question)
    key = held.key(memory.embedder.embed_query(question))
    assert key is not None
    starts = (*seen.named_objects, *text_starts(seen.graph, seen.seeds.episode_scores, seen.allowed))
    return replay_walk(Walkable(seen.graph, seen.allowed, when=seen.seeds.guidance.when), starts, held.activate(key))


def test_what_answered_a_question_answers_it_again_in_other_words_and_no_other_one(memory: Memory) -> None:
    held, said = EdgeMemory.empty(memory.embedder.dimension), answered(memory, "ana", "bo")
    for _ in range(2):
        held = learnt(memory, held, QUESTION, said, training_signal(found(memory, QUESTION), said))
    wanted = {of(memory, "ana"), of(memory, "bo")}
    assert set(replayed(memory, held, QUESTION).evidence) == wanted
    assert set(replayed(memory, held, PARAPHRASE).evidence) == wanted
    assert replayed(memory, held, OTHER).evidence == ()
    assert memory.maintenance.check().problems == ()


def test_a_wrong_replay_fires_less_each_time_it_leads_to_no_answer(memory: Memory) -> None:
    held, said = EdgeMemory.empty(memory.embedder.dimension), answered(memory, "ana", "bo")
    for _ in range(2):
        held = learnt(memory, held, QUESTION, said, training_signal(found(memory, QUESTION), said))
    fired = []
    refusal = answered(memory)
    for _ in range(4):
        again = replayed(memory, held, QUESTION)
        fired.append(sum(again.followed.values()))
        asked = replace(found(memory, QUESTION), replay=again)
        held = learnt(memory, held, QUESTION, refusal, training_signal(asked, refusal))
    assert fired[0] > 2 and fired[-1] == 0 and fired == sorted(fired, reverse=True)


def test_lines_that_nobody_judged_teach_nothing_by_themselves(memory: Memory) -> None:
    seen = found(memory, QUESTION)
    unjudged = training_signal(seen, answered(memory, "bo", "ana", model=""))
    assert not unjudged.grounded and not unjudged.penalised
    assert unjudged.read == (of(memory, "bo"),) and unjudged.cited, "a person may still call it good"
    judged = training_signal(seen, answered(memory, "bo", "ana"))
    assert judged.grounded and set(judged.read) == {of(memory, "ana"), of(memory, "bo")} and judged.penalised
    assert not training_signal(seen, answered(memory)).grounded


def test_a_question_without_any_known_word_teaches_nothing(memory: Memory) -> None:
    held, said = EdgeMemory.empty(memory.embedder.dimension), answered(memory, "ana")
    credit = training_signal(found(memory, QUESTION), said)
    with memory.store.writing() as conn:
        trace = traces.store(conn, Trace("??"), said, 1000)
        silent = np.zeros(memory.embedder.dimension, np.float32)
        assert reinforce.reinforce_edges(conn, held, 1, trace, silent, credit, 1000) is held
        assert conn.execute("SELECT count(*) FROM edge_memory").fetchone() == (0,)
        roles = dict(conn.execute("SELECT role, count(*) FROM trace_edge GROUP BY role").fetchall())
    assert roles["cited"] == roles["enhanced"] > 0, "an embedder that knows the words may learn from it"


def test_the_facts_that_an_answer_quotes_are_learnt_and_nothing_else_that_its_notes_tell(fresh: Memory) -> None:
    text = "- Deadline: 14 May 2026\n- Budget: 900 euros\n"
    fresh.ingest.remember_many([Document("survey", text, title="Harbour survey")])
    [hit] = fresh.questions.retrieve("harbour survey deadline", k=1).recall.hits
    quote = hit.episode.text.splitlines()[0]
    cited = Citation(1, hit.episode.id, "survey", "Harbour survey", quote, passage=hit.episode.text)
    said = Answer("It is 14 May. [1]", (cited,), model="a model")
    with fresh.store.reading() as conn:
        quoted = facts.quoted_facts(conn, said.citations)
        told = {id for id, *_ in relations.list_by_episodes(conn, [hit.episode.id])}
    (of_quote,) = quoted.values()
    assert 0 < len(of_quote) < len(told)
    given = training_signal(found(fresh, "When is the deadline of the harbour survey?"), said, quoted=quoted)
    assert told & given.cited.keys() == set(of_quote)
    assert not told & training_signal(found(fresh, "When is the deadline of the harbour survey?"), said).cited.keys()


def test_a_good_answer_takes_back_bad_verdicts_of_its_own_intent_alone() -> None:
    east, north = np.eye(2)
    assert [*map(tuple, rejected_keys([(east, -1), (north, 1)]))] == [(1, 0)]
    assert rejected_keys([(east, -1), (north, -1), (east, 1)])[0].tolist() == [0, 1]
    assert rejected_keys([(east, -1), (east, 1)]) == []
