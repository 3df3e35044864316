"""What an agent reads before a task: `python -m benchmarks.contexts --data DIR [--json]`.

The personas and questions of `benchmarks.lifelog`. Of each question that has an answer in the files: does its context
(`pal context`) hold the line that says so, within so many tokens, and do the first passages hold it, cut at as many?
benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks import command, judge, metrics
from benchmarks.lifelog import _day, add_times, find_personas, load, mean, read, root_of
from memory import Memory
from memory.llm import about_tokens
from memory.protocols import Embedder
from plugins import manager
from plugins.manager import Plugins

BUDGETS = (500, 1000, 2000)
PASSAGES = 30


class Said(NamedTuple):
    """A line of what an agent reads, and the manifest's name of the file that it is from."""

    path: str
    text: str


def holds_gold(question: Mapping[str, Any], said: Sequence[Said]) -> bool:
    """Whether a line from a gold file has an accepted value; of a history one of its values."""
    wanted = (
        question["require"]
        if question["type"] == "history"
        else [*question["accept"], *question.get("accept_also", [])]
    )
    return any(
        one.path in question["evidence"] and any(judge.contains(one.text, value) for value in wanted) for one in said
    )


def cut_passages(passages: Sequence[Said], tokens: int) -> Iterator[Said]:
    """The first passages with their heads, as many as there is room for, the last one cut."""
    left = 3 * tokens
    for one in passages:
        left -= len(f"[1] {one.path}\n".encode())
        text = one.text.encode()[: max(0, left)].decode("utf-8", "ignore")
        if not text:
            return
        left -= len(text.encode())
        yield Said(one.path, text)


def measure(memory: Memory, persona: Path, questions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One persona's figures, as the JSON object of the README."""
    root = root_of(persona)
    held: dict[str, list[float]] = {f"{kind}.{budget}": [] for kind in ("context", "passages") for budget in BUDGETS}
    used: dict[int, list[float]] = {budget: [] for budget in BUDGETS}
    times: list[float] = []
    for question in questions:
        as_of = _day(question.get("as_of"), persona)
        hits = memory.questions.retrieve(question["question"], k=PASSAGES, as_of=as_of).recall.hits
        passages = [Said(_path(hit.episode.source.uri, root), hit.episode.text) for hit in hits]
        for budget in BUDGETS:
            started = time.perf_counter()
            found = memory.questions.write_context(question["question"], budget, as_of)
            times.append(1000 * (time.perf_counter() - started))
            if about_tokens(found.text) > budget:
                raise command.DataError(f"{question['id']}: {found.tokens} tokens are more than {budget}.")
            path = {source.n: _path(source.uri, root) for source in found.sources}
            said = [Said(path[line.n], line.text) for line in found.lines]
            held[f"context.{budget}"].append(float(holds_gold(question, said)))
            held[f"passages.{budget}"].append(float(holds_gold(question, list(cut_passages(passages, budget)))))
            used[budget].append(found.tokens)
    result: dict[str, Any] = {"set": persona.name, "questions": len(questions), "context": {}, "passages": {}}
    for name, values in held.items():
        kind, _, tokens = name.partition(".")
        result[kind][tokens] = metrics.percent(values)
    result["tokens"] = {str(budget): round(fmean(values), 1) for budget, values in used.items()}
    return result | {"p50_ms": metrics.percentile(times, 50), "p95_ms": metrics.percentile(times, 95)}


def _path(uri: str, root: str) -> str:
    return uri.partition("#")[0].removeprefix(root)


def has_gold(question: Mapping[str, Any]) -> bool:
    """Whether a line of a file answers it: it is not worked out of several."""
    return question["type"] != "no_answer" and bool(question["evidence"]) and not question.get("computed")


def run_persona(persona: Path, times: str, plugins: Plugins, embedder: Embedder, limit: int | None) -> dict[str, Any]:
    """Reads a persona's files into a new memory and measures."""
    files, questions = load(persona, times)
    asked = [one for one in questions if has_gold(one)][:limit]
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder,
        Memory.open(Path(folder) / "memory.db", embedder=embedder, quick=plugins.embedder("static")) as memory,
    ):
        command.note(f"{persona.name}: read {len(files)} files, ask {len(asked)} questions")
        for file in files:
            memory.ingest.remember_many(read(plugins, file))
        return measure(memory, persona, asked)


def show(results: Sequence[Mapping[str, Any]]) -> None:
    """Print the table: one row per persona."""
    columns = {"persona": "set", "questions": "questions"}
    columns |= {f"{kind} {budget}": f"{kind}.{budget}" for budget in BUDGETS for kind in ("passages", "context")}
    columns |= {"p50 ms": "p50_ms", "p95 ms": "p95_ms"}
    command.show_table("Questions whose line is in what an agent reads, in percent", results, columns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contexts", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a persona, or a folder above some")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--json", action="store_true", help="one JSON object per persona and line instead of a table")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="ask the first N questions only")
    add_times(parser)
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    plugins = manager.load()
    embedder = plugins.embedder(options.embedder)
    results = []
    for persona in find_personas(options.data):
        results.append(run_persona(persona, options.times, plugins, embedder, options.limit))
        if options.json:
            print(json.dumps(results[-1]), flush=True)
    if len(results) > 1:
        results.append(mean(results))
        if options.json:
            print(json.dumps(results[-1]), flush=True)
    if not options.json:
        show(results)


if __name__ == "__main__":
    sys.exit(main())
