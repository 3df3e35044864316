"""Route: is what was found enough, and if not, which tier of the escalation comes next.

    R0  replay: what such a question was answered from before; a model sees that and the facts that belong to it
    R2  recall: text, graph and what both say together; always run, milliseconds
    R3  guided: a model picks from numbered options where to look next
    R4  agent: a model drives the tools of memory; only one that has been graded for it

Cheap signals are looked at before any model is asked, and a model's own word that something is missing before any
further one. Every step up has a reason, which stands in the trace.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory.graph.arrays import Graph, Ints
from memory.nouns import Effort, Episode
from memory.retrieval.pagerank import transition_steps
from memory.retrieval.state import RetrievalResult
from memory.stages import TextNote, Tier, notes
from memory.text.mentions import is_date, norm

ABSENT = 0.5  # of what a question names, that may be missing where it is tried to answer from memory alone
FEW = 50  # episodes: of so few all are read before anything else is tried
SCATTERED, MASS = 6, 0.8  # so many episodes for so much of the score: the evidence lies about


@dataclass(frozen=True, slots=True)
class Assessment:
    """Whether the evidence looks as if it held the answer; `gaps` are sentences that say what speaks against it,
    `unknown` the names in the question that nothing is known by."""

    gaps: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def enough(self) -> bool:
        return not self.gaps


def assess(found: RetrievalResult, evidence: Sequence[Episode], confidence: float, threshold: float) -> Assessment:
    """The cheap signals, without any model: the question's names are known and stand in the evidence, which joins
    them; something is of the time that is asked of; and the best line is likely to answer (`confidence` against
    `threshold`, both in [0, 1])."""
    gaps: list[str] = []
    if not evidence:
        return Assessment(("Nothing was found.",))
    unknown = _unknown(found)
    gaps += [f"Nothing is known by the name {name!r}." for name in unknown]
    graph = found.graph
    rows = np.array([graph.row_of[one.id] for one in evidence if one.id in graph.row_of], np.int64)
    mentioned = _mentioned(graph, rows)
    columns = {
        int(column): found.named_objects.get(int(graph.object_ids[column]), "") for column in found.seeds.objects
    }
    absent = [name for column, name in columns.items() if name and not any(column in of for of in mentioned)]
    gaps += [f"No passage found speaks of {name!r}." for name in absent]
    sure = [column for column, weight in found.seeds.objects.items() if weight == 1 and not graph.is_date[column]]
    if len(sure) > 1 and not absent and not _joined(found, sure, mentioned):
        gaps.append("No passage found joins what is asked about.")
    if any(note.any_time for note in notes(TextNote, found.recall.trace.steps)):
        gaps.append("Nothing found is of the time that is asked of.")
    if confidence < threshold:
        gaps.append("No line found is likely to answer.")
    return Assessment(tuple(gaps), unknown)


def fits(found: RetrievalResult, evidence: Sequence[Episode], asked: str = "") -> bool:
    """Whether what helped with such a question before may hold the answer to this one: most of what the question names,
    the rare counting more (ln N/df), stands in it, or in that question if it is known (`asked`). Another question in
    all but the same words names something else."""
    if not evidence:
        return False
    graph = found.graph
    rows = np.array([graph.row_of[one.id] for one in evidence if one.id in graph.row_of], np.int64)
    there = set().union(*_mentioned(graph, rows))
    read = norm(" ".join([asked, *(f"{one.title} {one.text}" for one in evidence)]))
    columns = np.array([column for column, weight in found.seeds.objects.items() if weight == 1], np.int64)
    named = {
        column: rare
        for column, rare in zip(columns.tolist(), graph.rarity(columns).tolist(), strict=True)
        if not graph.is_date[column]
    }
    unknown = _unknown(found)
    unheard = math.log(max(2, found.graph.n_alive))
    absent = sum(rare for column, rare in named.items() if column not in there and not _stands(found, column, read))
    absent += unheard * sum(norm(name) not in read for name in unknown)
    return bool(absent <= ABSENT * (sum(named.values()) + unheard * len(unknown)))


def _stands(found: RetrievalResult, column: int, text: str) -> bool:
    label = norm(found.named_objects.get(int(found.graph.object_ids[column]), ""))
    return bool(label) and label in text


def is_scattered(found: RetrievalResult) -> bool:
    """Whether it takes many episodes to make up most of the score of what was found."""
    scores = np.sort(np.array([max(0.0, hit.score) for hit in found.recall.hits]))[::-1]
    total = scores.sum()
    return bool(total > 0 and int(np.searchsorted(np.cumsum(scores), MASS * total)) + 1 >= SCATTERED)


def next_tier(
    found: RetrievalResult,
    *,
    effort: Effort,
    tried: Collection[Tier],
    why: str,
    missing: Sequence[str],
    many: bool,
    has_agent: bool,
    calls_left: int,
) -> tuple[Tier, str] | None:
    """The next tier after a model found no answer in what it was shown, because of `why`, and the reason for it; None
    if there is none.

    `many`: the question asks for many things at once. `missing` is what the model lacks. A tier takes two calls at
    least: one to look, one to answer.
    """
    if effort == "quick":
        return None
    if "R3" not in tried and calls_left >= 2:
        return "R3", why
    if effort == "deep" and has_agent and "R4" not in tried:
        if many:
            return "R4", f"{why} What is asked lies in many passages."
        if is_scattered(found) or len(missing) > 1 or "R3" in tried:
            return "R4", why
    return None


def _unknown(found: RetrievalResult) -> tuple[str, ...]:
    """Names as they stand in the question of which no part names a known object."""
    known = {norm(label) for label in found.named_objects.values()}
    names = [m for m in found.question.mentions if not is_date(m.norm)]
    lower = found.question.names
    return tuple(
        dict.fromkeys(
            m.surface
            for m in names
            if lower.get(m.norm) == 1 and not any(m.norm in one or one in m.norm for one in known)
        )
    )


def _mentioned(graph: Graph, rows: Ints) -> list[set[int]]:
    """The columns of the objects that each of these episodes mentions or is titled by."""
    counts, titled = graph.counts, graph.titled
    return [
        {
            *counts.indices[slice(*counts.indptr[row : row + 2])].tolist(),
            *titled.indices[slice(*titled.indptr[row : row + 2])].tolist(),
        }
        for row in rows.tolist()
    ]


def _joined(found: RetrievalResult, columns: Sequence[int], mentioned: Sequence[set[int]]) -> bool:
    """Whether passages that share an object which is not common lead from each of these objects to all others."""
    every = sorted(set().union(*mentioned))
    steps = transition_steps(found.graph, found.allowed, found.settings)
    rare: Mapping[int, bool] = dict(zip(every, (steps.rarity(np.array(every, np.int64)) > 0).tolist(), strict=True))
    together: list[set[int]] = []
    for objects in mentioned:
        group = {column for column in objects if rare[column]} | {column for column in columns if column in objects}
        rest = []
        for other in together:
            if other & group:
                group |= other
            else:
                rest.append(other)
        together = [*rest, group]
    return any(set(columns) <= group for group in together)
