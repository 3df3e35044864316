"""Sets and dicts hold strings in another order under another hash seed: what comes out does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory import Memory
from memory.exploring.guided import Explorer
from memory.nouns import Step
from memory.settings import MemorySettings, RecallSettings
from plugins.manager import load
from tests.memory.exploring import pages
from tests.memory.retrieval.vaults import QUESTIONS, STRATEGIES, Note, Vault, day, fill
from tests.memory.retrieval.walking import rng_graph
from tests.plugins.traversers import test_walks

ROOT = Path(__file__).parents[1]
SAID = [((0, 0, 1), (2, 4, 1)), ((1, 1, 2), (3, 0, 3), (4, 1, 2)), ((4, 0, 3), (2, 4, 5)), ((0, 6, 5), (0, 1, 0))]
NOTES = tuple(
    Note(("/office/", "/home/")[n % 2], lines, n if n < 3 else None, (("red", "blue"), ())[n % 2], n == 1)
    for n, lines in enumerate(SAID)
)


def questions() -> Iterator[object]:
    """All that a question brings, by every strategy, but for the time that it takes."""
    plugins = load()
    for strategy in STRATEGIES:
        settings = MemorySettings(recall=RecallSettings(strategy=strategy))
        with Memory.open(
            ":memory:", embedder=plugins.embedder("static"), settings=settings, find_strategy=plugins.strategies()
        ) as memory:
            fill(memory, Vault(NOTES, frozenset(), (), ()))
            for question in QUESTIONS:
                found = memory.questions.retrieve(question, k=50, now=day(9)).recall
                yield found.hits, found.trace.visits
                yield [timeless(step) for step in found.trace.steps]
                for event in memory.questions.ask(question, now=day(9)):
                    yield timeless(event) if isinstance(event, Step) else event


def timeless(step: Step) -> Step:
    detail = {key: value for key, value in step.detail.items() if not key.endswith("_ms")}
    return replace(step, ms=0, detail=detail)


def exploring() -> Iterator[object]:
    """What may be looked at next, three times."""
    with Memory.open(":memory:", embedder=load().embedder("static")) as memory:
        pages.fill(memory)
        explored = Explorer(memory.store.reading, pages.asked(memory))
        for _ in range(3):
            yield (options := explored.options(5))
            explored.take(options[0])


def walks() -> Iterator[object]:
    """Where each traverser goes in random graphs."""
    for seed in range(12):
        graph, seeds = rng_graph(seed)
        for name in test_walks.NAMES:
            walk = test_walks.traverser(name)(graph, seeds, graph.alive, test_walks.RECALL)
            yield test_walks.scores_of(graph, walk)


STAGES = (questions, exploring, walks)


@pytest.fixture(scope="module")
def said() -> list[dict[str, list[str]]]:
    """What each stage says under one seed, and under another."""
    outputs = [
        subprocess.run(
            [sys.executable, "-m", "tests.test_hash_seeds"],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    return [json.loads(output) for output in outputs]


@pytest.mark.parametrize(
    ("stage", "holds"),
    [("questions", "Ana Silva met Bo Chen."), ("exploring", pages.PAGES["Shawn Levy"][:20]), ("walks", "")],
)
def test_the_hash_seed_has_no_effect(said: list[dict[str, list[str]]], stage: str, holds: str) -> None:
    assert said[0][stage] == said[1][stage] != []
    assert any(holds in line for line in said[0][stage])


if __name__ == "__main__":
    print(json.dumps({stage.__name__: [repr(one) for one in stage()] for stage in STAGES}))
