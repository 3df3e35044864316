"""The tables of README.md, measured again: `python -m benchmarks.readme --data DIR`, which takes some minutes.

Runs recall with all ablations and single turns, the peers, and answers without a model and with the oracle, and puts
what they give between `<!-- recall -->` and `<!-- end -->`, and so on. `--results FILE ...` takes what `--json` of them
printed instead of running them.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import answers, chats, command, data, peers, recall, summary

README = Path(__file__).with_name("README.md")
ASKED: tuple[list[str], ...] = (
    [],
    ["--oracle", "--error", "0.1"],
    ["--oracle", "--error", "0.1", "--effort", "deep", "--baselines"],
)
Results = Sequence[Mapping[str, Any]]


def found(results: Results) -> str:
    """The default and its baselines, a row for each set."""
    columns = {"set": "set", "questions": "questions", "episodes": "episodes"}
    columns |= {"R@2": "recall.2", "R@5": "recall.5", "±": "margin.5", "R@10": "recall.10", "All@5": "all.5"}
    columns |= {f"{name} R@5": f"baselines.{name}.recall.5" for name in ("bm25", "vector", "fused")}
    columns |= {"p50 ms": "p50_ms", "p95 ms": "p95_ms", "CPU ms": "p50_cpu_ms"}
    columns |= {"episodes/s": "episodes_per_s", "MB/1,000": "mb_per_1000"}
    return command.markdown(results, columns)


def ablated(results: Results) -> str:
    """A row for each configuration; for each set R@5, All@5, what R@5 gains and how many times the processor time."""
    rows = [{"name": "memory", **{str(i): _found(result) for i, result in enumerate(results)}}]
    for kind in ("baselines", "ablations"):
        for name in results[0][kind]:
            rows.append({"name": name, **{str(i): _compared(result[kind], name) for i, result in enumerate(results)}})
    return command.markdown(rows, {"configuration": "name", **{one["set"]: str(i) for i, one in enumerate(results)}})


def _found(one: Mapping[str, Any]) -> str:
    return f"{one['recall']['5']:.1f} / {one['all']['5']:.1f}"


def _compared(configurations: Mapping[str, Any], name: str) -> str:
    one = configurations[name]
    return f"{_found(one)}, {one['gain']:+.1f} ± {one['gain_margin']:.1f}, × {one['times_cpu_ms']:.1f}"


def turns(results: Results) -> str:
    """For each set of chats its categories, and recall at rank and within a text budget."""
    parts = []
    for result in results:
        parts.append(f"{result['set']}, {result['turns_per_episode']} turns an episode:")
        parts.append(command.markdown(chats.by_category(result), chats.CATEGORY_COLUMNS))
        parts.append(command.markdown(chats.by_budget(result), chats.BUDGET_COLUMNS))
    return "\n\n".join(parts)


def side_by_side(results: Results) -> str:
    """The peers, a row for each set and system."""
    rows = [{"set": result["set"], **row} for result in results for row in peers.rows(result)]
    return command.markdown(rows, {"set": "set"} | peers.COLUMNS)


def answered(results: Results) -> str:
    """A row for each set, way to ask, and baseline beside it; the rows of a set together."""
    rows = [row for result in results for row in summary.rows(result)]
    names = list(dict.fromkeys(row["set"] for row in rows))
    return command.markdown(sorted(rows, key=lambda row: names.index(row["set"])), {"set": "set"} | summary.COLUMNS)


PARTS: dict[str, tuple[str, Callable[[Results], str]]] = {  # what a result must have for it, and what makes it
    "recall": ("stages_ms", found),
    "ablations": ("ablations", ablated),
    "chats": ("categories", turns),
    "peers": ("systems", side_by_side),
    "answers": ("tiers", answered),
}


def rewritten(text: str, results: Results, when: str) -> str:
    """`text` with the parts that `results` have something for; the others stay as they are."""
    for part, (key, make) in PARTS.items():
        having = [result for result in results if key in result]
        if having:
            table = make(having)
            embedders = ", ".join(dict.fromkeys(result["embedder"] for result in having))
            place = re.compile(rf"<!-- {part} -->\n.*?<!-- end -->", re.DOTALL)
            made = f"<!-- {part} -->\n{when}, {embedders}.\n\n{table}\n\n<!-- end -->"
            text = place.sub(lambda _, made=made: made, text)  # type: ignore[misc]
    return text


def machine() -> str:
    """When and on what, as the tables say it."""
    return f"{date.today().isoformat()}, Python {platform.python_version()}, {os.cpu_count()} cores"


def _measured(folder: Path) -> Iterator[dict[str, Any]]:
    if any(find_spec(name) is None for name in peers.PEERS):
        raise command.DataError(f"The peers are not installed: {peers.INSTALL}")
    runs = [(recall.main, ["--ablations", "--turns"]), (peers.main, []), *((answers.main, how) for how in ASKED)]
    for main, arguments in runs:
        with redirect_stdout(io.StringIO()) as out:
            if main(["--data", str(folder), "--json", *arguments]):
                raise command.DataError("README.md was not changed.")
        yield from map(json.loads, out.getvalue().splitlines())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readme", description=(__doc__ or "").split("\n\n")[0])
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--data", type=Path, metavar="DIR", help="a folder of question sets")
    given.add_argument("--results", type=Path, nargs="+", metavar="FILE", help="what --json printed, instead of a run")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    if options.data:
        results = [*_measured(options.data)]
    else:
        results = [row for file in options.results for row in data.read_rows(file, {"set": str, "embedder": str})]
    README.write_text(rewritten(README.read_text("utf-8"), results, machine()), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
