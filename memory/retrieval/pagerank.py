"""Spread: personalised PageRank over episodes and objects (after HippoRAG 2 and LinearRAG).

All mass starts at a question's best passages and named objects. In every round an episode passes its mass to the
objects it mentions (rare ones get more), an object to the episodes that mention it, most of it to those it titles; a
share always returns to the start. The final mass says how near a vertex is to the question.

Portions below `least` are not passed on, so the cost depends on the surroundings of the question and not on the size of
the memory: at most 1 / LEAST portions of a layer can be larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory.errors import InvalidInputError
from memory.graph.arrays import Bools, Floats, Graph, Ids
from memory.graph.postings import flatten_slices
from memory.graph.walk import EPISODE, OBJECT, Walk, enterable, top_k
from memory.retrieval.traversers import Seeds, Strategy
from memory.settings import RecallSettings

TEMPERATURE = 1 / 25  # of the softmax over the best text scores, in [0, 1] units
NEVER_COMMON = 20  # in a small memory every object is in a large share of the episodes
LEAST = 1e-5  # of all mass: a smaller portion is not passed on

Doubles = NDArray[np.float64]


class Mass(NamedTuple):
    """Mass at rows or columns (p,): places and values."""

    places: NDArray[np.integer[Any]]
    values: Doubles

    def times(self, factor: float) -> Mass:
        return Mass(self.places, self.values * factor)


def merge_mass(*parts: Mass) -> Mass:
    """Merges the mass of each place."""
    places = np.concatenate([part.places for part in parts])
    values = np.concatenate([part.values for part in parts])
    order = np.argsort(places, kind="stable")
    places = places[order]
    first = np.flatnonzero(np.diff(places, prepend=-1))
    return Mass(places[first], np.add.reduceat(values[order], first) if len(first) else values)


@dataclass(frozen=True, slots=True)
class Transitions:
    """The transitions of one question. Objects that are dates, or mentioned in more than `common` of the episodes,
    neither pass nor get mass."""

    graph: Graph
    allowed: Bools
    common: float
    title_weight: float
    least: float

    def rarity(self, columns: NDArray[np.integer[Any]]) -> Floats:
        """Returns (c,) ln(N/df) of objects, 0 for those without spread."""
        graph = self.graph
        value = graph.rarity(columns)
        value[(graph.degrees.mentions[columns] > self.common) | graph.leads_nowhere[columns]] = 0
        return value

    def to_objects(self, mass: Mass) -> Mass:
        """Passes an episode's mass to its objects, by (1 + ln count) * rarity."""
        counts = self.graph.counts
        size = counts.indptr[mass.places + 1] - counts.indptr[mass.places]
        large = mass.values >= self.least * size
        sources, entries = flatten_slices(counts.indptr[mass.places[large]], size[large])
        columns = counts.indices[entries]
        weights = (1 + np.log(counts.data[entries])) * self.rarity(columns).astype(np.float64)
        share = mass.values[large] * _invert(np.bincount(sources, weights, int(large.sum())))
        positive = weights > 0
        return Mass(columns[positive], (share[sources] * weights)[positive])

    def to_episodes(self, mass: Mass) -> tuple[Mass, Mass]:
        """Passes an object's mass to the episodes that mention it, by 1 + ln count, and most of it to those it titles,
        in equal parts."""
        graph, degrees = self.graph, self.graph.degrees
        titles = degrees.titles[mass.places]
        to_titles = mass.values * self.title_weight * (titles > 0)
        to_mentions = mass.values - to_titles
        large = to_mentions >= self.least * degrees.mentions[mass.places]
        columns = mass.places[large]
        sources, rows, entries = graph.mentioned.find(columns)
        each = to_mentions[large] * _invert(degrees.weights[columns])
        mentioning = self._keep_allowed(rows, each[sources] * (1 + np.log(graph.counts.data[entries])))
        large = (to_titles > 0) & (to_titles >= self.least * titles)
        sources, rows, _ = graph.titles.find(mass.places[large])
        return mentioning, self._keep_allowed(rows, (to_titles[large] / titles[large])[sources])

    def _keep_allowed(self, rows: Ids, values: Doubles) -> Mass:
        visible = self.allowed[rows]
        return Mass(rows[visible], values[visible])


def transition_steps(graph: Graph, allowed: Bools, settings: RecallSettings, least: float = LEAST) -> Transitions:
    """Returns the transitions of a question; `allowed` (n,) are the episodes it may see."""
    common = max(NEVER_COMMON, settings.common_share * graph.n_alive)
    return Transitions(graph, allowed & graph.alive, common, settings.title_weight, least)


def _invert(sums: NDArray[Any]) -> Doubles:
    inverse: Doubles = np.divide(1, sums, out=np.zeros(len(sums)), where=sums > 0)
    return inverse


def spread(graph: Graph, seeds: Seeds, allowed: Bools, settings: RecallSettings, least: float = LEAST) -> Walk:
    """Returns the mass of every episode (n,) and object (m,) after `settings.iterations` rounds; sums to at most 1.
    `allowed` (n,) are the visible episodes in scope: no other one gets mass. Portions under `least` are not passed on.
    Only the kinds of `settings.vertices` get mass from others, and pass it on unless the letter is small; theses do
    neither."""
    steps = transition_steps(graph, allowed, settings, least)
    columns = np.array(sorted(seeds.objects), np.int64)
    weights = np.array([seeds.objects[column] for column in columns.tolist()]) * (steps.rarity(columns) > 0)
    total = weights.sum()
    share = settings.seed_weight if total > 0 else 0.0
    text = _start(seeds.episode_scores, steps.allowed, settings.reset_episodes)
    episodes, objects = text.times(1 - share), Mass(columns, weights).times(share / total if total > 0 else 0)
    start = episodes.times(1 - settings.damping), objects.times(1 - settings.damping)
    to_objects = settings.damping * ("E" in settings.vertices and OBJECT in enterable(settings.vertices))
    to_episodes = settings.damping * ("O" in settings.vertices and EPISODE in enterable(settings.vertices))
    for _ in range(settings.iterations):
        arriving = steps.to_objects(episodes.times(to_objects))
        leaving = steps.to_episodes(objects.times(to_episodes))
        episodes, objects = merge_mass(start[0], *leaving), merge_mass(start[1], arriving)
    return Walk(_to_dense(episodes, len(graph.alive)), _to_dense(objects, len(graph.object_ids)))


def _to_dense(mass: Mass, size: int) -> Floats:
    values = np.zeros(size, np.float32)
    values[mass.places] = mass.values
    return values


def _start(scores: Floats, allowed: Bools, top: int) -> Mass:
    """Returns the softmax over the `top` best allowed episodes with a score."""
    rows = top_k(scores, allowed, top)
    weight = np.exp((scores[rows] - scores[rows].max(initial=0)) / TEMPERATURE).astype(np.float64)
    order = np.argsort(rows)
    return Mass(rows[order], (weight / max(weight.sum(), 1e-300))[order])


SPREAD = Strategy("spread", spread)
TEXT_ALONE = Strategy("none")


def find_core_strategy(name: str) -> Strategy:
    """Returns a strategy of the library itself."""
    for strategy in (SPREAD, TEXT_ALONE):
        if strategy.name == name:
            return strategy
    raise InvalidInputError(f"There is no strategy {name!r}. There are: {SPREAD.name}, {TEXT_ALONE.name}.")
