"""What tests of enrichment share: a model that reads, and an enrichment that is driven step by step."""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from daemon.config.settings import EnrichmentSettings, ModelsSettings, Settings
from daemon.jobs import extraction
from daemon.jobs.enrichment import Enrichment
from daemon.jobs.models import Models
from daemon.jobs.workers import Writer
from memory import Memory
from memory.facts import decisions, llm_requests
from memory.llm import Grades
from memory.nouns import Document, Policy
from memory.protocols import Embedder
from memory.store import jobs
from memory.store import jobs as store
from plugins.manager import load
from plugins.settings import AnthropicSettings, OllamaSettings
from tests.fakes import ClaudeModel, FakeAnthropic, FakeOllama, OllamaModel, Reply, Says
from tests.fakes.recorded import pairs_in
from tests.fakes.talents import text_of

QWEN = OllamaModel("qwen3:4b")
HERE, AWAY = "ollama:qwen3:4b", "anthropic:claude-new"
GOOD = Grades(HERE, QWEN.digest[:12], 1, 1.0, 1.0, 1.0, 1.0, 1.0, 30.0, 0.5, 8000)
LIVES = re.compile(r"(\w[\w ]*?) (?:lives in|moved to|works with|met) (\w+)[^.]*\.")
plugins = functools.cache(load)
PREDICATES = {"lives in": "lives_in", "moved to": "lives_in", "works with": "works_with", "met": "met"}


def system_of(body: dict[str, Any]) -> str:
    """The system prompt, in either protocol."""
    system = body.get("system") or body["messages"][0].get("content")
    return system if isinstance(system, str) else system[0]["text"]


def passages(body: dict[str, Any]) -> list[tuple[str, str]]:
    """The fences and the texts of the episodes that a model is asked about."""
    asked = next(text_of(turn) for turn in body["messages"] if turn["role"] == "user")
    return re.findall(r"^([A-Z]{6})\n(.*?)\n\1$", asked, re.MULTILINE | re.DOTALL)


def item(sentence: str, predicate: str, subject: str, object: str) -> dict[str, Any]:
    return {"quote": sentence, "subject": subject, "predicate": predicate, "object": object, "modality": "asserted",
            "valid_from": None, "valid_until": None}  # fmt: skip


def told(passage: str) -> list[dict[str, Any]]:
    """The relations of a passage that is written as `LIVES` has it."""
    rows = []
    for found in LIVES.finditer(passage):
        verb = next(verb for verb in PREDICATES if f" {verb} " in found[0])
        rows.append(item(found[0], PREDICATES[verb], found[1].strip(), found[2]))
    return rows


def entry(number: int, facts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"episode": number, "facts": facts, "statements": [], "objects": []}


def able(body: dict[str, Any]) -> Reply:
    """Reads what is written as `LIVES` has it, and finds that a newer fact replaces the older ones of its slot."""
    if system_of(body) == llm_requests.EXTRACTION_PROMPT:
        found = [entry(number, told(text)) for number, (_, text) in enumerate(passages(body), 1)]
        return Says(json.dumps({"episodes": found}))
    assert system_of(body) == decisions.DECISION_PROMPT
    rows = [
        {"older": older, "newer": newer, "relation": "replaces", "words": "", "confidence": "high"}
        for older, newer, old, new in pairs_in(text_of(body["messages"][-1]))
        if old.splitlines()[0] == new.splitlines()[0]
    ]
    return Says(json.dumps({"decisions": rows}))


@dataclass
class World:
    """A memory with a model on this machine and one elsewhere, and an enrichment whose thread does not run."""

    memory: Memory
    writer: Writer
    models: Models
    ollama: FakeOllama
    anthropic: FakeAnthropic
    enrichment: Enrichment

    def note(self, name: str, text: str, day: int = 1, policy: Policy = "local", **more: Any) -> int:
        """The id of the first episode of a note of that day in January 2024."""
        at = datetime(2024, 1, day, tzinfo=UTC)
        document = Document(f"/notes/{name}.md", text, title=name, kind="file", at=at, policy=policy, **more)
        return self.memory.ingest.remember_many([document])[0].episode_ids[0]

    def run(self) -> float:
        """Does all there is to do now; the seconds until there may be more."""
        while not (pause := self.enrichment._step()):
            pass
        self.writer.submit(lambda: None).result()  # with what is counted of the calls
        return pause

    def later(self) -> None:
        """Whatever waits for a time need not wait any longer."""
        self.enrichment.wake()
        with self.memory.store.writing() as conn:
            conn.execute("UPDATE job SET not_before = 0")

    def jobs(self, state: jobs.State) -> list[jobs.Job]:
        with self.memory.store.reading() as conn:
            return jobs.list_jobs(conn, state)

    def facts(self, *names: str) -> list[str]:
        """The relations that hold, of these objects."""
        return [fact.text for name in names for fact in self.memory.knowledge.facts(name) if fact.kind == "relation"]

    def contents(self) -> dict[str, list[Any]]:
        """Everything that a bad answer could harm."""
        tables = "source episode node thesis object alias edge provenance revision journal extraction".split()
        with self.memory.store.reading() as conn:
            return {table: conn.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables}


@contextlib.contextmanager
def world(
    home: Path,
    static: Embedder,
    *,
    extract: tuple[str, ...] = ("auto",),
    graded: bool = True,
    battery: bool | None = None,
    ollama: OllamaSettings | None = None,
    first: float = 20.0,
    gather: float = 0.0,
    **settings: Any,
) -> Iterator[World]:
    with (
        mock.patch.object(extraction, "GATHER_SECONDS", gather),
        FakeOllama(QWEN, answer=able) as here,
        FakeAnthropic(ClaudeModel("claude-new"), answer=able) as away,
        Memory.open(home / "memory.db", embedder=static) as memory,
    ):
        all_of_it = Settings(
            models=ModelsSettings(extract=extract),
            enrichment=EnrichmentSettings(**settings),
            ollama=ollama or OllamaSettings(host=here.url, first_token_s=first),
            anthropic=AnthropicSettings(url=away.url),
        )
        writer = Writer()
        writer.start()
        models = Models(memory, plugins(), writer, all_of_it)
        if graded:
            with memory.store.writing() as conn:
                store.keep_grades(conn, GOOD)
        enrichment = Enrichment(memory, models, writer, all_of_it.enrichment, battery=lambda: battery)
        try:
            yield World(memory, writer, models, here, away, enrichment)
        finally:
            models.close()
            enrichment.close(60)
            writer.close(60)


Make = Callable[..., contextlib.AbstractContextManager[World]]
