"""What memory replay did for a phase of questions, in figures; and the questions that the phases ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import command, data, metrics
from benchmarks.answering import Outcome
from benchmarks.problems import Problem
from memory import Memory
from memory.nouns import Step
from memory.store import edge_memory, vectors

FOLDER = "replay"  # of the data, with a file per set: the same questions in other words, and near-identical others
VARIANT: dict[str, type] = {
    "id": str,
    "similar": str,
    "different": str,
    "different_answer": str,
    "different_gold": list,
}
COLUMNS = {
    "phase": "phase",
    "asked": "questions",
    "calls": "calls",
    "most": "most_calls",
    "prompt tokens": "prompt_tokens",
    "saved": "saved",
    "of answered": "saved_answered",
    "right": "right",
    "gained": "gained",
    "all gold": "complete",
}
REPLAYED = {
    "phase": "phase",
    "brought": "brought",
    "precision": "precision",
    "at R0": "at_r0",
    "wrong": "wrong_r0",
    "false": "false_r0",
    "in vain": "in_vain",
    "stage p50 ms": "stage_p50_ms",
    "p95 ms": "stage_p95_ms",
    "edges": "memory.edges",
    "slots": "memory.slots",
    "MB": "memory.mb",
    "of the file": "memory.share",
}


@dataclass(frozen=True, slots=True)
class Questions:
    """Those of a set; `similar` are the same in other words, `different` all but the same words with another answer;
    none of either where nobody wrote them."""

    same: tuple[Problem, ...]
    similar: tuple[Problem, ...] = ()
    different: tuple[Problem, ...] = ()


def questions(folder: Path, name: str, problems: Sequence[Problem]) -> Questions:
    """The questions of a set and their variants, which lie in `folder`/replay/NAME.jsonl. DataError."""
    path = folder / FOLDER / f"{name}.jsonl"
    if not path.is_file():
        return Questions(tuple(problems))
    rows = {row["id"]: row for row in data.read_rows(path, VARIANT)}
    missing = [one.id for one in problems if one.id not in rows]
    if missing:
        raise command.DataError(f"{path}: there is nothing for the question {missing[0]}.")
    pairs = [(one, rows[one.id]) for one in problems]
    return Questions(
        tuple(problems),
        tuple(replace(one, text=row["similar"]) for one, row in pairs),
        tuple(
            replace(one, text=row["different"], answers=(row["different_answer"],), gold=tuple(row["different_gold"]))
            for one, row in pairs
        ),
    )


@dataclass(frozen=True, slots=True)
class Brought:
    """What replay did for one question: `episodes` whose text helped before, of which `good` hold gold; whether a model
    was shown them, and whether that was the last that it was shown; `ms` of the stage, None if there was none."""

    episodes: int
    good: int
    tried: bool
    sufficed: bool
    ms: float | None

    @classmethod
    def of(cls, outcome: Outcome, holds: Mapping[int, Sequence[str]]) -> Brought:
        stage = _step(outcome, "replay")
        brought = stage.detail["episodes"] if stage is not None else []
        gold = set(outcome.problem.gold)
        return cls(
            len(brought),
            sum(bool(gold.intersection(holds.get(id, ()))) for id in brought),
            any(step.name == "route" and step.detail["tier"] == "R0" and step.detail["enough"]
                for step in outcome.steps),
            outcome.tier == "R0",
            stage.ms if stage is not None else None,
        )  # fmt: skip


def _step(outcome: Outcome, stage: str) -> Step | None:
    return next((step for step in outcome.steps if step.name == stage), None)


def figures(outcomes: Sequence[Outcome], holds: Mapping[int, Sequence[str]]) -> dict[str, Any]:
    """All of a phase; shares in percent of the questions asked, precision of the episodes brought. `holds`: the gold
    ids that an episode holds."""
    brought = [Brought.of(one, holds) for one in outcomes]
    pairs = list(zip(outcomes, brought, strict=True))
    stages = [one.ms for one in brought if one.ms is not None]
    episodes = sum(one.episodes for one in brought)
    return {
        "questions": len(outcomes),
        "calls": round(fmean(one.calls for one in outcomes), 2),
        "most_calls": max(one.calls for one in outcomes),
        "prompt_tokens": round(fmean(one.usage.read for one in outcomes), 1),
        "tokens": round(fmean(one.usage.total for one in outcomes), 1),
        "right": metrics.percent([float(one.is_right) for one in outcomes]),
        "complete": metrics.percent([float(found) for one in outcomes if (found := one.is_complete) is not None]),
        "at_r0": metrics.percent([float(one.sufficed) for one in brought]),
        "wrong_r0": metrics.percent([float(was.sufficed and not one.is_right) for one, was in pairs]),
        "in_vain": metrics.percent([float(one.tried and not one.sufficed) for one in brought]),
        "brought": metrics.percent([float(one.episodes > 0) for one in brought]),
        "precision": round(100 * sum(one.good for one in brought) / episodes, 2) if episodes else None,
        "stage_p50_ms": metrics.percentile(stages, 50) if stages else None,
        "stage_p95_ms": metrics.percentile(stages, 95) if stages else None,
    }


def beside(
    outcomes: Sequence[Outcome], without: Sequence[Outcome], answered: Sequence[bool]
) -> dict[str, float | None]:
    """Against the same questions without memory: percent of tokens that were saved, of all questions and of those that
    were `answered` well the first time they were asked; points of success; percent of questions that came out wrong
    from what memory brought, and right without it."""
    pairs = list(zip(outcomes, without, strict=True))
    known = [pair for pair, well in zip(pairs, answered, strict=False) if well]
    return {
        "saved": _saved(pairs),
        "saved_answered": _saved(known) if answered else None,
        "gained": round(
            metrics.percent([float(one.is_right) for one, _ in pairs])
            - metrics.percent([float(other.is_right) for _, other in pairs]),
            2,
        ),
        "false_r0": metrics.percent(
            [float(one.tier == "R0" and not one.is_right and other.is_right) for one, other in pairs]
        ),
    }


def _saved(pairs: Sequence[tuple[Outcome, Outcome]]) -> float | None:
    before = sum(other.usage.total for _, other in pairs)
    return round(100 * (1 - sum(one.usage.total for one, _ in pairs) / before), 2) if before else None


def held(memory: Memory) -> dict[str, Any]:
    """What edges remember: how many, in how many slots, megabytes of their vectors, and percent of the file."""
    with memory.store.reading() as conn:
        edges, slots, size = edge_memory.counts(conn, vectors.active(conn)[0] or 0)
    whole = command.file_bytes(Path(memory.store.path))
    return {
        "edges": edges,
        "slots": slots,
        "mb": round(size / 1e6, 3),
        "share": round(100 * size / whole, 2),
    }
