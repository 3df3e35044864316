"""Whether a walk step by step finds more than options all around: `python -m benchmarks.walking --data DIR [--json]`.

What the retrieval missed of a question's gold is looked for twice, by as many calls of the same model: with numbered
options around all that is known (`memory.exploring.guided`), and as ReMindRAG walks (Algorithm 1, B.3): from the best
passage to a neighbour of it, or back to one where it was before. The model knows the gold and goes wrong now and then,
chooses by chance, or is a real one. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import command, oracle, problems
from benchmarks.answering import Calls
from benchmarks.answers import fill
from benchmarks.oracle import Asked
from benchmarks.problems import Library, Problem, World
from memory import Memory
from memory.exploring.explorer import Explorer, Option, Reading, expand
from memory.exploring.guided import explore_guided
from memory.exploring.labels import OptionLabels
from memory.retrieval.state import RetrievalResult
from memory.store import episodes
from plugins import manager
from plugins.llms.registry import Models
from plugins.llms.settings import OpenAISettings
from plugins.manager import Plugins
from tests.fakes.llamacpp import LlamaServer

CALLS = 6, 10  # of a model: as many as the guide has, and as many as ReMindRAG's steps
WAYS = ("options", "walk")
MODELS = ("knows", "chance", "real")
ERROR = 0.1  # how often the one that knows goes wrong
K = 5  # episodes that the retrieval finds: what it misses is looked for


class Walker(Explorer):
    """Options lead from the passage where the walk is, or back to one where it was; one is taken of each list."""

    def __init__(self, reading: Reading, found: RetrievalResult) -> None:
        super().__init__(reading, found)
        self._path = self._known[:1]
        self._may_step = True

    def options(self, most: int = 12) -> list[Option]:
        if not self._path:
            return []
        self._may_step = True
        hops = expand(self.found, self.allowed, np.array(self._path[-1:], np.int64), np.ones(1))
        hops = hops[(hops["place"] == 0) & ~np.isin(hops["row"], self._path)]
        near = hops["near"] * np.sqrt(self._relevance[hops["row"]])
        steps = self._label_hops(hops[np.lexsort((hops["row"], -near, -hops["activation"]))][: most // 2])
        return steps + self._back(most - len(steps))

    def take(self, option: Option) -> bool:
        if not self._may_step:
            return False
        self._may_step = False
        super().take(option)
        self._path.append(self.found.graph.row_of[option.episode])
        return True

    def _back(self, most: int) -> list[Option]:
        before = dict.fromkeys(row for row in reversed(self._path[:-1]) if row != self._path[-1])
        labels = OptionLabels(self.found.question, self.only_open)
        with self.reading() as conn:
            there = episodes.by_ids(conn, self._ids([*before][:most]))
        return [Option(one.id, f"back to {labels.open_passage(one).removeprefix('open ')}") for one in there]


def look(memory: Memory, problem: Problem, library: Library, asked: Asked, calls: int) -> dict[str, dict[str, Any]]:
    """What each way finds of the gold that the retrieval missed; nothing if it missed none."""
    found = memory.questions.retrieve(problem.text, K, problem.as_of, problem.within, replay=False)
    seen = _gold_in(library, (hit.episode.id for hit in found.recall.hits))
    if asked.model is None or not (missing := set(problem.gold) - seen):
        return {}
    asked.known[" ".join(problem.text.split())] = library.known(replace(problem, gold=tuple(sorted(missing))))
    rows = {}
    for way, made in zip(WAYS, (Explorer, Walker), strict=True):
        asked.calls.clear()
        looked = explore_guided(asked.model, made(memory.store.reading, found), problem.text, calls=calls)
        took = _gold_in(library, looked.episodes)
        rows[way] = {
            "found": len(missing & took) / len(missing), "passages": len(looked.episodes),
            "calls": asked.calls.calls, "tokens": asked.calls.usage.total,
        }  # fmt: skip
    return rows


def _gold_in(library: Library, ids: Any) -> set[str]:
    return {gold for id in ids for gold in library.holds.get(id, ())}


def measure(memory: Memory, world: World, asked: Asked, calls: int, most: int) -> dict[str, Any]:
    """The means over the questions of which the retrieval misses something, at most so many."""
    library = Library.of(memory, world)
    rows: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    with command.progress() as bar:
        for problem in bar.track([one for one in world.problems if one.answerable], description=""):
            if len(rows[WAYS[0]]) >= most:
                break
            for way, row in look(memory, problem, library, asked, calls).items():
                rows[way].append(row)
    return {"questions": len(rows[WAYS[0]])} | {
        way: {field: round(sum(row[field] for row in some) / len(some), 3) for field in some[0]}
        for way, some in rows.items()
        if some
    }


@contextmanager
def _models(kind: str, plugins: Plugins) -> Iterator[Asked]:
    if kind != "real":
        with oracle.oracle(plugins, ERROR, 42, blind=kind == "chance") as asked:
            yield asked
        return
    calls = Calls(oracle.counter())
    with LlamaServer(os.cpu_count() or 1) as server:
        models = Models(plugins.families, {"openai": OpenAISettings(url=server.url)}, meter=calls)
        try:
            yield Asked(models.open(f"openai:{server.model}"), calls)
        finally:
            models.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.walking", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a folder of sets and personas")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these, or what lies in folders of these names")
    parser.add_argument("--model", choices=MODELS, nargs="+", default=MODELS[:2], help="default: knows chance")
    parser.add_argument("--calls", type=command.positive, nargs="+", default=CALLS, metavar="N", help="default: 6 10")
    parser.add_argument(
        "--questions", type=command.positive, default=200, metavar="N", help="of each set, at most (default: 200)"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the memories there, nothing asked yet")
    parser.add_argument("--json", action="store_true", help="one JSON object per line instead of a table")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    plugins = manager.load()
    embedder = plugins.embedder("static")
    for folder in problems.find(options.data, options.sets):
        world = problems.load(folder, plugins, None)
        with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary:
            path = Path(temporary) / f"{world.name}.db"
            fill(path, world, embedder, plugins, options.keep)
            with Memory.open(path, embedder=embedder) as memory:
                for kind in options.model:
                    with _models(kind, plugins) as asked:
                        for calls in options.calls:
                            command.note(f"{world.name}: {kind}, {calls} calls")
                            row = measure(memory, world, asked, calls, options.questions)
                            _show({"set": world.name, "model": kind, "calls": calls, **row}, options.json)


def _show(row: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(row), flush=True)
        return
    what = f"{row['set']}, {row['model']}, {row['calls']} calls, {row['questions']} questions"
    for way in WAYS:
        if way in row:
            one = row[way]
            print(
                f"{what}: {way:8} finds {one['found']:.1%} of what is missing with {one['passages']:.1f} passages,"
                f" {one['calls']:.1f} calls, {one['tokens']:.0f} tokens",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
