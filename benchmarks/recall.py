"""How well and how fast episodes are found: `python -m benchmarks.recall --data DIR [--json]`.

Builds a memory through the library in a temporary file, asks every question and compares the episodes
found with the gold. The baselines are the same memory and the same questions with stages switched off.
benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import command, data, metrics
from memory import Memory
from memory.nouns import Document, Scope
from memory.protocols import Embedder
from memory.recall.papers import PAPERS
from memory.settings import MemorySettings, RecallSettings
from plugins import manager

CONFIGURATIONS: dict[str, RecallSettings] = {
    "memory": RecallSettings(),
    "bm25": RecallSettings(strategy="none", lexical_weight=1, neighbour_weight=0),
    "vector": RecallSettings(strategy="none", lexical_weight=0, neighbour_weight=0),
    "fused": RecallSettings(strategy="none", neighbour_weight=0),
}
_SYNERGY = RecallSettings(strategy="spread+beam", mixed_weight=0, synergy_weight=0.1)  # beam is seen by synergy alone
ABLATIONS: dict[str, RecallSettings] = {
    "beam": RecallSettings(strategy="beam"),
    "beam, E and O": RecallSettings(strategy="beam", walk_vertices="EO"),
    "beam, T and O": RecallSettings(strategy="beam", walk_vertices="eTO"),
    "beam, 100 sentences": RecallSettings(strategy="beam", walk_embedded=100),
    "circles": RecallSettings(strategy="circles"),
    "paths": RecallSettings(strategy="paths"),
    "spread+beam": RecallSettings(strategy="spread+beam"),
    "spread+circles": RecallSettings(strategy="spread+circles"),
    "spread+paths": RecallSettings(strategy="spread+paths"),
    "spread+beam+circles+paths": RecallSettings(strategy="spread+beam+circles+paths"),
    "beam with synergy": RecallSettings(strategy="beam", synergy_weight=0.1),
    "spread with synergy": _SYNERGY,
    "the same, votes alone": replace(_SYNERGY, synergy_confirm=False),
    "the same, confirmation alone": replace(_SYNERGY, synergy_votes=False),
    "the same, no bridges": replace(_SYNERGY, synergy_bridge=False),
    "the same, no pruning": replace(_SYNERGY, synergy_prune=False),
    **{f"paper: {name}": settings for name, settings in PAPERS.items()},
}
BATCH = 256  # documents per transaction
WARM_UP = 5  # questions asked before the clock counts
RANKS = (2, 5, 10)
TURN_RANKS = (2, 5, 10, 20)
BUDGETS = (5, 10, 20)  # turns whose mean length makes a text budget
SINGLE_TURNS = 60  # single turns returned: more than the largest budget holds
APART = "5"  # the category of questions that cannot be answered as asked

Returned = tuple[tuple[tuple[str, ...], str], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what came back, best first: the refs and the text of each episode. Times in ms."""

    question: data.Question
    returned: Returned
    ms: float
    cpu_ms: float
    stages: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Built:
    """What writing a set cost."""

    documents: int
    episodes: int
    seconds: float
    cpu_seconds: float
    bytes: int


def build(path: Path, documents: Sequence[Document], embedder: Embedder, label: str) -> Built:
    """Remember the documents in a new file at `path`: vectors and commits are in `seconds`, reading the set is not."""
    embedder.embed_query("warm")  # load the embedder before the clock runs
    with Memory.open(path, embedder=embedder) as memory:
        command.note(f"{label}: remember {len(documents)} documents")
        with command.progress() as bar:
            task = bar.add_task("", total=len(documents))
            started, cpu_started = time.perf_counter(), time.process_time()
            for start in range(0, len(documents), BATCH):
                batch = documents[start : start + BATCH]
                memory.remember_many(batch)
                bar.advance(task, len(batch))
            seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
        episodes = memory.stats().episodes
    return Built(len(documents), episodes, seconds, cpu_seconds, command.file_bytes(path))  # closing was the checkpoint


def ask_all(
    path: Path,
    questions: Sequence[data.Question],
    embedder: Embedder,
    settings: RecallSettings,
    depth: int,
    label: str,
) -> list[Asked]:
    """Ask every question of the memory at `path`, `depth` episodes each, after a warm-up."""
    with Memory.open(path, embedder=embedder, settings=MemorySettings(recall=settings)) as memory:
        command.note(f"{label}: ask {len(questions)} questions")
        for question in questions[:WARM_UP]:
            _ask(memory, question, depth)
        with command.progress() as bar:
            return [_ask(memory, question, depth) for question in bar.track(questions, description="")]


