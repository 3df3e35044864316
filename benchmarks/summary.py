"""The figures of answers, from what came of each question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from benchmarks import command, metrics
from benchmarks.answering import ERRORS, Outcome

FEW_CALLS = 2
FIRST = 3  # lines
COLUMNS = {
    "asked": "how",
    "questions": "questions",
    "right": "accuracy",
    "±": "margin",
    "in three": "accepted_first_three",
    "exact": "exact",
    "F1": "f1",
    "stale": "stale",
    "right refusals": "right_refusals",
    "false refusals": "false_refusals",
    "cited": "cited",
    "complete": "complete",
    "answer in first": "told_first",
    "answer in any": "told",
    "calls": "calls",
    "<= 2": "few_calls",
    "prompt tokens": "prompt_tokens",
    "route ms": "route_ms",
}


def of(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """All figures; shares in percent. Accuracy is over the questions that can be answered."""
    found = _figures(outcomes)
    kinds = sorted({one.problem.kind for one in outcomes})
    if len(kinds) > 1:
        found["kinds"] = {kind: _figures([one for one in outcomes if one.problem.kind == kind]) for kind in kinds}
    found["tiers"] = dict(sorted(Counter(one.tier for one in outcomes if one.tier).items()))
    return found


def _figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    answerable = [one for one in outcomes if one.problem.answerable]
    unanswerable = [one for one in outcomes if not one.problem.answerable]
    errors = Counter(one.error for one in outcomes)
    routed = [one.route_ms for one in outcomes if one.route_ms is not None]
    return {
        "questions": len(outcomes),
        "answerable": len(answerable),
        "accuracy": _percent(answerable, lambda one: one.is_right),
        "margin": metrics.margin([float(one.is_right) for one in answerable]),
        "accepted": _percent(answerable, lambda one: one.is_accepted(1)),
        "accepted_first_three": _percent(answerable, lambda one: one.is_accepted(FIRST)),
        "exact": _percent(answerable, lambda one: one.is_exact),
        "f1": _percent(answerable, lambda one: one.overlap),
        "stale": _percent(answerable, lambda one: one.is_stale),
        "false_refusals": _percent(answerable, lambda one: one.refused),
        "right_refusals": _percent(unanswerable, lambda one: one.refused),
        "cited": _percent(answerable, lambda one: one.share(one.cited)),
        "in_context": _percent(answerable, lambda one: one.share(one.context)),
        "complete": _percent(answerable, lambda one: one.is_complete),
        "told_first": _percent(answerable, lambda one: one.told[0] if one.told else None),
        "told": _percent(answerable, lambda one: any(one.told) if one.told else None),
        "few_calls": _percent(outcomes, lambda one: one.calls <= FEW_CALLS),
        "calls": _mean([one.calls for one in outcomes]),
        "prompt_tokens": _mean([one.usage.read for one in outcomes]),
        "completion_tokens": _mean([one.usage.written for one in outcomes]),
        "failed_calls": sum(len(one.failed) for one in outcomes),
        "route_ms": metrics.percentile(routed, 50) if routed else None,
        "route_p95_ms": metrics.percentile(routed, 95) if routed else None,
        "p50_ms": metrics.percentile([one.ms for one in outcomes], 50),
        "p95_ms": metrics.percentile([one.ms for one in outcomes], 95),
        "errors": {name: errors[name] for name in ERRORS},
    }


def rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The figures of a set's memory and of the baselines beside it; `how` says which it is."""
    asked = f"{result['mode']}, {100 * result['error']:.0f} % wrong" if result.get("error") else result["mode"]
    ways = {
        f"{asked}, {result['effort']}": result,
        **{f"{asked}: {name}": one for name, one in result["baselines"].items()},
    }
    return [{**one, "set": result["set"], "how": how} for how, one in ways.items()]


def _percent(outcomes: Sequence[Outcome], what: Callable[[Outcome], float | None]) -> float | None:
    """The mean over those for which it is defined; None if it is for none."""
    found = [float(value) for one in outcomes if (value := what(one)) is not None]
    return metrics.percent(found) if found else None


def _mean(values: Sequence[int]) -> float:
    return round(fmean(values), 2) if values else 0.0


def show(results: Sequence[Mapping[str, Any]]) -> None:
    """Print the tables: a row per set and system, then what each question took, then the kinds of questions."""
    systems = [
        {"name": f"{result['set']}, {name}", **one}
        for result in results
        for name, one in [("memory", result), *result["baselines"].items()]
    ]
    how = f"{results[0]['mode']}, effort {results[0]['effort']}"
    how += f", error {results[0]['error']}" if "error" in results[0] else ""
    right = {"right": "accuracy", "±": "margin", "in three": "accepted_first_three", "exact": "exact", "F1": "f1"}
    refused = {"stale": "stale", "right refusals": "right_refusals", "false refusals": "false_refusals"}
    command.show_table(
        f"Answers, {how}, shares in percent",
        systems,
        {"set, system": "name", "questions": "questions"} | right | refused | {"cited": "cited"},
    )
    command.show_table(
        "What was there, and what it took",
        systems,
        {
            "set, system": "name",
            "gold in context": "in_context",
            "all of it": "complete",
            "calls": "calls",
            "<= 2": "few_calls",
            "prompt tokens": "prompt_tokens",
            "written": "completion_tokens",
            "route ms": "route_ms",
            "p50 ms": "p50_ms",
            "p95 ms": "p95_ms",
        },
    )
    command.show_table(
        "Where wrong answers come from, questions",
        systems,
        {"set, system": "name"} | {name: f"errors.{name}" for name in ERRORS},
    )
    tiers = {tier: f"tiers.{tier}" for tier in sorted({tier for result in results for tier in result["tiers"]})}
    command.show_table("Questions by the tier on which the answer was found", results, {"set": "set"} | tiers)
    for result in results:
        if "kinds" in result:
            command.show_table(
                f"{result['set']}, by kind of question",
                [{"kind": name, **one} for name, one in result["kinds"].items()],
                {"kind": "kind", "questions": "questions"} | right | refused | {"all gold": "complete"},
            )
