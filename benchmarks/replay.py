"""What memory replay saves, and what it breaks: `python -m benchmarks.replay --data DIR [--json]`.

A model that knows the gold and goes wrong now and then answers over the wire: the same questions again and again, in
other words, with all but the same words and another answer, both in turn for five rounds, and after thousands of
others. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import command, drift, oracle, problems, replaying
from benchmarks.answering import Desk, Outcome
from benchmarks.answers import fill
from benchmarks.oracle import Asked
from benchmarks.problems import Library, Problem, World
from benchmarks.replaying import Questions
from memory import Memory
from memory.protocols import Embedder
from plugins import manager
from plugins.manager import Plugins

SETS = ("hotpotqa", "musique", "locomo")
FIRST_TIME = "first time"
TURNS, ROUNDS = 3, 5  # of the same questions, and of these in turn with the different ones
DRIFTS = "locomo"  # the set over which the other questions are asked
DRIFT = 10_000  # of them
PROBED = 200  # learnt questions by which drift is measured, at most


@dataclass(slots=True)
class Bench:
    """A memory of one world, in copies, and what is asked of it."""

    folder: Path
    asked: Asked
    embedder: Embedder
    quick: Embedder
    library: Library

    def opened(self, name: str) -> Memory:
        return Memory.open(self.path(name), embedder=self.embedder, quick=self.quick)

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.db"

    def copied(self, name: str, to: str) -> str:
        """Another memory, which is the same so far."""
        shutil.copy(self.path(name), self.path(to))
        return to

    def ask(self, name: str, some: Sequence[Problem], replay: bool = True) -> tuple[list[Outcome], dict[str, Any]]:
        """Puts all of it to a memory, which learns from it; what came of each, and what edges remember then."""
        with self.opened(name) as memory, command.progress() as bar:
            desk = Desk(memory, self.library, self.asked.model, self.asked.calls, "normal")
            found = []
            for problem in bar.track(some, description=""):
                self.asked.known[" ".join(problem.text.split())] = self.library.known(problem)
                found.append(desk.ask(problem, replay))
            return found, replaying.held(memory)


def phases(bench: Bench, asks: Questions) -> Iterator[dict[str, Any]]:
    """Each phase, with the figures of the same questions without memory among them. The memories "base" (nothing was
    asked) and "again" (all turns) are left."""
    without: dict[str, list[Outcome]] = {}
    answered: list[bool] = []  # whether each question was, the first time

    def phase(name: str, what: str, of: str, replay: bool = True) -> dict[str, Any]:
        command.note(f"{name}: ask {len(getattr(asks, what))} questions")
        found, held = bench.ask(of, getattr(asks, what), replay)
        if not replay:
            without.setdefault(what, found)
        if name == FIRST_TIME:
            answered.extend(one.is_right for one in found)
        figures = replaying.figures(found, bench.library.holds)
        figures |= replaying.beside(found, without[what], answered)
        return {"phase": name, **figures, "memory": held}

    control = bench.copied("base", "control")
    yield phase("without memory", "same", control, replay=False)
    yield phase("without memory, retry", "same", control, replay=False)
    if asks.similar:
        yield phase("without memory, other words", "similar", control, replay=False)
        yield phase("without memory, different", "different", control, replay=False)
    again = bench.copied("base", "again")
    yield phase(FIRST_TIME, "same", again)
    if asks.similar:
        yield phase("other words after 1 turn", "similar", bench.copied(again, "similar"))
        rounds = bench.copied(again, "rounds")
        yield phase("different after 1 turn", "different", rounds)
        for number in range(2, ROUNDS + 1):
            what = "different" if number % 2 else "same"
            yield phase(f"round {number}, {what}", what, rounds)
    for turn in range(1, TURNS + 1):
        yield phase(f"again, {turn}", "same", again)
    if asks.similar:
        yield phase(f"other words after {TURNS + 1} turns", "similar", bench.copied(again, "later"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a folder of sets, and of replay")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME", help=f"default: {' '.join(SETS)}")
    parser.add_argument("--oracle-error", type=command.share, default=0.1, metavar="RATE", help="default: 0.1")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of the errors (default: 42)")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="ask N questions of each, evenly spread")
    parser.add_argument("--drift", type=int, default=DRIFT, metavar="N", help=f"other questions (default: {DRIFT:,})")
    parser.add_argument("--json", action="store_true", help="one JSON object per set instead of tables")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the memories there, nothing asked yet")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    plugins = manager.load()
    for folder in problems.find(options.data, options.sets):
        world = problems.load(folder, plugins, options.limit)
        result = _measured(world, options, plugins)
        if options.json:
            print(json.dumps(result, ensure_ascii=False), flush=True)
        else:
            command.show_table(f"{world.name}, shares in percent", result["phases"], replaying.COLUMNS)
            command.show_table(f"{world.name}, what memory brought", result["phases"], replaying.REPLAYED)
            if result["drift"]:
                command.show_table(f"{world.name}, drift", result["drift"], drift.COLUMNS)


def _measured(world: World, options: argparse.Namespace, plugins: Plugins) -> Mapping[str, Any]:
    embedder, quick = plugins.embedder(options.embedder), plugins.embedder("static")
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary,
        oracle.oracle(plugins, options.oracle_error, options.seed) as asked,
    ):
        path = Path(temporary) / f"{world.name}.db"
        fill(path, world, embedder, plugins, options.keep)
        path.rename(path.with_name("base.db"))
        with Memory.open(path.with_name("base.db"), embedder=embedder, quick=quick) as memory:
            library = Library.of(memory, world)
        bench = Bench(Path(temporary), asked, embedder, quick, library)
        asks = replaying.questions(options.data, world.name, [one for one in world.problems if one.answerable])
        found = list(phases(bench, asks))
        drifted = []
        if world.name == DRIFTS and options.drift > 0:
            with bench.opened(bench.copied("again", "drift")) as memory:
                probes = asks.same[:: -(-len(asks.same) // PROBED)]
                drifted = list(
                    drift.measured(memory, library, probes, options.drift, options.oracle_error, options.seed)
                )
    return {"set": world.name, "error": options.oracle_error, "seed": options.seed, "embedder": embedder.name,
            "phases": found, "drift": drifted}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
