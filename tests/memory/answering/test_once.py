"""One plain question without a model: nothing is computed twice, and nothing is entered that only a model needs."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from memory import Memory
from memory.nouns import Answer
from memory.protocols import Embedder, Vectors
from plugins.embedders.static import StaticEmbedder

NOTES = Path(__file__).parents[3] / "examples" / "notes"
QUESTION = "Where does Dr Ferelith Oakes live?"
FOR_MODELS = ("escalation", "compose", "context", "grounding")
FOUNDATIONS = ("memory.text.", "memory.time.", "memory.store.")


class Counting(StaticEmbedder):
    """Counts the texts that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: Counter[str] = Counter()
        self.documents: Counter[str] = Counter()

    def embed_query(self, text: str) -> Vectors:
        self.queries[text] += 1
        return super().embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.documents.update(texts)
        return super().embed_documents(texts)


@dataclass
class Walk:
    """What a question entered: functions by module, and of some functions the texts that they were called with."""

    entered: dict[str, set[str]] = field(default_factory=dict)
    texts: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in READS})

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        code, module = frame.f_code, frame.f_globals.get("__name__", "")
        if event != "call" or not module.startswith("memory.") or code.co_filename == "<string>":
            return
        name = f"{module}.{code.co_qualname}"
        self.entered.setdefault(module, set()).add(code.co_qualname)
        if name in READS:
            self.texts[name][frame.f_locals[READS[name]]] += 1


READS = {
    "memory.retrieval.analyse.analyse": "text",
    "memory.retrieval.question_type.question_type": "question",
    "memory.text.mentions.mentions": "text",
    "memory.answering.candidates.stems": "text",
}


@pytest.fixture(scope="module")
def embedder() -> Counting:
    return Counting()


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("notes") / "memory.db", embedder=embedder) as memory:
        for path in sorted(NOTES.rglob("*.md")):
            memory.ingest.remember(path.read_text(), title=path.stem, source=str(path))
        yield memory


@pytest.fixture(scope="module")
def walk(notes: Memory, embedder: Counting) -> Walk:
    list(notes.questions.ask(QUESTION))  # what is loaded once for all questions is not of this one
    embedder.queries.clear()
    embedder.documents.clear()
    walk = Walk()
    sys.setprofile(walk)
    try:
        *_, answer = notes.questions.ask(QUESTION)
    finally:
        sys.setprofile(None)
    assert isinstance(answer, Answer) and "Whitby" in answer.text
    return walk


def test_a_question_is_analysed_once(walk: Walk) -> None:
    assert walk.texts["memory.retrieval.analyse.analyse"] == {QUESTION: 1}
    assert walk.texts["memory.retrieval.question_type.question_type"] == {QUESTION: 1}


def test_each_text_is_embedded_once(walk: Walk, embedder: Counting) -> None:
    assert embedder.queries[QUESTION] == 1
    assert set(embedder.queries.values()) == set(embedder.documents.values()) == {1}


def test_each_text_is_looked_through_for_names_once(walk: Walk) -> None:
    seen = walk.texts["memory.text.mentions.mentions"]
    assert seen[QUESTION] == 1 and set(seen.values()) == {1}


def test_a_sentence_is_stemmed_for_its_features_and_for_what_is_shown_alone(walk: Walk) -> None:
    seen = walk.texts["memory.answering.candidates.stems"]
    assert max(times for text, times in seen.items() if text.endswith(".")) <= 2


def test_a_question_goes_through_few_modules(walk: Walk) -> None:
    entered = [module for module in walk.entered if not module.startswith(FOUNDATIONS)]
    assert len(entered) < 27, " ".join(entered)
    assert len(walk.entered) < 50  # three of them look for secrets in the question


def test_what_only_models_need_is_neither_entered_nor_imported(walk: Walk) -> None:
    modules = {f"memory.answering.{name}" for name in FOR_MODELS}
    assert modules.isdisjoint(walk.entered)
    assert not [module for module in walk.entered if module.startswith("memory.exploring")]
    code = "import sys, memory.memory; print([one for one in sys.modules if one.startswith('memory.')])"
    imported = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "memory.answering.extractive" in imported
    assert "memory.answering.escalation" not in imported and "memory.exploring" not in imported
