"""Which way to look pays, by how many passages hold the answer: `python -m benchmarks.scatter --data DIR [--json]`.

Text alone, RLM-on-KG's one hop and heuristic, the default walk, and options that a model takes in addition to it (which
knows the gold and goes wrong now and then). benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import command, metrics, oracle, problems
from benchmarks.answers import fill
from benchmarks.oracle import Asked
from benchmarks.problems import Library, Problem
from memory import Memory
from memory.exploring.guided import Explorer, explore_guided
from plugins import manager

K, CALLS = 5, 4  # passages that count, and calls of a model
WAYS = {"text": "none", "one hop": "one_hop", "heuristic": "heuristic", "walk": "spread"}  # of a strategy
STRATA = ("1", "2", "3+")


def look(memory: Memory, problem: Problem, library: Library, asked: Asked) -> dict[str, float]:
    """The share of the gold among the first K passages of each way; with a model also of those that it takes."""
    shares, gold = {}, set(problem.gold)

    def share(ids: Sequence[int]) -> float:
        return len(gold & {held for id in ids for held in library.holds.get(id, ())}) / len(gold)

    for name, strategy in WAYS.items():
        first = memory.questions.retrieve(
            problem.text, K, problem.as_of, problem.within, replay=False, strategy=strategy
        )
        shares[name] = share([hit.episode.id for hit in first.recall.hits])
    missing = tuple(sorted(gold - {id for hit in first.recall.hits for id in library.holds.get(hit.episode.id, ())}))
    taken: Sequence[int] = ()
    if missing and asked.model is not None:
        asked.known[" ".join(problem.text.split())] = library.known(replace(problem, gold=missing))
        explorer = Explorer(memory.store.reading, first)
        taken = tuple(explore_guided(asked.model, explorer, problem.text, calls=CALLS).episodes)
    shares["model"] = share([*(hit.episode.id for hit in first.recall.hits), *taken])
    return shares


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scatter", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="question sets and personas")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these, or what lies in folders of these names")
    parser.add_argument("--error", type=command.share, default=0.2, metavar="RATE", help="of the model (default: 0.2)")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="ask N questions of each, evenly spread")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    return command.run(lambda: _run(parser.parse_args(arguments)))


def _run(options: argparse.Namespace) -> None:
    plugins = manager.load()
    embedder = plugins.embedder("static")
    rows: dict[str, dict[str, list[dict[str, float]]]] = defaultdict(lambda: defaultdict(list))
    for folder in problems.find(options.data, options.sets):
        world = problems.load(folder, plugins, options.limit)
        name = "lives" if world.root else world.name
        with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary:
            path = Path(temporary) / f"{world.name}.db"
            fill(path, world, embedder, plugins, None)
            with (
                oracle.oracle(plugins, options.error, 42) as asked,
                Memory.open(path, embedder=embedder, quick=embedder, find_strategy=plugins.strategies()) as memory,
            ):
                library = Library.of(memory, world)
                for problem in world.problems:
                    if problem.answerable and problem.gold:
                        stratum = STRATA[min(len(set(problem.gold)), 3) - 1]
                        rows[name][stratum].append(look(memory, problem, library, asked))
    figures: list[dict[str, Any]] = [
        {"set": name, "gold": stratum, "questions": len(shares)}
        | {way: metrics.percent([share[way] for share in shares]) for way in shares[0]}
        for name, strata in rows.items()
        for stratum, shares in sorted(strata.items())
    ]
    print("\n".join(json.dumps(row) if options.json else "  ".join(map(str, row.values())) for row in figures))


if __name__ == "__main__":
    raise SystemExit(main())
