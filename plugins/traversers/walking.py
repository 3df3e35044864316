"""Shared by the traversers: the walkable graph, the starts, the cost of an edge and the scores of paths."""

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
    Visited,
    Walk,
    Walkable,
    scale,
    top_k,
)
from memory.retrieval.traversers import Seeds, relevance_of
from plugins.settings import WalkSettings

OWN_OBJECTS, OWN_EPISODES = 12, 8  # objects and episodes, where a question names nothing and no episode is a start
STATUSES = ("seed", "selected", "pruned", "scanned")  # what counts most, first


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
    """Returns the walk over these paths, the cheapest first: a vertex scores `exp(-cost)` of the best path through it,
    a start at least its weight in `begin`."""
    ranked = sorted(paths, key=lambda path: (path.cost, path.edges))
    visit = {vertex: Visited(Path((vertex,)), "seed") for vertex in begin}
    worth = dict(begin)
    for path in ranked:
        for place, vertex in enumerate(path.vertices):
            way = replace(path, vertices=path.vertices[: place + 1], edges=path.edges[:place], costs=path.costs[:place])
            visit.setdefault(vertex, Visited(way, "selected"))
            worth[vertex] = max(worth.get(vertex, 0.0), float(np.exp(-path.cost)))
    return end_walk(walk, visit, worth, ranked)


def end_walk(
    walk: Walkable,
    visit: Mapping[int, Visited],
    worth: Mapping[int, float],
    paths: Sequence[Path],
) -> Walk:
    """Returns the result of a walk: an episode or object scores its `worth`, a thesis counts for its episode, and the
    best counts."""
    episodes, objects = np.zeros(len(walk.allowed), np.float32), np.zeros(len(walk.graph.object_ids), np.float32)
    vertices = np.array(sorted(visit), np.int32)
    of_vertices = np.array([worth[vertex] for vertex in vertices.tolist()], np.float32)
    rows, is_object = walk.episodes_of(vertices), walk.kinds(vertices) == OBJECT
    np.maximum.at(episodes, rows[~is_object], of_vertices[~is_object])
    np.maximum.at(objects, walk.rows(vertices[is_object]), of_vertices[is_object])
    return Walk(episodes, objects, tuple(paths), visit)


def join_walks(walks: Sequence[Walk]) -> Walk:
    """Returns the union of several walks (PersonalAI's mixed retrievers): of each vertex the best score, where the best
    of each walk counts the same, the best status, and the cheaper path; all paths, by cost."""
    episodes = np.max([scale(walk.episodes) for walk in walks], axis=0)
    objects = np.max([scale(walk.objects) for walk in walks], axis=0)
    paths = {path.edges: path for walk in reversed(walks) for path in walk.paths}
    visit: dict[int, Visited] = {}
    for walk in walks:
        for vertex, visited in walk.visit.items():
            visit[vertex] = _better(visit[vertex], visited) if vertex in visit else visited
    return Walk(episodes, objects, tuple(sorted(paths.values(), key=lambda path: (path.cost, path.edges))), visit)


def _better(first: Visited, second: Visited) -> Visited:
    status = min(first.status, second.status, key=STATUSES.index)
    cheaper, dearer = sorted((first.path, second.path), key=lambda path: (path.cost, path.edges))
    return Visited(cheaper if cheaper.edges or status == "seed" else dearer, status)
