"""How good answers are, end to end: `python -m benchmarks.answers --data DIR [--oracle | --llm NAME] [--json]`.

Every question of every set and persona is asked of a memory that has read it: without a model, with an oracle that
knows the gold and answers over the wire, or with a real model. Beside it stand baselines that need no memory.
benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TextIO

from benchmarks import baselines, command, oracle, problems, summary
from benchmarks.answering import Desk, Outcome
from benchmarks.baselines import Baseline
from benchmarks.oracle import Asked
from benchmarks.problems import Library, World
from memory import Memory
from memory.protocols import Embedder
from plugins import manager
from plugins.manager import Plugins

EFFORTS = ("quick", "normal", "deep")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="a question set, a persona, or a folder of them"
    )
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these, or what lies in folders of these names")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--oracle", action="store_true", help="ask a model that knows the gold, over the wire")
    how.add_argument("--llm", metavar="NAME", help="ask this model: ollama:MODEL or anthropic:MODEL")
    parser.add_argument(
        "--error", type=command.share, default=0.0, metavar="RATE", help="--oracle: go wrong that often"
    )
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of errors and manners (default: 42)")
    parser.add_argument("--manners", action="store_true", help="--oracle: speak as ordinary models do")
    parser.add_argument("--blind", action="store_true", help="--oracle: know nothing of the gold")
    parser.add_argument("--effort", choices=EFFORTS, default="normal", help="how much a question may take")
    parser.add_argument(
        "--baselines", nargs="*", choices=baselines.NAMES, metavar="NAME",
        help="beside it; without a name none (default: both; with --llm grep alone)",
    )  # fmt: skip
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="ask N questions of each, evenly spread")
    parser.add_argument("--json", action="store_true", help="one JSON object per set and line instead of tables")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="also write what came of each question")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep the memories there, nothing asked yet, or use those"
    )
    options = parser.parse_args(arguments)
    if (options.error or options.manners or options.blind) and not options.oracle:
        parser.error("--error, --manners and --blind go with --oracle")
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    plugins = manager.load()
    embedder = plugins.embedder(options.embedder)
    results = []
    with command.output(options.questions) as file, _model(options, plugins) as asked:
        for folder in problems.find(options.data, options.sets):
            world = problems.load(folder, plugins, options.limit)
            with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary:
                path = Path(temporary) / f"{world.name}.db"
                fill(path, world, embedder, plugins, options.keep)
                with Memory.open(path, embedder=embedder, quick=plugins.embedder("static")) as memory:
                    desk = Desk(memory, Library.of(memory, world), asked.model, asked.calls, options.effort)
                    found = dict(_systems(desk, world, asked, _beside(options), file))
            result = _result(world, found, options, embedder.name)
            results.append(result)
            if options.json:
                print(json.dumps(result, ensure_ascii=False), flush=True)
    if not options.json:
        summary.show(results)


def _model(options: argparse.Namespace, plugins: Plugins) -> AbstractContextManager[Asked]:
    if options.llm:
        return oracle.real(options.llm, plugins)
    if options.oracle:
        return oracle.oracle(plugins, options.error, options.seed, manners=options.manners, blind=options.blind)
    return oracle.no_model()


def _beside(options: argparse.Namespace) -> list[Baseline]:
    """The baselines that are asked too. All there is is no answer of lines, and dear with a real model."""
    names = options.baselines
    if names is None:
        names = ["grep"] if options.llm else baselines.NAMES
    return [Baseline(name) for name in names if name != "whole" or options.oracle or options.llm]


def fill(path: Path, world: World, embedder: Embedder, plugins: Plugins, keep: Path | None) -> None:
    """A memory at `path` that has read all of it: a copy of the one that was kept, if one was."""
    kept = keep / path.name if keep else None
    if kept is not None and kept.exists():
        command.note(f"{world.name}: take the memory of {kept}")
        shutil.copy(kept, path)
        return
    command.note(f"{world.name}: remember {sum(map(len, world.batches))} documents")
    with (
        Memory.open(path, embedder=embedder, quick=plugins.embedder("static")) as memory,
        command.progress() as bar,
    ):
        for batch in bar.track(world.batches, description=""):
            memory.ingest.remember_many(batch)
    if kept is not None:
        shutil.copy(path, command.new_file(kept.parent, kept.name))


def _systems(
    desk: Desk, world: World, asked: Asked, beside: Sequence[Baseline], file: TextIO
) -> Iterator[tuple[str, list[Outcome]]]:
    """What came of each problem, of the memory and of each baseline; written down at once, because models are dear."""
    asks = {"memory": lambda problem: desk.ask(problem, replay=False)} | {
        baseline.name: (lambda problem, baseline=baseline: desk.ask_baseline(problem, baseline)) for baseline in beside
    }
    for name, ask in asks.items():
        command.note(f"{world.name}, {name}: ask {len(world.problems)} questions")
        with command.progress() as bar:
            found = []
            for problem in bar.track(world.problems, description=""):
                asked.known[" ".join(problem.text.split())] = desk.library.known(problem)
                found.append(outcome := ask(problem))
                row = {"set": world.name, "system": name, **outcome.row()}
                print(json.dumps(row, ensure_ascii=False), file=file, flush=True)
        yield name, found


def _result(
    world: World, found: Mapping[str, Sequence[Outcome]], options: argparse.Namespace, embedder: str
) -> dict[str, Any]:
    mode = options.llm or ("oracle" if options.oracle else "extractive")
    result = {"set": world.name, "mode": mode, "effort": options.effort, "embedder": embedder}
    if options.oracle:
        result |= {"error": options.error, "seed": options.seed, "manners": options.manners, "blind": options.blind}
    result |= summary.of(found["memory"])
    return result | {"baselines": {name: summary.of(some) for name, some in found.items() if name != "memory"}}


if __name__ == "__main__":
    sys.exit(main())
