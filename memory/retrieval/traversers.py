"""Graph traversal: the input and output of a traverser, strategies, found by name, the library's own traverser, and
the paths to the visited vertices.

A traverser gets the graph, the seeds, the episodes it may enter and the retrieval settings, and returns a `Walk`. The
same input gives the same walk. Plugins register others than `spread`.

Spread is personalised PageRank over episodes and objects (after HippoRAG 2 and LinearRAG). All mass starts at a
question's best passages and named objects. In every round an episode passes its mass to the objects it mentions (rare
ones get more), an object to the episodes that mention it, most of it to those it titles; a share always returns to the
start. The final mass says how near a vertex is to the question. Portions below LEAST are not passed on, so the cost
depends on the surroundings of the question and not on the size of the memory: at most 1 / LEAST portions of a layer can
be larger.

A strategy returns scores but not always paths, so the edges of the trace are computed afterwards, the same way for all
strategies: the cheapest path over mentions and relations among the visited vertices.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memory.errors import InvalidInputError
from memory.graph.arrays import Bools, Floats, Graph, Ids
from memory.graph.postings import flatten_slices
from memory.graph.snapshot import Snapshot
from memory.graph.walk import (
    ANY_TIME,
    EPISODE,
    OBJECT,
    THESIS,
    VERTEX_KINDS,
    Moment,
    Relevance,
    Walk,
    Walkable,
    enterable,
    index,
    top_k,
)
from memory.nouns import Step, Visit
from memory.protocols import LLM, Embedder
from memory.settings import RecallSettings
from memory.store import graph as stored
from memory.store.connect import Connection

MAX_RELEVANCE_SOURCES = 50  # best episodes, from which the relevance of an object follows


class Lookup(NamedTuple):
    """Data outside the graph that a traverser may read; `conn` is open during the walk."""

    conn: Connection
    snapshot: Snapshot
    embedder: Embedder
    question: str


@dataclass(frozen=True, slots=True)
class Guidance:
    """Data for traversers that choose their steps.

    `relevance` of vertices, by default from the text scores. `when`: the time at which facts must hold. `lookup`: words
    and vectors, if any; `scorer`: the trained edge scorer in use; `outline`: sequences of relations over which a model
    expects the answer; `vertices`: the kinds that may be entered, as in `Walkable`.
    """

    relevance: Relevance | None = None
    when: Moment = ANY_TIME
    lookup: Lookup | None = None
    scorer: EdgeScorer | None = None
    outline: Sequence[Sequence[str]] = ()
    vertices: str = VERTEX_KINDS


NO_GUIDANCE = Guidance()


@dataclass(frozen=True, slots=True)
class Seeds:
    """The starts of a walk. `episode_scores` (n,) in [0, 1]: the fused text score of every episode; `objects`: column
    -> weight in (0, 1] of the objects that the question names."""

    episode_scores: Floats
    objects: Mapping[int, float]
    guidance: Guidance = NO_GUIDANCE


class EdgeScorer(Protocol):
    """A trained model of the edges that a question needs."""

    def score_edges(self, near: Any, walk: Walkable, seeds: Seeds, begin: Mapping[int, float]) -> Floats:
        """(e,) in (0, 1): how likely the question needs each edge `near` the starts (a `Subgraph` of the
        traversers)."""
        ...


Traverser = Callable[[Graph, Seeds, Bools, RecallSettings], Walk]
Consult = Callable[[LLM, str, datetime | None, Callable[[], bool] | None], tuple[Sequence[Sequence[str]], Step]]
"""Asks a model for an outline: model, question, its time, whether it was cancelled -> the outline, and a step."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A named way to retrieve. `traverse` walks the graph, without it only text counts; `vertices`: the kinds that it
    may enter, by default those of the settings; `consult`: a call to a model before the walk."""

    name: str
    traverse: Traverser | None = None
    vertices: str = ""
    consult: Consult | None = None


FindStrategy = Callable[[str], Strategy]
"""The strategy of a name; InvalidInputError names those there are."""


@dataclass(frozen=True)
class PropagatedRelevance:
    """Relevance of vertices from the episodes' scores (n,) along the graph: a passage that answers need not look like
    the question, it is often about an object that a similar passage mentions. Of an object: the best score of the
    MAX_RELEVANCE_SOURCES best episodes that mention it. Of an episode: its score, or that of an object that titles it,
    the rarer the more (without this beam's recall at 5 falls from 88 to 83 on hotpotqa). Of a thesis: its episode's."""

    graph: Graph
    scores: Floats
    allowed: Bools

    @cached_property
    def _known(self) -> tuple[Floats, Floats]:
        """(n,) of the episodes and (m,) of the objects."""
        own = np.where(self.allowed, np.clip(self.scores, 0, 1), 0).astype(np.float32)
        rows = top_k(own, self.allowed, MAX_RELEVANCE_SOURCES)
        counts = self.graph.counts
        origins, entries = counts.entries_of(rows)
        objects = np.zeros(len(self.graph.object_ids), np.float32)
        np.maximum.at(objects, counts.indices[entries], own[rows][origins])
        episodes = np.where(self.allowed, np.maximum(own, self._score_titles(objects)), 0).astype(np.float32)
        return episodes, objects

    def _score_titles(self, objects: Floats) -> Floats:
        """(n,) the best relevance times rarity of the objects that title an episode."""
        titled = self.graph.titled
        worth = objects * self.graph.idf / max(1e-6, float(self.graph.idf.max(initial=0.0)))
        best = np.zeros(titled.shape[0], np.float32)
        np.maximum.at(best, np.repeat(np.arange(len(best)), np.diff(titled.indptr)), worth[titled.indices])
        return best

    def __call__(self, vertices: Ids) -> Floats:
        """(v,) node ids -> (v,)."""
        places = index(self.graph)
        kinds, rows = places.kinds[vertices], places.rows[vertices]
        episodes, objects = self._known
        relevance = np.zeros(len(vertices), np.float32)
        for kind, scores in ((EPISODE, episodes), (OBJECT, objects)):
            relevance[kinds == kind] = scores[rows[kinds == kind]]
        relevance[kinds == THESIS] = episodes[self.graph.theses.rows[rows[kinds == THESIS]]]
        return relevance


def relevance_of(walk: Walkable, seeds: Seeds) -> Relevance:
    """Returns the relevance that guides the walk: the given one, by default from the text scores."""
    return seeds.guidance.relevance or PropagatedRelevance(walk.graph, seeds.episode_scores, walk.allowed)


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
        large = mass.values >= LEAST * size
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
        large = to_mentions >= LEAST * degrees.mentions[mass.places]
        columns = mass.places[large]
        sources, rows, entries = graph.mentioned.find(columns)
        each = to_mentions[large] * _invert(degrees.weights[columns])
        mentioning = self._keep_allowed(rows, each[sources] * (1 + np.log(graph.counts.data[entries])))
        large = (to_titles > 0) & (to_titles >= LEAST * titles)
        sources, rows, _ = graph.titles.find(mass.places[large])
        return mentioning, self._keep_allowed(rows, (to_titles[large] / titles[large])[sources])

    def _keep_allowed(self, rows: Ids, values: Doubles) -> Mass:
        visible = self.allowed[rows]
        return Mass(rows[visible], values[visible])


def transition_steps(graph: Graph, allowed: Bools, settings: RecallSettings) -> Transitions:
    """Returns the transitions of a question; `allowed` (n,) are the episodes it may see."""
    common = max(NEVER_COMMON, settings.common_share * graph.n_alive)
    return Transitions(graph, allowed & graph.alive, common, settings.title_weight)


def _invert(sums: NDArray[Any]) -> Doubles:
    inverse: Doubles = np.divide(1, sums, out=np.zeros(len(sums)), where=sums > 0)
    return inverse


def spread(graph: Graph, seeds: Seeds, allowed: Bools, settings: RecallSettings) -> Walk:
    """Returns the mass of every episode (n,) and object (m,) after `settings.iterations` rounds; sums to at most 1.
    `allowed` (n,) are the visible episodes in scope: no other one gets mass. Only the kinds of
    `settings.vertices` get mass from others, and pass it on unless the letter is small; theses do neither."""
    steps = transition_steps(graph, allowed, settings)
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


WORDS_COST = 3.0  # of starting at an episode by its words; up to this many edges from a named object cost less
PASSAGE_COST = 1.5  # of going on from an episode, which names much; of an object it is 1, and more of a hub


class _Step(NamedTuple):
    """The last edge to a vertex."""

    parent: int
    edge: int
    depth: int


def add_parents(conn: Connection, walk: Walkable, visits: Sequence[Visit], before: Sequence[Visit] = ()) -> list[Visit]:
    """Returns the visits with the parent of each, if a visited vertex leads to it; those of `before` keep theirs."""
    starts = {visit.node_id: 0.0 if visit.stage == "seed" else WORDS_COST for visit in visits}
    starts = {id: cost for id, cost in starts.items() if not cost or walk.kinds([id])[0] == EPISODE}
    starts |= {visit.node_id: float(visit.depth) for visit in before}
    depths = {visit.node_id: visit.depth for visit in before}
    steps = _find_steps(walk, starts, depths, {visit.node_id for visit in (*before, *visits)})
    words = stored.relation_words(conn, sorted({step.edge for step in steps.values()}))
    return [_set_parent(visit, steps.get(visit.node_id), words) for visit in visits]


def path_to(visits: Iterable[Visit], episode: int) -> tuple[Visit, ...]:
    """Returns the visits from a start of the question to an episode; empty if it was not visited."""
    visit_of = {visit.node_id: visit for visit in visits}
    path: list[Visit] = []
    step = visit_of.get(episode)
    while step is not None and step not in path:
        path.insert(0, step)
        step = visit_of.get(step.parent) if step.parent is not None else None
    return tuple(path)


def _set_parent(visit: Visit, step: _Step | None, words: Mapping[int, tuple[int, str]]) -> Visit:
    if step is None or step.edge not in words:
        return visit
    begins, relation = words[step.edge]
    return replace(
        visit, parent_edge=step.edge, depth=step.depth, parent=step.parent, relation=relation,
        inverse=begins == visit.node_id,
    )  # fmt: skip


def _find_steps(
    walk: Walkable, starts: Mapping[int, float], depths: Mapping[int, int], vertices: Iterable[int]
) -> dict[int, _Step]:
    """Returns the last edge of the cheapest path from a start to each vertex, by Dijkstra's algorithm; none for a start
    that no edge reaches more cheaply."""
    near: dict[int, list[tuple[int, int]]] = {}
    for edge, first, second in walk.edges_among(vertices):
        near.setdefault(first, []).append((edge, second))
        near.setdefault(second, []).append((edge, first))
    costs, steps, done = dict(starts), dict[int, _Step](), set[int]()
    waiting = [(cost, id) for id, cost in starts.items()]
    heapq.heapify(waiting)
    while waiting:
        cost, vertex = heapq.heappop(waiting)
        if vertex in done:
            continue
        done.add(vertex)
        depth = steps[vertex].depth if vertex in steps else depths.get(vertex, 0)
        leaving = PASSAGE_COST if walk.kinds([vertex])[0] == EPISODE else 2 - float(walk.penalties([vertex])[0])
        for edge, second in near.get(vertex, ()):
            if second not in done and second not in depths and cost + leaving < costs.get(second, np.inf):
                costs[second], steps[second] = cost + leaving, _Step(vertex, edge, depth + 1)
                heapq.heappush(waiting, (cost + leaving, second))
    return steps
