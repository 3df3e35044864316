"""Features: an edge near a question as 33 numbers for the edge scorer (after SubgraphRAG).

SubgraphRAG's head reads four vectors of an embedder and ten numbers, and needs thousands of questions. This one learns
from a few hundred questions of one person, so it reads cosines instead of vectors.

The distance encoding (DDE) walks from the starts along the edges, two rounds with and two against their direction. A
vertex gets the mean of its predecessors, as in the paper, and also whether any of them is non-zero: among 500 edges of
a hub the mean of one start is 0.002. Rows without predecessors stay zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from memory.graph.arrays import NO_TIME, Bools, Floats, Graph
from memory.graph.walk import EPISODE, OBJECT, Relevance, Walkable
from memory.retrieval.traversers import Lookup, Seeds
from memory.store.graph import EDGE_KINDS, EdgeKind
from plugins.traversers.settings import WalkSettings
from plugins.traversers.subgraph import GraphEmbeddings, Subgraph, extract_subgraph
from plugins.traversers.walking import begin_walk

ROUNDS = ("1", "2", "1 against", "2 against")
_OF_END = ("start", *(f"mean {name}" for name in ROUNDS), *(f"any {name}" for name in ROUNDS))
NAMES: tuple[str, ...] = (
    "cos text", "cos head", "cos tail", "cos predicate", "cos part", "memory", "sigma",
    *(f"head {name}" for name in _OF_END), *(f"tail {name}" for name in _OF_END),
    "degree head", "degree tail", "is relation", "is thesis", "is mention", "age", "support", "confidence",
)  # fmt: skip
WIDTH = len(NAMES)
MEMORY, SIGMA = NAMES.index("memory"), NAMES.index("sigma")
DAY = 86_400_000  # ms
WALK = WalkSettings()  # what was learnt does not depend on how a person lets others walk

_GROUPS: tuple[tuple[EdgeKind, ...], ...] = (("rel",), ("asserts", "member"), ("mention", "next"))


class Surroundings(NamedTuple):
    """The edges near a question and the context of their features: the walkable graph, the starts, the relevance of
    vertices, text vectors, edge -> activation, and when the question was asked (ms UTC)."""

    near: Subgraph
    walk: Walkable
    starts: Sequence[int]
    relevance: Relevance
    embeddings: GraphEmbeddings | None
    activation: Mapping[int, float]
    at: int

    @classmethod
    def gather(cls, lookup: Lookup, graph: Graph, seeds: Seeds, allowed: Bools) -> Surroundings:
        """Those of a question."""
        walk, begin, relevance = begin_walk(graph, seeds, allowed, WALK)
        near = extract_subgraph(walk, begin, relevance)
        own = seeds.guidance
        return cls(near, walk, tuple(begin), relevance, GraphEmbeddings(lookup), own.activation, own.at_ms)


def features(around: Surroundings) -> Floats:
    """(e, WIDTH), as NAMES says."""
    near = around.near
    matrix = np.zeros((len(near.edges), WIDTH), np.float32)
    if not len(near.edges):
        return matrix
    column = {name: matrix[:, number] for number, name in enumerate(NAMES)}
    if around.embeddings is not None:
        words, question = around.embeddings, around.embeddings.question
        own = words.vertices(near.vertices)
        is_member = near.kinds == EDGE_KINDS.index("member")  # which says what its thesis does, any other its end
        triples = words.triples(near, np.where(is_member[:, None], own[near.heads], own[near.tails]))
        column["cos text"][:] = triples @ question
        column["cos head"][:], column["cos tail"][:] = (own @ question)[near.heads], (own @ question)[near.tails]
        column["cos predicate"][:] = words.predicates(near) @ question
        column["cos part"][:] = (triples @ words.parts.T).max(1)
    column["memory"][:] = [around.activation.get(edge, 0.0) for edge in near.edges.tolist()]
    column["sigma"][:] = near.mean_of_ends(around.relevance(near.vertices))
    encoded = encode_distances(near, around.starts)
    first, width = NAMES.index("head start"), encoded.shape[1]
    matrix[:, first : first + width] = encoded[near.heads]
    matrix[:, first + width : first + 2 * width] = encoded[near.tails]
    degrees = np.log1p(np.bincount(np.concatenate([near.heads, near.tails]), minlength=len(near.vertices)))
    column["degree head"][:], column["degree tail"][:] = degrees[near.heads], degrees[near.tails]
    for name, group in zip(("is relation", "is thesis", "is mention"), _GROUPS, strict=True):
        column[name][:] = np.isin(near.kinds, [EDGE_KINDS.index(kind) for kind in group])
    column["age"][:] = _age(around)
    support, confidence = _evidence(around)
    column["support"][:], column["confidence"][:] = np.log1p(support), confidence
    return matrix


def encode_distances(near: Subgraph, begin: Sequence[int]) -> Floats:
    """(v, 9) for each vertex: whether it is a start; the mean that arrives after one and two rounds with the edges and
    after one and two against them; and the same as 0 or 1."""
    start = np.isin(near.vertices, np.array(begin, np.int32)).astype(np.float32)[:, None]
    size = len(near.vertices)
    means = []
    for targets, sources in ((near.tails, near.heads), (near.heads, near.tails)):
        arriving = np.bincount(targets, minlength=size)[:, None]
        mean = start
        for _ in range(2):
            sums = np.bincount(targets, mean[sources, 0], size).astype(np.float32)[:, None]
            mean = np.divide(sums, arriving, out=np.zeros_like(start), where=arriving > 0)
            means.append(mean)
    return np.hstack([start, *means, *((mean > 0).astype(np.float32) for mean in means)])


def _age(around: Surroundings) -> Floats:
    """(e,) ln(1 + days) between the question and the time of an edge: the begin of a relation, or the date of the
    passage at its head; 0 if unknown."""
    near, graph = around.near, around.walk.graph
    times = np.full(len(near.edges), NO_TIME, np.int64)
    rows = around.walk.episodes_of(near.src)
    times[rows >= 0] = graph.event_from[rows[rows >= 0]]
    if len(graph.links.ids):
        places = np.minimum(np.searchsorted(graph.links.ids, near.edges), len(graph.links.ids) - 1)
        linked = (graph.links.ids[places] == near.edges) & (rows < 0)
        times[linked] = graph.links.valid_from[places[linked]]
    is_dated = times != NO_TIME
    ages = np.zeros(len(times), np.float32)
    ages[is_dated] = np.log1p(np.abs(around.at - times[is_dated]) / DAY)
    return ages


def _evidence(around: Surroundings) -> tuple[Floats, Floats]:
    """(e,) how often each edge is supported, and (e,) its confidence."""
    near, walk = around.near, around.walk
    support, confidence = np.ones(len(near.edges), np.float32), np.ones(len(near.edges), np.float32)
    mentions = np.flatnonzero((walk.kinds(near.src) == EPISODE) & (walk.kinds(near.dst) == OBJECT))
    if len(mentions):
        rows, columns = walk.rows(near.src[mentions]), walk.rows(near.dst[mentions])
        support[mentions] = walk.graph.counts.values_at(rows, columns)
    relations = around.embeddings.relations(near) if around.embeddings is not None else {}
    for place, edge in enumerate(near.edges.tolist()):
        if edge in relations:
            _, confidence[place], support[place] = relations[edge]
    return support, confidence
