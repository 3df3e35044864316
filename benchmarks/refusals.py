"""Does a memory know when it answers? `python -m benchmarks.refusals --data DIR [--embedder NAME] [--json]`.

Asks every question of the personas and question sets below a folder that have questions which nothing answers, and
prints how many are called an answer, and how often the first line of those is right: with the weights in use, and for
each persona with weights fitted on all others. Then the weights fitted on all. benchmarks/README.md says more.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import command, gold, metrics, problems
from memory import Memory
from memory.answering.confidence import ANSWERED, BIAS, absent_names, measure
from memory.answering.extractive import rank_candidates
from memory.answering.features import AnswerState
from memory.graph.arrays import Floats
from memory.protocols import Embedder
from memory.settings import AnswerSettings
from plugins import manager

NAMES = tuple(ANSWERED)
LOST = 0.08  # of the right first lines of a persona, which a fit may not call an answer
HIDDEN = 0.3  # share of questions whose evidence is out of sight among those that nothing answers
SET_WEIGHT = 0.9  # of a question set beside a persona
RIDGE = 5.0
EXAMPLES = 50.0  # that each outcome of a persona counts as


@dataclass(frozen=True, slots=True)
class Example:
    """A question of a world with its features (n,), and whether its first line is right; `hidden`: its evidence was out
    of sight. What names something that is not there (`absent`) is refused whatever the features are."""

    world: str
    features: tuple[float, ...]
    answerable: bool
    right: bool = False
    hidden: bool = False
    absent: bool = False


def examples(world: problems.World, embedder: Embedder, quick: Embedder) -> Iterator[Example]:
    """The questions of a world, those of a persona that can be answered also without the files that answer them.
    `quick` compares words, as in the product."""
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as temporary,
        Memory.open(Path(temporary) / "memory.db", embedder=embedder, quick=quick) as memory,
        command.progress() as bar,
    ):
        command.note(
            f"{world.name}: read {sum(map(len, world.batches))} documents, ask {len(world.problems)} questions"
        )
        for batch in world.batches:
            memory.ingest.remember_many(batch)
        for problem in bar.track(world.problems, description=""):
            yield from _ask(memory, quick, world, problem)


def _ask(memory: Memory, embedder: Embedder, world: problems.World, problem: problems.Problem) -> Iterator[Example]:
    found = memory.questions.retrieve(
        problem.text, memory.state.settings.answer.episodes, problem.as_of, problem.within
    )
    with memory.store.reading() as conn:
        state = AnswerState(conn, found, embedder)
        lines = rank_candidates(state)
        if not lines:
            return
        absent = bool(absent_names(state, lines))
        right = problem.answerable and problem.is_accepted(lines[0].shown)
        yield Example(world.name, _numbers(measure(state, lines[0], lines)), problem.answerable, right, absent=absent)
        if not (problem.answerable and problem.gold and world.root):
            return
        left = [one for one in lines if gold.path_of(one.episode.source.uri, world.root) not in problem.gold]
        if left and not any(problem.is_accepted(f"{one.episode.text}\n{one.shown}") for one in left):
            yield Example(world.name, _numbers(measure(state, left[0], left)), answerable=False, hidden=True)


def _numbers(features: Mapping[str, float]) -> tuple[float, ...]:
    return tuple(features[name] for name in NAMES)


def fit(examples: Sequence[Example], threshold: float) -> tuple[Floats, float]:
    """Weights (n,), none of them negative, and the bias with which `threshold` loses LOST of the right first lines of
    the personas among the worlds: the mean of two logistic regressions, of whether the first line is right and of
    whether the question can be answered, in which worlds and outcomes count alike."""
    of_right, of_answerable = (_regress(examples, wanted) for wanted in ("right", "answerable"))
    weights: Floats = ((of_right + of_answerable) / 2).astype(np.float32)
    personas = {one.world for one in examples if one.hidden}
    scores = [
        [float(np.array(one.features) @ weights) for one in examples if one.world == name and one.right]
        for name in sorted(personas or {one.world for one in examples})
    ]
    steps = np.unique(np.concatenate([*scores]))
    least = max(step for step in steps if np.mean([np.mean(np.array(of) < step) for of in scores if of]) <= LOST)
    return weights, float(np.log(threshold / (1 - threshold)) - least)


def _regress(examples: Sequence[Example], wanted: str) -> Floats:
    """(n,) the weights that tell examples that are `wanted` ("right" or "answerable") from others."""
    x = np.array([one.features for one in examples])
    sign = np.array([1.0 if getattr(one, wanted) else -1.0 for one in examples])
    weight = np.array([_weight(one, examples) for one in examples])
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-6
    z = (x - mean) / scale

    def loss(b: Floats) -> tuple[float, Floats]:
        margin = sign * (b[0] + z @ b[1:])
        slope = -weight * sign / (1 + np.exp(margin))
        value = float(weight @ np.logaddexp(0, -margin) + RIDGE / 2 * b[1:] @ b[1:])
        return value, np.concatenate(([slope.sum()], z.T @ slope + RIDGE * b[1:]))

    bounds = [(None, None)] + [(0, None)] * len(NAMES)
    from scipy.optimize import minimize  # of the extra `bench`; 0.4 s

    fitted = minimize(loss, np.zeros(1 + len(NAMES)), jac=True, method="L-BFGS-B", bounds=bounds).x[1:]
    weights: Floats = (fitted / scale).astype(np.float32)
    return weights


def _weight(one: Example, examples: Sequence[Example]) -> float:
    """What an example counts: its share of its world's examples of its outcome."""
    same = [other for other in examples if other.world == one.world and other.answerable == one.answerable]
    alike = sum(other.hidden == one.hidden for other in same)
    has_hidden = alike < len(same)
    share = (HIDDEN if one.hidden else 1 - HIDDEN) if has_hidden else 1.0
    persona = any(other.hidden for other in examples if other.world == one.world)
    return EXAMPLES * share * (1.0 if persona else SET_WEIGHT) / alike


