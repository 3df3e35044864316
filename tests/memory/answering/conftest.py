"""A memory with a model on this machine and one elsewhere, over the wire."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from memory.nouns import Answer, AskEvent, Citation, Document, Policy, Step, Token
from memory.protocols import LLM, Embedder
from plugins.llms.anthropic import AnthropicModel
from plugins.llms.guard import Guarded
from plugins.llms.ollama import OllamaModel as Ollama
from plugins.manager import load
from plugins.settings import AnthropicSettings, OllamaSettings
from tests.fakes import ClaudeModel, FakeAnthropic, FakeOllama, OllamaModel
from tests.fakes.answering import answers
from tests.fakes.server import FakeServer

HERE, AWAY = "ollama:qwen3:4b", "anthropic:claude-new"


@dataclass
class Heard:
    """What came of a question."""

    events: list[AskEvent]

    @property
    def answer(self) -> Answer:
        last = self.events[-1]
        assert isinstance(last, Answer)
        return last

    @property
    def streamed(self) -> str:
        """What a person saw come."""
        return "".join(event.text for event in self.events if isinstance(event, Token))

    @property
    def composed(self) -> dict[str, Any]:
        """What the trace says of the model's part."""
        (step,) = [event for event in self.events if isinstance(event, Step) and event.name == "compose"]
        return dict(step.detail)

    def check(self) -> None:
        """What holds of every answer: what came is what is kept, and every number leads to words of a passage."""
        assert self.streamed.strip() == self.answer.text
        cited = [event for event in self.events if isinstance(event, Citation)]
        assert tuple(cited) == self.answer.citations
        for n, one in enumerate(cited, 1):
            assert one.n == n and f"[{n}]" in self.answer.text
            assert one.quote in one.passage


def note(memory: Memory, name: str, text: str, day: int = 1, policy: Policy = "any", **more: Any) -> int:
    """The id of the first episode of a note of that day in May 2024."""
    at = datetime(2024, 5, day, tzinfo=UTC)
    document = Document(f"/notes/{name}.md", text, title=name, kind="file", at=at, policy=policy, **more)
    return memory.ingest.remember_many([document])[0].episode_ids[0]


@dataclass
class Desk:
    """`models`: those that may be chosen, by whether text has to stay here."""

    memory: Memory
    ollama: FakeOllama
    anthropic: FakeAnthropic
    here: Guarded
    away: Guarded

    def note(self, name: str, text: str, day: int = 1, policy: Policy = "any", **more: Any) -> int:
        return note(self.memory, name, text, day, policy, **more)

    def ask(self, question: str, choose: Callable[[bool], LLM | None] | None = None, **more: Any) -> Heard:
        more.setdefault("replay", False)
        more.setdefault("now", datetime(2024, 6, 1, 12, tzinfo=UTC))
        heard = Heard(list(self.memory.questions.ask(question, llm=choose or (lambda local_only: self.here), **more)))
        heard.check()
        return heard

    def ask_away(self, question: str) -> Heard:
        """Only the model elsewhere can be had."""
        return self.ask(question, lambda local_only: None if local_only else self.away)

    def ask_either(self, question: str) -> Heard:
        """The one elsewhere is preferred."""
        return self.ask(question, lambda local_only: self.here if local_only else self.away)

    def server(self, name: str) -> FakeServer:
        return self.ollama if name == HERE else self.anthropic


find_strategy = cache(lambda: load().strategies())
described: list[Any] = []  # what the server here says of its model, the same for every desk: two requests a test


@contextmanager
def opened(path: Path, static: Embedder) -> Iterator[Desk]:
    """A desk with the memory at that path, which need not be there yet."""
    with (
        pytest.MonkeyPatch.context() as patch,
        FakeOllama(OllamaModel("qwen3:4b"), answer=answers) as ollama,
        FakeAnthropic(ClaudeModel("claude-new"), answer=answers) as anthropic,
        Memory.open(path, embedder=static, find_strategy=find_strategy()) as memory,
    ):
        patch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake")
        model = Ollama("qwen3:4b", OllamaSettings(host=ollama.url))
        model._known = (time.monotonic(), described[0]) if described else None
        here = Guarded(HERE, model, pause=0.001)
        away = Guarded(AWAY, AnthropicModel("claude-new", AnthropicSettings(url=anthropic.url)), pause=0.001)
        yield Desk(memory, ollama, anthropic, here, away)
        described[:] = [model._known[1]] if model._known else described
        here.close()
        away.close()


@pytest.fixture
def desk(tmp_path: Path, static: Embedder) -> Iterator[Desk]:
    with opened(tmp_path / "memory.db", static) as desk:
        yield desk
