"""How well and how fast episodes are found: `python -m benchmarks.recall --data DIR [--json]`.

Builds a memory through the library in a temporary file, asks every question and compares the episodes
found with the gold. The baselines and ablations are the same memory and the same questions with stages
switched off or put another way. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from benchmarks import ablations, chats, command, data
from benchmarks.ablations import ABLATIONS, CONFIGURATIONS, Configuration
from benchmarks.asking import Asked, against, answerable, ask_all, build, cited, latency, ranks, stages
from memory.protocols import Embedder
from plugins import manager

__all__ = ["ABLATIONS", "CONFIGURATIONS", "ask_all", "build", "latency", "main", "measure", "ranks"]

RANKS = (2, 5, 10)

Tell = Callable[[str, Sequence[Asked]], None]
"""Is given the name of a configuration and what each question found with it."""


def measure(
    questions: data.QuestionSet,
    embedder: Embedder,
    path: Path,
    single_turns: bool = False,
    ablated: Mapping[str, Configuration] | None = None,
    tell: Tell = lambda name, asked: None,
    answers: bool = False,
) -> dict[str, Any]:
    """One set's figures, as the JSON object of the README. The memory stays at `path`."""
    at = chats.RANKS if questions.turns else RANKS
    built = build(path, questions.documents, embedder, questions.name)
    done: dict[Configuration, list[Asked]] = {}

    def ask(name: str, settings: Configuration) -> list[Asked]:
        """Two names may stand for the same settings: those are asked once."""
        if settings not in done:
            asked = ask_all(path, questions.questions, embedder, settings, max(at), f"{questions.name}, {name}")
            done[settings] = asked
        tell(name, done[settings])
        return done[settings]

    def figures(asked: Sequence[Asked]) -> dict[str, Any]:
        return (
            ranks(answerable(asked), at)
            | latency(asked)
            | {"budget_recall": chats.budget_recall(asked, questions.texts)}
        )

    default = ask("memory", CONFIGURATIONS["memory"])

    def compared(configurations: Mapping[str, Configuration]) -> dict[str, Any]:
        found = {}
        for name, settings in configurations.items():
            asked = ask(name, settings)
            found[name] = figures(asked) | against(asked, default)
        return found

    result = {
        "set": questions.name,
        **figures(default),
        "episodes_per_s": round(built.episodes / built.seconds, 1),
        "mb_per_1000": round(built.bytes / 1e6 / built.episodes * 1000, 3),
        "baselines": compared(ablations.BASELINES),
        "stages_ms": stages(default),
        "embedder": embedder.name,
        "documents": built.documents,
        "episodes": built.episodes,
        "ingest_s": round(built.seconds, 3),
        "ingest_cpu_s": round(built.cpu_seconds, 3),
        "mb": round(built.bytes / 1e6, 3),
        "peak_rss_mb": command.peak_mb(),
    }
    if ablated:
        result["ablations"] = compared(ablated)
    if answers:
        result["answers"] = cited(path, questions.questions, embedder, questions.name)
    if questions.turns:
        result |= {"categories": chats.categories(default), "turns_per_episode": chats.turns_per_episode(default)}
        if single_turns:
            result["single_turns"] = chats.single_turns(questions, embedder, path)
    return result


def writer(name: str, file: TextIO) -> Tell:
    """Writes what each question of the set `name` found, a JSON object a line."""

    def tell(configuration: str, asked: Sequence[Asked]) -> None:
        for one in asked:
            row = {
                "set": name,
                "configuration": configuration,
                "id": one.question.id,
                "question": one.question.text,
                "category": one.question.category,
                "gold": one.question.gold,
                "recall": {str(k): round(one.recall(k), 4) for k in RANKS} if one.question.gold else {},
                "returned": [refs for refs, _ in one.returned],
                "ms": round(one.ms, 3),
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    return tell


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
        "Against the default: what R@5 gains, and how many times as long a question takes",
        [
            {"name": f"{result['set']}, {name}", **one}
            for result in results
            for name, one in [("memory", result), *result["baselines"].items(), *result.get("ablations", {}).items()]
        ],
        {"set, stages": "name"}
        | found
        | {"gain": "gain", "± gain": "gain_margin"}
        | speed
        | {"x ms": "times_ms", "x CPU": "times_cpu_ms"},
    )
    command.show_table(
        "Milliseconds of each stage, median",
        results,
        {"set": "set"} | {name: f"stages_ms.{name}" for result in results for name in result["stages_ms"]},
    )
    answered = [
        {"name": f"{result['set']}, {name.replace('_', ' ')}", **result["answers"][name]}
        for result in results
        if "answers" in result
        for name in ("chains", "no_chains")
    ]
    if answered:
        command.show_table(
            "Evidence among the lines of an answer, in percent",
            answered,
            {
                "set, lines": "name",
                "cited": "cited",
                "±": "margin",
                "all cited": "all",
                "lines": "lines",
                "p50 ms": "p50_ms",
            },
        )
    for result in results:
        if "categories" in result:
            chats.show(result)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a question set, or a folder of them")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these sets of the folder")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--json", action="store_true", help="one JSON object per set and line instead of tables")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="ask the first N questions only")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the memories there, as SET.db")
    parser.add_argument("--answers", action="store_true", help="also whether answers cite the gold")
    parser.add_argument("--turns", action="store_true", help="chats: also with an episode for every turn")
    parser.add_argument(
        "--ablations",
        nargs="*",
        metavar="NAME",
        help="also with parts off, or other ways to walk the graph: all, or those named; 'no-*' names several",
    )
    parser.add_argument("--questions", type=Path, metavar="FILE", help="also write what each question found")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    ablated = ablations.chosen(options.ablations) if options.ablations is not None else {}
    embedder = manager.load().embedder(options.embedder)
    results = []
    with command.output(options.questions) as file:
        for folder in data.find_sets(options.data, options.sets):
            questions = data.load(folder, options.limit)
            kept = command.new_file(options.keep, f"{questions.name}.db") if options.keep else None
            with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary:
                path = Path(temporary) / f"{questions.name}.db"
                result = measure(
                    questions, embedder, path, options.turns, ablated, writer(questions.name, file), options.answers
                )
                if kept:
                    shutil.move(path, kept)
            results.append(result)
            if options.json:
                print(json.dumps(result), flush=True)
    if not options.json:
        show(results)


if __name__ == "__main__":
    sys.exit(main())
