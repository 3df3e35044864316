"""Spread: personalised PageRank over episodes and objects (after HippoRAG 2 and LinearRAG).

A question's best passages and the objects it names hold all mass at the start. In every round an episode
passes its mass to the objects it mentions (rare ones get more), an object to the episodes that mention it, most
of it to those it titles; a share always returns to the start. What has mass at the end is near to the question.

Mass that would arrive in portions too small to matter is not passed on, so that a question costs what lies around it
and not what the memory holds: at most 1 / LEAST portions of a layer can be larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory.errors import InvalidInputError
from memory.graph.arrays import Bools, Floats, Graph, Ids
from memory.graph.postings import flatten_slices
from memory.graph.walk import Walk, top_k
from memory.retrieval.traversers import Seeds, Strategy
from memory.settings import RecallSettings

TEMPERATURE = 1 / 25  # of the softmax over the best text scores, in [0, 1] units
NEVER_COMMON = 20  # in a small memory every object is in a large share of the episodes
LEAST = 1e-5  # of all mass: a smaller portion is not passed on

Doubles = NDArray[np.float64]


class Mass(NamedTuple):
    """Where mass lies: rows or columns (p,), and how much (p,)."""

    places: NDArray[np.integer[Any]]
    values: Doubles

    def times(self, factor: float) -> Mass:
        """A part of it."""
        return Mass(self.places, self.values * factor)


def merge_mass(*parts: Mass) -> Mass:
    """All mass, each place once."""
    places = np.concatenate([part.places for part in parts])
    values = np.concatenate([part.values for part in parts])
    order = np.argsort(places, kind="stable")
    places = places[order]
    first = np.flatnonzero(np.diff(places, prepend=-1))
    return Mass(places[first], np.add.reduceat(values[order], first) if len(first) else values)


@dataclass(frozen=True, slots=True)
class Transitions:
    """One question's steps through a graph. Objects that are dates, or mentioned in more than `common` of the
    episodes, pass nothing on and get nothing."""

    graph: Graph
    allowed: Bools
    common: float
    title_weight: float
    least: float

    def rarity(self, columns: NDArray[np.integer[Any]]) -> Floats:
        """(c,) ln(N/df) of objects, 0 for those that do not spread."""
        graph = self.graph
        value = graph.rarity(columns)
        value[(graph.degrees.mentions[columns] > self.common) | graph.is_date[columns]] = 0
        return value

    def to_objects(self, mass: Mass) -> Mass:
        """An episode's mass goes to what it mentions, by (1 + ln count) * rarity."""
        counts = self.graph.counts
        size = counts.indptr[mass.places + 1] - counts.indptr[mass.places]
        large = mass.values >= self.least * size
        of, entries = flatten_slices(counts.indptr[mass.places[large]], size[large])
        columns = counts.indices[entries]
        weights = (1 + np.log(counts.data[entries])) * self.rarity(columns).astype(np.float64)
        share = mass.values[large] * _inverse(np.bincount(of, weights, int(large.sum())))
        some = weights > 0
        return Mass(columns[some], (share[of] * weights)[some])

    def to_episodes(self, mass: Mass) -> tuple[Mass, Mass]:
        """An object's mass goes to what mentions it, by 1 + ln count, and most of it to what it titles, in equal
        parts."""
        graph, degrees = self.graph, self.graph.degrees
        titles = degrees.titles[mass.places]
        to_titles = mass.values * self.title_weight * (titles > 0)
        to_mentions = mass.values - to_titles
        large = to_mentions >= self.least * degrees.mentions[mass.places]
        columns = mass.places[large]
        of, rows, entries = graph.mentioned.find(columns)
        each = to_mentions[large] * _inverse(degrees.weights[columns])
        mentioning = self._seen(rows, each[of] * (1 + np.log(graph.counts.data[entries])))
        large = (to_titles > 0) & (to_titles >= self.least * titles)
        of, rows, _ = graph.titles.find(mass.places[large])
        return mentioning, self._seen(rows, (to_titles[large] / titles[large])[of])

    def _seen(self, rows: Ids, values: Doubles) -> Mass:
        seen = self.allowed[rows]
        return Mass(rows[seen], values[seen])


def transition_steps(graph: Graph, allowed: Bools, settings: RecallSettings, least: float = LEAST) -> Transitions:
    """The steps through a graph that a question may take; `allowed` (n,) are the episodes it may see."""
    common = max(NEVER_COMMON, settings.common_share * graph.n_alive)
    return Transitions(graph, allowed & graph.alive, common, settings.title_weight, least)


def _inverse(sums: NDArray[Any]) -> Doubles:
    inverse: Doubles = np.divide(1, sums, out=np.zeros(len(sums)), where=sums > 0)
    return inverse


def spread(graph: Graph, seeds: Seeds, allowed: Bools, settings: RecallSettings, least: float = LEAST) -> Walk:
    """Mass of every episode (n,) and object (m,) after `settings.iterations` rounds; sums to at most 1. `allowed` (n,)
    are the episodes that are visible and in scope: no mass ever enters another one. Portions under `least` are not
    passed on."""
    steps = transition_steps(graph, allowed, settings, least)
    columns = np.array(sorted(seeds.objects), np.int64)
    weights = np.array([seeds.objects[column] for column in columns.tolist()]) * (steps.rarity(columns) > 0)
    total = weights.sum()
    share = settings.seed_weight if total > 0 else 0.0
    text = _start(seeds.episode_scores, steps.allowed, settings.reset_episodes)
    episodes, objects = text.times(1 - share), Mass(columns, weights).times(share / total if total > 0 else 0)
    start = episodes.times(1 - settings.damping), objects.times(1 - settings.damping)
    for _ in range(settings.iterations):
        arriving = steps.to_objects(episodes.times(settings.damping))
        leaving = steps.to_episodes(objects.times(settings.damping))
        episodes, objects = merge_mass(start[0], *leaving), merge_mass(start[1], arriving)
    return Walk(_dense(episodes, len(graph.alive)), _dense(objects, len(graph.object_ids)))


def _dense(mass: Mass, size: int) -> Floats:
    values = np.zeros(size, np.float32)
    values[mass.places] = mass.values
    return values


def _start(scores: Floats, allowed: Bools, top: int) -> Mass:
    """Softmax over the `top` best allowed episodes that scored at all."""
    rows = top_k(scores, allowed, top)
    weight = np.exp((scores[rows] - scores[rows].max(initial=0)) / TEMPERATURE).astype(np.float64)
    order = np.argsort(rows)
    return Mass(rows[order], (weight / max(weight.sum(), 1e-300))[order])


SPREAD = Strategy("spread", spread)
TEXT_ALONE = Strategy("none")


def find_core_strategy(name: str) -> Strategy:
    """One of the library's own strategies."""
    for strategy in (SPREAD, TEXT_ALONE):
        if strategy.name == name:
            return strategy
    raise InvalidInputError(f"There is no strategy {name!r}. There are: {SPREAD.name}, {TEXT_ALONE.name}.")
