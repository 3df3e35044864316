"""An embedder whose server is away: what is written is kept and found, and gets its vectors later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from memory import Memory
from memory.errors import MalformedOutputError, ModelUnavailableError
from memory.nouns import Answer
from memory.protocols import Embedder, Vectors
from memory.settings import MemorySettings, RecallSettings
from tests.memory.store.building import HashEmbedder


@dataclass
class Served(HashEmbedder):
    """One whose server can be `away`."""

    name: str = "served"
    away: Exception | None = None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.away:
            raise self.away
        return super().embed_documents(texts) if texts else np.zeros((0, self.dimension), np.float32)

    def embed_query(self, text: str) -> Vectors:
        if self.away:
            raise self.away
        return super().embed_query(text)


@pytest.fixture
def served() -> Served:
    return Served()


@pytest.fixture(params=[10_000, 0])
def memory(request: pytest.FixtureRequest, tmp_path: Path, served: Served, static: Embedder) -> Iterator[Memory]:
    """A memory with the vectors of that embedder at hand, or their bytes."""
    settings = MemorySettings(recall=RecallSettings(vectors_in_memory=request.param))
    with Memory.open(tmp_path / "memory.db", embedder=served, settings=settings, quick=static) as memory:
        memory.ingest.remember("Crate 7 came from Halifax.", title="crates")
        yield memory


def answer(memory: Memory, question: str) -> str:
    *_, last = memory.questions.ask(question)
    assert isinstance(last, Answer)
    return last.text


@pytest.mark.parametrize("error", [ModelUnavailableError("It is away."), MalformedOutputError("NaN")])
def test_what_is_written_meanwhile_is_found_and_embedded_later(
    memory: Memory, served: Served, error: Exception
) -> None:
    served.away = error
    memory.ingest.remember("The heron of the harbour is called Ambrose.", title="heron")
    assert "Ambrose" in answer(memory, "What is the heron called?")
    assert [hit.channels["vector"] for hit in memory.questions.retrieve("heron").recall.hits][:1] == [0]
    assert memory.maintenance.check().problems
    assert memory.maintenance.fill_vectors() == 0, "it is still away"
    assert memory.maintenance.consolidate().episodes == 0
    memory.ingest.remember("Crate 8 came from Lagos.", title="more crates")
    served.away = None
    assert memory.maintenance.fill_vectors() == 2
    assert memory.maintenance.check().problems == ()
    assert memory.questions.retrieve("heron").recall.hits[0].channels["vector"] > 0


def test_a_question_that_was_not_embedded_is_answered_and_learnt_from_later(memory: Memory, served: Served) -> None:
    served.away = ModelUnavailableError("It is away.")
    assert "Halifax" in answer(memory, "Where did crate 7 come from?")
    served.away = None
    assert memory.maintenance.consolidate().questions == 1


def test_a_passage_that_is_restored_gets_its_vector_later(memory: Memory, served: Served) -> None:
    memory.ingest.remember("The rent of the flat is 900 euros.", source="/flat.md")
    memory.ingest.remember("The rent of the flat is 950 euros.", source="/flat.md")
    (revision,) = memory.knowledge.revisions("all")
    served.away = ModelUnavailableError("It is away.")
    memory.knowledge.settle(revision.id, "both")
    assert memory.maintenance.check().problems
    served.away = None
    assert memory.maintenance.fill_vectors() == 1 and memory.maintenance.check().problems == ()