def _ask(memory: Memory, question: data.Question, depth: int) -> Asked:
    within = Scope(conversation=question.conversation) if question.conversation else None
    started, cpu_started = time.perf_counter(), time.thread_time()
    found = memory.recall(question.text, k=depth, within=within)
    ms, cpu_ms = 1000 * (time.perf_counter() - started), 1000 * (time.thread_time() - cpu_started)
    returned = tuple((hit.episode.refs, hit.episode.text) for hit in found.hits)
    return Asked(question, returned, ms, cpu_ms, {step.stage: step.ms for step in found.trace.steps})


def ranks(asked: Sequence[Asked], at: Sequence[int]) -> dict[str, Any]:
    """Recall@k and All@k in percent over the questions that have gold, with the 95 % margin of Recall@k."""
    judged = [(one.question.gold, [refs for refs, _ in one.returned]) for one in asked if one.question.gold]
    recall = {k: [metrics.recall_at(gold, ranking, k) for gold, ranking in judged] for k in at}
    return {
        "questions": len(judged),
        "recall": {str(k): metrics.percent(shares) for k, shares in recall.items()},
        "all": {str(k): metrics.percent([float(share == 1) for share in shares]) for k, shares in recall.items()},
        "margin": {str(k): metrics.margin(shares) for k, shares in recall.items()},
    }


def latency(asked: Sequence[Asked]) -> dict[str, float]:
    """Milliseconds per question, and of those the thread's processor time."""
    times = [one.ms for one in asked]
    return {
        "p50_ms": metrics.percentile(times, 50),
        "p95_ms": metrics.percentile(times, 95),
        "p50_cpu_ms": metrics.percentile([one.cpu_ms for one in asked], 50),
    }


def stages(asked: Sequence[Asked]) -> dict[str, float]:
    """Median milliseconds of each stage, by the trace."""
    names = dict.fromkeys(name for one in asked for name in one.stages)
    return {name: metrics.percentile([one.stages[name] for one in asked if name in one.stages], 50) for name in names}


def budgets(asked: Sequence[Asked], texts: Mapping[str, str], sizes: Mapping[int, int]) -> dict[str, float]:
    """For each text budget (turns -> characters): percent of the gold turns that stand whole within it."""
    judged = [one for one in asked if one.question.gold]
    return {
        str(turns): metrics.percent(
            [
                metrics.covered_within({ref: texts.get(ref, "") for ref in one.question.gold}, one.returned, characters)
                for one in judged
            ]
        )
        for turns, characters in sizes.items()
    }


def measure(
    questions: data.QuestionSet, embedder: Embedder, path: Path, single_turns: bool = False, ablate: bool = False
) -> dict[str, Any]:
    """One set's figures, as the JSON object of the README. The memory stays at `path`."""
    at = TURN_RANKS if questions.turns else RANKS
    built = build(path, questions.documents, embedder, questions.name)
    runs: dict[str, list[Asked]] = {}
    for name, settings in (CONFIGURATIONS | ABLATIONS if ablate else CONFIGURATIONS).items():
        label = f"{questions.name}, {name}"
        runs[name] = ask_all(path, questions.questions, embedder, settings, max(at), label)
    baselines = {
        name: ranks(_answerable(asked), at) | latency(asked) for name, asked in runs.items() if name != "memory"
    }
    result = {
        "set": questions.name,
        **ranks(_answerable(runs["memory"]), at),
        **latency(runs["memory"]),
        "episodes_per_s": round(built.episodes / built.seconds, 1),
        "mb_per_1000": round(built.bytes / 1e6 / built.episodes * 1000, 3),
        "baselines": baselines,
        "stages_ms": stages(runs["memory"]),
        "embedder": embedder.name,
        "documents": built.documents,
        "episodes": built.episodes,
        "ingest_s": round(built.seconds, 3),
        "ingest_cpu_s": round(built.cpu_seconds, 3),
        "mb": round(built.bytes / 1e6, 3),
        "peak_rss_mb": command.peak_mb(),
    }
    if questions.turns:
        result |= _conversations(questions, runs, at)
        if single_turns:
            result["baselines"]["turns"] = _single_turns(questions, embedder, path, at)
    return result


def _answerable(asked: Sequence[Asked]) -> list[Asked]:
    return [one for one in asked if one.question.category != APART]


def _sizes(questions: data.QuestionSet) -> dict[int, int]:
    """Turns -> characters: so many times the mean length of a turn shown with its speaker."""
    turns = [turn for document in questions.documents for turn in document.turns]
    mean = fmean(len(metrics.squeeze(f"{turn.speaker}: {turn.text}")) for turn in turns)
    return {count: round(count * mean) for count in BUDGETS}


