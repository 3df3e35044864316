"""Synergy: the graph re-ranks the text, and the text confirms the graph (after TGS-RAG).

What a walk saw votes for the episodes that mention it, each vertex by how rare and how relevant it is and what became
of it. Paths through the objects of the best episodes are confirmed, less with each further one; objects of those
episodes that no path reaches are bridged from what the walk saw and dropped, else by a short search. The formula
"paper" counts as TGS-RAG prints it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import OBJECT, Path, Relevance, Visited, Walk, Walkable, index, top_k
from memory.retrieval.traversers import Seeds, relevance_of
from plugins.traversers.paths import Steps, price_paths
from plugins.traversers.settings import TraverserSettings
from plugins.traversers.walking import walkable

WEIGHT = {"seed": 1.0, "selected": 1.0, "pruned": 0.5, "scanned": 0.25}
CONFIRM = 0.4  # eps: what confirmation can add to a path's score
TOGETHER = 0.4  # gamma: what a path gains that joins several seeds
EPISODES = 5  # best episodes of the text, which confirm paths and whose objects are bridged
BRIDGES = 3  # k_o: objects that are bridged
BRIDGE_LENGTH, BRIDGE_POPS = 3, 100
PATHS = 10

Vote = Callable[[int], float]
"""Node id of an object -> how much it counts among those to be bridged."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A path with its score: how well it fits, joins seeds, and is confirmed."""

    score: float
    path: Path


