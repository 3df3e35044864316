"""What only chats have: figures by category, and recall within a text budget, which large episodes do not win by size.

With `single_turns` the same questions are asked of the same chats cut so that every turn is an episode of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import command, data, metrics
from benchmarks.ablations import ABLATIONS, CONFIGURATIONS
from benchmarks.asking import Asked, answerable, ask_all, build, latency, ranks
from memory.protocols import Embedder
from memory.settings import ChunkSettings

RANKS = (2, 5, 10, 20)
BUDGETS = (1000, 2000, 4000, 8000)  # characters
SINGLE_TURNS = 150  # single turns returned: more than the largest budget holds
SINGLE = CONFIGURATIONS | {name: ABLATIONS[name] for name in ("no-graph", "no-neighbours")}


def categories(asked: Sequence[Asked]) -> dict[str, Any]:
    """The figures of each category, also of those that stand apart."""
    names = sorted({one.question.category for one in asked if one.question.category})
    return {name: ranks([one for one in asked if one.question.category == name], RANKS) for name in names}


def turns_per_episode(asked: Sequence[Asked]) -> float:
    """The mean over the episodes returned, each counted once."""
    held = {refs for one in asked for refs, _ in one.returned}
    return round(fmean(map(len, held)), 2) if held else 0.0


def budget_recall(asked: Sequence[Asked], texts: Mapping[str, str]) -> dict[str, float]:
    """For each text budget: percent of the gold texts that stand whole within it, without the questions apart."""
    judged = [(one, {ref: texts.get(ref, "") for ref in one.question.gold}) for one in answerable(asked)]
    return {
        str(budget): metrics.percent(
            [metrics.covered_within(gold, one.returned, budget) for one, gold in judged if gold]
        )
        for budget in BUDGETS
    }


def single_turns(questions: data.QuestionSet, embedder: Embedder, path: Path) -> dict[str, Any]:
    """The figures of each way to ask, over the same chats with an episode for every turn."""
    path = path.with_name(f"{path.stem}-turns.db")
    label = f"{questions.name}, single turns"
    alone = ChunkSettings(turn_gap_minutes=0)
    built = build(path, questions.paused_documents(), embedder, label, alone)
    found = {}
    for name, settings in SINGLE.items():
        asked = ask_all(path, questions.questions, embedder, settings, SINGLE_TURNS, f"{label}, {name}")
        judged = answerable(asked)
        found[name] = ranks(judged, RANKS) | latency(asked) | {"budget_recall": budget_recall(asked, questions.texts)}
    return {"episodes": built.episodes, "configurations": found}


CATEGORY_COLUMNS = {"category": "category", "questions": "questions"} | {f"R@{k}": f"recall.{k}" for k in RANKS}
BUDGET_COLUMNS = (
    {"episodes": "name"}
    | {f"R@{k}": f"recall.{k}" for k in RANKS}
    | {f"{budget:,} characters": f"budget_recall.{budget}" for budget in BUDGETS}
)


def by_category(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of a table: each category, and all that do not stand apart."""
    rows = [
        {"category": f"{name} (apart)" if name == data.APART else name, **one}
        for name, one in result["categories"].items()
    ]
    return [*rows, {"category": "together", **result}]


def by_budget(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of a table: the ways to ask, of the chats as they are read and of single turns."""
    rows = [{"name": "memory", **result}]
    rows += [{"name": name, **one} for kind in ("baselines", "ablations") for name, one in result.get(kind, {}).items()]
    alone = result.get("single_turns", {"configurations": {}})["configurations"]
    shown = [row for row in rows if not alone or row["name"] in alone]  # what can be compared
    return shown + [{"name": f"single turns, {name}", **one} for name, one in alone.items()]


def show(result: Mapping[str, Any]) -> None:
    """Print the tables of one set."""
    title = f"{result['set']}: recall of turns by category; {result['turns_per_episode']} turns per episode"
    command.show_table(title, by_category(result), CATEGORY_COLUMNS)
    title = f"{result['set']}: recall of turns at rank k, and within a text budget"
    command.show_table(title, by_budget(result), BUDGET_COLUMNS)
