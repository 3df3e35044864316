"""What traversers and replay share: the relevance that leads them, and scores made from what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from memory.graph.adjacency import OBJECT, Relevance, Walkable
from memory.graph.arrays import Floats
from memory.retrieval.relevance import Guess
from memory.retrieval.traversers import Seeds, Seen

LEAST = 0.02  # relevance below which it makes no difference any more: a cost of 3.9


def relevance_of(walk: Walkable, seeds: Seeds) -> Relevance:
    """The relevance that leads the walk: the given one, else what can be guessed from the text scores."""
    return seeds.relevance or Guess(walk.graph, seeds.episode_scores, walk.allowed)


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
