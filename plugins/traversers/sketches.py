"""Sketches: paths whose relations read as an outline of the answer does (ReG@Path).

A sketch is a sequence of relations, "directed by, born in". ReG trains a model to write some; here a model may propose
them, and without one the question itself is compared with every step. A sketch is grounded by a beam: at each step the
paths grow by the edges whose words come nearest to that step of the sketch. What a passage or a thesis joins is a
relation that reads as its text does, so this works where nobody ever read out typed relations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import MIN_RELEVANCE, Path, Relevance, Visited, Walk, Walkable, distinct, vertex_scores
from memory.retrieval.traversers import Seeds, relevance_of
from memory.store.graph import EDGE_KINDS, EdgeKind
from plugins.traversers.edge_embeddings import EdgeEmbeddings, embed_edges
from plugins.traversers.nearby import Nearby, extract_subgraph
from plugins.traversers.settings import TraverserSettings
from plugins.traversers.walking import starts, walkable

BEAM = 20  # paths that each step of a sketch keeps
STEPS = 3  # of the outline that the question itself is
SKETCHES = 3  # of a model, at most

_KINDS: tuple[EdgeKind, ...] = ("rel", "syn", "asserts", "next")
_REL, _SYN, _ASSERTS, _NEXT = map(EDGE_KINDS.index, _KINDS)

Steps = Sequence[Floats]
"""Of each step of a sketch: how well every edge fits it (e,)."""


def sketches(graph: Graph, seeds: Seeds, allowed: Bools, settings: TraverserSettings) -> Walk:
    """The paths that fit the sketches best; all on them scores as the best path through it: the mean of its steps."""
    walk = walkable(graph, seeds, allowed, settings.walk)
    begin = starts(walk, seeds, settings.walk)
    relevance = relevance_of(walk, seeds)
    near = extract_subgraph(walk, begin, relevance, STEPS)
    found: dict[tuple[int, ...], Path] = {}
    for steps in _sketched(near, seeds, relevance):
        for path in ground_sketch(walk, near, begin, steps):
            if path.edges not in found or path.cost < found[path.edges].cost:
                found[path.edges] = path
    paths = sorted(found.values(), key=lambda path: (_cost(path), path.edges))
    visit = {vertex: Visited(Path((vertex,), tag="sketches"), "seed", 0) for vertex in begin}
    worth = dict(begin)
    for path in paths:
        for place, vertex in enumerate(path.vertices):
            way = Path(path.vertices[: place + 1], path.edges[:place], path.costs[:place], path.tag)
            visit.setdefault(vertex, Visited(way, "selected", place))
            worth[vertex] = max(worth.get(vertex, 0.0), math.exp(-_cost(path)))
    episodes, objects = vertex_scores(walk, visit, worth)
    return Walk(episodes, objects, tuple(paths), visit, distinct(edge for path in paths for edge in path.edges))


def ground_sketch(walk: Walkable, near: Nearby, begin: Sequence[int] | dict[int, float], steps: Steps) -> list[Path]:
    """The paths from the starts that fit a sketch best, BEAM of each length; no vertex twice."""
    around: dict[int, list[tuple[int, int, int]]] = {}
    for place, (edge, one, other) in enumerate(
        zip(near.edges.tolist(), near.src.tolist(), near.dst.tolist(), strict=True)
    ):
        around.setdefault(one, []).append((place, edge, other))
        around.setdefault(other, []).append((place, edge, one))
    beam = [Path((vertex,), tag="sketches") for vertex in sorted(begin)]
    kept: list[Path] = []
    for fits in steps:
        cost = -np.log(np.clip(fits, MIN_RELEVANCE, 1))
        grown = [
            path.extend(edge, end, float(cost[place]))
            for path in beam
            if not path.edges or walk.may_leave(path.vertices[-1])
            for place, edge, end in around.get(path.vertices[-1], ())
            if end not in path.vertices
        ]
        beam = sorted(grown, key=lambda path: (_cost(path), path.edges))[:BEAM]
        kept += beam
    return kept


def _sketched(near: Nearby, seeds: Seeds, relevance: Relevance) -> list[list[Floats]]:
    """How every edge fits the steps of each sketch; of the question itself, if there is none."""
    if seeds.guidance.lookup is None:
        fits = relevance(near.vertices)
        return [[np.maximum(fits[near.heads], fits[near.tails])] * STEPS]
    words = embed_edges(seeds.guidance.lookup)
    said = relations(near, words)
    outline = seeds.guidance.outline
    if not outline:
        return [[np.maximum(said @ words.query, 0)] * STEPS]
    return [[np.maximum(said @ step, 0) for step in words.texts(one)] for one in outline[:SKETCHES] if one]


def relations(near: Nearby, words: EdgeEmbeddings) -> Floats:
    """(e, d) what each edge says as a relation: the predicate; else the text of the thesis or passage that joins its
    ends; nothing where two names merely look alike."""
    own = words.vertices(near.vertices)
    ahead = np.isin(near.kinds, [_ASSERTS, _NEXT])
    found: Floats = np.where(ahead[:, None], own[near.tails], own[near.heads])
    found[near.kinds == _REL] = words.predicates(near)[near.kinds == _REL]
    found[near.kinds == _SYN] = 0
    return found


def _cost(path: Path) -> float:
    """The mean of its steps: a sketch says how long a path is, so no length is better than another."""
    return sum(path.costs) / len(path.costs)
