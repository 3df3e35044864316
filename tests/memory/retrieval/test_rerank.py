"""A reranker puts the best passages of chats first, and whatever it does, questions are answered."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from memory.nouns import Answer, Document, Turn
from memory.protocols import Embedder
from memory.retrieval import rerank
from memory.retrieval.rank import KEPT, READ_AGAIN
from memory.stages import RerankNote, last_note

QUESTION = "Which crate did Nuria sign for?"


@dataclass
class Scripted:
    """Scores by a function, and keeps what it was asked."""

    name: str = "scripted"
    say: Callable[[Sequence[str]], Any] = lambda texts: [float("crate 7 " in text) for text in texts]
    asked: list[tuple[str, int]] = field(default_factory=list)

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append((question, len(texts)))
        said: Sequence[float] = self.say(texts)
        return said


@pytest.fixture
def reranker() -> Scripted:
    return Scripted()


@pytest.fixture
def memory(tmp_path: Path, static: Embedder, reranker: Scripted) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=static, reranker=reranker) as memory:
        chats = [
            Document(f"/chat/{n}.json", turns=(Turn("Nuria", f"I signed for crate {n} today."),), kind="chat")
            for n in range(30)
        ]
        memory.ingest.remember_many(chats)
        yield memory


def ids(memory: Memory) -> list[int]:
    return [hit.episode.id for hit in memory.questions.retrieve(QUESTION, k=30).recall.hits]


def find_problem(memory: Memory) -> str:
    reranking = memory.state.reranking
    assert reranking is not None
    return reranking.problem


def test_the_best_come_first_and_take_the_places_worth(memory: Memory, reranker: Scripted) -> None:
    reranker.say = lambda texts: [0.0 for _ in texts]
    before = memory.questions.retrieve(QUESTION, k=30).recall
    reranker.say = lambda texts: [float(place) for place in range(len(texts))]
    after = memory.questions.retrieve(QUESTION, k=30).recall
    old, new = ([hit.episode.id for hit in one.hits] for one in (before, after))
    last = old[READ_AGAIN - KEPT : READ_AGAIN][::-1]
    assert new[:KEPT] == last and new[KEPT:READ_AGAIN] == [id for id in old[:READ_AGAIN] if id not in last]
    assert new[READ_AGAIN:] == old[READ_AGAIN:]
    assert [hit.score for hit in after.hits] == pytest.approx([hit.score for hit in before.hits])
    note = last_note(RerankNote, after.trace.steps)
    assert note is not None and (note.episodes, [*note.first]) == (READ_AGAIN, last)
    assert reranker.asked[-1] == (QUESTION, READ_AGAIN)


def test_documents_are_left_as_they_are(memory: Memory, reranker: Scripted) -> None:
    memory.ingest.remember_many([Document(f"/note/{n}.md", f"The boiler of house {n} hums.") for n in range(40)])
    memory.questions.retrieve("Which boiler hums?", k=5)
    assert reranker.asked == []


def test_what_nobody_reads_is_not_reranked(memory: Memory, reranker: Scripted) -> None:
    memory.questions.answer_unkept(QUESTION)
    assert reranker.asked == []


def fail(texts: Sequence[str]) -> list[float]:
    raise KeyError("no")


def leave(texts: Sequence[str]) -> list[float]:
    raise SystemExit(3)


def hang(texts: Sequence[str]) -> list[float]:
    threading.Event().wait(5)
    return []


@pytest.mark.parametrize(
    ("say", "problem"),
    [
        (fail, "it failed with KeyError"),
        (leave, "it failed with SystemExit"),
        (hang, "it had not answered after"),
        (lambda texts: [1.0], "it does not give a number for each passage"),
        (lambda texts: [math.nan for _ in texts], "it does not give a number for each passage"),
        (lambda texts: None, "it failed with TypeError"),
        (lambda texts: ["x" for _ in texts], "it failed with ValueError"),
    ],
)
def test_one_that_fails_changes_nothing_and_rests(
    memory: Memory, reranker: Scripted, monkeypatch: pytest.MonkeyPatch, say: Callable[..., Any], problem: str
) -> None:
    monkeypatch.setattr(rerank, "MAX_SECONDS", 0.2 if say is hang else 10.0)
    reranker.say = lambda texts: [0.0 for _ in texts]
    before = ids(memory)
    reranker.say = say
    *_, answer = memory.questions.ask(QUESTION)
    assert isinstance(answer, Answer) and answer.citations
    assert find_problem(memory).startswith(problem)
    count = len(reranker.asked)
    assert ids(memory) == before and len(reranker.asked) == count, "it is left alone for a while"


def test_it_comes_back(memory: Memory, reranker: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rerank, "REST_SECONDS", 0.0)
    good, reranker.say = reranker.say, fail
    assert ids(memory) and find_problem(memory)
    reranker.say = good
    assert (
        "crate 7 " in memory.questions.retrieve(QUESTION).recall.hits[0].episode.text + " "
        and find_problem(memory) == ""
    )