def score(examples: Sequence[Example], weights: Floats, bias: float, threshold: float) -> dict[str, float]:
    """Percent of the questions that are called an answer: of those that can be answered, and of those that cannot; of
    the former how often the first line is right; and how many right first lines are lost."""
    least = np.log(threshold / (1 - threshold))
    called = [not one.absent and float(np.array(one.features) @ weights) + bias >= least for one in examples]
    seen = [(one, said) for one, said in zip(examples, called, strict=True) if not one.hidden]
    return {
        "answerable": metrics.percent([float(said) for one, said in seen if one.answerable]),
        "unanswerable": metrics.percent([float(said) for one, said in seen if not one.answerable]),
        "right": metrics.percent([float(one.right) for one, said in seen if said and one.answerable]),
        "lost": metrics.percent([float(not said) for one, said in seen if one.right]),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.refusals", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="personas and sets, in any folder below"
    )
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--limit", type=command.positive, metavar="N", help="ask N questions of each only")
    parser.add_argument("--json", action="store_true", help="JSON instead of tables")
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    plugins, threshold = manager.load(), AnswerSettings().threshold
    embedder = plugins.embedder(options.embedder)
    found: dict[str, list[Example]] = {}
    for folder in problems.find(options.data, None):
        world = problems.load(folder, plugins, options.limit)
        if not all(problem.answerable for problem in world.problems):
            found[world.name] = list(examples(world, embedder, plugins.embedder("static")))
    if not found:
        raise command.DataError(f"Nothing in {options.data} has questions that nothing answers.")
    used = np.array([ANSWERED[name] for name in NAMES])
    rows: list[dict[str, Any]] = []
    for name, own in found.items():
        others = [one for other, of in found.items() if other != name for one in of]
        row = {"set": name, "in_use": score(own, used, BIAS, threshold)}
        rows.append(row | ({"left_out": score(own, *fit(others, threshold), threshold)} if others else {}))
    weights, bias = fit([one for of in found.values() for one in of], threshold)
    fitted = dict(zip(NAMES, weights.round(2).tolist(), strict=True)) | {"bias": round(bias, 2)}
    if options.json:
        print(json.dumps({"sets": rows, "fitted": fitted}))
        return
    columns = {f"{what}, {how}": f"{key}.{what}" for key, how in (("in_use", "in use"), ("left_out", "left out"))
               for what in ("answerable", "unanswerable", "right", "lost")}  # fmt: skip
    command.show_table("Called an answer, in percent", rows, {"set": "set", **columns})
    print("\nfitted on all:", ", ".join(f"{name} {value}" for name, value in fitted.items()))


if __name__ == "__main__":
    sys.exit(main())
