"""What thousands of other questions do to what memory has learnt.

They are asked at the level of learning: each is recalled and remembered as `Questions.ask` does it, but no model
answers, which would take most of the time. It cites the passage that the question was made of if that was found, some
other one as often as a model goes wrong, and finds no answer otherwise.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks import command, metrics, replaying
from benchmarks.problems import Library, Problem
from memory import Memory
from memory.answering.extractive import AskOutcome
from memory.llm import NOTHING
from memory.nouns import Answer, Citation, Episode, Scope
from memory.retrieval.state import RetrievalResult
from memory.text.sentences import sentences
from memory.trace import Plan

CHECKS = 4  # looks at the learnt questions on the way
WORDS = (4, 9)  # of a sentence that a question is made of
NO_ANSWER = Answer("", no_answer=True)
COLUMNS = {
    "other questions": "others",
    "probed": "probed",
    "precision": "precision",
    "brought": "brought",
    "all gold": "complete",
    "edges: precision": "edges.precision",
    "brought by them": "edges.brought",
    "with memory": "memory.edges",
    "slots": "memory.slots",
    "MB": "memory.mb",
    "stage p50 ms": "stage_p50_ms",
    "p95 ms": "stage_p95_ms",
    "ms each": "ms_each",
}


def measured(
    memory: Memory, library: Library, probes: Sequence[Problem], count: int, error: float, seed: int
) -> Iterator[dict[str, Any]]:
    """What replay brings for the `probes`, which were learnt before, after none, some and all of `count` others."""
    command.note(f"drift: {count} other questions")
    draw = random.Random(seed)
    yield probed(memory, library, probes) | {"others": 0}
    with command.progress() as bar:
        started = time.perf_counter()
        for asked in bar.track(range(1, count + 1), description=""):
            _ask(memory, draw, draw.choice(library.episodes), error)
            if asked * CHECKS // count > (asked - 1) * CHECKS // count:
                ms = 1000 * (time.perf_counter() - started) / asked
                yield probed(memory, library, probes) | {"others": asked, "ms_each": round(ms, 2)}


def probed(memory: Memory, library: Library, probes: Sequence[Problem]) -> dict[str, Any]:
    """What replay brings for these questions, of which nothing is learnt: by edges that fire, and in all. Shares in
    percent of the questions, precision in percent of the episodes brought."""
    stages = []
    for probe in probes:
        trace = memory.questions.retrieve(probe.text, within=probe.within).recall.trace
        stages.append(next(step for step in trace.steps if step.name == "replay"))

    def of(what: str) -> dict[str, Any]:
        held = [
            [set(library.holds.get(id, ())) & set(probe.gold) for id in stage.detail[what]]
            for probe, stage in zip(probes, stages, strict=True)
        ]
        whole = [set().union(*found) >= set(probe.gold) for probe, found in zip(probes, held, strict=True) if found]
        good = [bool(gold) for found in held for gold in found]
        return {
            "precision": round(100 * sum(good) / len(good), 2) if good else None,
            "brought": round(100 * len(whole) / len(probes), 2),
            "complete": round(100 * sum(whole) / len(probes), 2),
        }

    times = [stage.ms for stage in stages]
    return {
        "probed": len(probes),
        "edges": of("read"),
        **of("episodes"),
        "stage_p50_ms": metrics.percentile(times, 50),
        "stage_p95_ms": metrics.percentile(times, 95),
        "memory": replaying.held(memory),
    }


def _ask(memory: Memory, draw: random.Random, episode: Episode, error: float) -> None:
    conversation = episode.source.conversation
    within = Scope(conversation=conversation) if conversation else None
    question = made_of(episode.text, draw)
    found = memory.questions.retrieve(question, memory.state.settings.answer.episodes, None, within, None)
    said = _answered(found, episode, error, draw)
    outcome = AskOutcome(said, (), found, "R2", 0, NOTHING)
    memory.questions.keep(found.recall.trace, said, Plan(within=within), outcome)
    memory.questions.compare_edges()


def made_of(text: str, draw: random.Random) -> str:
    """A question in some words of a sentence, in their order."""
    start, end = draw.choice(list(sentences(text)) or [(0, len(text))])
    words = text[start:end].split()
    most = min(len(words), draw.randint(*WORDS))
    chosen = sorted(draw.sample(range(len(words)), most))
    return f"What about {' '.join(words[place] for place in chosen)}?"


def _answered(found: RetrievalResult, episode: Episode, error: float, draw: random.Random) -> Answer:
    shown = [hit.episode for hit in found.recall.hits]
    there = [one for one in shown if one.id == episode.id]
    if draw.random() < error:
        there = [draw.choice(shown)] if shown else []
    citations = tuple(Citation(1, one.id, one.source.uri, one.title, one.text[:40]) for one in there)
    return Answer("An answer. [1]", citations, model="drift") if there else NO_ANSWER
