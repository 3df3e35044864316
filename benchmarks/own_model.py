"""How much your own model helps: `python -m benchmarks.own_model ollama:MODEL [--minutes 10]`.

Questions about an invented life (benchmarks/stranger) are answered without a model and then by yours, as `pal` finds
it, until the time is over. The table is Markdown: paste it into an issue.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import command, problems
from benchmarks.answering import Calls, Desk, Outcome
from benchmarks.answers import fill
from benchmarks.problems import Library, Problem
from daemon.config.settings import Settings, load
from daemon.paths import Paths
from memory import Memory
from memory.errors import ModelError
from plugins import manager
from plugins.installing import read_version
from plugins.llms.guard import Guarded
from plugins.llms.probe import ask_for_a_word
from plugins.llms.registry import Models

DATA = Path(__file__).parent / "stranger"
STRIDE = 5  # questions of the file that are passed over at first, so that a part of them is a fair part


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.own_model", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("model", help="ollama:MODEL, openai:MODEL or anthropic:MODEL")
    parser.add_argument("--minutes", type=float, default=10.0, help="after which no question is asked (default: 10)")
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR", help="another persona")
    parser.add_argument("--embedder", default="auto", help="name of the embedder (default: auto)")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    config = Paths.from_environment().config
    settings = load(config) if config.exists() else Settings()
    plugins, calls = manager.load(settings=settings), Calls()
    sections = {prefix: getattr(settings, prefix, None) for prefix in plugins.families}
    models = Models(plugins.families, sections, calls)
    try:
        model = models.open(options.model)
        command.note(f"Ask {model.name} for a word; it may have to be loaded.")
        model.complete(ask_for_a_word())
        _measure(options, plugins, model, calls)
    finally:
        models.close()


def _measure(options: argparse.Namespace, plugins: manager.Plugins, model: Guarded, calls: Calls) -> None:
    world = problems.load(options.data, plugins, None)
    ordered = [problem for start in range(STRIDE) for problem in world.problems[start::STRIDE]]
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder:
        path, embedder = Path(folder) / "memory.db", plugins.embedder(options.embedder)
        fill(path, world, embedder, plugins, None)
        with Memory.open(path, embedder=embedder, quick=plugins.embedder("static")) as memory:
            library = Library.of(memory, world)
            asked = _ask(Desk(memory, library, model, calls, "normal"), ordered, 60 * options.minutes)
            without = _ask(Desk(memory, library, None, Calls(), "normal"), ordered[: len(asked)], None)
    print(_table(model, without, asked))
    print(f"\n{_describe_run(model, len(asked), len(ordered), options.data.name, embedder.name)}")


def _ask(desk: Desk, asked: Sequence[Problem], seconds: float | None) -> list[Outcome]:
    """What came of the questions that were asked within the time; of one at least."""
    end = time.monotonic() + seconds if seconds is not None else float("inf")
    outcomes: list[Outcome] = []
    with command.progress() as bar:
        for problem in bar.track(asked, description=""):
            if outcomes and time.monotonic() > end:
                break
            outcomes.append(desk.ask(problem, replay=False))
    return outcomes


def _table(model: Guarded, without: Sequence[Outcome], asked: Sequence[Outcome]) -> str:
    rows = [
        {"": name, "without a model": figures(without), model.name: figures(asked)} for name, figures in FIGURES.items()
    ]
    return command.markdown(rows, {heading: heading for heading in ("", "without a model", model.name)})


def _share(outcomes: Sequence[Outcome], name: str) -> str:
    """`27 of 45`: of those for which it is defined."""
    found = [value for outcome in outcomes if (value := getattr(outcome, name)) is not None]
    return f"{sum(found)} of {len(found)}"


def _answerable(outcomes: Sequence[Outcome], wanted: bool) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.problem.answerable is wanted]


def _seconds(outcomes: Sequence[Outcome]) -> str:
    seconds = [outcome.ms / 1000 for outcome in outcomes]
    return f"{median(seconds):.1f}, {max(seconds):.1f}"


def _tokens(outcomes: Sequence[Outcome]) -> str:
    read, written = (sum(getattr(outcome.usage, name) for outcome in outcomes) for name in ("read", "written"))
    return f"{read / len(outcomes):,.0f} + {written / len(outcomes):,.0f}"


FIGURES: dict[str, Any] = {
    "right": lambda found: _share(_answerable(found, True), "is_right"),
    "outdated": lambda found: _share(_answerable(found, True), "is_stale"),
    "refused where nothing answers": lambda found: _share(_answerable(found, False), "refused"),
    "refused though something answers": lambda found: _share(_answerable(found, True), "refused"),
    "written by the model": lambda found: _share(found, "written"),
    "calls a question": lambda found: f"{sum(outcome.calls for outcome in found) / len(found):.2f}",
    "tokens a question, read + written": _tokens,
    "seconds, median and longest": _seconds,
    "calls that failed": lambda found: str(sum(len(outcome.failed) for outcome in found)),
}


def _describe_run(model: Guarded, asked: int, total: int, name: str, embedder: str) -> str:
    where = "on this machine" if model.is_local else "elsewhere"
    build = ""
    with suppress(ModelError):
        build = f" (build {model.info.version or 'unknown'}, {model.context_tokens:,} tokens of context)"
    return (
        f"{model.name}{build} {where}: {platform.system()} {platform.machine()}, {os.cpu_count()} processors;"
        f" Palimpsest {read_version()}, {embedder.split('@')[0]}; {asked} of {total} questions of {name},"
        f" {date.today().isoformat()}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
