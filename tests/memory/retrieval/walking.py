"""Small graphs for tests of what walks them: typed relations between lettered objects, or whole memories."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np

from memory.graph.arrays import Floats, Graph, Ids
from memory.graph.change import EpisodeVertex, Link, ThesisVertex
from memory.graph.walk import EPISODE, OBJECT, THESIS, Relevance, Walkable, index
from memory.retrieval.traversers import Seeds
from memory.store.connect import FIRST_EDGE

WHOLE = 1000  # node id of an episode that mentions every object, so that all of them can be seen
A, B, P, W, X, Y, Z, BOOK, PUB = range(1, 10)
EDGES = {
    1: (A, X), 2: (A, Y), 3: (X, Z), 4: (Y, Z), 5: (X, B), 6: (B, W), 7: (A, X), 8: (P, BOOK), 9: (PUB, BOOK),
}  # fmt: skip
FITS = {X: 0.9, Y: 0.5, Z: 0.6, B: 0.7, W: 0.4}


def related(edges: Mapping[int, tuple[int, int]]) -> Walkable:
    """Objects joined by relations: edge id -> (node id, node id). Only objects may be entered."""
    return Walkable(related_graph(edges), np.array([True]), "O")


def related_graph(edges: Mapping[int, tuple[int, int]]) -> Graph:
    objects = sorted({node for pair in edges.values() for node in pair})
    mentions = {node: FIRST_EDGE + node for node in objects}
    whole = EpisodeVertex(WHOLE, 1, 0, None, False, 50, dict.fromkeys(objects, 1), frozenset(), mentions)
    links = [Link(id, "rel", src, dst) for id, (src, dst) in edges.items()]
    return Graph.empty().with_episodes([whole], [(node, False) for node in objects], (), links)


def fits(values: Mapping[int, float] = FITS, other: float = 0.2) -> Relevance:
    """A relevance that is looked up."""

    def relevance(vertices: Ids) -> Floats:
        return np.array([values.get(vertex, other) for vertex in vertices.tolist()], np.float32)

    return relevance


def everything(graph: Graph) -> dict[int, list[tuple[int, int, int]]]:
    """Every vertex that can be seen, with its edges (id, kind, other end), and so the whole graph as it is walked."""
    walkable = Walkable(graph, graph.alive)
    seen = [node for node in range(len(index(graph).kinds)) if walkable.visible(node)]
    return {node: list(zip(*(c.tolist() for c in walkable.neighbours(node)), strict=True)) for node in seen}


def rng_graph(seed: int, order: int | None = None) -> tuple[Graph, Seeds]:
    """A random hypergraph of episodes, theses and objects with links, and seeds for it. `order`: the same one, put
    together in another order."""
    draw = random.Random(seed)
    objects = list(range(1, draw.randint(4, 14)))
    edge = iter(range(FIRST_EDGE, FIRST_EDGE + 10_000))
    episodes, theses = [], []
    for node in range(100, 100 + draw.randint(2, 8)):
        mentioned = sorted(draw.sample(objects, draw.randint(1, min(5, len(objects)))))
        titles = frozenset(mentioned[: draw.randint(0, 1)])
        edges = {one: next(edge) for one in mentioned}
        episodes.append(EpisodeVertex(node, 1, node, None, False, 50, dict.fromkeys(mentioned, 1), titles, edges))
        for n in range(draw.randint(0, 3)):
            members = sorted(draw.sample(mentioned, draw.randint(1, len(mentioned))))
            theses.append(ThesisVertex(10 * node + n, node, next(edge), {one: next(edge) for one in members}))
    links = [Link(next(edge), "next", a.node_id, b.node_id) for a, b in pairwise(episodes)]
    links += [Link(next(edge), "rel", *draw.sample(objects, 2)) for _ in range(draw.randint(0, 9))]
    scores = {row.node_id: draw.random() for row in episodes}
    named = {node: draw.choice([0.5, 1.0]) for node in draw.sample(objects, 2)}
    if order is not None:
        shuffle = random.Random(order).shuffle
        for rows in (episodes, theses, objects):
            shuffle(rows)  # links and their edges come by id from the store
    graph = Graph.empty().with_episodes(episodes, [(node, False) for node in objects], theses, links)
    text = np.array([scores[int(node)] for node in graph.episode_ids], np.float32)
    return graph, Seeds(text, {graph.column_of[node]: weight for node, weight in named.items()})


def kinds_of(graph: Graph, vertices: Iterable[int]) -> dict[int, str]:
    """Node id -> "E", "T" or "O"."""
    names = {EPISODE: "E", THESIS: "T", OBJECT: "O"}
    return {vertex: names[int(index(graph).kinds[vertex])] for vertex in vertices}