def _conversations(
    questions: data.QuestionSet, runs: Mapping[str, Sequence[Asked]], at: Sequence[int]
) -> dict[str, Any]:
    """What only turns have: figures per category, turns per episode, recall within a text budget."""
    asked, sizes = runs["memory"], _sizes(questions)
    categories = sorted({one.question.category for one in asked if one.question.category})
    held = {refs for one in asked for refs, _ in one.returned}
    return {
        "categories": {
            category: ranks([one for one in asked if one.question.category == category], at) for category in categories
        },
        "turns_per_episode": round(fmean(map(len, held)), 2) if held else 0.0,
        "budget_characters": {str(turns): characters for turns, characters in sizes.items()},
        "budget_recall": {name: budgets(_answerable(asked), questions.texts, sizes) for name, asked in runs.items()},
    }


def _single_turns(questions: data.QuestionSet, embedder: Embedder, path: Path, at: Sequence[int]) -> dict[str, Any]:
    """The same questions with each turn as a document of its own: how much of the recall is the episodes' size."""
    single = path.with_name(f"{path.stem}-turns.db")
    label = f"{questions.name}, turns"
    build(single, list(questions.turn_documents()), embedder, label)
    asked = _answerable(ask_all(single, questions.questions, embedder, CONFIGURATIONS["memory"], SINGLE_TURNS, label))
    return ranks(asked, at) | latency(asked) | {"budget_recall": budgets(asked, questions.texts, _sizes(questions))}


def show(results: Sequence[Mapping[str, Any]]) -> None:
    """Print the tables: one row per set, then each set against its baselines, then what only turns have."""
    found = {"R@2": "recall.2", "R@5": "recall.5", "±": "margin.5", "R@10": "recall.10", "All@5": "all.5"}
    speed = {"p50 ms": "p50_ms", "p95 ms": "p95_ms", "CPU ms": "p50_cpu_ms"}
    command.show_table(
        "Recall in percent, time per question, ingestion",
        results,
        {"set": "set", "questions": "questions", "episodes": "episodes"}
        | found
        | speed
        | {"ep/s": "episodes_per_s", "CPU s": "ingest_cpu_s", "MB/1000": "mb_per_1000", "peak MB": "peak_rss_mb"},
    )
    command.show_table(
        "Against the baselines",
        [
            {"name": f"{result['set']}, {name}", **one}
            for result in results
            for name, one in [("memory", result), *result["baselines"].items()]
        ],
        {"set, stages": "name"} | found | speed,
    )
    command.show_table(
        "Milliseconds of each stage, median",
        results,
        {"set": "set"} | {name: f"stages_ms.{name}" for result in results for name in result["stages_ms"]},
    )
    for result in results:
        if "categories" in result:
            _show_turns(result)


def _show_turns(result: Mapping[str, Any]) -> None:
    command.show_table(
        f"{result['set']}: recall of turns by category; {result['turns_per_episode']} turns per episode",
        [
            *[
                {"category": f"{category} (apart)" if category == APART else category, **one}
                for category, one in result["categories"].items()
            ],
            {"category": "together", **result},
        ],
        {"category": "category", "questions": "questions"} | {f"R@{k}": f"recall.{k}" for k in TURN_RANKS},
    )
    recalls = result["budget_recall"] | {
        name: one["budget_recall"] for name, one in result["baselines"].items() if "budget_recall" in one
    }
    command.show_table(
        f"{result['set']}: recall of turns within a text budget",
        [{"stages": name, **shares} for name, shares in recalls.items()],
        {"stages": "stages"} | {f"{characters} ch": turns for turns, characters in result["budget_characters"].items()},
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a question set, or a folder of them")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--json", action="store_true", help="one JSON object per set and line instead of tables")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="ask the first N questions only")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the memories there, as SET.db")
    parser.add_argument("--turns", action="store_true", help="chats: also with each turn as a document of its own")
    parser.add_argument(
        "--ablate", action="store_true", help="also with other ways to walk the graph, and with parts off"
    )
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    embedder = manager.load().embedder(options.embedder)
    results = []
    for folder in data.find_sets(options.data):
        questions = data.load(folder, options.limit)
        kept = command.new_file(options.keep, f"{questions.name}.db") if options.keep else None
        with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary:
            path = Path(temporary) / f"{questions.name}.db"
            result = measure(questions, embedder, path, options.turns, options.ablate)
            if kept:
                shutil.move(path, kept)
        results.append(result)
        if options.json:
            print(json.dumps(result), flush=True)
    if not options.json:
        show(results)


if __name__ == "__main__":
    sys.exit(main())
