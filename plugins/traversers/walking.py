"""What these traversers share: the graph as they may walk it, where they start, and what an edge costs."""

from __future__ import annotations

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import MIN_RELEVANCE, VERTEX_KINDS, Walkable, top_k
from memory.retrieval.traversers import Seeds
from plugins.traversers.settings import WalkSettings

OWN_OBJECTS, OWN_EPISODES = 12, 8  # so many of so many, where a question names nothing and no episode is a start


def walkable(graph: Graph, seeds: Seeds, allowed: Bools, settings: WalkSettings) -> Walkable:
    """The graph as this question may walk it."""
    return Walkable(graph, allowed, settings.vertices, seeds.guidance.when, settings.hub_penalty)


def starts(walk: Walkable, seeds: Seeds, settings: WalkSettings) -> dict[int, float]:
    """Node id -> weight in (0, 1]: the objects that the question names and the best episodes of the text, as far as
    they may be seen. Without either, the rarest objects of the best episodes."""
    graph = walk.graph
    found = {int(graph.object_ids[column]): weight for column, weight in seeds.objects.items()}
    if VERTEX_KINDS[0] in settings.vertices and settings.episodes:
        rows = top_k(seeds.episode_scores, walk.allowed, settings.episodes)
        found |= {int(graph.episode_ids[row]): float(seeds.episode_scores[row]) for row in rows}
    if not found:
        columns = np.unique(graph.counts[top_k(seeds.episode_scores, walk.allowed, OWN_EPISODES)].indices)
        rarest = columns[np.lexsort((graph.object_ids[columns], -graph.idf[columns]))][:OWN_OBJECTS]
        found = dict.fromkeys(graph.object_ids[rarest].tolist(), 1.0)
    return {node: found[node] for node in sorted(found) if walk.visible(node)}


def costs(relevance: Floats, penalties: Floats) -> Floats:
    """The cost of an edge: `-ln(max(0.02, relevance * penalty))`, at least 0."""
    found: Floats = -np.log(np.clip(relevance * penalties, MIN_RELEVANCE, 1))
    return found
