"""Shared by the traversers: the walkable graph, the starts, the cost of an edge and the scores of vertices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import (
    EPISODE,
    MIN_RELEVANCE,
    OBJECT,
    VERTEX_KINDS,
    Path,
    Relevance,
    Walk,
    Walkable,
    scale,
    top_k,
)
from memory.retrieval.traversers import Seeds, relevance_of
from plugins.settings import WalkSettings

OWN_OBJECTS, OWN_EPISODES = 12, 8  # objects and episodes, where a question names nothing and no episode is a start


def begin_walk(
    graph: Graph, seeds: Seeds, allowed: Bools, settings: WalkSettings
) -> tuple[Walkable, dict[int, float], Relevance]:
    """Returns the graph that this question may walk; the starts, node id -> weight in (0, 1]; and the relevance that
    leads the walk. Starts are the named objects and the best episodes of the text that are visible; without either, the
    rarest objects of the best episodes."""
    enter = seeds.guidance.vertices
    walk = Walkable(graph, allowed, enter, seeds.guidance.when, settings.hub_penalty)
    starts = {int(graph.object_ids[column]): weight for column, weight in seeds.objects.items()}
    if VERTEX_KINDS[EPISODE] in enter and settings.episodes:
        rows = top_k(seeds.episode_scores, walk.allowed, settings.episodes)
        starts |= {int(graph.episode_ids[row]): float(seeds.episode_scores[row]) for row in rows}
    if not starts:
        columns = np.unique(graph.counts.columns_of(top_k(seeds.episode_scores, walk.allowed, OWN_EPISODES)))
        rarest = columns[np.lexsort((graph.object_ids[columns], -graph.idf[columns]))][:OWN_OBJECTS]
        starts = dict.fromkeys(graph.object_ids[rarest].tolist(), 1.0)
    return walk, {node: starts[node] for node in sorted(starts) if walk.visible(node)}, relevance_of(walk, seeds)


def costs(relevance: Floats, penalties: Floats | float = 1.0) -> Floats:
    """The cost of an edge: `-ln(max(0.02, relevance * penalty))`, at least 0 (PersonalAI: `-ln` of the similarity)."""
    negative_logs: Floats = -np.log(np.clip(relevance * penalties, MIN_RELEVANCE, 1))
    return negative_logs


def price_paths(walk: Walkable, paths: Iterable[Path], relevance: Relevance) -> list[Path]:
    """Returns the paths with the costs of their edges, each path once."""
    distinct = list(dict.fromkeys(paths))
    ends = np.unique(np.array([vertex for path in distinct for vertex in path.vertices[1:]], np.int32))
    if not len(ends):
        return []
    cost = dict(zip(ends.tolist(), costs(relevance(ends), walk.penalties(ends)).tolist(), strict=True))
    return [replace(path, costs=tuple(cost[vertex] for vertex in path.vertices[1:])) for path in distinct]


def walk_along(walk: Walkable, begin: Mapping[int, float], paths: Iterable[Path]) -> Walk:
    """Returns the walk over these paths: a vertex scores `exp(-cost)` of the best path through it, a start at least its
    weight in `begin`."""
    worth = dict(begin)
    for path in paths:
        for vertex in path.vertices:
            worth[vertex] = max(worth.get(vertex, 0.0), float(np.exp(-path.cost)))
    return end_walk(walk, worth)


def end_walk(walk: Walkable, worth: Mapping[int, float]) -> Walk:
    """Returns the result of a walk: an episode or object scores its `worth`, a thesis counts for its episode, and the
    best counts."""
    episodes, objects = np.zeros(len(walk.allowed), np.float32), np.zeros(len(walk.graph.object_ids), np.float32)
    vertices, of_vertices = np.array([*worth], np.int32), np.array([*worth.values()], np.float32)
    is_object = walk.kinds(vertices) == OBJECT
    np.maximum.at(episodes, walk.episodes_of(vertices)[~is_object], of_vertices[~is_object])
    np.maximum.at(objects, walk.rows(vertices[is_object]), of_vertices[is_object])
    return Walk(episodes, objects)


def join_walks(walks: Sequence[Walk]) -> Walk:
    """Returns the union of several walks (PersonalAI's mixed retrievers): of each vertex the best score, where the best
    of each walk counts the same; and the first votes."""
    episodes = np.max([scale(walk.episodes) for walk in walks], axis=0)
    objects = np.max([scale(walk.objects) for walk in walks], axis=0)
    return Walk(episodes, objects, next((walk.votes for walk in walks if walk.votes), None))
