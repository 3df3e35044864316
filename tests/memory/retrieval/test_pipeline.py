"""The pipeline: stages over one state, and a question whose words are looked at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from memory import Memory
from memory.protocols import Embedder, Vectors
from memory.retrieval import analyse, pipeline, text_search
from memory.retrieval.state import QuestionState
from memory.services import questions

QUESTION = "Where does Ana Lund live?"


class Counting:
    """An embedder that counts how often each text is embedded."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.batch, self.query_prefix, self.document_prefix = embedder.batch, "", ""
        self.name, self.dimension = embedder.name, embedder.dimension
        self.queries: Counter[str] = Counter()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Vectors:
        self.queries[text] += 1
        return self._embedder.embed_query(text)


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> Counter[str]:
    """How often a function of a module is called, by its first argument."""
    calls: Counter[str] = Counter()
    original: Callable[..., Any] = getattr(module, name)

    def call(first: Any, *rest: Any, **named: Any) -> Any:
        calls[first.text if isinstance(first, QuestionState) else first] += 1
        return original(first, *rest, **named)

    monkeypatch.setattr(module, name, call)
    return calls


def test_a_plain_question_is_analysed_typed_and_embedded_once(
    static: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = Counting(static)
    with Memory.open(":memory:", embedder=embedder) as memory:
        memory.ingest.remember("Ana Lund lives in Porto. She has a dog.", title="Ana Lund", source="/ana.md")
        memory.ingest.remember("Porto is a town by the sea.", title="Porto", source="/porto.md")
        analyses = counted(monkeypatch, questions, "analyse")
        entities = counted(monkeypatch, analyse, "mentions")
        times = counted(monkeypatch, analyse, "resolve_time")
        types = counted(monkeypatch, text_search, "question_type")
        said = list(memory.questions.ask(QUESTION))[-1]
    assert "Porto" in str(said)
    once = Counter({QUESTION: 1})
    assert analyses == entities == times == types == once
    assert embedder.queries[QUESTION] == 1 and set(embedder.queries.values()) == {1}, "and so is what is left of it"


def test_every_stage_adds_to_one_state_and_writes_its_step(fresh: Memory) -> None:
    fresh.ingest.remember("Ana Lund lives in Porto.", title="Ana Lund", source="/ana.md")
    names = [name for name, _ in pipeline.STAGES]
    assert " ".join(names) == "analyse scope text seed replay guide graph links rank"
    found = fresh.questions.retrieve(QUESTION, 3)
    assert [step.name for step in found.recall.trace.steps] == [name for name in names if name != "guide"]
    assert found.question.type.kind == "fact" and found.question.mentions[0].surface == "Ana Lund"
    assert list(found.named_objects.values()) == ["Ana Lund"]


@pytest.mark.parametrize(
    ("question", "of"),
    [
        ("What did Ana Lund do in Porto?", "all"),
        ("What happened in Porto?", "all"),
        ("What did the plumber do about the boiler in Porto?", ""),
        ("What did Ana Lund pay the plumber?", ""),
    ],
)
def test_all_that_happened_is_asked_of_what_is_named_alone(fresh: Memory, question: str, of: str) -> None:
    fresh.ingest.remember("Ana Lund lives in Porto.", title="Ana Lund", source="/ana.md")
    assert fresh.questions.retrieve(question, 3).question.type.of == of


def test_a_time_that_is_set_counts_before_one_in_the_words(fresh: Memory) -> None:
    for month in (3, 9):
        at = datetime(2023, month, 5, tzinfo=UTC)
        fresh.ingest.remember(f"Ana Lund lives in town {month}.", title=f"town {month}", source=f"/{month}.md", at=at)
    set_at = datetime(2023, 12, 31, tzinfo=UTC)
    question = "Where did Ana Lund live as of May 2023?"
    now = datetime(2024, 6, 1, tzinfo=UTC)
    named = fresh.questions.retrieve(question, k=5, now=now).recall
    both = fresh.questions.retrieve(question, k=5, now=now, as_of=set_at).recall
    assert [hit.episode.title for hit in named.hits] == ["town 3"]
    assert {hit.episode.title for hit in both.hits} == {"town 3", "town 9"}
