"""What the traversers share: where they start, what an edge costs, and scores made from what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from memory.graph.adjacency import OBJECT, VERTEX_KINDS, Relevance, Walkable
from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.top_k import top_k
from memory.retrieval.relevance import Guess
from memory.retrieval.traversers import Seeds, Seen
from memory.settings import RecallSettings

LEAST = 0.02  # relevance below which it makes no difference any more: a cost of 3.9
OWN_OBJECTS, OWN_EPISODES = 12, 8  # so many of so many, where a question names nothing and no episode is a start


def walkable(graph: Graph, seeds: Seeds, allowed: Bools, settings: RecallSettings) -> Walkable:
    """The graph as this question may walk it."""
    return Walkable(graph, allowed, settings.walk_vertices, seeds.when, settings.hub_penalty)


def starts(walk: Walkable, seeds: Seeds, settings: RecallSettings) -> dict[int, float]:
    """Node id -> weight in (0, 1]: the objects that the question names and the best episodes of the text, as far as
    they may be seen. Without either, the rarest objects of the best episodes (SPEC 7.4 S1)."""
    graph = walk.graph
    found = {int(graph.object_ids[column]): weight for column, weight in seeds.objects.items()}
    if VERTEX_KINDS[0] in settings.walk_vertices and settings.walk_episodes:
        rows = top_k(seeds.episode_scores, walk.allowed, settings.walk_episodes)
        found |= {int(graph.episode_ids[row]): float(seeds.episode_scores[row]) for row in rows}
    if not found:
        columns = np.unique(graph.counts[top_k(seeds.episode_scores, walk.allowed, OWN_EPISODES)].indices)
        rarest = columns[np.lexsort((graph.object_ids[columns], -graph.idf[columns]))][:OWN_OBJECTS]
        found = dict.fromkeys(graph.object_ids[rarest].tolist(), 1.0)
    return {node: found[node] for node in sorted(found) if walk.visible(node)}


def relevance_of(walk: Walkable, seeds: Seeds) -> Relevance:
    """The relevance that leads the walk: the given one, else what can be guessed from the text scores."""
    return seeds.relevance or Guess(walk.graph, seeds.episode_scores, walk.allowed)


def costs(relevance: Floats, penalties: Floats) -> Floats:
    """c(e) of SPEC 7.4: `-ln(max(0.02, sigma * pen))`, at least 0."""
    found: Floats = -np.log(np.clip(relevance * penalties, LEAST, 1))
    return found


def scored(walk: Walkable, visit: Mapping[int, Seen], worth: Mapping[int, float]) -> tuple[Floats, Floats]:
    """Scores of episodes (n,) and objects (m,): the best `worth` of what was seen of them; a thesis counts for its
    episode."""
    graph = walk.graph
    episodes, objects = np.zeros(len(graph.alive), np.float32), np.zeros(len(graph.object_ids), np.float32)
    vertices = np.array(sorted(visit), np.int32)
    values = np.array([worth[vertex] for vertex in vertices.tolist()], np.float32)
    rows, is_object = walk.episodes_of(vertices), walk.kinds(vertices) == OBJECT
    np.maximum.at(episodes, rows[~is_object], values[~is_object])
    np.maximum.at(objects, walk.rows(vertices[is_object]), values[is_object])
    return episodes, objects


def distinct(edges: Iterable[int]) -> tuple[int, ...]:
    """Each once, in the order in which they come."""
    return tuple(dict.fromkeys(edges))
