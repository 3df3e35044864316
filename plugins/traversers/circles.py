"""WaterCircles of PersonalAI: rings around every start; the answer is expected where rings of several starts meet.

The rings are symmetric here: each start draws its own, and meetings are counted in the graph, not in words.
"""

from collections.abc import Collection, Mapping

import numpy as np

from memory.graph.arrays import Bools, Graph
from memory.graph.walk import OBJECT, Walk
from memory.retrieval.traversers import Seeds
from plugins.settings import CirclesSettings, TraverserSettings
from plugins.traversers.subgraph import Rings, draw_rings
from plugins.traversers.walking import begin_walk, end_walk


def circles(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """Returns scores for all that the rings reach: the starts that a chosen text mentions, the share of those whose
    circles meet at a chosen edge of the vertex, and its relevance, together relative to the most there can be."""
    walk, begin, relevance = begin_walk(graph, seeds, allowed, settings.walk)
    rings = draw_rings(walk, begin, relevance, settings.circles.depth)
    vertices = np.array(sorted(rings.reached), np.int32)
    fits = dict(zip(vertices.tolist(), relevance(vertices).tolist(), strict=True))
    meetings = {edge: count_meetings(rings, edge) for edge in rings.edges}
    chosen = select_edges(rings, meetings, fits, settings.circles)
    met = dict.fromkeys((end for edge in chosen for end in rings.edges[edge]), 0.0)
    for edge in chosen:
        if meetings[edge] > 1:
            for end in rings.edges[edge]:
                met[end] = max(met[end], meetings[edge] / len(begin))
    texts = vertices[walk.kinds(vertices) != OBJECT].tolist()
    near = {text: count_near(rings, text) for text in select_texts(rings, texts, fits, settings.circles.texts)}
    most = len(begin) + 2
    worth = {vertex: (near.get(vertex, 0) + met.get(vertex, 0.0) + fit) / most for vertex, fit in fits.items()}
    return end_walk(walk, worth)


def count_meetings(rings: Rings, edge: int) -> int:
    """Returns the number of starts whose circles contain both ends of an edge."""
    a, b = rings.edges[edge]
    return len(rings.reached[a].keys() | rings.reached[b].keys())


def count_near(rings: Rings, vertex: int) -> int:
    """N_intersections of a passage or thesis: how many starts it mentions."""
    return sum(distance <= 1 for distance in rings.reached[vertex].values())


def select_edges(
    rings: Rings, meetings: Mapping[int, int], fits: Mapping[int, float], settings: CirclesSettings
) -> list[int]:
    """Returns the first `primary` edges where circles of several starts meet, and the first `secondary` others: those
    of most starts first, then the most relevant."""
    best = {edge: max(fits[end] for end in ends) for edge, ends in rings.edges.items()}
    edges = sorted(meetings, key=lambda edge: (-meetings[edge], -best[edge], edge))
    met = [edge for edge in edges if meetings[edge] > 1]
    return [*met[: settings.primary], *edges[len(met) :][: settings.secondary]]


def select_texts(rings: Rings, texts: Collection[int], fits: Mapping[int, float], most: int) -> list[int]:
    """Returns the passages and theses that mention most starts, then the most relevant."""
    return sorted(texts, key=lambda vertex: (-count_near(rings, vertex), -fits[vertex], vertex))[:most]