def synergy(graph: Graph, walk: Walk, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """The walk with its votes and the confirmed paths. An episode's vote is the mean of its votes and of the best path
    through it, each scaled so that the greatest is 1; a part that has nothing to say does not count. By the paper's
    formula paths rank paths only."""
    view = walkable(graph, seeds, allowed, settings.walk)
    relevance = relevance_of(view, seeds)
    plain = settings.synergy.formula == "paper"
    paths = _paths(view, walk, seeds, relevance, plain)
    parts = [votes(view, walk.visit, relevance, plain), *([] if plain else [_on_paths(view, paths)])]
    said = [part / part.max() for part in parts if part.any()]
    none = np.zeros(len(graph.alive), np.float32)
    scores: Floats = np.mean(said, axis=0, dtype=np.float32) if said else none
    return replace(walk, paths=tuple(one.path for one in paths), votes=(scores, settings.synergy.weight))


def votes(view: Walkable, visit: Mapping[int, Visited], relevance: Relevance, plain: bool = False) -> Floats:
    """Rec (n,): `sum idf * sigma * status / log2(2 + objects of the episode)` over the objects that were seen; `plain`:
    how many of them the episode mentions."""
    graph, backwards = view.graph, index(view.graph).mentioned
    found = np.zeros(len(graph.alive), np.float32)
    vertices = np.array(sorted(visit), np.int32)
    vertices = vertices[view.kinds(vertices) == OBJECT]
    fits = relevance(vertices)
    rarity = np.log1p(graph.n_alive / (1 + graph.document_frequency))
    for vertex, column, fit in zip(vertices.tolist(), view.rows(vertices).tolist(), fits.tolist(), strict=True):
        rows = backwards.indices[slice(*backwards.indptr[column : column + 2])]
        found[rows] += 1 if plain else rarity[column] * fit * WEIGHT[visit[vertex].status]
    size = 1 if plain else np.log2(2 + np.diff(graph.counts.indptr))
    fair: Floats = np.where(view.allowed, found / size, 0).astype(np.float32)
    return fair


def _paths(view: Walkable, walk: Walk, seeds: Seeds, relevance: Relevance, plain: bool) -> list[Scored]:
    graph = view.graph
    rows = top_k(seeds.episode_scores, view.allowed, EPISODES)
    columns = np.unique(graph.counts[rows].indices)
    spoken_of = set(graph.object_ids[columns].tolist())
    starts = {vertex for vertex, seen in walk.visit.items() if seen.status == "seed"}
    fits = relevance(graph.object_ids[columns].astype(np.int32))
    worth = dict(zip(graph.object_ids[columns].tolist(), (graph.idf[columns] * fits).tolist(), strict=True))
    bridges = find_bridges(view, walk.paths, walk.visit, spoken_of, worth.__getitem__, relevance)
    return rank_paths(walk.paths, bridges, spoken_of, starts, plain)


def rank_paths(
    paths: Sequence[Path],
    bridges: Sequence[Path],
    spoken_of: Collection[int],
    starts: Collection[int],
    plain: bool = False,
    most: int = PATHS,
) -> list[Scored]:
    """The best paths: `exp(-cost) * (1 + gamma * seeds / length)`, the factor only for several seeds, and
    `eps * (1 - exp(-x / 2))` for x objects of the best episodes on it that are no seeds. `plain`: `eps * x`, and
    nothing for bridges. A path that holds only vertices of a better one is left out."""

    def score(path: Path, confirmed: bool) -> Scored:
        on_it = set(path.vertices)
        n_starts, x = len(on_it.intersection(starts)), len(on_it.intersection(spoken_of) - set(starts))
        together = 1 + TOGETHER * min(1, n_starts / max(1, len(path.edges))) if n_starts > 1 else 1
        confirmation = CONFIRM * (x if plain else 1 - float(np.exp(-x / 2)))
        return Scored(float(np.exp(-path.cost)) * together + (confirmation if confirmed else 0), path)

    scored = [score(path, True) for path in paths] + [score(path, not plain) for path in bridges]
    scored.sort(key=lambda one: (-one.score, one.path.edges))
    return _pruned(scored)[:most]


def _pruned(scored: Sequence[Scored]) -> list[Scored]:
    """Without paths over the same edges as a better one, and those whose vertices another, not worse one holds all."""
    kept: list[Scored] = []
    for one in scored:
        vertices = set(one.path.vertices)
        if any(set(one.path.edges) == set(other.path.edges) or vertices <= set(other.path.vertices) for other in kept):
            continue
        kept = [other for other in kept if not set(other.path.vertices) < vertices or other.score >= one.score]
        kept.append(one)
    return kept


def find_bridges(
    view: Walkable,
    paths: Sequence[Path],
    visit: Mapping[int, Visited],
    spoken_of: Collection[int],
    worth: Vote,
    relevance: Relevance,
) -> list[Path]:
    """Ways to the objects of the best episodes that no path reaches, those that count most first: what the walk
    remembers of them, else the shortest way from a path."""
    reached = {vertex for path in paths for vertex in path.vertices}
    found: list[Path] = []
    for vertex in sorted(set(spoken_of) - reached, key=lambda vertex: (-worth(vertex), vertex)):
        seen = visit.get(vertex)
        if seen is not None and seen.path.edges:
            found.append(Path(seen.path.vertices, seen.path.edges, seen.path.costs, "bridge"))
        elif seen is None and reached:
            found += price_paths(view, _way(view, vertex, reached), relevance, "bridge")
        if len(found) == BRIDGES:
            break
    return found


def _way(view: Walkable, end: int, reached: Collection[int]) -> list[Steps]:
    """The shortest way from any vertex that was reached to `end`, if a short search finds it."""
    ways = {end: Steps((), (end,))}
    queue = deque([end])
    for _ in range(BRIDGE_POPS):
        if not queue or len(ways[queue[0]].edges) >= BRIDGE_LENGTH:
            break
        here = ways[queue.popleft()]
        near = view.neighbours(here.vertices[0])
        for edge, vertex in zip(near.edges.tolist(), near.vertices.tolist(), strict=True):
            if vertex not in ways:
                ways[vertex] = Steps((edge, *here.edges), (vertex, *here.vertices))
                queue.append(vertex)
                if vertex in reached:
                    return [ways[vertex]]
    return []


def _on_paths(view: Walkable, paths: Sequence[Scored]) -> Floats:
    """(n,) the best score of a path through the episode or one of its theses."""
    found = np.zeros(len(view.graph.alive), np.float32)
    for one in paths:
        rows = view.episodes_of(one.path.vertices)
        np.maximum.at(found, rows[rows >= 0], one.score)
    return found
